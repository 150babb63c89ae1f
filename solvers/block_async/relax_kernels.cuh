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

  /** One launch's parameters; dimensionless. */
  struct RelaxParameters
  {
    int        n_iterations;     ///< global iterations of this launch
    int        local_iterations; ///< 0: nothing is relaxed, only residuals are computed
    const int *local_iterations_per_block;
    double     block_omega, momentum;
    int        test_every; ///< 0: never
    bool       read_ahead; ///< persistent form: off-block values are read before the sweeps of the iteration before, which hides the latency
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
    double       *parts;    ///< one a block: its part of ||r||^2 at its last test
    int          *iterations_done;
    Monitor      *monitor; ///< persistent form, or null
  };

  /** A row of a block in registers: at most `width` inner entries, scaled with the row's weight. */
  template <typename Column, typename Value, int width>
  struct RowInRegisters
  {
    int    columns[width];
    double values[width];

    /** Reads what is stored; scale() makes numbers of it, so that other reads can be under way meanwhile. */
    __device__ RowInRegisters(const MatrixView<Column, Value> &A, int slice_begin, int slice_end, int i)
    {
#pragma unroll
      for (int e = 0; e < width / 2; ++e)
        if (const int pair = slice_begin + 32 * e + i % 32; pair < slice_end)
          {
            stored_columns[e] = A.inner_columns.pair(pair);
            stored_values[e]  = A.inner_values.pair(pair);
          }
    }

    __device__ void scale(const MatrixView<Column, Value> &A, int slice_begin, int slice_end, int i, double weight)
    {
#pragma unroll
      for (int e = 0; e < width; ++e)
        {
          columns[e] = i;
          values[e]  = 0.;
          if (slice_begin + 32 * (e / 2) < slice_end)
            {
              columns[e] = A.inner_columns.decode(e % 2 == 0 ? stored_columns[e / 2].x : stored_columns[e / 2].y, i);
              values[e]  = -weight * A.inner_values.decode(e % 2 == 0 ? stored_values[e / 2].x : stored_values[e / 2].y);
            }
        }
    }

    /** start + sum of the scaled entries times y. */
    __device__ double apply(double start, const double *y) const
    {
      double sums[2] = {start, 0.};
#pragma unroll
      for (int e = 0; e < width; ++e)
        sums[e % 2] += values[e] * y[columns[e]];
      return sums[0] + sums[1];
    }

  private:
    Pair<Column> stored_columns[width / 2];
    Pair<Value>  stored_values[width / 2];
  };

  /** sum of a_ij x_j over the off-block entries of the r-th row that has any, from its entry e on. */
  template <typename Column, typename Value>
  __device__ double off_block_sum(const MatrixView<Column, Value> &A, const int *jags, int n_jags, const double *x, int r, int e)
  {
    double sum   = 0.;
    int    begin = e < n_jags ? jags[e] : 0;
    for (; e < n_jags; ++e)
      {
        const int end = jags[e + 1];
        if (r >= end - begin)
          break;
        sum += A.outer_values(begin + r) * load(x + __ldg(A.outer_columns + begin + r));
        begin = end;
      }
    return sum;
  }

  constexpr int max_rows_in_registers = 512; ///< of the kernels with a thread a row

  /** k Jacobi sweeps of a thread's row; the block's values go to and fro between the two halves of y. `plain`: omega = 1 and no momentum. */
  template <typename Row, bool plain>
  struct LocalSweeps
  {
    const Row &row;
    double    *y; ///< 2 x max_rows_in_registers
    int        i;
    double     keep, momentum;

    template <int from>
    __device__ void sweep(double s, double &value, double &velocity) const
    {
      double sum = row.apply(plain ? s : keep * value + s, y + from * max_rows_in_registers);
      if (!plain && momentum > 0.)
        {
          sum += momentum * velocity;
          velocity = sum - value;
        }
      value                                     = sum;
      y[(1 - from) * max_rows_in_registers + i] = value;
      __syncthreads(); // all have read one half and written the other
    }

    /** Expects the values in the first half, after a barrier. */
    __device__ void run(int k, double s, double &value, double &velocity) const
    {
      for (; k >= 2; k -= 2)
        {
          sweep<0>(s, value, velocity);
          sweep<1>(s, value, velocity);
        }
      if (k > 0)
        sweep<0>(s, value, velocity);
    }
  };

  /** Asks the L2 cache for n elements, as far as they are whole 16-byte pieces. */
  template <typename T>
  __device__ void prefetch(const T *begin, int n)
  {
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(begin) & ~std::uintptr_t(15),
                         to   = reinterpret_cast<std::uintptr_t>(begin + n) & ~std::uintptr_t(15);
    if (begin != nullptr && to > from)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(static_cast<unsigned int>(to - from)) : "memory");
  }

  /** Asks the L2 cache for all that a block will read; the first lanes of a warp share out the arrays. */
  template <typename Column, typename Value>
  __device__ void prefetch_block(const MatrixView<Column, Value> &A, const RelaxVectors &v, int block)
  {
    const int         *header = A.header(block);
    const HeaderFields h      = read_header(header);
    const int          inner = header[header_size], n_inner = header[header_size + (h.rows + 31) / 32] - inner;
    const int          outer = header[A.first_jag], n_outer = header[A.first_jag + h.n_jags] - outer;
    switch (threadIdx.x)
      {
        case 0:
          return prefetch(A.inner_columns.columns + 2 * inner, 2 * n_inner);
        case 1:
          return prefetch(A.inner_values.values + 2 * inner, 2 * n_inner);
        case 2:
          return prefetch(v.x + h.begin, h.rows);
        case 3:
          return prefetch(v.b + h.begin, h.rows);
        case 4:
          return A.weights.values != nullptr ? prefetch(A.weights.values + h.first_local, h.rows) : prefetch(A.weights.codes + h.first_local, h.rows);
        case 5:
          return prefetch(A.outer_columns + outer, n_outer);
        case 6:
          return prefetch(A.outer_values.values + outer, n_outer);
        case 7:
          return prefetch(A.boundary_rows + h.first_boundary, h.n_boundary);
        default:
          return;
      }
  }

  /**
   * One global iteration: thread block J relaxes matrix block J, a thread a row. `plain`: omega = 1, no weights, no momentum, k the same in all blocks, and
   * no residual is asked for.
   */
  template <typename Column, typename Value, int width, bool plain>
  __global__ void __launch_bounds__(max_rows_in_registers,
                                    width <= 4 && plain ? 3
                                    : width <= 8        ? 2
                                                        : 1)
    relax_rows_kernel(const MatrixView<Column, Value> A, const RelaxVectors v, const RelaxParameters parameters)
  {
    __shared__ double  y[2 * max_rows_in_registers], frozen[max_rows_in_registers], partial[32];
    const int         *header = A.header(blockIdx.x);
    const HeaderFields h      = read_header(header);
    const int          i = threadIdx.x, row = h.begin + i, local = h.first_local + i;
    const bool         active = i < h.rows, owned = static_cast<unsigned int>(i - h.owned_begin) < static_cast<unsigned int>(h.owned_rows);
    const int          slice_begin = active ? header[header_size + i / 32] : 0, slice_end = active ? header[header_size + i / 32 + 1] : 0;

    RowInRegisters<Column, Value, width> a(A, slice_begin, slice_end, i);
    double                               b = 0., value = 0., weight = 0., keep = A.keep, velocity = 0.;
    frozen[i] = 0.;
    if (active)
      {
        value  = v.x[row];
        b      = __ldcs(v.b + row);
        weight = A.weights(local);
        if (!plain && A.keeps != nullptr)
          keep = A.keeps[local];
        if (!plain && parameters.momentum > 0.)
          velocity = v.velocity[local];
      }
    __syncthreads();
    if (i < h.n_boundary)
      frozen[A.boundary_rows[h.first_boundary + i]] = off_block_sum(A, header + A.first_jag, h.n_jags, v.off_block, i, 0);
    a.scale(A, slice_begin, slice_end, i, weight);
    y[i] = value;
    __syncthreads();

    const LocalSweeps<decltype(a), plain> sweeps = {a, y, i, keep, parameters.momentum};
    const double                          s = weight * (b - frozen[i]), start = value;
    if (!plain && parameters.test_every > 0)
      {
        const double residual = owned ? (a.apply(keep * value + s, y) - value) / weight : 0.;
        const double sum      = sum_over_block(residual * residual, partial);
        if (i == 0)
          v.parts[blockIdx.x] = sum;
      }
    if (!plain && parameters.local_iterations == 0)
      return;
    sweeps.run(!plain && parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x]
                                                                          : parameters.local_iterations,
               s,
               value,
               velocity);
    if (owned)
      store(v.x + row, plain || parameters.block_omega == 1. ? value : start + parameters.block_omega * (value - start));
    if (!plain && active && parameters.momentum > 0.)
      v.velocity[local] = velocity;
    // the block that will run here next finds its data in the L2 cache
    if (i < 32 && blockIdx.x + A.blocks_at_once < gridDim.x)
      prefetch_block(A, v, blockIdx.x + A.blocks_at_once);
  }

  /** Off-block entries of a row in registers, for iterations without end. The first n_cached of a row, and the others from memory. */
  template <int n_cached>
  struct OffBlock
  {
    int    row = -1, n = 0;
    int    columns[n_cached];
    double values[n_cached];

    template <typename Column, typename Value>
    __device__ OffBlock(const MatrixView<Column, Value> &A, const HeaderFields &h, const int *jags)
    {
      const int r = threadIdx.x;
      if (r >= h.n_boundary)
        return;
      row = A.boundary_rows[h.first_boundary + r];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        {
          columns[e] = 0;
          values[e]  = 0.;
          if (e < h.n_jags)
            if (const int begin = jags[e]; r < jags[e + 1] - begin)
              {
                columns[e] = __ldg(A.outer_columns + begin + r);
                values[e]  = A.outer_values(begin + r);
                n          = e + 1;
              }
        }
    }

    /** Asks for the off-block values; freeze() waits for them. */
    __device__ void fetch(const double *x)
    {
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          x_j[e] = load(x + columns[e]);
    }

    template <typename Column, typename Value>
    __device__ void freeze(const MatrixView<Column, Value> &A, const HeaderFields &h, const int *jags, const double *x, double *frozen) const
    {
      if (row < 0)
        return;
      double sums[2] = {n == n_cached ? off_block_sum(A, jags, h.n_jags, x, threadIdx.x, n_cached) : 0., 0.};
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          sums[e % 2] += values[e] * x_j[e];
      frozen[row] = sums[0] + sums[1];
    }

  private:
    double x_j[n_cached];
  };

  /**
   * The persistent form: each block iterates by itself, its matrix, right-hand side and values in registers and shared memory.
   */
  template <typename Column, typename Value, int width, int n_cached, int max_threads>
  __global__ void __launch_bounds__(max_threads)
    persistent_rows_kernel(const MatrixView<Column, Value> A, const RelaxVectors v, const RelaxParameters parameters)
  {
    __shared__ double  y[2 * max_rows_in_registers], frozen[max_rows_in_registers], partial[32];
    __shared__ int     state;
    const int         *header = A.header(blockIdx.x), *jags = header + A.first_jag;
    const HeaderFields h = read_header(header);
    const int          i = threadIdx.x, row = h.begin + i, local = h.first_local + i;
    const bool         active = i < h.rows, owned = static_cast<unsigned int>(i - h.owned_begin) < static_cast<unsigned int>(h.owned_rows);
    const int          slice_begin = active ? header[header_size + i / 32] : 0, slice_end = active ? header[header_size + i / 32 + 1] : 0;

    RowInRegisters<Column, Value, width> a(A, slice_begin, slice_end, i);
    double                               b = 0., value = 0., weight = 0., keep = A.keep, velocity = 0.;
    if (active)
      {
        value  = load(v.x + row);
        b      = v.b[row];
        weight = A.weights(local);
        if (A.keeps != nullptr)
          keep = A.keeps[local];
        if (parameters.momentum > 0.)
          velocity = v.velocity[local];
      }
    a.scale(A, slice_begin, slice_end, i, weight);
    b *= weight;
    OffBlock<n_cached>                    off_block(A, h, jags);
    const LocalSweeps<decltype(a), false> sweeps = {a, y, i, keep, parameters.momentum};
    const int k = parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    frozen[i]   = 0.;
    if (i == 0)
      state = go_on;
    __syncthreads();

    int iteration = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if (v.monitor != nullptr && i == 0)
          state = monitor_state(v.monitor);
        if (iteration == 0 || !parameters.read_ahead)
          off_block.fetch(v.off_block);
        off_block.freeze(A, h, jags, v.off_block, frozen);
        if (iteration > 0 && active && !owned)
          value = load(v.off_block + row);
        y[i] = value;
        __syncthreads();
        if (state != go_on)
          break;
        const double s = b - weight * frozen[i], start = value;
        if (parameters.test_every > 0 && iteration % parameters.test_every == 0)
          {
            const double residual = owned ? (a.apply(keep * value + s, y) - value) / weight : 0.;
            const double sum      = sum_over_block(residual * residual, partial);
            if (i == 0)
              store(v.parts + blockIdx.x, sum);
            if (v.monitor != nullptr)
              look_at_residual(v.monitor, v.parts, iteration);
          }
        if (parameters.read_ahead)
          off_block.fetch(v.off_block); // arrive during the sweeps
        sweeps.run(k, s, value, velocity);
        if (parameters.block_omega != 1.)
          value = start + parameters.block_omega * (value - start);
        if (owned)
          store(v.x + row, value);
      }
    if (active && parameters.momentum > 0.)
      v.velocity[local] = velocity;
    if (v.iterations_done != nullptr && i == 0)
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
    const HeaderFields       h      = read_header(header);
    const int                begin = h.begin, rows = h.rows, first_local = h.first_local;
    double                  *y = shared, *next = y + stride, *s = next + stride, *partial = s + stride, *velocity = partial + 32;
    __shared__ int           state;
    const auto               owned = [&](int i) { return i >= h.owned_begin && i < h.owned_begin + h.owned_rows; };

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
        for (int r = threadIdx.x; r < h.n_boundary; r += blockDim.x)
          s[A.boundary_rows[h.first_boundary + r]] = off_block_sum(A, header + A.first_jag, h.n_jags, v.off_block, r, 0);
        __syncthreads();
        const bool tests = parameters.test_every > 0 && iteration % parameters.test_every == 0;
        double     norm  = 0.;
        for (int k = 0; k < local_iterations || (k == 0 && tests); ++k)
          {
            for (int i = threadIdx.x; i < rows; i += blockDim.x)
              {
                const int    end = header[header_size + i / 32 + 1], local = first_local + i;
                const double weight = A.weights(local), keep = A.keeps != nullptr ? A.keeps[local] : A.keep;
                double       sum = v.b[begin + i] - s[i];
#pragma unroll 4
                for (int pair = header[header_size + i / 32] + i % 32; pair < end; pair += 32)
                  {
                    const Pair<Column> column = A.inner_columns.pair(pair);
                    const Pair<Value>  value  = A.inner_values.pair(pair);
                    sum -= A.inner_values.decode(value.x) * y[A.inner_columns.decode(column.x, i)];
                    sum -= A.inner_values.decode(value.y) * y[A.inner_columns.decode(column.y, i)];
                  }
                double relaxed = keep * y[i] + weight * sum;
                if (tests && k == 0 && owned(i))
                  norm += (relaxed - y[i]) * (relaxed - y[i]) / (weight * weight);
                if (local_iterations == 0)
                  continue;
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
