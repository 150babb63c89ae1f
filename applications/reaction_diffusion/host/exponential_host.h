// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/exponential_engine.h>
#include <applications/reaction_diffusion/host/mode_transform.h>
#include <solvers/base/thread_pool.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * Exponential steps in host memory. @tparam Modes has eigenvalue, to_modes(f, n_fields), from_modes(f, n_fields): a
   * ModeTransform or DenseModes.
   */
  template <typename Kinetics, typename Modes>
  class ExponentialHost : public ExponentialEngine<Kinetics::n_species>
  {
    static constexpr int N = Kinetics::n_species;
    using Base             = ExponentialEngine<N>;
    using Step             = ExponentialStep<N>;
    using typename Base::Jacobian;

  public:
    ExponentialHost(std::unique_ptr<Modes>      modes_,
                    std::shared_ptr<ThreadPool> pool_,
                    const StepperOptions       &options,
                    const Kinetics             &kinetics,
                    const std::string          &description_)
      : modes(std::move(modes_))
      , pool(std::move(pool_))
      , nodes{kinetics, options.kinetics.gamma}
      , diffusion(options.diffusion)
      , words(description_)
      , n(static_cast<long>(modes->eigenvalue.size()))
      , matrices(Step::n_matrices * N * N * n)
      , work(N * n)
      , parts(pool->size())
      , derivatives(pool->size())
    {
      values = in_modes = rates = Engine::make_slots(options.stepping.scheme, N * n);
      for (std::vector<double> &of_stage : stage_rates)
        of_stage.resize(N * n);
    }

    void set_slot(int slot, const double *u) override
    {
      values[slot].assign(u, u + N * n);
      Base::forget(slot);
    }
    void        get_slot(int slot, double *u) const override { std::copy(values[slot].begin(), values[slot].end(), u); }
    std::string description() const override { return words; }

  protected:
    double n_nodes() const override { return static_cast<double>(n); }

    void to_modes(int slot, const Jacobian &jacobian) override
    {
      in_modes[slot] = values[slot];
      modes->to_modes(in_modes[slot].data(), N);
      rate(jacobian, values[slot], Base::now, rates[slot]);
    }

    std::array<double, N * N + 1> sum_derivatives(int slot) const override
    {
      const double *u = values[slot].data();
      for (DerivativesOfPart &part : derivatives)
        part.sums.fill(0.);
      for_pieces([&](long begin, long end, int piece) {
        for (long i = begin; i < end; ++i)
          {
            double here[N];
            for (int c = 0; c < N; ++c)
              here[c] = u[c * n + i];
            nodes.add_jacobian(here, {static_cast<int>(i), Base::now}, derivatives[piece].sums.data());
          }
      });
      std::array<double, N *N + 1> result = {};
      for (const DerivativesOfPart &part : derivatives)
        for (int e = 0; e <= N * N; ++e)
          result[e] += part.sums[e];
      return result;
    }

    void set_up(double dt, const Jacobian &jacobian_) override
    {
      jacobian = jacobian_;
      for_pieces([&](long begin, long end, int /*piece*/) {
        for (long i = begin; i < end; ++i)
          Step::set_up(dt, jacobian.data(), diffusion.data(), modes->eigenvalue[i], matrices.data() + i, n);
      });
    }

    void change_jacobian(int slot, const Jacobian &difference) override
    {
      for_modes([&](const typename Step::Mode &mode) { Step::change_jacobian(mode, difference.data(), in_modes[slot].data(), rates[slot].data()); });
    }

    Sums attempt(int from, int to, double dt, double last, double rms) override
    {
      const double        *u     = in_modes[from].data();
      const double        *older = rates[3 - from - to].data(); // of the third slot
      typename Step::Rates g{{rates[from].data(), stage_rates[0].data(), stage_rates[1].data(), stage_rates[2].data()}};
      for (int s = 0; s < Step::n_stages; ++s)
        {
          for_modes([&](const typename Step::Mode &mode) { Step::stage(s, mode, dt, u, g, work.data()); });
          modes->from_modes(work.data(), N);
          rate(jacobian, work, Base::now + Step::fraction(s) * dt, stage_rates[s]);
          Base::look_for_stop();
        }
      for_modes([&](const typename Step::Mode &mode) { Step::finish(mode, dt, u, g, in_modes[to].data()); });
      values[to] = in_modes[to];
      modes->from_modes(values[to].data(), N);
      rate(jacobian, values[to], Base::now + dt, rates[to]);
      for_modes([&](const typename Step::Mode &mode) { Step::error(mode, dt, last, g, older, rates[to].data(), work.data()); });
      modes->from_modes(work.data(), N);
      return sums(rms, values[from], values[to]);
    }

  private:
    /** f(begin, end, piece): a piece of the nodes or modes for each thread that is worth waking. */
    template <typename F>
    void for_pieces(const F &f) const
    {
      const int n_pieces = static_cast<int>(std::clamp(n / ModeTransform::nodes_a_part, 1l, static_cast<long>(pool->size())));
      if (n_pieces == 1)
        return f(0l, n, 0);
      const auto work_of = [&](int piece) { f(n * piece / n_pieces, n * (piece + 1) / n_pieces, piece); };
      pool->run(std::cref(work_of), n_pieces); // by reference, so that nothing is allocated
    }

    template <typename F>
    void for_modes(const F &f) const
    {
      for_pieces([&](long begin, long end, int /*piece*/) {
        for (long i = begin; i < end; ++i)
          f(typename Step::Mode{matrices.data(), n, i});
      });
    }

    /** g(u) at a time in modes. */
    void rate(const Jacobian &of, const std::vector<double> &u, double time, std::vector<double> &g) const
    {
      for_pieces([&](long begin, long end, int /*piece*/) {
        for (long i = begin; i < end; ++i)
          {
            double here[N], rates_here[N];
            for (int c = 0; c < N; ++c)
              here[c] = u[c * n + i];
            nodes.rate(of.data(), here, {static_cast<int>(i), time}, rates_here);
            for (int c = 0; c < N; ++c)
              g[c * n + i] = rates_here[c];
          }
      });
      modes->to_modes(g.data(), N);
    }

    Sums sums(double rms, const std::vector<double> &old, const std::vector<double> &u)
    {
      std::fill(parts.begin(), parts.end(), SumsOfPart());
      for_pieces([&](long begin, long end, int piece) {
        for (int c = 0; c < N; ++c)
          for (long i = c * n + begin; i < c * n + end; ++i)
            add_sums_of_step(rms, old[i], u[i], work[i], parts[piece].sums);
      });
      Sums result;
      for (const SumsOfPart &part : parts)
        result.add(part.sums);
      return result;
    }

    struct alignas(64) SumsOfPart // a cache line of its own
    {
      Sums sums;
    };
    struct alignas(64) DerivativesOfPart
    {
      std::array<double, N * N + 1> sums;
    };

    const std::unique_ptr<Modes>           modes;
    const std::shared_ptr<ThreadPool>      pool;
    const ExponentialNodes<Kinetics>       nodes;
    const std::vector<double>              diffusion;
    const std::string                      words;
    const long                             n;
    std::vector<double>                    matrices;
    std::vector<double>                    work; ///< a stage's fields, then the error
    Engine::Slots                          values, in_modes, rates;
    std::vector<double>                    stage_rates[Step::n_stages];
    Jacobian                               jacobian = {};
    std::vector<SumsOfPart>                parts;
    mutable std::vector<DerivativesOfPart> derivatives;
  };
} // namespace leopard::reaction_diffusion
