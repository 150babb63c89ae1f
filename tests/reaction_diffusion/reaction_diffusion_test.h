// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../solvers/block_async_test.h"

#include <applications/reaction_diffusion/stepper.h>

#include <array>
#include <cstdint>

namespace leopard::reaction_diffusion
{
  inline NodeGrid unit_grid(int n, int dim)
  {
    NodeGrid grid;
    grid.n       = {n, n, dim == 3 ? n : 1};
    grid.spacing = {1. / (n - 1), 1. / (n - 1), 1. / (n - 1)};
    return grid;
  }

  /** Of lengths 1, 1.3 and 0.8, less a spacing in periodic directions. */
  inline NodeGrid box_grid(int nx, int ny, int nz, const std::array<bool, 3> &periodic = {})
  {
    NodeGrid grid;
    grid.n        = {nx, ny, nz};
    grid.spacing  = {1. / (nx - 1), 1.3 / (ny - 1), nz > 1 ? 0.8 / (nz - 1) : 1.};
    grid.periodic = periodic;
    return grid;
  }

  /** Smooth positive fields around (0.92, 0.94). */
  inline Vector smooth_fields(const NodeGrid &grid, double amplitude = 0.1)
  {
    const long n = grid.n_nodes();
    Vector     u(2 * n);
    for (long i = 0; i < n; ++i)
      {
        const double x = static_cast<double>(i % grid.n[0]) * grid.spacing[0], y = static_cast<double>(i / grid.n[0] % grid.n[1]) * grid.spacing[1];
        const double z = static_cast<double>(i / grid.n[0] / grid.n[1]) * grid.spacing[2];
        u[i]           = 0.92 + amplitude * std::cos(M_PI * x) * std::cos(2. * M_PI * y) * std::cos(M_PI * z);
        u[n + i]       = 0.94 - amplitude * std::cos(2. * M_PI * x) * std::cos(M_PI * y);
      }
    return u;
  }

  inline StepperOptions fixed_steps(Backend backend, Scheme scheme, double dt)
  {
    StepperOptions options;
    options.backend                        = backend;
    options.n_threads                      = 3;
    options.kinetics.gamma                 = 50.;
    options.stepping.scheme                = scheme;
    options.stepping.error_controlled      = false;
    options.stepping.step_size             = dt;
    options.stepping.newton_tolerance      = 1e-10;
    options.stepping.newton_error_fraction = 0.; // results are compared to more digits than steps have
    return options;
  }

  /** @param domain a NodeGrid or a MeshLaplacian. */
  template <typename Domain>
  Vector solution_at(const Domain &domain, const StepperOptions &options, const Vector &initial, double time, Totals *totals = nullptr)
  {
    Stepper stepper(domain, options);
    stepper.start(initial.data());
    const double slack = options.stepping.error_controlled ? 1e-12 * time : 0.5 * options.stepping.step_size;
    EXPECT_EQ(stepper.advance(time, 10000000, slack), StopReason::time_reached);
    EXPECT_NEAR(stepper.time(), time, options.stepping.error_controlled ? 1e-10 : 1e-9 * time);
    EXPECT_LE(stepper.totals().worst_reduction, 1.);
    EXPECT_GE(stepper.totals().newton_steps, stepper.totals().steps) << "every step does at least one Newton step";
    if (totals != nullptr)
      *totals = stepper.totals();
    Vector u(initial.size());
    stepper.solution(u.data());
    return u;
  }

  /** The same with fixed steps by two steppers, of which the second goes on where the first has stopped. */
  template <typename Domain>
  Vector resumed_solution_at(const Domain &domain, const StepperOptions &options, const Vector &initial, double stop, double time)
  {
    const double slack = 0.5 * options.stepping.step_size;
    Stepper      first(domain, options), second(domain, options);
    first.start(initial.data());
    EXPECT_EQ(first.advance(stop, 1000, slack), StopReason::time_reached);
    std::vector<Vector> solutions(first.state().step_sizes.size() + 1, Vector(initial.size()));
    for (std::size_t l = 0; l < solutions.size(); ++l)
      first.solution(solutions[l].data(), static_cast<int>(l));
    second.resume(first.state(), solutions);
    EXPECT_EQ(second.advance(time, 1000, slack), StopReason::time_reached);
    Vector u(initial.size());
    second.solution(u.data());
    return u;
  }

  /**
   * A run that stops after 7 of 20 steps, and another one that has its solutions and goes on, end as one that does not
   * stop.
   */
  template <typename Domain>
  void expect_that_a_resumed_run_goes_on(const Domain &domain, const StepperOptions &options, const Vector &initial, double bound)
  {
    const int scheme = static_cast<int>(options.stepping.scheme);
    Stepper   whole(domain, options), first(domain, options), second(domain, options);
    whole.start(initial.data());
    whole.advance(1., 20, 0.);
    first.start(initial.data());
    first.advance(1., 7, 0.);
    const Stepper::State state = first.state();
    std::vector<Vector>  solutions(state.step_sizes.size() + 1, Vector(initial.size()));
    EXPECT_EQ(static_cast<int>(solutions.size()), levels_kept(options.stepping.scheme)) << "scheme " << scheme;
    for (std::size_t l = 0; l < solutions.size(); ++l)
      first.solution(solutions[l].data(), static_cast<int>(l));
    second.resume(state, solutions);
    second.advance(1., 13, 0.);
    Vector a(initial.size()), b(initial.size());
    whole.solution(a.data());
    second.solution(b.data());
    EXPECT_EQ(second.step_number(), 20) << "scheme " << scheme;
    EXPECT_NEAR(second.time(), whole.time(), 1e-7 * whole.time()) << "scheme " << scheme;
    EXPECT_LT(largest_difference(a, b), bound) << "scheme " << scheme;
  }

  /** All schemes but for the exponential one, which has tests of its own. */
  inline std::vector<Scheme> multistep_schemes()
  {
    std::vector<Scheme> result;
    for (const auto &[scheme, name, meaning] : schemes)
      if (!is_exponential(scheme))
        result.push_back(scheme);
    return result;
  }

  /**
   * With fixed steps of the scheme's full order from the first one on. @param exact solutions at multiples of the step.
   */
  template <typename Domain, typename Exact>
  Vector solution_of_full_order(const Domain &domain, const StepperOptions &options, const Exact &exact, double time)
  {
    const double        dt = options.stepping.step_size;
    const int           n  = levels_kept(options.stepping.scheme);
    Stepper::State      state{n - 1, (n - 1) * dt, dt, Vector(n - 1, dt)};
    std::vector<Vector> solutions;
    for (int l = 0; l < n; ++l)
      solutions.push_back(exact(n - 1 - l));
    Stepper stepper(domain, options);
    stepper.resume(state, solutions);
    EXPECT_EQ(stepper.advance(time, 1000000, 0.5 * dt), StopReason::time_reached);
    EXPECT_EQ(stepper.last_step().order, order_of(options.stepping.scheme));
    Vector u(solutions[0].size());
    stepper.solution(u.data());
    return u;
  }

  /** Writes tapes by hand. Constants come first, then operations, then outputs. */
  struct TapeWriter
  {
    TapeWriter(unsigned int n_inputs, const std::vector<double> &constants)
    {
      tape.n_inputs  = n_inputs;
      tape.constants = constants;
    }
    std::uint16_t constant(unsigned int i) const { return static_cast<std::uint16_t>(tape.n_inputs + i); }
    std::uint16_t apply(Operation operation, std::uint16_t a, std::uint16_t b)
    {
      tape.instructions.push_back({operation, a, b});
      return static_cast<std::uint16_t>(tape.n_registers() - 1);
    }
    std::uint16_t add(std::uint16_t a, std::uint16_t b) { return apply(Operation::add, a, b); }
    std::uint16_t minus(std::uint16_t a, std::uint16_t b) { return apply(Operation::subtract, a, b); }
    std::uint16_t times(std::uint16_t a, std::uint16_t b) { return apply(Operation::multiply, a, b); }
    std::uint16_t negate(std::uint16_t a) { return apply(Operation::negate, a, a); }

    ExpressionTape tape;
  };

  /** Logistic growth of n species that do not see each other, u (1 - u). */
  inline ExpressionTape logistic(std::uint16_t n)
  {
    TapeWriter w(n, {1., 2., 0.});
    for (std::uint16_t c = 0; c < n; ++c)
      w.tape.outputs.push_back(w.times(c, w.minus(w.constant(0), c)));
    for (std::uint16_t c = 0; c < n; ++c)
      for (std::uint16_t d = 0; d < n; ++d)
        w.tape.outputs.push_back(c == d ? w.minus(w.constant(0), w.times(w.constant(1), c)) : w.constant(2));
    return w.tape;
  }
} // namespace leopard::reaction_diffusion
