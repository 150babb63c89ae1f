// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../device/block_sum.cuh"
#include "../device/relaxed_atomics.cuh"
#include "../relaxation/relaxation.h"

#include <cuda/atomic>

namespace leopard
{
  /** Why blocks of the persistent form stop before their time. */
  enum MonitorState : int
  {
    go_on     = 0,
    goal_met  = 1,
    limit_met = 2
  };

  constexpr int max_estimates = 512; ///< residual estimates kept a launch

  /** What the host is told when a persistent launch is over: in its memory, pinned. Norms squared. */
  struct HostReport
  {
    int    complete;     ///< written last: x and this report are there, though the kernel may not have ended
    int    fewest, most; ///< iterations of a block
    int    n_estimates;
    double mean; ///< of the iterations of all blocks
    double initial, b, final;
    double estimates[max_estimates];
    int    estimate_iterations[max_estimates];
  };

  /**
   * What blocks tell each other about the residual: device memory, zero before the first launch and again after each.
   */
  struct Monitor
  {
    int    state, ready, arrived[3], barrier, n_estimates;
    double initial, b, goal, limit;
  };

  /** A launch that tests the residual by itself. */
  struct MonitorView
  {
    Monitor     *monitor;
    bool         tests;
    double      *parts;   ///< one a block: its part of ||r||^2 at its last test; and as many again, for the synchronous schedule
    double      *b_parts; ///< its part of ||b||^2
    int         *iterations_done;
    HostReport  *report;
    ResidualTest test;
  };

  using DeviceCounter = cuda::atomic_ref<int, cuda::thread_scope_device>;

  // Thread 0 speaks for its block: a barrier before it releases makes the other threads' writes part of what it
  // releases, and a barrier after it has acquired lets them see what it sees. So only one thread waits for memory.

  /** Whether this block is the last to arrive at a counter. All that the blocks wrote before is visible to the last. */
  __device__ inline bool last_to_arrive(int *counter)
  {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0)
      last = DeviceCounter(*counter).fetch_add(1, cuda::memory_order_acq_rel) == static_cast<int>(gridDim.x) - 1;
    __syncthreads();
    return last;
  }

  /**
   * Waits until a counter has reached a number; all blocks are on the chip. Both may have wrapped around: their
   * difference is what counts.
   */
  __device__ inline void wait_for(int *counter, int number)
  {
    if (threadIdx.x == 0)
      while (
        static_cast<int>(static_cast<unsigned int>(DeviceCounter(*counter).load(cuda::memory_order_acquire)) - static_cast<unsigned int>(number)) < 0)
        ;
    __syncthreads();
  }

  /** Sums of two arrays, one entry a block; valid in thread 0. */
  template <typename First, typename Second>
  __device__ void sum_over_blocks(const First &first, const Second &second, double *partial, double &sum_1, double &sum_2)
  {
    sum_1 = sum_2 = 0.;
    for (int i = threadIdx.x; i < static_cast<int>(gridDim.x); i += blockDim.x)
      {
        sum_1 += first(i);
        sum_2 += second(i);
      }
    sum_1 = sum_over_block(sum_1, partial);
    sum_2 = sum_over_block(sum_2, partial);
  }

  /**
   * The true initial residual and ||b|| from the blocks' parts (valid in thread 0), the goal, the limit. Returns when
   * all blocks know.
   */
  __device__ inline void begin_solve(const MonitorView &m, double residual_part, double b_part, double *partial)
  {
    if (threadIdx.x == 0)
      {
        store(m.parts + blockIdx.x, residual_part);
        store(m.b_parts + blockIdx.x, b_part);
      }
    if (last_to_arrive(&m.monitor->arrived[0]))
      {
        double initial, b;
        sum_over_blocks([&](int i) { return load(m.parts + i); }, [&](int i) { return load(m.b_parts + i); }, partial, initial, b);
        for (int i = threadIdx.x; i < static_cast<int>(gridDim.x); i += blockDim.x)
          store(m.parts + i, -1.); // not yet reported
        __syncthreads();
        if (threadIdx.x == 0)
          {
            if (m.test.initial_residual >= 0.)
              {
                initial = m.test.initial_residual * m.test.initial_residual;
                b       = m.test.norm_b * m.test.norm_b;
              }
            const double goal  = fmax(m.test.absolute_tolerance * m.test.absolute_tolerance,
                                     m.test.relative_tolerance * m.test.relative_tolerance * (b > 0. ? b : initial));
            m.monitor->initial = initial;
            m.monitor->b       = b;
            m.monitor->goal    = goal;
            m.monitor->limit   = m.test.divergence_factor * m.test.divergence_factor * fmax(initial, goal);
            m.monitor->state   = reached(initial, goal) ? goal_met : go_on;
            DeviceCounter(m.monitor->ready).store(1, cuda::memory_order_release);
          }
      }
    wait_for(&m.monitor->ready, 1);
  }

  /** Returns when so many blocks have come here, and what they wrote before is visible. */
  __device__ inline void wait_for_all(int *counter, int number)
  {
    __syncthreads();
    if (threadIdx.x == 0)
      DeviceCounter(*counter).fetch_add(1, cuda::memory_order_release);
    wait_for(counter, number);
  }

  /**
   * Publishes the block's part of the final residual (valid in thread 0); the last block reports to the host and tidies
   * up.
   */
  __device__ inline void end_solve(const MonitorView &m, double residual_part, int iterations, double *partial)
  {
    if (threadIdx.x == 0)
      {
        store(m.parts + blockIdx.x, residual_part);
        m.iterations_done[blockIdx.x] = iterations;
      }
    if (!last_to_arrive(&m.monitor->arrived[2]))
      return;
    __shared__ int fewest, most;
    if (threadIdx.x == 0)
      {
        fewest = 2147483647;
        most   = 0;
      }
    __syncthreads();
    double     final, total;
    const auto iterations_of = [&](int i) {
      const int n = DeviceCounter(m.iterations_done[i]).load(cuda::memory_order_relaxed);
      atomicMin(&fewest, n);
      atomicMax(&most, n);
      return static_cast<double>(n);
    };
    sum_over_blocks([&](int i) { return load(m.parts + i); }, iterations_of, partial, final, total);
    if (threadIdx.x == 0)
      {
        m.report->fewest      = fewest;
        m.report->most        = most;
        m.report->mean        = total / gridDim.x;
        m.report->initial     = m.monitor->initial;
        m.report->b           = m.monitor->b;
        m.report->final       = final;
        m.report->n_estimates = m.monitor->n_estimates;
        cuda::atomic_ref<int, cuda::thread_scope_system>(m.report->complete).store(1, cuda::memory_order_release);
        m.monitor->barrier = m.monitor->n_estimates = m.monitor->ready = m.monitor->state = m.monitor->arrived[0] = m.monitor->arrived[1] =
          m.monitor->arrived[2]                                                                                   = 0;
      }
  }

  /**
   * A block's first warp adds up what the blocks have published in `parts` and decides; the result is valid in thread
   * 0. In the chaotic schedule blocks report at different times: an estimate.
   */
  __device__ inline int look_at_residual(const MonitorView &m, const double *parts, int iteration, bool record)
  {
    if (threadIdx.x >= 32)
      return go_on;
    double sum     = 0.;
    bool   missing = false; // a block that has not yet reported has -1
    for (int block = threadIdx.x; block < static_cast<int>(gridDim.x); block += 32)
      {
        const double part = load(parts + block);
        missing           = missing || part < 0.;
        sum += part;
      }
    missing = __any_sync(0xffffffffu, missing);
    for (int offset = 16; offset > 0; offset /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x > 0 || missing)
      return go_on;
    if (record && m.monitor->n_estimates < max_estimates)
      {
        const int n                      = m.monitor->n_estimates++;
        m.report->estimate_iterations[n] = iteration;
        m.report->estimates[n]           = sum;
      }
    return reached(sum, m.monitor->goal) ? goal_met : !(sum <= m.monitor->limit) ? limit_met : go_on;
  }

  __device__ inline void set_monitor_state(Monitor *monitor, int state)
  {
    DeviceCounter(monitor->state).store(state, cuda::memory_order_relaxed);
  }

  __device__ inline int monitor_state(Monitor *monitor)
  {
    return DeviceCounter(monitor->state).load(cuda::memory_order_relaxed);
  }

} // namespace leopard
