// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "grid_kernels.cuh"
#include "grid_multigrid.cuh"
#include "kinetics_on_device.h"
#include "reaction_diffusion_engine.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

namespace leopard::reaction_diffusion
{
  // The loop over time steps, Newton steps and global iterations, on the device:
  //
  //   begin; while (action is not stop) { choose; if (correct) { prepare; linear solve; evaluate } else evaluate; decide }
  //
  // where the linear solve is: while (iterations are left) { sweeps; count }; with multigrid also: if (cycles are wanted) linearize and set the goal; while
  // (it is not reached) { cycle; count }. begin, choose, prepare, set, count and decide are kernels of one thread block that set the graph's conditions.

  template <int>
  __global__ void begin_steps(GraphState *state, cudaGraphConditionalHandle running)
  {
    state->action = state->controller.start();
    cudaGraphSetConditional(running, state->action != Action::stop ? 1 : 0);
  }

  template <int>
  __global__ void choose_action(const GraphState *state, cudaGraphConditionalHandle correcting)
  {
    cudaGraphSetConditional(correcting, state->action == Action::correct ? 1 : 0);
  }

  /** Whether there is something for multigrid to do. */
  template <int>
  __global__ void prepare_cycles(const GraphState *state, cudaGraphConditionalHandle any)
  {
    cudaGraphSetConditional(any, state->controller.n_cycles > 0 ? 1 : 0);
  }

  template <int>
  __global__ void prepare_iterations(GraphState *state, int local_iterations, cudaGraphConditionalHandle iterating)
  {
    state->iterations_left = (state->controller.n_sweeps + local_iterations - 1) / local_iterations;
    state->first_iteration = 1;
    cudaGraphSetConditional(iterating, state->iterations_left > 0 ? 1 : 0);
  }

  /** Global iterations in the body of a loop: a loop's turn costs microseconds. Those that are too many return at once. */
  constexpr int iterations_a_turn = 4;
  static_assert(iterations_a_turn % waited_exchange_interval == 0);

  template <int>
  __global__ void count_iterations(GraphState *state, cudaGraphConditionalHandle iterating)
  {
    state->first_iteration = 0;
    state->iterations_left -= iterations_a_turn;
    cudaGraphSetConditional(iterating, state->iterations_left > 0 ? 1 : 0);
  }

  template <int>
  __global__ void decide(GraphState *state, const double *parts, int n_parts, cudaGraphConditionalHandle running)
  {
    double part[Sums::n] = {};
    merge_parts<Sums>(parts, n_parts, part);
    if (threadIdx.x != 0)
      return;
    if (state->action == Action::correct)
      {
        double *&newest = state->slots[state->controller.slot(-1)];
        double  *old    = newest;
        newest          = state->spare;
        state->spare    = old;
      }
    state->action = state->controller.next(Sums(part));
    cudaGraphSetConditional(running, state->action != Action::stop ? 1 : 0);
  }

  /** Grids of any size, two and three dimensions, two fields. */
  template <typename Kinetics>
  class GraphEngine : public Engine
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
      n_parts       = 8 * device::n_multiprocessors();
      parts         = device::Array<double>(static_cast<std::size_t>(n_parts) * Sums::n);
      view.d        = correction.data() + margin;
      view.constant = constant.data();
      view.matrix   = matrix.data();
      view.parts    = parts.data();
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

    ~GraphEngine() override { destroy_graph(); }

    void set_slot(int slot, const double *u) override
    {
      double *const values = slot_pointer(slot);
      for (int c = 0; c < 2; ++c)
        device::copy_to_device(values + c * view.stride, u + c * n, n * sizeof(double));
      if (slabs != nullptr)
        slabs->exchange->exchange({values, static_cast<int>(sides.plane), sides.n_planes, 2, view.stride});
      if (multigrid != nullptr && multigrid->choose_coarsest(1.5 * max_over_ranks(system.largest_rate(u, n))))
        destroy_graph();
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
      return (slabs != nullptr ? std::to_string(slabs->n_ranks()) + " ranks, " + slabs->exchange->description() + "; each " : "") +
             std::to_string(n_tiles()) + " tiles of " + (flat ? "64 x 32" : "32 x 8 x 8") + " nodes, " + std::to_string(options.local_iterations) +
             " local sweeps, the time loop a CUDA graph, fields " + (options.fields_together ? "together" : "apart") +
             (multigrid != nullptr ? ", " + std::to_string(multigrid->n_grids()) + " grids" : "") + ", corrections in single precision";
    }

    void run(Controller &c) override
    {
      if (executable == nullptr)
        make_graph();
      device::copy_to_device(&state.data()->controller, &c, sizeof(Controller));
      LEOPARD_CHECK(cudaGraphLaunch(executable, stream));
      LEOPARD_CHECK(cudaStreamSynchronize(stream));
      device::copy_to_host(&c, &state.data()->controller, sizeof(Controller));
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

    double max_over_ranks(double value)
    {
      if (slabs == nullptr)
        return value;
      std::vector<double> all(slabs->n_ranks());
      std::vector<int>    offsets(slabs->n_ranks() + 1);
      std::iota(offsets.begin(), offsets.end(), 0);
      device::copy_to_device(rank_parts.data() + slabs->rank, &value, sizeof(double));
      slabs->exchange->gather(rank_parts.data(), offsets);
      device::copy_to_host(all.data(), rank_parts.data(), all.size() * sizeof(double));
      return *std::max_element(all.begin(), all.end());
    }

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
      rank_parts   = device::Array<double>(std::vector<double>(static_cast<std::size_t>(slabs->n_ranks()) * Sums::n, 0.));
      sides.values = side_values.data();
      for (int r = 0; r <= slabs->n_ranks(); ++r)
        part_offsets.push_back(Sums::n * r);
    }

    SlabVector slab_of_corrections() const
    {
      return {reinterpret_cast<double *>(view.d), static_cast<int>(padded_plane()), sides.n_planes}; // a float2 travels as a double
    }

    template <typename... Arguments>
    cudaGraphNode_t add_kernel(cudaGraph_t to, cudaGraphNode_t after, int blocks, int threads, void (*kernel)(Arguments...), Arguments... arguments)
    {
      void                *pointers[] = {&arguments...};
      cudaKernelNodeParams parameters{};
      parameters.func         = reinterpret_cast<void *>(kernel);
      parameters.gridDim      = dim3(blocks);
      parameters.blockDim     = dim3(threads);
      parameters.kernelParams = pointers;
      cudaGraphNode_t node;
      LEOPARD_CHECK(cudaGraphAddKernelNode(&node, to, after != nullptr ? &after : nullptr, after != nullptr ? 1 : 0, &parameters));
      return node;
    }

    /** A node that runs its graphs by a condition that a kernel before it sets. @return its graphs: one, or two (if, else). */
    cudaGraph_t *add_condition(cudaGraph_t                  to,
                               cudaGraphNode_t              after,
                               cudaGraphConditionalHandle   handle,
                               cudaGraphConditionalNodeType type,
                               int                          n_graphs,
                               cudaGraphNode_t             &node)
    {
      cudaGraphNodeParams parameters{};
      parameters.type               = cudaGraphNodeTypeConditional;
      parameters.conditional.handle = handle;
      parameters.conditional.type   = type;
      parameters.conditional.size   = n_graphs;
      LEOPARD_CHECK(cudaGraphAddNode(&node, to, &after, nullptr, 1, &parameters));
      return parameters.conditional.phGraph_out;
    }

    static cudaGraphConditionalHandle new_condition(cudaGraph_t in)
    {
      cudaGraphConditionalHandle handle;
      LEOPARD_CHECK(cudaGraphConditionalHandleCreate(&handle, in, 0, cudaGraphCondAssignDefault));
      return handle;
    }

    void destroy_graph()
    {
      if (executable != nullptr)
        cudaGraphExecDestroy(executable);
      if (graph != nullptr)
        cudaGraphDestroy(graph);
      executable = nullptr;
      graph      = nullptr;
    }

    /** Puts what `launch` launches on the stream into an empty graph. */
    template <typename Launch>
    void record(cudaGraph_t into, const Launch &launch)
    {
      LEOPARD_CHECK(cudaStreamBeginCaptureToGraph(stream, into, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
      launch();
      LEOPARD_CHECK(cudaGetLastError());
      LEOPARD_CHECK(cudaStreamEndCapture(stream, &into));
    }

    /** A node that does what `launch` launches on the stream. */
    template <typename Launch>
    cudaGraphNode_t add_launches(cudaGraph_t to, cudaGraphNode_t after, const Launch &launch)
    {
      cudaGraph_t child = nullptr;
      LEOPARD_CHECK(cudaGraphCreate(&child, 0));
      record(child, launch);
      cudaGraphNode_t node;
      LEOPARD_CHECK(cudaGraphAddChildGraphNode(&node, to, after != nullptr ? &after : nullptr, after != nullptr ? 1 : 0, child));
      LEOPARD_CHECK(cudaGraphDestroy(child));
      return node;
    }

    /** The nodes of multigrid. @return the last one. */
    cudaGraphNode_t add_cycles(cudaGraph_t to, cudaGraphNode_t after)
    {
      const auto        any = new_condition(to), more = new_condition(to);
      cudaGraphNode_t   node  = add_kernel(to, after, 1, 1, prepare_cycles<0>, static_cast<const GraphState *>(state.data()), any);
      const cudaGraph_t begin = add_condition(to, node, any, cudaGraphCondTypeIf, 1, node)[0];
      const cudaGraph_t cycle = add_condition(to, node, more, cudaGraphCondTypeWhile, 1, node)[0];
      record(begin, [&] { multigrid->begin(stream, view, state.data(), more); });
      record(cycle, [&] { multigrid->iterate(stream, state.data(), more); });
      return node;
    }

    /** The sums of all ranks, and the neighbours' planes of the newest solution. */
    cudaGraphNode_t add_exchange_of_solution(cudaGraph_t to, cudaGraphNode_t after)
    {
      return add_launches(to, after, [&] {
        merge_rank<Sums, Sums::n><<<1, grid_threads, 0, stream>>>(parts.data(), n_parts, rank_parts.data() + part_offsets[slabs->rank]);
        slabs->exchange->gather(rank_parts.data(), part_offsets);
        const int blocks = static_cast<int>((4 * sides.plane + grid_threads - 1) / grid_threads);
        copy_sides<true><<<blocks, grid_threads, 0, stream>>>(state.data(), view.stride, sides);
        slabs->exchange->exchange({sides.values + sides.plane, static_cast<int>(sides.plane), 2, 2, 4 * sides.plane});
        copy_sides<false><<<blocks, grid_threads, 0, stream>>>(state.data(), view.stride, sides);
      });
    }

    /** Before sweeps: no corrections, and a visit of loose exchanges begins. */
    cudaGraphNode_t add_begin_of_sweeps(cudaGraph_t to, cudaGraphNode_t after)
    {
      return add_launches(to, after, [&] {
        LEOPARD_CHECK(cudaMemsetAsync(correction.data(), 0, correction.size() * sizeof(float2), stream));
        slabs->exchange->exchange_loosely(slab_of_corrections(), true);
      });
    }

    void make_graph()
    {
      LEOPARD_CHECK(cudaGraphCreate(&graph, 0));
      const auto      running = new_condition(graph);
      GraphState     *s       = state.data();
      cudaGraphNode_t node    = add_kernel(graph, nullptr, 1, 1, begin_steps<0>, s, running);
      cudaGraph_t     loop    = add_condition(graph, node, running, cudaGraphCondTypeWhile, 1, node)[0];

      const auto correcting      = new_condition(loop);
      node                       = add_kernel(loop, nullptr, 1, 1, choose_action<0>, static_cast<const GraphState *>(s), correcting);
      cudaGraph_t      *branches = add_condition(loop, node, correcting, cudaGraphCondTypeIf, 2, node);
      const cudaGraph_t correct = branches[0], predict = branches[1];
      if (slabs != nullptr)
        node = add_exchange_of_solution(loop, node);
      const double *sums = slabs != nullptr ? rank_parts.data() : parts.data();
      add_kernel(loop, node, 1, grid_threads, decide<0>, s, sums, slabs != nullptr ? slabs->n_ranks() : n_parts, running);

      add_kernel(predict, nullptr, n_parts, grid_threads, evaluate_grid<Kinetics, true>, view, system);
      const auto iterating = new_condition(correct);
      node                 = add_kernel(correct, nullptr, 1, 1, prepare_iterations<0>, s, options.local_iterations, iterating);
      if (slabs != nullptr)
        node = add_begin_of_sweeps(correct, node);
      const cudaGraph_t iteration = add_condition(correct, node, iterating, cudaGraphCondTypeWhile, 1, node)[0];
      if (multigrid != nullptr)
        node = add_cycles(correct, node);
      if (slabs != nullptr)
        node = add_launches(correct, node, [&] { slabs->exchange->exchange(slab_of_corrections()); });
      add_kernel(correct, node, n_parts, grid_threads, evaluate_grid<Kinetics, false>, view, system);
      node = nullptr;
      for (int position = 0; position < iterations_a_turn; ++position)
        {
          node = add_kernel(iteration, node, n_tiles(), grid_threads, flat ? sweep_grid<true> : sweep_grid<false>, view, position);
          if (slabs != nullptr)
            node = add_launches(iteration, node, [&] {
              if (position % waited_exchange_interval == waited_exchange_interval - 1)
                slabs->exchange->exchange(slab_of_corrections());
              else
                slabs->exchange->exchange_loosely(slab_of_corrections(), false);
            });
        }
      add_kernel(iteration, node, 1, 1, count_iterations<0>, s, iterating);
      LEOPARD_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    }

    const std::shared_ptr<GridSlabs>         slabs; ///< or null
    const StepperOptions                     options;
    const KineticsOnDevice<Kinetics>         on_device;
    const NodeSystem<Kinetics>               system;
    const bool                               flat;
    const NodeGrid                           own_grid;
    const long                               n; ///< the rank's nodes
    int                                      n_parts = 0;
    GridView                                 view{};
    device::Array<GraphState>                state;
    std::unique_ptr<GridMultigrid<Kinetics>> multigrid; ///< or null
    std::array<device::Array<double>, 5>     fields;
    device::Array<float2>                    correction, constant;
    device::Array<float4>                    matrix;
    device::Array<double>                    parts, rank_parts, side_values;
    std::vector<int>                         part_offsets;
    Sides                                    sides{};
    const cudaStream_t                       stream     = cudaStreamPerThread; ///< that of the exchange
    cudaGraph_t                              graph      = nullptr;
    cudaGraphExec_t                          executable = nullptr;
  };
} // namespace leopard::reaction_diffusion
