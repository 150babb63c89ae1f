// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "grid_kernels.cuh"
#include "grid_multigrid.cuh"
#include "kinetics_on_device.h"
#include "reaction_diffusion_engine.h"

#include <array>
#include <memory>

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
    __shared__ double shared[32 * Sums::n];
    double            part[Sums::n] = {};
    for (int i = threadIdx.x; i < n_parts; i += grid_threads)
      for (int q = 0; q < Sums::n; ++q)
        part[q] = Sums::merge(q, part[q], parts[i * Sums::n + q]);
    merge_over_block<Sums>(part, shared);
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
    GraphEngine(const NodeGrid &grid, const StepperOptions &options_, const Kinetics &kinetics, bool with_multigrid)
      : options(options_)
      , on_device(kinetics)
      , system(make_node_system(on_device.kinetics, options_))
      , flat(grid.is_flat())
      , n(grid.n_nodes())
      , state(1)
    {
      set_view(grid);
      const std::size_t padded_nodes = static_cast<std::size_t>(view.padded_x) * view.padded_y * view.tiles_z * (flat ? 1 : SweepTile<false>::n_z);
      correction                     = device::Array<float2>(padded_nodes);
      constant                       = device::Array<float2>(padded_nodes);
      matrix                         = device::Array<float4>(padded_nodes);
      // padding is zero and stays zero
      LEOPARD_CHECK(cudaMemset(correction.data(), 0, padded_nodes * sizeof(float2)));
      LEOPARD_CHECK(cudaMemset(constant.data(), 0, padded_nodes * sizeof(float2)));
      LEOPARD_CHECK(cudaMemset(matrix.data(), 0, padded_nodes * sizeof(float4)));
      GraphState initial{};
      for (std::size_t f = 0; f < fields.size(); ++f)
        {
          fields[f] = device::Array<double>(2 * n);
          LEOPARD_CHECK(cudaMemset(fields[f].data(), 0, 2 * n * sizeof(double)));
          (f < 4 ? initial.slots[f] : initial.spare) = fields[f].data();
        }
      n_parts       = 8 * device::n_multiprocessors();
      parts         = device::Array<double>(static_cast<std::size_t>(n_parts) * Sums::n);
      view.d        = correction.data();
      view.constant = constant.data();
      view.matrix   = matrix.data();
      view.parts    = parts.data();
      view.state    = state.data();
      if (with_multigrid)
        {
          multigrid     = std::make_unique<GridMultigrid<Kinetics>>(grid, system, view, padded_nodes);
          view.rhs      = multigrid->finest().rhs;
          view.reaction = multigrid->finest().reaction;
        }
      device::copy_to_device(state.data(), &initial, sizeof(GraphState));
      LEOPARD_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      LEOPARD_CHECK(cudaDeviceSynchronize());
    }

    ~GraphEngine() override
    {
      destroy_graph();
      if (stream != nullptr)
        cudaStreamDestroy(stream);
    }

    void set_slot(int slot, const double *u) override
    {
      device::copy_to_device(slot_pointer(slot), u, 2 * n * sizeof(double));
      if (multigrid != nullptr && multigrid->choose_coarsest(1.5 * system.largest_rate(u, n)))
        destroy_graph();
    }
    void        get_slot(int slot, double *u) const override { device::copy_to_host(u, slot_pointer(slot), 2 * n * sizeof(double)); }
    bool        has_multigrid() const override { return multigrid != nullptr; }
    double      smallest_reduction() const override { return 3e-6; } // corrections are floats
    std::string description() const override
    {
      return std::to_string(n_tiles()) + " tiles of " + (flat ? "64 x 32" : "32 x 8 x 8") + " nodes, " + std::to_string(options.local_iterations) +
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

    void set_view(const NodeGrid &grid)
    {
      const int tile[3] = {flat ? SweepTile<true>::n_x : SweepTile<false>::n_x,
                           flat ? SweepTile<true>::n_y : SweepTile<false>::n_y,
                           flat ? SweepTile<true>::n_z : SweepTile<false>::n_z};
      int *tiles[3] = {&view.tiles_x, &view.tiles_y, &view.tiles_z};
      for (int d = 0; d < 3; ++d)
        {
          view.n[d]      = grid.n[d];
          view.weight[d] = grid.n[d] > 1 ? 1. / (grid.spacing[d] * grid.spacing[d]) : 0.;
          *tiles[d]      = (grid.n[d] + tile[d] - 1) / tile[d];
        }
      view.padded_x         = view.tiles_x * tile[0];
      view.padded_y         = view.tiles_y * tile[1];
      view.local_iterations = options.local_iterations;
      view.together         = options.fields_together;
      view.omega            = static_cast<float>(options.stepping.omega);
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
      add_kernel(loop, node, 1, grid_threads, decide<0>, s, static_cast<const double *>(parts.data()), n_parts, running);

      add_kernel(predict, nullptr, n_parts, grid_threads, evaluate_grid<Kinetics, true>, view, system);
      const auto iterating        = new_condition(correct);
      node                        = add_kernel(correct, nullptr, 1, 1, prepare_iterations<0>, s, options.local_iterations, iterating);
      const cudaGraph_t iteration = add_condition(correct, node, iterating, cudaGraphCondTypeWhile, 1, node)[0];
      if (multigrid != nullptr)
        node = add_cycles(correct, node);
      add_kernel(correct, node, n_parts, grid_threads, evaluate_grid<Kinetics, false>, view, system);
      node = nullptr;
      for (int position = 0; position < iterations_a_turn; ++position)
        node = add_kernel(iteration, node, n_tiles(), grid_threads, flat ? sweep_grid<true> : sweep_grid<false>, view, position);
      add_kernel(iteration, node, 1, 1, count_iterations<0>, s, iterating);
      LEOPARD_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    }

    const StepperOptions                     options;
    const KineticsOnDevice<Kinetics>         on_device;
    const NodeSystem<Kinetics>               system;
    const bool                               flat;
    const long                               n;
    int                                      n_parts = 0;
    GridView                                 view{};
    device::Array<GraphState>                state;
    std::unique_ptr<GridMultigrid<Kinetics>> multigrid; ///< or null
    std::array<device::Array<double>, 5>     fields;
    device::Array<float2>                    correction, constant;
    device::Array<float4>                    matrix;
    device::Array<double>                    parts;
    cudaStream_t                             stream     = nullptr;
    cudaGraph_t                              graph      = nullptr;
    cudaGraphExec_t                          executable = nullptr;
  };
} // namespace leopard::reaction_diffusion
