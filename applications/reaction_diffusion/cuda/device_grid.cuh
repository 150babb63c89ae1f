// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_noise.cuh"
#include "device_time_loop.cuh"
#include "grid_multigrid.cuh"

#include <applications/reaction_diffusion/stepper.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** A grid as the domain of a GraphEngine: of any size, two and three dimensions, two fields. */
  template <typename Kinetics>
  class DeviceGrid : public TimeLoopKernels
  {
  public:
    static constexpr bool        has_spare  = true; ///< GraphState::spare
    static constexpr const char *level_name = "grids";

    /** @param grid of all ranks, @param slabs_ null: one rank, @param noise_ null: none. */
    DeviceGrid(const NodeGrid             &grid,
               const StepperOptions       &options,
               const NodeSystem<Kinetics> &system_,
               bool                        with_multigrid,
               GraphState                 *state,
               GridSlabs                  *slabs_,
               const DeviceNoise<2>       *noise_)
      : slabs(slabs_)
      , noise(noise_)
      , system(system_)
      , n_old(levels_kept(options.stepping.scheme))
      , flat(grid.is_flat())
      , own_grid(slabs != nullptr ? slabs->own_grid() : grid)
      , n(own_grid.n_nodes())
      , sums(8 * device::n_multiprocessors(), slabs)
    {
      set_view(options);
      const std::size_t padded_nodes = static_cast<std::size_t>(view.padded_x) * view.padded_y * view.tiles_z * (flat ? 1 : SweepTile<false>::n_z);
      const std::size_t margin       = slabs != nullptr ? padded_plane() : 0;
      correction                     = device::Array<float2>(padded_nodes + 2 * margin);
      constant                       = device::Array<float2>(padded_nodes);
      matrix                         = device::Array<float4>(padded_nodes);
      // padding is zero and stays zero; but that of corrections of periodic grids
      LEOPARD_CHECK(cudaMemset(correction.data(), 0, correction.size() * sizeof(float2)));
      LEOPARD_CHECK(cudaMemset(constant.data(), 0, padded_nodes * sizeof(float2)));
      LEOPARD_CHECK(cudaMemset(matrix.data(), 0, padded_nodes * sizeof(float4)));
      view.d        = correction.data() + margin;
      view.constant = constant.data();
      view.matrix   = matrix.data();
      view.parts    = sums.blocks();
      view.state    = state;
      if (with_multigrid)
        {
          multigrid     = std::make_unique<GridMultigrid<Kinetics>>(grid, system, view, padded_nodes, slabs, options.cycle);
          view.rhs      = multigrid->finest().rhs;
          view.reaction = multigrid->finest().reaction;
        }
    }

    void connect()
    {
      if (slabs == nullptr)
        return;
      ghosts_of_fields      = slabs->connect(static_cast<int>(view.ghosts), 1, 2, slabs->n_own() + 2);
      ghosts_of_corrections = slabs->connect(static_cast<int>(padded_plane()), 1);
      if (multigrid != nullptr)
        multigrid->connect();
    }
    std::size_t n_values() const { return 2 * view.stride; }
    std::size_t first_value() const { return view.ghosts; }
    std::size_t n_levels() const { return multigrid->n_grids(); }
    std::string blocks() const
    {
      return std::to_string(n_tiles()) + " tiles of " + (flat ? "64 x 32" : "32 x 8 x 8") + " nodes" +
             (own_grid.is_periodic() ? ", periodic (never in one cluster)" : "");
    }

    /** @return whether the cycles are others than before. */
    bool set_values(double *values, const double *u)
    {
      for (int c = 0; c < 2; ++c)
        device::copy_to_device(values + c * view.stride, u + c * n, n * sizeof(double));
      if (slabs != nullptr)
        ghosts_of_fields->update(values - view.ghosts);
      return multigrid != nullptr && multigrid->choose_coarsest(1.5 * max_over_ranks(slabs, system.largest_rate(u, n)));
    }
    void get_values(const double *values, double *u) const
    {
      for (int c = 0; c < 2; ++c)
        device::copy_to_host(u + c * n, values + c * view.stride, n * sizeof(double));
    }

    void predict(cudaStream_t stream) override
    {
      if (noise != nullptr)
        noise->set(stream, view.state, {n, 1, view.stride, nullptr});
      evaluate<true>(stream);
    }
    void correct(cudaStream_t stream) override { evaluate<false>(stream); }

    /** Several ranks: no corrections. */
    void begin_sweeps(cudaStream_t stream) override
    {
      if (slabs != nullptr)
        LEOPARD_CHECK(cudaMemsetAsync(correction.data(), 0, correction.size() * sizeof(float2), stream));
    }

    void sweep(cudaStream_t stream, int position) override
    {
      if (flat)
        sweep_grid<true><<<n_tiles(), grid_threads, 0, stream>>>(view, position);
      else
        sweep_grid<false><<<n_tiles(), grid_threads, 0, stream>>>(view, position);
      if (slabs != nullptr)
        update_between_sweeps(*ghosts_of_corrections, corrections(), position);
    }

    bool has_cycles() const override { return multigrid != nullptr; }
    void begin_cycles(cudaStream_t stream, Condition more) override { multigrid->begin(stream, view.state, more); }
    void cycle(cudaStream_t stream, Condition more) override { multigrid->iterate(stream, view.state, more); }

    void end_solve(cudaStream_t /*stream*/) override
    {
      if (slabs != nullptr)
        ghosts_of_corrections->update(corrections());
    }

    /** The sums of all ranks, and the neighbours' planes of the newest solution. */
    void end_action(cudaStream_t stream) override
    {
      sums.gather(stream);
      if (slabs != nullptr)
        ghosts_of_fields->update_at(&view.state->newest);
    }

  private:
    /** As many levels as there are: where three are kept, the kernel has no registers for a fourth. */
    template <bool predicting>
    void evaluate(cudaStream_t stream) const
    {
      if (n_old == max_levels)
        evaluate_grid<Kinetics, predicting, max_levels><<<sums.n_blocks, grid_threads, 0, stream>>>(view, system);
      else
        evaluate_grid<Kinetics, predicting, max_levels - 1><<<sums.n_blocks, grid_threads, 0, stream>>>(view, system);
    }

    int         n_tiles() const { return view.tiles_x * view.tiles_y * view.tiles_z; }
    std::size_t padded_plane() const { return static_cast<std::size_t>(view.padded_x) * (flat ? 1 : view.padded_y); }

    void set_view(const StepperOptions &options)
    {
      const int tile[3] = {flat ? SweepTile<true>::n_x : SweepTile<false>::n_x,
                           flat ? SweepTile<true>::n_y : SweepTile<false>::n_y,
                           flat ? SweepTile<true>::n_z : SweepTile<false>::n_z};
      int *tiles[3] = {&view.tiles_x, &view.tiles_y, &view.tiles_z};
      for (int d = 0; d < 3; ++d)
        {
          view.n[d]     = own_grid.n[d];
          view.first[d] = 0;
          view.end[d]   = own_grid.n[d];
          if (own_grid.periodic[d])
            {
              view.period[d] = own_grid.n[d];
              --view.first[d];
              ++view.end[d];
            }
          view.weight[d] = own_grid.n[d] > 1 ? 1. / (own_grid.spacing[d] * own_grid.spacing[d]) : 0.;
          *tiles[d]      = (own_grid.n[d] + tile[d] - 1) / tile[d];
        }
      view.stride           = n;
      view.padded_x         = view.tiles_x * tile[0];
      view.padded_y         = view.tiles_y * tile[1];
      view.local_iterations = options.local_iterations;
      view.omega            = static_cast<float>(options.stepping.omega);
      if (slabs == nullptr)
        return;
      const int direction = slabs->direction;
      if (slabs->has_above() && view.n[direction] % tile[direction] != 0) // the neighbour's plane would lie in the padding, which sweeps write
        throw InvalidInput("the slab of rank " + std::to_string(slabs->rank) + " has " + std::to_string(view.n[direction]) +
                           " planes\n  expected: a multiple of " + std::to_string(tile[direction]) + ", see GridSlabs::multiple()");
      view.first[direction] -= slabs->has_below();
      view.end[direction] += slabs->has_above();
      view.ghosts = n / view.n[direction];
      view.stride += 2 * view.ghosts;
    }

    /** With the neighbours' planes; a float2 travels as a double. */
    double *corrections() { return reinterpret_cast<double *>(correction.data()); }

    GridSlabs *const                         slabs; ///< or null
    const DeviceNoise<2> *const              noise; ///< or null
    const NodeSystem<Kinetics>               system;
    const int                                n_old; ///< old solutions that the scheme keeps
    const bool                               flat;
    const NodeGrid                           own_grid;
    const long                               n; ///< the rank's nodes
    GridView                                 view{};
    std::unique_ptr<GridMultigrid<Kinetics>> multigrid; ///< or null
    device::Array<float2>                    correction, constant;
    device::Array<float4>                    matrix;
    std::unique_ptr<Exchange>                ghosts_of_fields, ghosts_of_corrections; ///< or null

  public:
    BlockSums<Sums, Sums::n> sums;
  };
} // namespace leopard::reaction_diffusion
