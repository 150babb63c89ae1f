// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"

#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>

namespace leopard::reaction_diffusion
{
  // The loop over time steps, Newton steps and global iterations, on the device:
  //
  //   begin
  //   while (action is not stop) { choose; if (correct) { prepare; linear solve; evaluate } else evaluate; decide }
  //
  // where the linear solve is: while (iterations are left) { sweeps; count }; with multigrid also: if (cycles are
  // wanted) begin them and set the goal; while (it is not reached) { cycle; count }. begin, choose, prepare, set, count
  // and decide are kernels of one thread block that set the graph's conditions.

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

  /**
   * Global iterations in the body of a loop: a loop's turn costs microseconds. Those that are too many return at once.
   */
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
    double part[Sums::n] = {};
    merge_parts<Sums>(parts, n_parts, part);
    if (threadIdx.x != 0)
      return;
    if (state->action == Action::correct && state->spare != nullptr)
      {
        double *&newest = state->slots[state->controller.slot(-1)];
        double  *old    = newest;
        newest          = state->spare;
        state->spare    = old;
      }
    state->action = state->controller.next(Sums(part));
    cudaGraphSetConditional(running, state->action != Action::stop ? 1 : 0);
  }

  /** What an engine does in the loop: each launches kernels on a stream, which is being recorded. */
  class TimeLoopKernels
  {
  public:
    virtual ~TimeLoopKernels() = default;
    /** Predicts the new values, and computes there the residual, the Jacobian's blocks and the parts of Sums. */
    virtual void predict(cudaStream_t stream) = 0;
    /** Adds the corrections to the new values, and computes the same there. */
    virtual void correct(cudaStream_t stream) = 0;
    virtual void begin_sweeps(cudaStream_t /*stream*/) {}
    /** A global iteration, if more than `position` are left. */
    virtual void sweep(cudaStream_t stream, int position) = 0;
    virtual bool has_cycles() const                       = 0;
    /** Before the first cycle. As cycle() it sets the condition `more`: whether there is to be a cycle after it. */
    virtual void begin_cycles(cudaStream_t stream, cudaGraphConditionalHandle more) = 0;
    virtual void cycle(cudaStream_t stream, cudaGraphConditionalHandle more)        = 0;
    virtual void end_solve(cudaStream_t /*stream*/) {}
    /** Before the sums are merged. */
    virtual void end_action(cudaStream_t /*stream*/) {}
  };

  /** The loop as a CUDA graph that runs without the host. */
  class TimeLoopGraph
  {
  public:
    TimeLoopGraph() = default;
    ~TimeLoopGraph() { forget(); }

    TimeLoopGraph(const TimeLoopGraph &)            = delete;
    TimeLoopGraph &operator=(const TimeLoopGraph &) = delete;

    bool exists() const { return executable != nullptr; }

    void forget()
    {
      if (executable != nullptr)
        cudaGraphExecDestroy(executable);
      if (graph != nullptr)
        cudaGraphDestroy(graph);
      executable = nullptr;
      graph      = nullptr;
    }

    /**
     * @param sums n_sums parts of Sums, to be merged after each action. If anything throws, the stream records no
     * longer and exists() stays false.
     */
    void make(TimeLoopKernels &kernels, GraphState *state, int local_iterations, const double *sums, int n_sums)
    {
      forget();
      LEOPARD_CHECK(cudaGraphCreate(&graph, 0));
      const auto        running = new_condition(graph);
      cudaGraphNode_t   node    = record(graph, nullptr, [&] { begin_steps<0><<<1, 1, 0, stream>>>(state, running); });
      const cudaGraph_t loop    = add_condition(graph, node, running, cudaGraphCondTypeWhile, 1)[0];

      const auto correcting       = new_condition(loop);
      node                        = record(loop, nullptr, [&] { choose_action<0><<<1, 1, 0, stream>>>(state, correcting); });
      const cudaGraph_t *branches = add_condition(loop, node, correcting, cudaGraphCondTypeIf, 2);
      const cudaGraph_t  correct = branches[0], predict = branches[1];
      record(loop, node, [&] {
        kernels.end_action(stream);
        decide<0><<<1, grid_threads, 0, stream>>>(state, sums, n_sums, running);
      });
      record(predict, nullptr, [&] { kernels.predict(stream); });

      const auto iterating        = new_condition(correct);
      node                        = record(correct, nullptr, [&] {
        prepare_iterations<0><<<1, 1, 0, stream>>>(state, local_iterations, iterating);
        kernels.begin_sweeps(stream);
      });
      const cudaGraph_t iteration = add_condition(correct, node, iterating, cudaGraphCondTypeWhile, 1)[0];
      record(iteration, nullptr, [&] {
        for (int position = 0; position < iterations_a_turn; ++position)
          kernels.sweep(stream, position);
        count_iterations<0><<<1, 1, 0, stream>>>(state, iterating);
      });
      if (kernels.has_cycles())
        {
          const auto any = new_condition(correct), more = new_condition(correct);
          node                    = record(correct, node, [&] { prepare_cycles<0><<<1, 1, 0, stream>>>(state, any); });
          const cudaGraph_t begin = add_condition(correct, node, any, cudaGraphCondTypeIf, 1)[0];
          const cudaGraph_t cycle = add_condition(correct, node, more, cudaGraphCondTypeWhile, 1)[0];
          record(begin, nullptr, [&] { kernels.begin_cycles(stream, more); });
          record(cycle, nullptr, [&] { kernels.cycle(stream, more); });
        }
      record(correct, node, [&] {
        kernels.end_solve(stream);
        kernels.correct(stream);
      });
      LEOPARD_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    }

    /** Until the controller says stop. @param state device memory. */
    void run(Controller &c, GraphState *state)
    {
      device::copy_to_device(&state->controller, &c, sizeof(Controller));
      LEOPARD_CHECK(cudaGraphLaunch(executable, stream));
      LEOPARD_CHECK(cudaStreamSynchronize(stream));
      device::copy_to_host(&c, &state->controller, sizeof(Controller));
    }

  private:
    static cudaGraphConditionalHandle new_condition(cudaGraph_t in)
    {
      cudaGraphConditionalHandle handle;
      LEOPARD_CHECK(cudaGraphConditionalHandleCreate(&handle, in, 0, cudaGraphCondAssignDefault));
      return handle;
    }

    /**
     * A node that runs its graphs by a condition that a kernel before it sets. @param node before it; becomes it.
     * @return its graphs: one, or two (if, else).
     */
    static cudaGraph_t *
    add_condition(cudaGraph_t to, cudaGraphNode_t &node, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, int n_graphs)
    {
      const cudaGraphNode_t after = node;
      cudaGraphNodeParams   parameters{};
      parameters.type               = cudaGraphNodeTypeConditional;
      parameters.conditional.handle = handle;
      parameters.conditional.type   = type;
      parameters.conditional.size   = n_graphs;
      LEOPARD_CHECK(cudaGraphAddNode(&node, to, &after, nullptr, 1, &parameters));
      return parameters.conditional.phGraph_out;
    }

    /**
     * Puts what `launch` launches on the stream into a graph, behind a node or (nullptr) at its beginning. If it
     * throws, the stream records no longer.
     * @return the last node.
     */
    template <typename Launch>
    cudaGraphNode_t record(cudaGraph_t into, cudaGraphNode_t after, const Launch &launch)
    {
      LEOPARD_CHECK(cudaStreamBeginCaptureToGraph(
        stream, into, after != nullptr ? &after : nullptr, nullptr, after != nullptr ? 1 : 0, cudaStreamCaptureModeThreadLocal));
      cudaGraphNode_t result = nullptr;
      try
        {
          launch();
          LEOPARD_CHECK(cudaGetLastError());
          cudaStreamCaptureStatus status;
          const cudaGraphNode_t  *last   = nullptr;
          std::size_t             n_last = 0;
          LEOPARD_CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &n_last));
          result = n_last > 0 ? last[0] : nullptr;
        }
      catch (...)
        {
          cudaStreamEndCapture(stream, &into);
          cudaGetLastError(); // the recording's end reports what went wrong once more
          throw;
        }
      LEOPARD_CHECK(cudaStreamEndCapture(stream, &into));
      return result;
    }

    const cudaStream_t stream     = cudaStreamPerThread; ///< that of an exchange between ranks
    cudaGraph_t        graph      = nullptr;
    cudaGraphExec_t    executable = nullptr;
  };
} // namespace leopard::reaction_diffusion
