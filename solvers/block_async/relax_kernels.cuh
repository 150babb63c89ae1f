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

  constexpr int max_estimates = 512; ///< residual estimates kept a launch

  /** What blocks tell each other and the host about the residual. Norms squared. */
  struct Monitor
  {
    int    state, n_estimates;
    int    fewest, most; ///< iterations of a block
    double mean;         ///< of the iterations of all blocks
    double initial, b, goal, limit, final;
    double estimates[max_estimates];
    int    estimate_iterations[max_estimates];
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
            monitor->estimates[monitor->n_estimates]           = sum;
            ++monitor->n_estimates;
          }
        const int state = sum <= monitor->goal ? goal_met : !(sum <= monitor->limit) ? limit_met : go_on;
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
    double       *parts;    ///< one a block: its part of ||r||^2 at its last test
    int          *iterations_done;
    Monitor      *monitor; ///< persistent form, or null
  };

  /** frozen[row] = sum of a_ij x_j over the off-block entries, for the rows that have any. The first n_cached of a row are kept in registers. */
  template <int n_cached>
  struct OffBlock
  {
    int    row = -1, n = 0;
    int    columns[n_cached];
    double values[n_cached];

    template <typename Column, typename Value>
    __device__ OffBlock(const MatrixView<Column, Value> &A, const int *header)
    {
      const int r = threadIdx.x;
      if (r >= header[header_n_boundary])
        return;
      row = A.boundary_rows[header[header_first_boundary] + r];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < header[header_n_jags])
          if (const int begin = header[A.first_jag + e]; r < header[A.first_jag + e + 1] - begin)
            {
              columns[e] = __ldg(A.outer_columns + begin + r);
              values[e]  = A.outer_values(begin + r);
              n          = e + 1;
            }
    }

    template <typename Column, typename Value>
    __device__ void freeze(const MatrixView<Column, Value> &A, const int *header, const double *x, double *frozen) const
    {
      if (row < 0)
        return;
      double x_j[n_cached];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          x_j[e] = load(x + columns[e]);
      double sum = 0.;
      if (n == n_cached)
        sum = sum_of_rest(A, header, x, threadIdx.x, n_cached);
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          sum += values[e] * x_j[e];
      frozen[row] = sum;
    }

    /** The entries from number e on of the r-th row that has any. */
    template <typename Column, typename Value>
    static __device__ double sum_of_rest(const MatrixView<Column, Value> &A, const int *header, const double *x, int r, int e)
    {
      double sum = 0.;
      for (int begin; e < header[header_n_jags] && r < header[A.first_jag + e + 1] - (begin = header[A.first_jag + e]); ++e)
        sum += A.outer_values(begin + r) * load(x + __ldg(A.outer_columns + begin + r));
      return sum;
    }
  };

  /**
   * Thread block J relaxes matrix block J: a thread a row, the row's inner entries (at most `width`) in registers, scaled with omega / d_i.
   * Shared memory: three values a thread, and 32.
   */
  template <typename Column, typename Value, int width, bool persistent>
  __global__ void __launch_bounds__(512,
                                    persistent   ? 1
                                    : width <= 4 ? 3
                                                 : 2)
    relax_rows_kernel(const MatrixView<Column, Value> A, const RelaxVectors v, const RelaxParameters parameters)
  {
    extern __shared__ double shared[];
    const int               *header = A.header(blockIdx.x);
    const int                i = threadIdx.x, row = header[header_begin] + i, local = header[header_first_local] + i;
    const bool               active = i < header[header_rows],
               owned                = i >= header[header_owned_begin] && i < header[header_owned_begin] + header[header_owned_rows];
    double        *y = shared, *next = y + blockDim.x, *frozen = next + blockDim.x, *partial = frozen + blockDim.x;
    __shared__ int state;

    double       b = 0., value = 0., l1 = 0., velocity = 0., inverse = 0., keep = 1.;
    Pair<Column> stored_columns[width / 2];
    Pair<Value>  stored_values[width / 2];
    int          n_pairs = 0;
    if (active)
      {
        const int begin = header[header_size + i / 32];
        n_pairs         = (header[header_size + i / 32 + 1] - begin) / 32;
#pragma unroll
        for (int e = 0; e < width / 2; ++e)
          if (e < n_pairs)
            {
              stored_columns[e] = A.inner_columns.pair(begin + 32 * e + i % 32);
              stored_values[e]  = A.inner_values.pair(begin + 32 * e + i % 32);
            }
        value = v.x[row];
        b     = __ldcs(v.b + row);
        if (v.l1 != nullptr)
          l1 = v.l1[local];
        if (parameters.momentum > 0.)
          velocity = v.velocity[local];
        const double d = A.diagonal(local);
        inverse        = parameters.omega / (d + l1);
        keep           = 1. - inverse * d;
      }
    const OffBlock<persistent ? 8 : 2> off_block(A, header);
    if (!persistent)
      {
        frozen[i] = 0.; // each warp its own entries; rows with outer entries follow
        __syncthreads();
        off_block.freeze(A, header, v.off_block, frozen);
      }
    int    columns[width];
    double values[width];
#pragma unroll
    for (int e = 0; e < width; ++e)
      {
        columns[e] = i;
        values[e]  = 0.;
        if (e / 2 < n_pairs)
          {
            columns[e] = A.inner_columns.decode(e % 2 == 0 ? stored_columns[e / 2].x : stored_columns[e / 2].y, i);
            values[e]  = inverse * A.inner_values.decode(e % 2 == 0 ? stored_values[e / 2].x : stored_values[e / 2].y);
          }
      }
    const int local_iterations = parameters.local_iterations_per_block != nullptr && parameters.local_iterations > 0
                                   ? parameters.local_iterations_per_block[blockIdx.x]
                                   : parameters.local_iterations;
    if (persistent)
      {
        frozen[i] = 0.;
        if (i == 0)
          state = go_on;
        __syncthreads();
      }

    int iteration = 0;
    for (; iteration < (persistent ? parameters.n_iterations : 1); ++iteration)
      {
        if (persistent)
          {
            if (v.monitor != nullptr && i == 0)
              state = monitor_state(v.monitor);
            off_block.freeze(A, header, v.off_block, frozen);
            if (iteration > 0 && active && !owned)
              value = load(v.off_block + row);
          }
        y[i] = value;
        __syncthreads();
        if (persistent && state != go_on)
          break;
        const double s = inverse * (b - frozen[i]), start = value;
        const bool   tests    = parameters.test_every > 0 && iteration % parameters.test_every == 0;
        double       residual = 0.;
        for (int k = 0; k < local_iterations || (k == 0 && tests); ++k)
          {
            double sum = keep * value + s, more = 0.;
#pragma unroll
            for (int e = 0; e < width; e += 2)
              {
                sum -= values[e] * y[columns[e]];
                more -= values[e + 1] * y[columns[e + 1]];
              }
            sum += more;
            if (tests && k == 0 && owned)
              residual = (sum - value) / inverse;
            if (local_iterations == 0)
              break;
            sum += parameters.momentum * velocity;
            velocity = sum - value;
            value    = sum;
            next[i]  = value;
            __syncthreads(); // all have read y and written next
            double *swap = y;
            y            = next;
            next         = swap;
          }
        value = start + parameters.block_omega * (value - start);
        if (owned && local_iterations > 0)
          store(v.x + row, value);
        if (tests)
          {
            const double sum = sum_over_block(residual * residual, partial);
            if (i == 0)
              store(v.parts + blockIdx.x, sum);
            if (v.monitor != nullptr)
              look_at_residual(v.monitor, v.parts, iteration);
          }
      }
    if (active && parameters.momentum > 0. && local_iterations > 0)
      v.velocity[local] = velocity;
    if (persistent && v.iterations_done != nullptr && i == 0)
      v.iterations_done[blockIdx.x] = iteration;
  }

  /**
   * The same for blocks of any size and rows of any length: threads share out the rows, and the matrix is read anew in each sweep,
   * mostly from the L1 cache. Shared memory: three values a row (four with momentum), and 32.
   */
  template <typename Column, typename Value>
  __global__ void __launch_bounds__(1024)
    relax_any_kernel(const MatrixView<Column, Value> A, const RelaxVectors v, const RelaxParameters parameters, int stride)
  {
    extern __shared__ double shared[];
    const int               *header = A.header(blockIdx.x);
    const int                begin = header[header_begin], rows = header[header_rows], first_local = header[header_first_local];
    double                  *y = shared, *next = y + stride, *s = next + stride, *partial = s + stride, *velocity = partial + 32;
    __shared__ int           state;
    const auto owned = [&](int i) { return i >= header[header_owned_begin] && i < header[header_owned_begin] + header[header_owned_rows]; };

    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      {
        y[i] = v.x[begin + i];
        if (parameters.momentum > 0.)
          velocity[i] = v.velocity[first_local + i];
      }
    const int local_iterations = parameters.local_iterations_per_block != nullptr && parameters.local_iterations > 0
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
        for (int i = threadIdx.x; i < rows; i += blockDim.x)
          {
            s[i] = 0.;
            if (iteration > 0 && !owned(i))
              y[i] = load(v.off_block + begin + i);
          }
        __syncthreads();
        if (state != go_on)
          break;
        for (int r = threadIdx.x; r < header[header_n_boundary]; r += blockDim.x)
          s[A.boundary_rows[header[header_first_boundary] + r]] = OffBlock<1>::sum_of_rest(A, header, v.off_block, r, 0);
        __syncthreads();
        const bool tests = parameters.test_every > 0 && iteration % parameters.test_every == 0;
        double     norm  = 0.;
        for (int k = 0; k < local_iterations || (k == 0 && tests); ++k)
          {
            for (int i = threadIdx.x; i < rows; i += blockDim.x)
              {
                const int    end = header[header_size + i / 32 + 1], local = first_local + i;
                const double d = A.diagonal(local), inverse = parameters.omega / (d + (v.l1 != nullptr ? v.l1[local] : 0.));
                double       sum = v.b[begin + i] - s[i];
#pragma unroll 4
                for (int pair = header[header_size + i / 32] + i % 32; pair < end; pair += 32)
                  {
                    const Pair<Column> column = A.inner_columns.pair(pair);
                    const Pair<Value>  value  = A.inner_values.pair(pair);
                    sum -= A.inner_values.decode(value.x) * y[A.inner_columns.decode(column.x, i)];
                    sum -= A.inner_values.decode(value.y) * y[A.inner_columns.decode(column.y, i)];
                  }
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
          for (int i = threadIdx.x; i < rows; i += blockDim.x)
            if (owned(i))
              {
                if (parameters.block_omega != 1.)
                  {
                    const double start = load(v.x + begin + i); // nobody else writes it
                    y[i]               = start + parameters.block_omega * (y[i] - start);
                  }
                store(v.x + begin + i, y[i]);
              }
        if (tests)
          {
            const double sum = sum_over_block(norm, partial);
            if (threadIdx.x == 0)
              store(v.parts + blockIdx.x, sum);
            if (v.monitor != nullptr)
              look_at_residual(v.monitor, v.parts, iteration);
          }
      }
    if (parameters.momentum > 0. && local_iterations > 0)
      for (int i = threadIdx.x; i < rows; i += blockDim.x)
        v.velocity[first_local + i] = velocity[i];
    if (v.iterations_done != nullptr && threadIdx.x == 0)
      v.iterations_done[blockIdx.x] = iteration;
  }
} // namespace leopard
