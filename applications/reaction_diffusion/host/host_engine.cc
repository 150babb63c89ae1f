// SPDX-License-Identifier: Apache-2.0
#include "host_multigrid.h"

#include <applications/reaction_diffusion/engine.h>

namespace leopard::reaction_diffusion
{
  namespace
  {
    template <typename Kinetics>
    class HostEngine : public Engine
    {
      static constexpr int N = Kinetics::n_species;
      using Scheme           = typename NodeSystem<Kinetics>::Scheme;

    public:
      HostEngine(const NodeGrid &grid, const StepperOptions &options_, const Kinetics &kinetics, std::shared_ptr<GridSlabs> slabs_)
        : options(options_)
        , system(make_node_system(kinetics, options_))
        , with_multigrid(options_.stepping.linear_method != LinearMethod::sweeps)
        , slabs(std::move(slabs_))
        , grids(make_levels(grid, with_multigrid))
      {
        for (const GridLevel &level : grids)
          levels.push_back(
            std::make_unique<HostLevel<Kinetics>>(level, levels.empty(), with_multigrid, options.n_threads, levels.empty() ? slabs.get() : nullptr));
        n         = levels[0]->n;
        first_own = static_cast<long>(levels[0]->first_line) * grid.n[0];
        n_own     = static_cast<long>(levels[0]->n_lines) * grid.n[0];
        for (auto &slot : slots)
          slot.assign(N * n, 0.);
        partial_sums.resize(levels[0]->n_pieces());
      }

      void set_slot(int slot, const double *u) override
      {
        for (int c = 0; c < N; ++c)
          std::copy_n(u + c * n_own, n_own, slots[slot].begin() + c * n + first_own);
        if (with_multigrid)
          {
            const double rate = system.largest_rate(u, n_own);
            multigrid.set_coarsest(coarsest_level(grids, system.smallest_diffusion(), 1.5 * (slabs != nullptr ? slabs->max(rate) : rate)), levels);
          }
      }
      void get_slot(int slot, double *u) const override
      {
        for (int c = 0; c < N; ++c)
          std::copy_n(slots[slot].begin() + c * n + first_own, n_own, u + c * n_own);
      }
      bool has_multigrid() const override { return with_multigrid; }

      std::string description() const override
      {
        const HostLevel<Kinetics> &fine = *levels[0];
        return (slabs != nullptr ? slabs->description() : "") + std::to_string(fine.scheduler.n_threads()) + " host threads, " +
               std::to_string(fine.n_blocks) + " blocks of " + std::to_string(fine.lines_per_block) + " lines, " +
               std::to_string(options.local_iterations) + " local sweeps, fields " + (options.fields_together ? "together" : "apart") +
               (with_multigrid ? ", " + std::to_string(levels.size()) + " grids" : "");
      }

      void run(Controller &c) override
      {
        c.run([&](Action action) {
          look_for_stop();
          if (action == Action::predict)
            predict(c);
          else
            correct(c);
          return evaluate(c);
        });
      }

    private:
      void predict(const Controller &c)
      {
        double       *u   = slots[c.slot(-1)].data();
        const double *u_n = slots[c.slot(0)].data(), *u_o = slots[c.slot(1)].data(), *u_p = slots[c.slot(2)].data();
        const Scheme  scheme(c);
        levels[0]->for_entries([&](long i, int /*b*/) { u[i] = scheme.predict(u_n + i, u_o + i, u_p + i); });
      }

      /** J d = -G, u += d. */
      void correct(Controller &c)
      {
        HostLevel<Kinetics> &fine = *levels[0];
        double              *u    = slots[c.slot(-1)].data();
        fine.clear();
        if (c.uses_multigrid)
          {
            linearize_coarse_levels(c);
            c.n_cycles = multigrid.solve(system, c.implicit, levels, c.reduction, c.n_cycles, [this] { look_for_stop(); });
          }
        else
          sweep(fine, system, c, options.local_iterations);
        fine.for_entries([&](long i, int /*b*/) { u[i] += fine.d[i]; });
      }

      /** G, the blocks of J and the sums at u. */
      Sums evaluate(const Controller &c)
      {
        HostLevel<Kinetics> &fine = *levels[0];
        const Scheme         scheme(c);
        fine.update_ghosts(slots[c.slot(-1)].data());
        std::fill(partial_sums.begin(), partial_sums.end(), Sums());
        fine.for_lines([&](int line, int b) { evaluate_line(c, scheme, line, partial_sums[b]); });
        return total_of(partial_sums, slabs.get());
      }

      void evaluate_line(const Controller &c, const Scheme &scheme, int line, Sums &sums)
      {
        HostLevel<Kinetics> &fine = *levels[0];
        const Line           l(fine.grid, line);
        const Axis          &axis = fine.grid.axis[0];
        const double        *u    = slots[c.slot(-1)].data();
        const double        *old[3];
        for (int level = 0; level < 3; ++level)
          old[level] = slots[c.slot(level)].data();
        for (int x = 0; x < fine.grid.n[0]; ++x)
          {
            const long   i        = l.begin + x;
            const double diagonal = l.diagonal + axis.lower[x] + axis.upper[x];
            double       here[N], levels_here[3][N], laplace[N], g[N], block[N * N], matrix[N * N];
            for (int s = 0; s < N; ++s)
              {
                here[s]    = u[s * n + i];
                laplace[s] = fine.sum_at(l, u + s * n + i, x, axis.lower[x], axis.upper[x]) - diagonal * here[s];
                for (int level = 0; level < 3; ++level)
                  levels_here[level][s] = old[level][s * n + i];
              }
            system.residual(
              scheme, here, levels_here[0], levels_here[1], levels_here[2], laplace, NodeRow{diagonal, l.weight * axis.weight[x]}, g, block, sums);
            system.relaxation_matrix(block, matrix);
            for (int s = 0; s < N; ++s)
              fine.rhs[s * n + i] = -g[s];
            for (int e = 0; e < N * N; ++e)
              fine.matrix[e * n + i] = matrix[e];
            if (c.uses_multigrid)
              for (int e = 0; e < N * N; ++e)
                fine.block[e * n + i] = block[e];
          }
      }

      /** The Jacobian on the coarse grids, see restrict_reaction(). */
      void linearize_coarse_levels(const Controller &c)
      {
        for (std::size_t l = 1; l <= multigrid.coarsest; ++l)
          {
            HostLevel<Kinetics> &level = *levels[l];
            HostMultigrid<Kinetics>::restrict_reaction(system, c.implicit, level, *levels[l - 1]);
            level.for_lines([&](int line, int /*b*/) {
              const Line  line_here(level.grid, line);
              const Axis &axis = level.grid.axis[0];
              for (int x = 0; x < level.grid.n[0]; ++x)
                {
                  const long   i        = line_here.begin + x;
                  const double diagonal = line_here.diagonal + axis.lower[x] + axis.upper[x];
                  double       block[N * N], matrix[N * N];
                  for (int e = 0; e < N * N; ++e)
                    {
                      double &entry = level.block[e * level.n + i];
                      entry += e % (N + 1) == 0 ? c.implicit * system.diffusion[e / (N + 1)] * diagonal : 0.;
                      block[e] = entry;
                    }
                  system.relaxation_matrix(block, matrix);
                  for (int e = 0; e < N * N; ++e)
                    level.matrix[e * level.n + i] = matrix[e];
                }
            });
          }
      }

      const StepperOptions                              options;
      const NodeSystem<Kinetics>                        system;
      const bool                                        with_multigrid;
      const std::shared_ptr<GridSlabs>                  slabs; ///< or null
      const std::vector<GridLevel>                      grids;
      std::vector<std::unique_ptr<HostLevel<Kinetics>>> levels;
      HostMultigrid<Kinetics>                           multigrid;
      std::vector<double>                               slots[4];
      std::vector<Sums>                                 partial_sums;
      long                                              n, first_own, n_own; ///< nodes with the neighbours', the first own one, own ones
    };
  } // namespace

  std::unique_ptr<Engine> make_host_engine(const NodeGrid &grid, const StepperOptions &options, const std::shared_ptr<GridSlabs> &slabs)
  {
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<HostEngine<std::decay_t<decltype(kinetics)>>>(grid, options, kinetics, slabs);
    });
  }
} // namespace leopard::reaction_diffusion
