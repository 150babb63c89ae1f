// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine.h"
#include "rules/exponential.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace leopard::reaction_diffusion
{
  /**
   * Steps of an exponential scheme (ExponentialStep) of N fields: when the matrices of the modes are made, which rates
   * are known. What happens to the fields is a backend's. A slot has, beside its fields, these and their rates g(u) in
   * modes.
   */
  template <int N>
  class ExponentialEngine : public Engine
  {
  public:
    bool has_multigrid() const override { return false; }

    void run(Controller &c) override
    {
      c.run([&](Action) {
        look_for_stop();
        now               = c.time;
        const int    from = c.slot(0), to = c.slot(-1), older = c.slot(1);
        const double last = c.n_levels > 1 && slots[older].has_modes ? c.steps[0] : 0.;
        prepare(from, older, last > 0., c.step_size);
        const Sums sums = attempt(from, to, c.step_size, last, slots[from].rms);
        slots[to]       = {true, std::sqrt(sums.squares / c.n_unknowns)};
        return sums;
      });
    }

  protected:
    using Jacobian = std::array<double, N * N>; ///< J of ExponentialStep, by rows

    /** What is known of the values of a slot that was set is their values: nothing in modes. */
    void forget(int slot) { slots[slot].has_modes = false; }

    /** The values of a slot in modes, and g(u) of this J, at the time `now`. */
    virtual void to_modes(int slot, const Jacobian &jacobian) = 0;
    /**
     * Sums over all nodes at the time `now`: of gamma df_c/du_d at c N + d, and at N N of the squares of all fields.
     */
    virtual std::array<double, N * N + 1> sum_derivatives(int slot) const = 0;
    virtual double                        n_nodes() const                 = 0;
    /** The matrices of all modes. */
    virtual void set_up(double dt, const Jacobian &jacobian) = 0;
    /** g(u) of a slot for the new J. @param difference old J less new J. */
    virtual void change_jacobian(int slot, const Jacobian &difference) = 0;
    /**
     * A step from one slot to another, from the time `now` on, in modes, too. @param last see ExponentialStep::error();
     * the solution before is in the third slot. @param rms of the old fields.
     */
    virtual Sums attempt(int from, int to, double dt, double last, double rms) = 0;

    double now = 0.; ///< the time at which the step under way begins

  private:
    struct Slot
    {
      bool   has_modes = false; ///< and its rates are those of the present J
      double rms       = 0.;
    };

    /** Where the step size stays the same J is taken anew after so many steps: what it was a mean of has changed. */
    static constexpr int steps_with_a_jacobian = 10;

    /** @param older the slot of the solution before, whose rates are kept up if they are to be `used`. */
    void prepare(int from, int older, bool used, double dt)
    {
      if (slots[from].has_modes && dt == step_size && steps_done++ < steps_with_a_jacobian)
        return;
      if (!slots[from].has_modes)
        to_modes(from, jacobian);
      const auto sums      = sum_derivatives(from);
      Jacobian   new_one   = {}, difference;
      bool       is_finite = true;
      for (int e = 0; e < N * N; ++e)
        {
          new_one[e]    = sums[e] / n_nodes();
          difference[e] = jacobian[e] - new_one[e];
          is_finite     = is_finite && std::isfinite(new_one[e]);
        }
      set_up(dt, new_one);
      change_jacobian(from, difference);
      if (used)
        change_jacobian(older, difference);
      slots[from]            = {is_finite, std::sqrt(sums[N * N] / (n_nodes() * N))};
      slots[older].has_modes = used && is_finite;
      if (is_finite)
        jacobian = new_one;
      else // the step fails, and what comes after it begins anew
        jacobian.fill(0.);
      step_size  = dt;
      steps_done = 0;
    }

    std::array<Slot, max_levels + 1> slots;
    Jacobian                         jacobian   = {};
    double                           step_size  = -1.; ///< of the matrices
    int                              steps_done = 0;
  };
} // namespace leopard::reaction_diffusion
