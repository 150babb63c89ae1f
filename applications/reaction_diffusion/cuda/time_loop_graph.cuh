// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"

#include <solvers/device/conditional_graph.cuh>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>
#include <solvers/device/recording.cuh>

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

  static __global__ void begin_steps(GraphState *state, cudaGraphConditionalHandle running)
  {
    state->action = state->controller.start();
    cudaGraphSetConditional(running, state->action != Action::stop ? 1 : 0);
  }

  static __global__ void choose_action(const GraphState *state, cudaGraphConditionalHandle correcting)
  {
    cudaGraphSetConditional(correcting, state->action == Action::correct ? 1 : 0);
  }

  /** Whether there is something for multigrid to do. */
  static __global__ void prepare_cycles(const GraphState *state, cudaGraphConditionalHandle any)
  {
    cudaGraphSetConditional(any, state->controller.n_cycles > 0 ? 1 : 0);
  }

  static __global__ void prepare_iterations(GraphState *state, int local_iterations, cudaGraphConditionalHandle iterating)
  {
    state->iterations_left = (state->controller.n_sweeps + local_iterations - 1) / local_iterations;
    state->first_iteration = 1;
    cudaGraphSetConditional(iterating, state->iterations_left > 0 ? 1 : 0);
  }

  /**
   * Global iterations in the body of a loop: a loop's turn costs microseconds. Those that are too many return at once.
   */
  constexpr int iterations_a_turn = 4;

  static __global__ void count_iterations(GraphState *state, cudaGraphConditionalHandle iterating)
  {
    state->first_iteration = 0;
    state->iterations_left -= iterations_a_turn;
    cudaGraphSetConditional(iterating, state->iterations_left > 0 ? 1 : 0);
  }

  static __global__ void decide(GraphState *state, const double *parts, int n_parts, cudaGraphConditionalHandle running)
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
    using Graph = device::ConditionalGraph;

  public:
    bool exists() const { return graph.exists(); }
    void forget() { graph.forget(); }

    /**
     * @param sums n_sums parts of Sums, to be merged after each action. If anything throws, the stream records no
     * longer and exists() stays false.
     */
    void make(TimeLoopKernels &kernels, GraphState *state, int local_iterations, const double *sums, int n_sums)
    {
      const device::RecordingLock lock(device::recording());

      const cudaGraph_t whole   = graph.begin();
      const auto        running = Graph::new_condition(whole);
      cudaGraphNode_t   node    = Graph::record(whole, nullptr, [&] { begin_steps<<<1, 1, 0, stream>>>(state, running); });
      const cudaGraph_t loop    = Graph::add_condition(whole, node, running, cudaGraphCondTypeWhile, 1)[0];

      const auto correcting       = Graph::new_condition(loop);
      node                        = Graph::record(loop, nullptr, [&] { choose_action<<<1, 1, 0, stream>>>(state, correcting); });
      const cudaGraph_t *branches = Graph::add_condition(loop, node, correcting, cudaGraphCondTypeIf, 2);
      const cudaGraph_t  correct = branches[0], predict = branches[1];
      Graph::record(loop, node, [&] {
        kernels.end_action(stream);
        decide<<<1, grid_threads, 0, stream>>>(state, sums, n_sums, running);
      });
      Graph::record(predict, nullptr, [&] { kernels.predict(stream); });

      const auto iterating        = Graph::new_condition(correct);
      node                        = Graph::record(correct, nullptr, [&] {
        prepare_iterations<<<1, 1, 0, stream>>>(state, local_iterations, iterating);
        kernels.begin_sweeps(stream);
      });
      const cudaGraph_t iteration = Graph::add_condition(correct, node, iterating, cudaGraphCondTypeWhile, 1)[0];
      Graph::record(iteration, nullptr, [&] {
        for (int position = 0; position < iterations_a_turn; ++position)
          kernels.sweep(stream, position);
        count_iterations<<<1, 1, 0, stream>>>(state, iterating);
      });
      if (kernels.has_cycles())
        {
          const auto any = Graph::new_condition(correct), more = Graph::new_condition(correct);
          node                    = Graph::record(correct, node, [&] { prepare_cycles<<<1, 1, 0, stream>>>(state, any); });
          const cudaGraph_t begin = Graph::add_condition(correct, node, any, cudaGraphCondTypeIf, 1)[0];
          const cudaGraph_t cycle = Graph::add_condition(correct, node, more, cudaGraphCondTypeWhile, 1)[0];
          Graph::record(begin, nullptr, [&] { kernels.begin_cycles(stream, more); });
          Graph::record(cycle, nullptr, [&] { kernels.cycle(stream, more); });
        }
      Graph::record(correct, node, [&] {
        kernels.end_solve(stream);
        kernels.correct(stream);
      });
      graph.complete();
    }

    /** Until the controller says stop. @param state device memory. */
    void run(Controller &c, GraphState *state)
    {
      device::copy_to_device(&state->controller, &c, sizeof(Controller));
      graph.launch();
      LEOPARD_CHECK(cudaStreamSynchronize(stream));
      device::copy_to_host(&c, &state->controller, sizeof(Controller));
    }

  private:
    const cudaStream_t stream = cudaStreamPerThread; ///< that of an exchange between ranks
    Graph              graph;
  };
} // namespace leopard::reaction_diffusion
