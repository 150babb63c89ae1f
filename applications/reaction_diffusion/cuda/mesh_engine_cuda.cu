// SPDX-License-Identifier: Apache-2.0
#include "block_sums.cuh"
#include "graph_engine.cuh"
#include "mesh_rows.cuh"

#include <applications/reaction_diffusion/mesh/mesh_ghosts.h>
#include <applications/reaction_diffusion/mesh/mesh_hierarchy.h>
#include <solvers/base/errors.h>
#include <solvers/multigrid/cycle.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /**
     * A mesh of any kind as the domain of a GraphEngine, with any number of fields. Long steps are solved by GCR with
     * cycles as preconditioner.
     */
    template <typename Kinetics>
    class DeviceMesh : public TimeLoopKernels
    {
      static constexpr int N = Kinetics::n_species;

    public:
      static constexpr bool        has_spare  = false;
      static constexpr const char *level_name = "levels";

      /** @param meshes as make_levels() makes them. @param ranks null: one rank. @param noise_ null: none. */
      DeviceMesh(const std::vector<MeshLevel> &meshes,
                 const StepperOptions         &options,
                 const NodeSystem<Kinetics>   &system_,
                 bool                          with_multigrid,
                 GraphState                   *state,
                 const MeshRanks              *ranks,
                 const DeviceNoise<N>         *noise_)
        : system(system_)
        , noise(noise_)
        , n_old(levels_kept(options.stepping.scheme))
        , local_iterations(options.local_iterations)
        , cycle_type(options.cycle)
        , levels(make_device_levels(meshes, state, ranks))
        , fine(*levels[0])
        , view(fine.view)
        , n_parts(std::min(view.n_blocks, 8 * device::n_multiprocessors()))
        , directions(std::vector<float2>(with_multigrid ? 2 * max_directions * fine.n_pairs : 0, float2{0.f, 0.f}))
        , sums(n_parts, ranks)
        , gcr(n_parts, ranks, reinterpret_cast<float2 *>(view.u), directions.data(), fine.n_pairs)
        , entries(static_cast<std::size_t>(N) * view.n)
      {
        view.d     = fine.view.u; // the solution; what cycles find for a residual is fine.view.d
        view.parts = sums.blocks();
        // GCR's kernels see the rank's own part of a vector as a line of pairs; where N n is odd, the second entry of
        // the last pair belongs to a ghost, and is zero in residuals
        LevelView vectors{};
        vectors.n[0] = static_cast<int>((entries.size() + 1) / 2);
        vectors.n[1] = vectors.n[2] = 1;
        vectors.line = vectors.plane = vectors.n[0];
        vectors.rhs                  = reinterpret_cast<float2 *>(view.rhs);
        vectors.d                    = reinterpret_cast<float2 *>(fine.view.d);
        gcr.set_level(vectors);
      }

      void connect()
      {
        for (const auto &level : levels)
          level->ghosts.connect(N);
      }

      std::size_t n_values() const { return fine.n_values; }
      std::size_t first_value() const { return 0; }
      std::size_t n_levels() const { return levels.size(); }
      std::string blocks() const { return std::to_string(view.n_blocks) + " blocks of up to " + std::to_string(mesh_threads) + " nodes of a mesh"; }

      bool set_values(double *values, const double *u)
      {
        for (std::size_t e = 0; e < entries.size(); ++e)
          entries[e] = u[place_of(e)];
        device::copy_to_device(values, entries.data(), entries.size() * sizeof(double));
        return false;
      }
      void get_values(const double *values, double *u) const
      {
        device::copy_to_host(entries.data(), values, entries.size() * sizeof(double));
        for (std::size_t e = 0; e < entries.size(); ++e)
          u[place_of(e)] = entries[e];
      }

      void predict(cudaStream_t stream) override
      {
        if (noise != nullptr)
          noise->set(stream, view.state, {view.n, N, 1, view.row});
        evaluate<true>(stream);
      }
      void correct(cudaStream_t stream) override { evaluate<false>(stream); }

      void begin_sweeps(cudaStream_t stream) override { LEOPARD_CHECK(cudaMemsetAsync(view.d, 0, fine.n_values * sizeof(float), stream)); }

      void sweep(cudaStream_t stream, int position) override
      {
        relax_mesh<Kinetics><<<view.n_blocks, mesh_threads, 0, stream>>>(view, system, position, local_iterations, false);
        fine.ghosts.update_between_sweeps(view.d, position);
      }

      bool has_cycles() const override { return directions.size() > 0; }

      void begin_cycles(cudaStream_t stream, Condition more) override
      {
        linearize(stream);
        gcr.begin(stream, view.state, more);
      }

      void cycle(cudaStream_t stream, Condition more) override
      {
        Parts parts{*this, stream};
        parts.set_zero(static_cast<int>(levels.size()) - 1);
        multigrid_cycle(parts, static_cast<int>(levels.size()) - 1, cycle_type);
        gcr.iterate(stream, view.state, more, [&] {
          multiply_mesh_direction<Kinetics>
            <<<n_parts, mesh_threads, 0, stream>>>(view, system, reinterpret_cast<const float *>(gcr.vectors().level.d), gcr.vectors());
        });
      }

      /** The sums of all ranks. */
      void end_action(cudaStream_t stream) override { sums.gather(stream); }

    private:
      /** As many levels as there are: where three are kept, kernels have no registers for a fourth. */
      template <bool predicting>
      void evaluate(cudaStream_t stream) const
      {
        if (n_old == max_levels)
          evaluate_with<predicting, max_levels>(stream);
        else
          evaluate_with<predicting, max_levels - 1>(stream);
      }

      template <bool predicting, int n>
      void evaluate_with(cudaStream_t stream) const
      {
        update_mesh<Kinetics, predicting, n><<<n_parts, grid_threads, 0, stream>>>(view);
        fine.ghosts.update_at(&view.state->newest);
        evaluate_mesh<Kinetics, n><<<n_parts, mesh_threads, 0, stream>>>(view, system);
      }

      /** Where the caller's arrays have an entry: field by field. */
      std::size_t place_of(std::size_t entry) const { return entry % N * static_cast<std::size_t>(view.n) + fine.rows.old_node[entry / N]; }

      struct Transfer
      {
        Transfer() = default;
        explicit Transfer(const CrsMatrix<double> &A)
          : offsets(A.row_offsets)
          , columns(A.columns)
          , values(std::vector<float>(A.values.begin(), A.values.end()))
          , n_rows(A.n_rows)
        {
        }
        TransferView view() const { return {n_rows, lanes(), offsets.data(), columns.data(), values.data()}; }
        int          n_blocks() const { return view().n_blocks(); }

        /** As many that a thread has the loads of its entries on their way at once, a warp at most. */
        int lanes() const
        {
          int result = 1;
          while (result < 32 && static_cast<std::size_t>(result) * entries_at_once * n_rows < values.size())
            result *= 2;
          return result;
        }

        device::Array<int>   offsets, columns;
        device::Array<float> values;
        int                  n_rows = 0;
      };

      /** A level in device memory. */
      struct Level
      {
        /** @param finer null: the finest one. */
        Level(const MeshLevel &level, const MeshLevel *finer_level, const Level *finer, GraphState *state, const MeshRanks *ranks)
          : rows(level.mesh)
          , ghosts(level.part.in_order(rows.old_node), ranks)
          , n_all(level.n_all)
          , n_values(static_cast<std::size_t>(N) * level.mesh.matrix.n_columns)
          , n_pairs((n_values + 1) / 2)
          , vectors(std::vector<float2>(4 * n_pairs, float2{0.f, 0.f}))
          , blocks(static_cast<std::size_t>(2 * N * N) * level.mesh.n_nodes())
          , view(rows.view(state))
        {
          if (finer != nullptr)
            {
              restriction  = Transfer(permute(finer_level->restriction, rows.old_node, finer->rows.old_node));
              prolongation = Transfer(permute(finer_level->prolongation, finer->rows.old_node, rows.old_node));
            }
          float **const pointers[] = {&view.rhs, &view.residual, &view.d, &view.u};
          for (int v = 0; v < 4; ++v)
            *pointers[v] = reinterpret_cast<float *>(vectors.data() + v * n_pairs);
          view.relaxation = blocks.data();
          view.reaction   = blocks.data() + static_cast<std::size_t>(N * N) * view.n;
        }

        MeshRows              rows;
        MeshGhosts            ghosts;
        int                   n_all;             ///< nodes of all ranks
        std::size_t           n_values, n_pairs; ///< of a vector, with the ghosts'
        device::Array<float2> vectors;           ///< of pairs, as GCR on the finest level wants them
        device::Array<float>  blocks;
        Transfer              restriction, prolongation; ///< from and to the next finer level
        MeshView              view;
      };

      static std::vector<std::unique_ptr<Level>> make_device_levels(const std::vector<MeshLevel> &meshes, GraphState *state, const MeshRanks *ranks)
      {
        std::vector<std::unique_ptr<Level>> result;
        for (std::size_t l = 0; l < meshes.size(); ++l)
          result.push_back(std::make_unique<Level>(meshes[l], l > 0 ? &meshes[l - 1] : nullptr, l > 0 ? result[l - 1].get() : nullptr, state, ranks));
        return result;
      }

      static constexpr int cycle_sweeps = 2; ///< in a block, before and behind

      /** What multigrid_cycle() asks for, as launches; its level 0 is the coarsest one. */
      struct Parts
      {
        const DeviceMesh  &mesh;
        const cudaStream_t stream;
        int                zero_level = -1; ///< whose d is to be taken for zero by the next sweeps

        const Level &at(int level) const { return *mesh.levels[mesh.levels.size() - 1 - level]; }

        void set_zero(int level) { zero_level = level; }
        void smooth_before(int level) { relax(level, cycle_sweeps); }
        void smooth_after(int level) { relax(level, cycle_sweeps); }

        void restrict_residual(int level) const
        {
          const Level       &fine = at(level), &coarse = at(level - 1);
          const TransferView R = coarse.restriction.view();
          compute_mesh_residual<Kinetics><<<fine.view.n_blocks, mesh_threads, 0, stream>>>(fine.view, mesh.system);
          fine.ghosts.update(fine.view.residual);
          restrict_mesh_residual<N><<<coarse.restriction.n_blocks(), mesh_threads, 0, stream>>>(fine.view, coarse.view, R);
          coarse.ghosts.gather(coarse.view.rhs);
        }

        void correct(int level) const
        {
          const Level       &fine = at(level), &coarse = at(level - 1);
          const TransferView P = coarse.prolongation.view();
          prolongate_mesh<N><<<coarse.prolongation.n_blocks(), mesh_threads, 0, stream>>>(coarse.view, fine.view, P);
          fine.ghosts.update(fine.view.d);
        }

        void solve_coarsest()
        {
          static_assert(most_coarse_nodes <= mesh_threads, "one block (a rank, if it is shared) has them: all sweeps in one launch");
          const bool small = at(0).n_all <= most_coarse_nodes;
          for (int i = 0; i < (small ? 1 : 2); ++i)
            relax(0, small ? coarse_level_sweeps : cycle_sweeps);
        }

      private:
        void relax(int level, int n_sweeps)
        {
          const MeshView &v = at(level).view;
          relax_mesh<Kinetics><<<v.n_blocks, mesh_threads, 0, stream>>>(v, mesh.system, -1, n_sweeps, std::exchange(zero_level, -1) == level);
          at(level).ghosts.update(v.d);
        }
      };

      static int n_blocks(int n) { return (n + mesh_threads - 1) / mesh_threads; }

      /** The Jacobian's stable part on the coarse levels. */
      void linearize(cudaStream_t stream) const
      {
        for (std::size_t l = 1; l < levels.size(); ++l)
          {
            const TransferView R  = levels[l]->restriction.view();
            const MeshView    &to = levels[l]->view;
            if (l == 1)
              restrict_mesh_solution<N, true><<<levels[l]->restriction.n_blocks(), mesh_threads, 0, stream>>>(fine.view, to, R);
            else
              restrict_mesh_solution<N, false><<<levels[l]->restriction.n_blocks(), mesh_threads, 0, stream>>>(levels[l - 1]->view, to, R);
            levels[l]->ghosts.gather(to.u);
            levels[l]->ghosts.update(to.u);
            linearize_mesh<Kinetics><<<n_blocks(to.n), mesh_threads, 0, stream>>>(to, system.without_noise());
          }
      }

      const NodeSystem<Kinetics>                system;
      const DeviceNoise<N> *const               noise; ///< or null
      const int                                 n_old; ///< old solutions that the scheme keeps
      const int                                 local_iterations;
      const CycleType                           cycle_type;
      const std::vector<std::unique_ptr<Level>> levels;
      Level                                    &fine;
      MeshView                                  view; ///< of the finest level, with the solution as d
      const int                                 n_parts;
      const device::Array<float2>               directions; ///< of GCR, and their images

    public:
      BlockSums<Sums, Sums::n> sums;

    private:
      GcrLaunches                 gcr;
      mutable std::vector<double> entries; ///< host memory: workspace for a solution
    };
  } // namespace

  std::unique_ptr<Engine> make_cuda_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks)
  {
    if (device::n_devices() == 0)
      device::throw_no_device("the backend is cuda", "the backend host");
    const bool                   with_multigrid = options.stepping.linear_method != LinearMethod::sweeps;
    const std::vector<MeshLevel> levels         = make_levels(mesh, with_multigrid, ranks.get());
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<GraphEngine<std::decay_t<decltype(kinetics)>, DeviceMesh>>(levels, options, kinetics, with_multigrid, ranks);
    });
  }
} // namespace leopard::reaction_diffusion
