// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"
#include "loop_control.cuh"

#include <solvers/device/conditional_graph.cuh>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>
#include <solvers/device/recording.cuh>

#include <memory>

namespace leopard::reaction_diffusion
{
  // The loop over time steps, Newton steps and global iterations, on the device:
  //
  //   begin
  //   while (action is not stop) { choose; if (correct) { prepare; linear solve; evaluate } else evaluate; decide }
  //
  // where the linear solve is: while (iterations are left) { sweeps; count }; with multigrid also: if (cycles are
  // wanted) begin them and set the goal; while (it is not reached) { cycle; count }. begin, choose, prepare, set, count
  // and decide are kernels of one thread block that set the conditions.

  static __global__ void begin_steps(GraphState *state, Condition running)
  {
    state->action = state->controller.start();
    running.set(state->action != Action::stop);
  }

  static __global__ void choose_action(const GraphState *state, Condition correcting)
  {
    correcting.set(state->action == Action::correct);
  }

  /** Whether there is something for multigrid to do. */
  static __global__ void prepare_cycles(const GraphState *state, Condition any)
  {
    any.set(state->controller.n_cycles > 0);
  }

  static __global__ void prepare_iterations(GraphState *state, int local_iterations, Condition iterating)
  {
    state->iterations_left = (state->controller.n_sweeps + local_iterations - 1) / local_iterations;
    state->first_iteration = 1;
    iterating.set(state->iterations_left > 0);
  }

  /**
   * Global iterations in the body of a loop: a loop's turn costs microseconds. Those that are too many return at once.
   */
  constexpr int iterations_a_turn = 4;

  static __global__ void count_iterations(GraphState *state, Condition iterating)
  {
    state->first_iteration = 0;
    state->iterations_left -= iterations_a_turn;
    iterating.set(state->iterations_left > 0);
  }

  static __global__ void decide(GraphState *state, const double *parts, int n_parts, Condition running)
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
    running.set(state->action != Action::stop);
  }

  /** What an engine does in the loop: each launches kernels on a stream, which may be being recorded. */
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
    virtual void begin_cycles(cudaStream_t stream, Condition more) = 0;
    virtual void cycle(cudaStream_t stream, Condition more)        = 0;
    virtual void end_solve(cudaStream_t /*stream*/) {}
    /** Before the sums are merged. */
    virtual void end_action(cudaStream_t /*stream*/) {}
  };

  /**
   * The loop. @param loops RecordedLoops or FollowedLoops. @param sums n_sums parts of Sums, to be merged after each
   * action.
   */
  template <typename Loops>
  void queue_time_loop(Loops &loops, TimeLoopKernels &kernels, GraphState *state, int local_iterations, const double *sums, int n_sums)
  {
    const cudaStream_t stream = cudaStreamPerThread; // that of an exchange between ranks

    const auto solve_and_correct = [&] {
      const Condition iterating = loops.condition(LoopCondition::iterating);
      loops.queue([&] {
        prepare_iterations<<<1, 1, 0, stream>>>(state, local_iterations, iterating);
        kernels.begin_sweeps(stream);
      });
      loops.repeat_while(iterating, [&] {
        loops.queue([&] {
          for (int position = 0; position < iterations_a_turn; ++position)
            kernels.sweep(stream, position);
          count_iterations<<<1, 1, 0, stream>>>(state, iterating);
        });
      });
      if (kernels.has_cycles())
        {
          const Condition any = loops.condition(LoopCondition::cycles_wanted), more = loops.condition(LoopCondition::cycles_left);
          loops.queue([&] { prepare_cycles<<<1, 1, 0, stream>>>(state, any); });
          loops.if_holds(any, [&] { loops.queue([&] { kernels.begin_cycles(stream, more); }); });
          loops.repeat_while(more, [&] { loops.queue([&] { kernels.cycle(stream, more); }); });
        }
      loops.queue([&] {
        kernels.end_solve(stream);
        kernels.correct(stream);
      });
    };

    const Condition running = loops.condition(LoopCondition::running);
    loops.queue([&] { begin_steps<<<1, 1, 0, stream>>>(state, running); });
    loops.repeat_while(running, [&] {
      const Condition correcting = loops.condition(LoopCondition::correcting);
      loops.queue([&] { choose_action<<<1, 1, 0, stream>>>(state, correcting); });
      loops.either(correcting, solve_and_correct, [&] { loops.queue([&] { kernels.predict(stream); }); });
      loops.queue([&] {
        kernels.end_action(stream);
        decide<<<1, grid_threads, 0, stream>>>(state, sums, n_sums, running);
      });
    });
  }

  /** The loop as a CUDA graph that runs without the host, or, for what cannot be recorded, followed by the host. */
  class DeviceTimeLoop
  {
  public:
    /** Kernels are launched otherwise than before. */
    void forget() { graph.forget(); }

    /**
     * Until the controller says stop. @param is_recorded whether it is a graph; if making that throws, the stream
     * records no longer. @param kernels and the rest see queue_time_loop().
     */
    void run(Controller &c, bool is_recorded, TimeLoopKernels &kernels, GraphState *state, int local_iterations, const double *sums, int n_sums)
    {
      if (is_recorded && !graph.exists())
        {
          const device::RecordingLock lock(device::recording());
          RecordedLoops               loops(graph.begin());
          queue_time_loop(loops, kernels, state, local_iterations, sums, n_sums);
          graph.complete();
        }
      device::copy_to_device(&state->controller, &c, sizeof(Controller));
      if (is_recorded)
        graph.launch();
      else
        {
          if (followed == nullptr)
            followed = std::make_unique<FollowedLoops>();
          followed->begin();
          queue_time_loop(*followed, kernels, state, local_iterations, sums, n_sums);
        }
      LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
      device::copy_to_host(&c, &state->controller, sizeof(Controller));
    }

  private:
    device::ConditionalGraph       graph;
    std::unique_ptr<FollowedLoops> followed; ///< null until it is needed: it has page-locked memory
  };
} // namespace leopard::reaction_diffusion
