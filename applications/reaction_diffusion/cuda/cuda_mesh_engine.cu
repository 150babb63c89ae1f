// SPDX-License-Identifier: Apache-2.0
#include "block_sums.cuh"
#include "mesh_multigrid.cuh"
#include "time_loop_graph.cuh"

#include <applications/reaction_diffusion/engine.h>
#include <applications/reaction_diffusion/kinetics/kinetics_on_device.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <array>
#include <vector>

namespace leopard::reaction_diffusion
{
  namespace
  {
    static_assert(iterations_a_turn % waited_exchange_interval == 0);

    /** Meshes of any kind, any number of fields. Long steps are solved by GCR with V-cycles as preconditioner. */
    template <typename Kinetics>
    class MeshEngine : public Engine, private TimeLoopKernels
    {
      static constexpr int N = Kinetics::n_species;

    public:
      /** @param levels as make_levels() makes them. @param ranks_ null: one rank. */
      MeshEngine(const std::vector<MeshLevel>     &levels,
                 const StepperOptions             &options_,
                 const Kinetics                   &kinetics,
                 const std::shared_ptr<MeshRanks> &ranks_)
        : ranks(ranks_)
        , options(options_)
        , on_device(kinetics)
        , system(make_node_system(on_device.kinetics, options_))
        , n(levels[0].mesh.n_nodes())
        , n_values(static_cast<std::size_t>(N) * levels[0].mesh.matrix.n_columns)
        , mesh(levels[0].mesh)
        , n_pairs((n_values + 1) / 2)
        , n_parts(std::min(static_cast<int>(mesh.offsets.size()) - 1, 8 * device::n_multiprocessors()))
        , state(1)
        , ghosts(levels[0].part.in_order(mesh.old_node), ranks.get())
        , pairs(std::vector<float2>(n_pairs * (4 + (has_multigrid() ? 2 * max_directions : 0)), float2{0.f, 0.f}))
        , blocks(static_cast<std::size_t>(2 * N * N) * n)
        , sums(n_parts, ranks.get())
        , gcr_sums(n_parts, ranks.get())
        , entries(static_cast<std::size_t>(N) * n)
      {
        GraphState initial{};
        for (std::size_t f = 0; f < fields.size(); ++f)
          {
            fields[f]        = device::Array<double>(std::vector<double>(n_values, 0.));
            initial.slots[f] = fields[f].data();
          }
        device::copy_to_device(state.data(), &initial, sizeof(GraphState));
        float2 *const solution = pairs.data(), *const rhs = solution + n_pairs, *const residual = rhs + n_pairs, *const d = residual + n_pairs;
        view            = mesh.view(state.data());
        view.d          = reinterpret_cast<float *>(solution);
        view.rhs        = reinterpret_cast<float *>(rhs);
        view.residual   = reinterpret_cast<float *>(residual);
        view.relaxation = blocks.data();
        view.reaction   = blocks.data() + static_cast<std::size_t>(N * N) * n;
        view.parts      = sums.blocks();
        // GCR's kernels see the rank's own part of a vector as a line of pairs; where N n is odd, the second entry of
        // the last pair belongs to a ghost, and is zero in residuals
        vectors.n[0] = static_cast<int>((entries.size() + 1) / 2);
        vectors.n[1] = vectors.n[2] = 1;
        vectors.line = vectors.plane = vectors.n[0];
        vectors.rhs                  = rhs;
        vectors.d                    = d;
        gcr                          = {solution, d + n_pairs, d + (1 + max_directions) * n_pairs, n_pairs, gcr_sums.blocks()};
        if (has_multigrid())
          {
            MeshView preconditioned = view;
            preconditioned.d        = reinterpret_cast<float *>(d);
            multigrid               = std::make_unique<MeshMultigrid<Kinetics>>(levels, system, preconditioned, mesh.old_node, ghosts, ranks.get());
          }
        device::synchronize();
      }

      void connect() override
      {
        ghosts.connect(N);
        if (multigrid != nullptr)
          multigrid->connect();
      }

      void set_slot(int slot, const double *u) override
      {
        for (std::size_t e = 0; e < entries.size(); ++e)
          entries[e] = u[place_of(e)];
        device::copy_to_device(fields[slot].data(), entries.data(), entries.size() * sizeof(double));
      }
      void get_slot(int slot, double *u) const override
      {
        device::copy_to_host(entries.data(), fields[slot].data(), entries.size() * sizeof(double));
        for (std::size_t e = 0; e < entries.size(); ++e)
          u[place_of(e)] = entries[e];
      }
      bool        has_multigrid() const override { return options.stepping.linear_method != LinearMethod::sweeps; }
      double      smallest_reduction() const override { return 3e-6; } // corrections are floats
      std::string description() const override
      {
        return (ranks != nullptr ? ranks->description() : "") + std::to_string(view.n_blocks) + " blocks of up to " + std::to_string(mesh_threads) +
               " nodes of a mesh, " + std::to_string(options.local_iterations) + " local sweeps, the time loop a CUDA graph, fields " +
               (options.fields_together ? "together" : "apart") + (has_multigrid() ? ", " + std::to_string(multigrid->n_levels()) + " levels" : "") +
               ", corrections in single precision";
      }

      void run(Controller &c) override
      {
        if (!loop.exists())
          loop.make(*this, state.data(), options.local_iterations, sums.parts(), sums.n_parts());
        loop.run(c, state.data());
      }

    private:
      /** Where the caller's arrays have an entry: field by field. */
      std::size_t place_of(std::size_t entry) const { return entry % N * static_cast<std::size_t>(n) + mesh.old_node[entry / N]; }

      void predict(cudaStream_t stream) override
      {
        update_mesh<Kinetics, true><<<n_parts, grid_threads, 0, stream>>>(view);
        ghosts.update_at(&state.data()->newest);
        evaluate_mesh<Kinetics><<<n_parts, mesh_threads, 0, stream>>>(view, system);
      }

      void correct(cudaStream_t stream) override
      {
        update_mesh<Kinetics, false><<<n_parts, grid_threads, 0, stream>>>(view);
        ghosts.update_at(&state.data()->newest);
        evaluate_mesh<Kinetics><<<n_parts, mesh_threads, 0, stream>>>(view, system);
      }

      void begin_sweeps(cudaStream_t stream) override { LEOPARD_CHECK(cudaMemsetAsync(view.d, 0, n_values * sizeof(float), stream)); }

      void sweep(cudaStream_t stream, int position) override
      {
        relax_mesh<Kinetics><<<view.n_blocks, mesh_threads, 0, stream>>>(view, system, position, options.local_iterations, false);
        if (position % waited_exchange_interval == waited_exchange_interval - 1)
          ghosts.update(view.d);
        else
          ghosts.update_loosely(view.d, position % waited_exchange_interval == 0);
      }

      bool has_cycles() const override { return has_multigrid(); }

      void begin_cycles(cudaStream_t stream, cudaGraphConditionalHandle more) override
      {
        multigrid->linearize(stream);
        begin_gcr<0><<<n_parts, grid_threads, 0, stream>>>(vectors, gcr);
        gcr_sums.gather(stream);
        set_goal<0><<<1, grid_threads, 0, stream>>>(state.data(), gcr_sums.parts(), gcr_sums.n_parts(), more);
      }

      void cycle(cudaStream_t stream, cudaGraphConditionalHandle more) override
      {
        multigrid->cycle(stream);
        multiply_mesh_direction<Kinetics><<<n_parts, mesh_threads, 0, stream>>>(view, system, reinterpret_cast<float *>(vectors.d), gcr);
        gcr_sums.gather(stream);
        find_components<0><<<1, grid_threads, 0, stream>>>(state.data(), gcr_sums.parts(), gcr_sums.n_parts());
        orthogonalize_direction<0><<<n_parts, grid_threads, 0, stream>>>(vectors, state.data(), gcr);
        gcr_sums.gather(stream);
        find_step<0><<<1, grid_threads, 0, stream>>>(state.data(), gcr_sums.parts(), gcr_sums.n_parts());
        follow_direction<0><<<n_parts, grid_threads, 0, stream>>>(vectors, state.data(), gcr);
        gcr_sums.gather(stream);
        count_cycle<0><<<1, grid_threads, 0, stream>>>(state.data(), gcr_sums.parts(), gcr_sums.n_parts(), more);
      }

      /** The sums of all ranks. */
      void end_action(cudaStream_t stream) override { sums.gather(stream); }

      const std::shared_ptr<MeshRanks>         ranks; ///< or null
      const StepperOptions                     options;
      const KineticsOnDevice<Kinetics>         on_device;
      const NodeSystem<Kinetics>               system;
      const int                                n;        ///< the rank's nodes
      const std::size_t                        n_values; ///< of a vector, with the ghosts'
      const DeviceMesh                         mesh;
      const std::size_t                        n_pairs; ///< of floats in a vector
      const int                                n_parts;
      device::Array<GraphState>                state;
      MeshGhosts                               ghosts;
      std::array<device::Array<double>, 4>     fields;
      const device::Array<float2>              pairs; ///< solution, rhs, residual, d, GCR's directions and their images
      const device::Array<float>               blocks;
      BlockSums<Sums, Sums::n>                 sums;
      BlockSums<Addition, max_directions>      gcr_sums;
      mutable std::vector<double>              entries; ///< host memory: workspace for a solution
      MeshView                                 view{};
      LevelView                                vectors{};
      GcrView                                  gcr{};
      std::unique_ptr<MeshMultigrid<Kinetics>> multigrid; ///< or null
      TimeLoopGraph                            loop;
    };
  } // namespace

  std::unique_ptr<Engine> make_cuda_engine(const MeshLaplacian &mesh, const StepperOptions &options, const std::shared_ptr<MeshRanks> &ranks)
  {
    if (device::n_devices() == 0)
      throw DeviceError("the backend cuda is asked for, but no GPU answers\n  expected: a GPU and its driver; or the backend host");
    const std::vector<MeshLevel> levels = make_levels(mesh, options.stepping.linear_method != LinearMethod::sweeps, ranks.get());
    return with_kinetics(options.kinetics, [&](const auto &kinetics) -> std::unique_ptr<Engine> {
      return std::make_unique<MeshEngine<std::decay_t<decltype(kinetics)>>>(levels, options, kinetics, ranks);
    });
  }
} // namespace leopard::reaction_diffusion
