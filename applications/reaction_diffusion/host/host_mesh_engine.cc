// SPDX-License-Identifier: Apache-2.0
#include "host_mesh_multigrid.h"

#include <applications/reaction_diffusion/engine.h>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** Meshes of any kind. */
    template <typename Kinetics>
    class HostMeshEngine : public Engine
    {
      static constexpr int N = Kinetics::n_species;

    public:
      /** @param levels as make_levels() makes them. @param ranks_ null: one rank. */
      HostMeshEngine(const std::vector<MeshLevel>     &levels,
                     const StepperOptions             &options_,
                     const Kinetics                   &kinetics,
                     const std::shared_ptr<MeshRanks> &ranks_)
        : ranks(ranks_)
        , options(options_)
        , system(make_node_system(kinetics, options_))
        , rows(levels[0], true, options.n_threads, ranks.get())
        , partial_sums(rows.n_blocks)
      {
        for (auto &slot : slots)
          slot.assign(rows.d.size(), 0.);
        if (has_multigrid())
          multigrid = std::make_unique<HostMeshMultigrid<Kinetics>>(levels, rows, options.n_threads, ranks.get());
      }

      void connect() override
      {
        rows.connect();
        if (multigrid != nullptr)
          multigrid->connect();
      }

      void set_slot(int slot, const double *u) override
      {
        rows.for_entries([&](long e, int /*b*/) { slots[slot][e] = u[place_of(e)]; });
      }
      void get_slot(int slot, double *u) const override
      {
        for (long e = 0; e < static_cast<long>(rows.n_nodes()) * N; ++e)
          u[place_of(e)] = slots[slot][e];
      }
      bool        has_multigrid() const override { return options.stepping.linear_method != LinearMethod::sweeps; }
      std::string description() const override
      {
        return (ranks != nullptr ? ranks->description() : "") + std::to_string(rows.scheduler.n_threads()) + " host threads, " +
               std::to_string(rows.n_blocks) + " blocks of up to " + std::to_string(HostRows<Kinetics>::nodes_per_block) + " nodes of a mesh, " +
               std::to_string(options.local_iterations) + " local sweeps, fields " + (options.fields_together ? "together" : "apart") +
               (has_multigrid() ? ", " + std::to_string(multigrid->n_levels()) + " levels" : "");
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
      using Scheme = typename NodeSystem<Kinetics>::Scheme;

      /** Where the caller's arrays have an entry: field by field. */
      long place_of(long entry) const { return entry % N * static_cast<long>(rows.old_node.size()) + rows.old_node[entry / N]; }

      void predict(const Controller &c)
      {
        double       *u   = slots[c.slot(-1)].data();
        const double *u_n = slots[c.slot(0)].data(), *u_o = slots[c.slot(1)].data(), *u_p = slots[c.slot(2)].data();
        const Scheme  scheme(c);
        rows.for_entries([&](long e, int /*b*/) { u[e] = scheme.predict(u_n + e, u_o + e, u_p + e); });
      }

      /** J d = -G, u += d. */
      void correct(Controller &c)
      {
        double *u = slots[c.slot(-1)].data();
        rows.clear();
        if (c.uses_multigrid)
          {
            multigrid->linearize(system, Scheme(c), u);
            c.n_cycles = multigrid->solve(system, c.implicit, c.reduction, c.n_cycles, [this] { look_for_stop(); });
          }
        else
          sweep(rows, system, c, options.local_iterations);
        rows.for_entries([&](long e, int /*b*/) { u[e] += rows.d[e]; });
      }

      /** G, the blocks of J and the sums at u. */
      Sums evaluate(const Controller &c)
      {
        rows.update_ghosts(slots[c.slot(-1)].data());
        const double *u = slots[c.slot(-1)].data(), *u_n = slots[c.slot(0)].data(), *u_o = slots[c.slot(1)].data(), *u_p = slots[c.slot(2)].data();
        const Scheme  scheme(c);
        std::fill(partial_sums.begin(), partial_sums.end(), Sums());
        rows.for_nodes([&](int i, int b) {
          const long first = static_cast<long>(i) * N;
          double     laplace[N], g[N];
          rows.sum_of_neighbours(i, u, laplace);
          for (int s = 0; s < N; ++s)
            laplace[s] -= rows.row[i].diagonal * u[first + s];
          double *const block = &rows.block[first * N];
          system.residual(scheme, u + first, u_n + first, u_o + first, u_p + first, laplace, rows.row[i], g, block, partial_sums[b]);
          double relaxed[N * N];
          if (c.uses_multigrid)
            system.stable_block(block, c.implicit, rows.row[i], relaxed);
          system.relaxation_matrix(c.uses_multigrid ? relaxed : block, c.implicit, rows.row[i], &rows.matrix[first * N]);
          for (int s = 0; s < N; ++s)
            rows.rhs[first + s] = -g[s];
        });
        return total_of(partial_sums, ranks.get());
      }

      const std::shared_ptr<MeshRanks>             ranks; ///< or null
      const StepperOptions                         options;
      const NodeSystem<Kinetics>                   system;
      HostRows<Kinetics>                           rows;
      std::unique_ptr<HostMeshMultigrid<Kinetics>> multigrid; ///< or null
      std::vector<double>                          slots[4];
      std::vector<Sums>                            partial_sums;
    };
  } // namespace

  std::unique_ptr<Engine> make_host_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks)
  {
    const std::vector<MeshLevel> levels = make_levels(mesh, options.stepping.linear_method != LinearMethod::sweeps, ranks.get());
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<HostMeshEngine<std::decay_t<decltype(kinetics)>>>(levels, options, kinetics, ranks);
    });
  }
} // namespace leopard::reaction_diffusion
