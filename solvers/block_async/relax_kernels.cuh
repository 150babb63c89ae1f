// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_block_crs.cuh"

#include <cuda/atomic>

namespace leopard
{
  // Off-block values are read while other blocks write them. That race is the method; relaxed atomic accesses of device scope
  // make it well defined: a read gives some value that was written, never a torn one. They go past the L1 cache to where all blocks
  // see the same memory.
  __device__ inline double load(const double *x)
  {
    return cuda::atomic_ref<double, cuda::thread_scope_device>(*const_cast<double *>(x)).load(cuda::std::memory_order_relaxed);
  }

  __device__ inline void store(double *x, double value)
  {
    cuda::atomic_ref<double, cuda::thread_scope_device>(*x).store(value, cuda::std::memory_order_relaxed);
  }

  /** Why blocks of the persistent form stop before their time. */
  enum MonitorState : int
  {
    go_on     = 0,
    goal_met  = 1,
    limit_met = 2
  };

  constexpr int max_estimates = 1024; ///< residual estimates kept a launch

  /** What blocks tell each other and the host about the residual. */
  struct Monitor
  {
    int    state;
    int    n_estimates;
    double goal_squared, limit_squared;
    int    estimate_iterations[max_estimates];
    double estimates_squared[max_estimates];
  };

  /** One iteration's parameters; dimensionless. */
  struct RelaxParameters
  {
    int        n_iterations;     ///< global iterations of this launch
    int        local_iterations; ///< 0: nothing is relaxed, only residuals are computed
    const int *local_iterations_per_block;
    double     omega, block_omega, momentum;
    int        test_every; ///< 0: never
  };

  /** Sums one value a thread over the block; the result is valid in thread 0. `partial` has 32 entries. Ends with a barrier. */
  __device__ inline double sum_over_block(double value, double *partial)
  {
    for (int offset = 16; offset > 0; offset /= 2)
      value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
      partial[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0.;
    if (threadIdx.x < 32)
      {
        sum = threadIdx.x < (blockDim.x + 31) / 32 ? partial[threadIdx.x] : 0.;
        for (int offset = 16; offset > 0; offset /= 2)
          sum += __shfl_down_sync(0xffffffffu, sum, offset);
      }
    __syncthreads();
    return sum;
  }

  /** Block 0's first warp adds up what the blocks have published and decides. Blocks report at different times: an estimate. */
  __device__ inline void look_at_residual(Monitor *monitor, const double *partial, int iteration)
  {
    if (blockIdx.x != 0 || threadIdx.x >= 32)
      return;
    double sum     = 0.;
    bool   missing = false; // a block that has not yet reported has -1
    for (int block = threadIdx.x; block < static_cast<int>(gridDim.x); block += 32)
      {
        const double part = load(partial + block);
        missing           = missing || part < 0.;
        sum += part;
      }
    missing = __any_sync(0xffffffffu, missing);
    for (int offset = 16; offset > 0; offset /= 2)
      sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0 && !missing)
      {
        if (monitor->n_estimates < max_estimates)
          {
            monitor->estimate_iterations[monitor->n_estimates] = iteration;
            monitor->estimates_squared[monitor->n_estimates]   = sum;
            ++monitor->n_estimates;
          }
        const int state = sum <= monitor->goal_squared ? goal_met : !(sum <= monitor->limit_squared) ? limit_met : go_on;
        if (state != go_on)
          cuda::atomic_ref<int, cuda::thread_scope_device>(monitor->state).store(state, cuda::std::memory_order_relaxed);
      }
  }

  __device__ inline int monitor_state(Monitor *monitor)
  {
    return cuda::atomic_ref<int, cuda::thread_scope_device>(monitor->state).load(cuda::std::memory_order_relaxed);
  }

  /** The vectors of one launch. Device memory. */
  struct RelaxVectors
  {
    double       *x;
    const double *off_block; ///< where off-block values are read: x, or a copy in the synchronous schedule
    const double *b;
    double       *velocity; ///< one a local row; with momentum only
    const double *l1;       ///< one a local row, or null
    double       *partial;  ///< one a block: its part of ||r||^2 at its last test
    int          *iterations_done;
    Monitor      *monitor; ///< persistent form, or null
  };

  /** s_i contributions of the off-block entries: frozen[row] = sum a_ij x_j for the rows that have any. Jags are kept in registers. */
  template <int n_cached>
  struct OffBlock
  {
    int    row = -1, n = 0;
    int    columns[n_cached > 0 ? n_cached : 1];
    double values[n_cached > 0 ? n_cached : 1];

    template <typename Column, typename Value>
    __device__ OffBlock(const MatrixView<Column, Value> &A, const DeviceBlock &block)
    {
      const int r = threadIdx.x;
      if (r >= block.n_boundary)
        return;
      row            = A.boundary_rows[block.first_boundary + r];
      const int *jag = A.jags + block.first_jag;
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < block.n_jags && r < jag[e + 1] - jag[e])
          {
            columns[e] = A.outer_columns[jag[e] + r];
            values[e]  = A.outer_values(jag[e] + r);
            n          = e + 1;
          }
    }

    template <typename Column, typename Value>
    __device__ void freeze(const MatrixView<Column, Value> &A, const DeviceBlock &block, const double *x, double *frozen) const
    {
      if constexpr (n_cached > 0)
        {
          if (row < 0)
            return;
          double x_j[n_cached];
#pragma unroll
          for (int e = 0; e < n_cached; ++e)
            if (e < n)
              x_j[e] = load(x + columns[e]);
          double sum = 0.;
#pragma unroll
          for (int e = 0; e < n_cached; ++e)
            if (e < n)
              sum += values[e] * x_j[e];
          frozen[row] = sum;
        }
      else
        for (int r = threadIdx.x; r < block.n_boundary; r += blockDim.x)
          {
            const int *jag = A.jags + block.first_jag;
            double     sum = 0.;
#pragma unroll 4
            for (int e = 0; e < block.n_jags; ++e)
              {
                const int begin = __ldg(jag + e);
                if (r < __ldg(jag + e + 1) - begin)
                  sum += A.outer_values(begin + r) * load(x + __ldg(A.outer_columns + begin + r));
              }
            frozen[A.boundary_rows[block.first_boundary + r]] = sum;
          }
    }
  };

  /**
   * Thread block J relaxes matrix block J: a thread a row, the row's inner entries (at most `width`) in registers.
   * Shared memory: three values a thread, and 32.
   */
  template <typename Column, typename Value, int width, int n_cached>
  __global__ void __launch_bounds__(512) relax_rows_kernel(MatrixView<Column, Value> A, RelaxVectors v, RelaxParameters parameters)
  {
    extern __shared__ double shared[];
    const DeviceBlock        block = A.blocks[blockIdx.x];
    const int                i = threadIdx.x, row = block.begin + i, local = block.first_local + i;
    const bool               active = i < block.rows, owned = i >= block.owned_begin && i < block.owned_begin + block.owned_rows;
    double                  *y = shared, *next = y + blockDim.x, *frozen = next + blockDim.x, *partial = frozen + blockDim.x;
    __shared__ int           state;

    double b = 0., d = 1., value = 0., l1 = 0., velocity = 0.;
    int    columns[width];
    double values[width];
    if (active)
      {
        b     = v.b[row];
        value = v.x[row];
        d     = A.diagonal(local);
        if (v.l1 != nullptr)
          l1 = v.l1[local];
        if (parameters.momentum > 0.)
          velocity = v.velocity[local];
        const int begin = A.slice_offsets[block.first_slice + i / 32], end = A.slice_offsets[block.first_slice + i / 32 + 1];
#pragma unroll
        for (int e = 0; e < width; ++e)
          {
            columns[e] = i;
            values[e]  = 0.;
            if (const int slot = begin + 32 * e + i % 32; slot < end)
              {
                columns[e] = A.inner_columns(slot, i);
                values[e]  = A.inner_values(slot);
              }
          }
      }
    const OffBlock<n_cached> off_block(A, block);
    const int                local_iterations = parameters.local_iterations_per_block != nullptr && parameters.local_iterations > 0
                                                  ? parameters.local_iterations_per_block[blockIdx.x]
                                                  : parameters.local_iterations;
    const double             inverse = parameters.omega / (d + l1), keep = 1. - inverse * d;
    frozen[i] = 0.;
    if (i == 0)
      state = go_on;
    __syncthreads();

    int iteration = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if (v.monitor != nullptr && i == 0)
          state = monitor_state(v.monitor);
        off_block.freeze(A, block, v.off_block, frozen);
        if (iteration > 0 && active && !owned)
          value = load(v.off_block + row);
        y[i] = value;
        __syncthreads();
        if (state != go_on)
          break;
        const double s = b - frozen[i], start = value;
        double       residual = 0.;
        for (int k = 0; k < local_iterations; ++k)
          {
            double sum = s, more = 0.;
            if (active)
              {
#pragma unroll
                for (int e = 0; e < width; e += 2)
                  {
                    sum -= values[e] * y[columns[e]];
                    if (e + 1 < width)
                      more -= values[e + 1] * y[columns[e + 1]];
                  }
                sum += more;
              }
            if (k == 0)
              residual = sum - d * value;
            const double relaxed = keep * value + inverse * sum + parameters.momentum * velocity;
            velocity             = relaxed - value;
            value                = relaxed;
            next[i]              = value;
            __syncthreads(); // all have read y and written next
            double *swap = y;
            y            = next;
            next         = swap;
          }
        if (local_iterations == 0 && active)
          {
            residual = s - d * value;
#pragma unroll
            for (int e = 0; e < width; ++e)
              residual -= values[e] * y[columns[e]];
          }
        value = start + parameters.block_omega * (value - start);
        if (owned && local_iterations > 0)
          store(v.x + row, value);
        if (parameters.test_every > 0 && (iteration + 1) % parameters.test_every == 0)
          {
            const double sum = sum_over_block(owned ? residual * residual : 0., partial);
            if (i == 0)
              store(v.partial + blockIdx.x, sum);
            if (v.monitor != nullptr)
              look_at_residual(v.monitor, v.partial, iteration);
          }
      }
    if (active && parameters.momentum > 0.)
      v.velocity[local] = velocity;
    if (v.monitor != nullptr && i == 0)
      v.iterations_done[blockIdx.x] = iteration;
  }

  /**
   * The same for blocks of any size and rows of any length: threads share out the rows, and the matrix is read anew in each sweep,
   * mostly from the L1 cache. Shared memory: three values a row (four with momentum), and 32.
   */
  template <typename Column, typename Value>
  __global__ void __launch_bounds__(1024) relax_any_kernel(MatrixView<Column, Value> A, RelaxVectors v, RelaxParameters parameters, int stride)
  {
    extern __shared__ double shared[];
    const DeviceBlock        block = A.blocks[blockIdx.x];
    double                  *y = shared, *next = y + stride, *s = next + stride, *partial = s + stride, *velocity = partial + 32;
    __shared__ int           state;
    const auto               owned = [&](int i) { return i >= block.owned_begin && i < block.owned_begin + block.owned_rows; };

    for (int i = threadIdx.x; i < block.rows; i += blockDim.x)
      {
        y[i] = v.x[block.begin + i];
        if (parameters.momentum > 0.)
          velocity[i] = v.velocity[block.first_local + i];
      }
    const OffBlock<0> off_block(A, block);
    const int         local_iterations = parameters.local_iterations_per_block != nullptr && parameters.local_iterations > 0
                                           ? parameters.local_iterations_per_block[blockIdx.x]
                                           : parameters.local_iterations;
    if (threadIdx.x == 0)
      state = go_on;
    __syncthreads();

    int iteration = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if (v.monitor != nullptr && threadIdx.x == 0)
          state = monitor_state(v.monitor);
        for (int i = threadIdx.x; i < block.rows; i += blockDim.x)
          {
            s[i] = 0.;
            if (iteration > 0 && !owned(i))
              y[i] = load(v.off_block + block.begin + i);
          }
        __syncthreads();
        if (state != go_on)
          break;
        off_block.freeze(A, block, v.off_block, s);
        __syncthreads();
        double norm = 0.;
        for (int k = 0; k < local_iterations || k == 0; ++k)
          {
            for (int i = threadIdx.x; i < block.rows; i += blockDim.x)
              {
                const int    slice = block.first_slice + i / 32, end = A.slice_offsets[slice + 1], local = block.first_local + i;
                const double d = A.diagonal(local), inverse = parameters.omega / (d + (v.l1 != nullptr ? v.l1[local] : 0.));
                double       sum = v.b[block.begin + i] - s[i];
#pragma unroll 4
                for (int slot = A.slice_offsets[slice] + i % 32; slot < end; slot += 32)
                  sum -= A.inner_values(slot) * y[A.inner_columns(slot, i)];
                if (k == 0 && owned(i))
                  norm += (sum - d * y[i]) * (sum - d * y[i]);
                if (local_iterations == 0)
                  continue;
                double relaxed = (1. - inverse * d) * y[i] + inverse * sum;
                if (parameters.momentum > 0.)
                  {
                    relaxed += parameters.momentum * velocity[i];
                    velocity[i] = relaxed - y[i];
                  }
                next[i] = relaxed;
              }
            __syncthreads();
            if (local_iterations > 0)
              {
                double *swap = y;
                y            = next;
                next         = swap;
              }
          }
        if (local_iterations > 0)
          for (int i = threadIdx.x; i < block.rows; i += blockDim.x)
            if (owned(i))
              {
                if (parameters.block_omega != 1.)
                  {
                    const double start = load(v.x + block.begin + i); // nobody else writes it
                    y[i]               = start + parameters.block_omega * (y[i] - start);
                  }
                store(v.x + block.begin + i, y[i]);
              }
        if (parameters.test_every > 0 && (iteration + 1) % parameters.test_every == 0)
          {
            const double sum = sum_over_block(norm, partial);
            if (threadIdx.x == 0)
              store(v.partial + blockIdx.x, sum);
            if (v.monitor != nullptr)
              look_at_residual(v.monitor, v.partial, iteration);
          }
      }
    if (parameters.momentum > 0.)
      for (int i = threadIdx.x; i < block.rows; i += blockDim.x)
        v.velocity[block.first_local + i] = velocity[i];
    if (v.monitor != nullptr && threadIdx.x == 0)
      v.iterations_done[blockIdx.x] = iteration;
  }
} // namespace leopard
