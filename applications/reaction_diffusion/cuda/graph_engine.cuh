// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_multigrid.cuh"
#include "time_loop_graph.cuh"

#include <applications/reaction_diffusion/engine.h>
#include <applications/reaction_diffusion/kinetics/kinetics_on_device.h>

#include <array>
#include <memory>
#include <vector>

namespace leopard::reaction_diffusion
{
  static_assert(iterations_a_turn % waited_exchange_interval == 0);

  /** Grids of any size, two and three dimensions, two fields. */
  template <typename Kinetics>
  class GraphEngine : public Engine, private TimeLoopKernels
  {
  public:
    /** @param grid of all ranks, @param slabs_ null: one rank. */
    GraphEngine(
      const NodeGrid &grid, const StepperOptions &options_, const Kinetics &kinetics, bool with_multigrid, std::shared_ptr<GridSlabs> slabs_)
      : slabs(std::move(slabs_))
      , options(options_)
      , on_device(kinetics)
      , system(make_node_system(on_device.kinetics, options_))
      , flat(grid.is_flat())
      , own_grid(slabs != nullptr ? slabs->own_grid() : grid)
      , n(own_grid.n_nodes())
      , state(1)
      , sums(8 * device::n_multiprocessors(), slabs.get())
    {
      set_view();
      const std::size_t padded_nodes = static_cast<std::size_t>(view.padded_x) * view.padded_y * view.tiles_z * (flat ? 1 : SweepTile<false>::n_z);
      const std::size_t margin       = slabs != nullptr ? padded_plane() : 0;
      correction                     = device::Array<float2>(padded_nodes + 2 * margin);
      constant                       = device::Array<float2>(padded_nodes);
      matrix                         = device::Array<float4>(padded_nodes);
      // padding is zero and stays zero
      LEOPARD_CHECK(cudaMemset(correction.data(), 0, correction.size() * sizeof(float2)));
      LEOPARD_CHECK(cudaMemset(constant.data(), 0, padded_nodes * sizeof(float2)));
      LEOPARD_CHECK(cudaMemset(matrix.data(), 0, padded_nodes * sizeof(float4)));
      GraphState initial{};
      for (std::size_t f = 0; f < fields.size(); ++f)
        {
          fields[f] = device::Array<double>(2 * view.stride);
          LEOPARD_CHECK(cudaMemset(fields[f].data(), 0, fields[f].size() * sizeof(double)));
          (f < 4 ? initial.slots[f] : initial.spare) = fields[f].data() + (slabs != nullptr ? sides.plane : 0);
        }
      view.d        = correction.data() + margin;
      view.constant = constant.data();
      view.matrix   = matrix.data();
      view.parts    = sums.blocks();
      view.state    = state.data();
      if (with_multigrid)
        {
          multigrid     = std::make_unique<GridMultigrid<Kinetics>>(grid, system, view, padded_nodes, slabs.get());
          view.rhs      = multigrid->finest().rhs;
          view.reaction = multigrid->finest().reaction;
        }
      device::copy_to_device(state.data(), &initial, sizeof(GraphState));
      LEOPARD_CHECK(cudaDeviceSynchronize());
    }

    void set_slot(int slot, const double *u) override
    {
      double *const values = slot_pointer(slot);
      for (int c = 0; c < 2; ++c)
        device::copy_to_device(values + c * view.stride, u + c * n, n * sizeof(double));
      if (slabs != nullptr)
        slabs->exchange->exchange({values, static_cast<int>(sides.plane), sides.n_planes, 2, view.stride});
      if (multigrid != nullptr && multigrid->choose_coarsest(1.5 * max_over_ranks(slabs.get(), system.largest_rate(u, n))))
        loop.forget();
      device::synchronize();
    }
    void get_slot(int slot, double *u) const override
    {
      for (int c = 0; c < 2; ++c)
        device::copy_to_host(u + c * n, slot_pointer(slot) + c * view.stride, n * sizeof(double));
    }
    bool        has_multigrid() const override { return multigrid != nullptr; }
    double      smallest_reduction() const override { return 3e-6; } // corrections are floats
    std::string description() const override
    {
      return (slabs != nullptr ? slabs->description() : "") + std::to_string(n_tiles()) + " tiles of " + (flat ? "64 x 32" : "32 x 8 x 8") +
             " nodes, " + std::to_string(options.local_iterations) + " local sweeps, the time loop a CUDA graph, fields " +
             (options.fields_together ? "together" : "apart") + (multigrid != nullptr ? ", " + std::to_string(multigrid->n_grids()) + " grids" : "") +
             ", corrections in single precision";
    }

    void run(Controller &c) override
    {
      if (!loop.exists())
        loop.make(*this, state.data(), options.local_iterations, sums.parts(), sums.n_parts());
      loop.run(c, state.data());
    }

  private:
    int n_tiles() const { return view.tiles_x * view.tiles_y * view.tiles_z; }

    double *slot_pointer(int slot) const
    {
      double *pointer;
      device::copy_to_host(&pointer, &state.data()->slots[slot], sizeof(double *));
      return pointer;
    }

    std::size_t padded_plane() const { return static_cast<std::size_t>(view.padded_x) * (flat ? 1 : view.padded_y); }

    void set_view()
    {
      const int tile[3] = {flat ? SweepTile<true>::n_x : SweepTile<false>::n_x,
                           flat ? SweepTile<true>::n_y : SweepTile<false>::n_y,
                           flat ? SweepTile<true>::n_z : SweepTile<false>::n_z};
      int *tiles[3] = {&view.tiles_x, &view.tiles_y, &view.tiles_z};
      for (int d = 0; d < 3; ++d)
        {
          view.n[d]      = own_grid.n[d];
          view.first[d]  = 0;
          view.end[d]    = own_grid.n[d];
          view.weight[d] = own_grid.n[d] > 1 ? 1. / (own_grid.spacing[d] * own_grid.spacing[d]) : 0.;
          *tiles[d]      = (own_grid.n[d] + tile[d] - 1) / tile[d];
        }
      view.stride           = n;
      view.padded_x         = view.tiles_x * tile[0];
      view.padded_y         = view.tiles_y * tile[1];
      view.local_iterations = options.local_iterations;
      view.together         = options.fields_together;
      view.omega            = static_cast<float>(options.stepping.omega);
      if (slabs == nullptr)
        return;
      const int direction = slabs->direction;
      if (slabs->has_above() && view.n[direction] % tile[direction] != 0) // the neighbour's plane would lie in the padding, which sweeps write
        throw InvalidInput("the slab of rank " + std::to_string(slabs->rank) + " has " + std::to_string(view.n[direction]) +
                           " planes\n  expected: a multiple of " + std::to_string(tile[direction]) + ", see GridSlabs::multiple()");
      view.first[direction] -= slabs->has_below();
      view.end[direction] += slabs->has_above();
      sides.plane    = n / view.n[direction];
      sides.n_planes = view.n[direction];
      view.stride += 2 * sides.plane;
      side_values  = device::Array<double>(std::vector<double>(8 * sides.plane, 0.));
      sides.values = side_values.data();
    }

    SlabVector slab_of_corrections() const
    {
      return {reinterpret_cast<double *>(view.d), static_cast<int>(padded_plane()), sides.n_planes}; // a float2 travels as a double
    }

    void predict(cudaStream_t stream) override { evaluate_grid<Kinetics, true><<<sums.n_blocks, grid_threads, 0, stream>>>(view, system); }
    void correct(cudaStream_t stream) override { evaluate_grid<Kinetics, false><<<sums.n_blocks, grid_threads, 0, stream>>>(view, system); }

    /** Several ranks: no corrections, and a visit of loose exchanges begins. */
    void begin_sweeps(cudaStream_t stream) override
    {
      if (slabs == nullptr)
        return;
      LEOPARD_CHECK(cudaMemsetAsync(correction.data(), 0, correction.size() * sizeof(float2), stream));
      slabs->exchange->exchange_loosely(slab_of_corrections(), true);
    }

    void sweep(cudaStream_t stream, int position) override
    {
      if (flat)
        sweep_grid<true><<<n_tiles(), grid_threads, 0, stream>>>(view, position);
      else
        sweep_grid<false><<<n_tiles(), grid_threads, 0, stream>>>(view, position);
      if (slabs == nullptr)
        return;
      if (position % waited_exchange_interval == waited_exchange_interval - 1)
        slabs->exchange->exchange(slab_of_corrections());
      else
        slabs->exchange->exchange_loosely(slab_of_corrections(), false);
    }

    bool has_cycles() const override { return multigrid != nullptr; }
    void begin_cycles(cudaStream_t stream, cudaGraphConditionalHandle more) override { multigrid->begin(stream, state.data(), more); }
    void cycle(cudaStream_t stream, cudaGraphConditionalHandle more) override { multigrid->iterate(stream, state.data(), more); }

    void end_solve(cudaStream_t /*stream*/) override
    {
      if (slabs != nullptr)
        slabs->exchange->exchange(slab_of_corrections());
    }

    /** The sums of all ranks, and the neighbours' planes of the newest solution. */
    void end_action(cudaStream_t stream) override
    {
      sums.gather(stream);
      if (slabs == nullptr)
        return;
      const int blocks = static_cast<int>((4 * sides.plane + grid_threads - 1) / grid_threads);
      copy_sides<true><<<blocks, grid_threads, 0, stream>>>(state.data(), view.stride, sides);
      slabs->exchange->exchange({sides.values + sides.plane, static_cast<int>(sides.plane), 2, 2, 4 * sides.plane});
      copy_sides<false><<<blocks, grid_threads, 0, stream>>>(state.data(), view.stride, sides);
    }

    const std::shared_ptr<GridSlabs>         slabs; ///< or null
    const StepperOptions                     options;
    const KineticsOnDevice<Kinetics>         on_device;
    const NodeSystem<Kinetics>               system;
    const bool                               flat;
    const NodeGrid                           own_grid;
    const long                               n; ///< the rank's nodes
    GridView                                 view{};
    device::Array<GraphState>                state;
    BlockSums<Sums, Sums::n>                 sums;
    std::unique_ptr<GridMultigrid<Kinetics>> multigrid; ///< or null
    std::array<device::Array<double>, 5>     fields;
    device::Array<float2>                    correction, constant;
    device::Array<float4>                    matrix;
    device::Array<double>                    side_values;
    Sides                                    sides{};
    TimeLoopGraph                            loop;
  };
} // namespace leopard::reaction_diffusion
