// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_block_crs.cuh"
#include "monitor.cuh"

namespace leopard
{
  /** One launch's parameters; dimensionless. */
  struct RelaxParameters
  {
    int        n_iterations;     ///< global iterations of this launch
    int        local_iterations; ///< 0: nothing is relaxed, only residuals are computed
    const int *local_iterations_per_block;
    double     block_omega, momentum;
    int        test_every; ///< 0: never; in the launch form anything else asks for the residual
  };

  /** The vectors of one launch. Device memory. */
  struct RelaxVectors
  {
    double       *x;
    const double *off_block; ///< where off-block values are read: x, or a copy in the synchronous schedule
    const double *b;
    double       *velocity; ///< one a local row; with momentum only
    double       *parts;    ///< launch form: one a block, its part of ||r||^2 if that is asked for
  };

  constexpr int max_rows_in_registers = 512; ///< of a block whose rows are held in registers

  /** At most `width` inner entries of a row in registers. */
  template <typename Format, int width>
  struct RowInRegisters
  {
    int    columns[width];
    double values[width];

    /** Queues the reads; decode() makes numbers of what was read, so that other reads can be under way meanwhile. */
    __device__ void load(const Format &inner, int slice_begin, int slice_end, int i)
    {
      n_pairs = (slice_end - slice_begin) / 32;
#pragma unroll
      for (int e = 0; e < width / 2; ++e)
        {
          raw[e] = Format::none();
          if (e < n_pairs)
            raw[e] = inner.load_pair(slice_begin + 32 * e + i % 32);
        }
    }

    __device__ void decode(const Format &inner, int i)
    {
#pragma unroll
      for (int e = 0; e < width; ++e)
        {
          columns[e] = i;
          values[e]  = 0.;
          if (e / 2 < n_pairs)
            inner.decode(raw[e / 2], e % 2, i, columns[e], values[e]);
        }
    }

    /** start - sum of the entries times y. */
    __device__ double subtract_from(double start, const double *y) const
    {
      double sums[2] = {start, 0.};
#pragma unroll
      for (int e = 0; e < width; ++e)
        sums[e % 2] -= values[e] * y[columns[e]];
      return sums[0] + sums[1];
    }

  private:
    int                  n_pairs;
    typename Format::Raw raw[width / 2];
  };

  /** sum of a_ij x_j over the off-block entries of the r-th row that has any, from its entry e on; four at a time. */
  template <typename Matrix>
  __device__ double off_block_sum(const Matrix &A, const int *jags, int n_jags, const double *x, int r, int e)
  {
    double sum = 0.;
    for (; e < n_jags && r < jags[e + 1] - jags[e]; e += 4)
      {
        double a[4], x_j[4];
#pragma unroll
        for (int q = 0; q < 4; ++q)
          {
            a[q] = x_j[q] = 0.;
            if (e + q < n_jags && r < jags[e + q + 1] - jags[e + q])
              {
                x_j[q] = load(x + __ldg(A.outer_columns + jags[e + q] + r));
                a[q]   = A.outer_values(jags[e + q] + r);
              }
          }
#pragma unroll
        for (int q = 0; q < 4; ++q)
          sum += a[q] * x_j[q];
      }
    return sum;
  }

  /** Asks the L2 cache for n elements, as far as they are whole 16-byte pieces. */
  template <typename T>
  __device__ void prefetch(const T *begin, int n)
  {
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(begin) & ~std::uintptr_t(15),
                         to   = reinterpret_cast<std::uintptr_t>(begin + n) & ~std::uintptr_t(15);
    if (begin != nullptr && to > from)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(static_cast<unsigned int>(to - from)) : "memory");
  }

  template <typename Column, typename Value>
  __device__ void prefetch_inner(const SeparateFormat<Column, Value> &inner, int part, int first, int n)
  {
    part == 0 ? prefetch(inner.columns + first, n) : prefetch(inner.values + first, n);
  }
  __device__ inline void prefetch_inner(const JointFormat &inner, int part, int first, int n)
  {
    if (part == 0)
      prefetch(inner.codes + first, n);
  }

  /** Asks the L2 cache for all that a block will read; the first lanes of a warp share out the arrays. */
  template <typename Matrix>
  __device__ void prefetch_block(const Matrix &A, const RelaxVectors &v, int block)
  {
    const int         *header = A.header(block);
    const HeaderFields h      = read_header(header);
    const int          inner = header[header_size], n_inner = header[header_size + (h.rows + 31) / 32] - inner;
    const int          outer = header[A.first_jag], n_outer = header[A.first_jag + h.n_jags] - outer;
    switch (threadIdx.x)
      {
        case 0:
        case 1:
          return prefetch_inner(A.inner, threadIdx.x, 2 * inner, 2 * n_inner);
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
   * One global iteration: thread block J relaxes matrix block J, n_own rows a thread. `plain`: omega = 1, no weights, no momentum, k the same in all
   * blocks, and no residual is asked for. All reads are queued before the first is needed: a block lives about as long as three of them take.
   */
  template <typename Format, int width, int n_own, bool plain>
  __global__ void __launch_bounds__(max_rows_in_registers / n_own,
                                    width <= 4   ? (plain ? 4 : 3)
                                    : width <= 8 ? 3
                                                 : 1)
    relax_rows_kernel(const MatrixView<Format> A, const RelaxVectors v, const RelaxParameters parameters)
  {
    __shared__ double  y[2 * max_rows_in_registers], frozen[max_rows_in_registers], partial[32];
    const int         *header = A.header(blockIdx.x), *jags = header + A.first_jag;
    const HeaderFields h = read_header(header);
    const int          t = threadIdx.x, stride = blockDim.x;

    RowInRegisters<Format, width> a[n_own];
    double                        b[n_own], value[n_own], weight[n_own], keep[n_own], velocity[n_own];
#pragma unroll
    for (int r = 0; r < n_own; ++r)
      {
        const int i = t + r * stride;
        a[r].load(A.inner, header[header_size + i / 32], header[header_size + i / 32 + 1], i);
        frozen[i] = 0.;
      }
    // this thread's share of the off-block entries
    int                    outer_columns[min_jags], n_outer = 0, boundary_row = 0;
    typename Format::Value outer_values[min_jags];
    const bool             has_outer = t < h.n_boundary;
    if (has_outer)
      boundary_row = __ldg(A.boundary_rows + h.first_boundary + t);
#pragma unroll
    for (int e = 0; e < min_jags; ++e)
      if (const int begin = jags[e]; t < jags[e + 1] - begin)
        {
          outer_columns[e] = __ldg(A.outer_columns + begin + t);
          outer_values[e]  = A.outer_values.stored(begin + t);
          n_outer          = e + 1;
        }
#pragma unroll
    for (int r = 0; r < n_own; ++r)
      {
        const int i = min(t + r * stride, h.rows - 1), local = h.first_local + i; // rows that do not exist read the last one
        value[r]    = v.x[h.begin + i];
        b[r]        = __ldcs(v.b + h.begin + i);
        weight[r]   = A.weights(local);
        keep[r]     = !plain && A.keeps != nullptr ? A.keeps[local] : A.keep;
        velocity[r] = !plain && parameters.momentum > 0. ? v.velocity[local] : 0.;
      }
    double x_j[min_jags];
#pragma unroll
    for (int e = 0; e < min_jags; ++e)
      if (e < n_outer)
        x_j[e] = load(v.off_block + outer_columns[e]);
#pragma unroll
    for (int r = 0; r < n_own; ++r)
      a[r].decode(A.inner, t + r * stride);
    __syncthreads(); // frozen is zero
    if (has_outer)
      {
        double sum = n_outer == min_jags ? off_block_sum(A, jags, h.n_jags, v.off_block, t, min_jags) : 0.;
#pragma unroll
        for (int e = 0; e < min_jags; ++e)
          if (e < n_outer)
            sum += A.outer_values.decode(outer_values[e]) * x_j[e];
        frozen[boundary_row] = sum;
      }
    for (int r = t + stride; r < h.n_boundary; r += stride)
      frozen[A.boundary_rows[h.first_boundary + r]] = off_block_sum(A, jags, h.n_jags, v.off_block, r, 0);
#pragma unroll
    for (int r = 0; r < n_own; ++r)
      y[t + r * stride] = value[r];
    __syncthreads();

    double s[n_own], start[n_own], residual = 0.;
#pragma unroll
    for (int r = 0; r < n_own; ++r)
      {
        s[r]     = b[r] - frozen[t + r * stride];
        start[r] = value[r];
      }
    const auto owned = [&](int r) { return static_cast<unsigned int>(t + r * stride - h.owned_begin) < static_cast<unsigned int>(h.owned_rows); };
    const auto sweep = [&](const double *from, double *to) {
#pragma unroll
      for (int r = 0; r < n_own; ++r)
        {
          const double sum  = weight[r] * a[r].subtract_from(s[r], from);
          double       next = plain ? sum : keep[r] * value[r] + sum;
          if (!plain && parameters.momentum > 0.)
            {
              next += parameters.momentum * velocity[r];
              velocity[r] = next - value[r];
            }
          value[r]           = next;
          to[t + r * stride] = next;
        }
      __syncthreads(); // all have read one half and written the other
    };
    if (!plain && parameters.test_every > 0)
      {
#pragma unroll
        for (int r = 0; r < n_own; ++r)
          if (owned(r))
            {
              const double change = (keep[r] - 1.) * value[r] / weight[r] + a[r].subtract_from(s[r], y);
              residual += change * change;
            }
        residual = sum_over_block(residual, partial);
        if (t == 0)
          v.parts[blockIdx.x] = residual;
      }
    if (!plain && parameters.local_iterations == 0)
      return;
    int k =
      !plain && parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    for (; k >= 2; k -= 2)
      {
        sweep(y, y + max_rows_in_registers);
        sweep(y + max_rows_in_registers, y);
      }
    if (k > 0)
      sweep(y, y + max_rows_in_registers);
#pragma unroll
    for (int r = 0; r < n_own; ++r)
      {
        const int i = t + r * stride;
        if (owned(r))
          store(v.x + h.begin + i, plain || parameters.block_omega == 1. ? value[r] : start[r] + parameters.block_omega * (value[r] - start[r]));
        if (!plain && i < h.rows && parameters.momentum > 0.)
          v.velocity[h.first_local + i] = velocity[r];
      }
    // the block that will run here next finds its data in the L2 cache
    if (t < 32 && blockIdx.x + A.blocks_at_once < gridDim.x)
      prefetch_block(A, v, blockIdx.x + A.blocks_at_once);
  }

  /** Off-block entries of a row in registers, for iterations without end. The first n_cached of a row, and the others from memory. */
  template <int n_cached>
  struct OffBlock
  {
    int    row = -1, n = 0;
    int    columns[n_cached];
    double values[n_cached];

    template <typename Matrix>
    __device__ OffBlock(const Matrix &A, const HeaderFields &h, const int *jags)
    {
      const int r = threadIdx.x;
      if (r >= h.n_boundary)
        return;
      row = A.boundary_rows[h.first_boundary + r];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < h.n_jags)
          if (const int begin = jags[e]; r < jags[e + 1] - begin)
            {
              columns[e] = __ldg(A.outer_columns + begin + r);
              values[e]  = A.outer_values(begin + r);
              n          = e + 1;
            }
    }

    template <typename Matrix>
    __device__ void freeze(const Matrix &A, const HeaderFields &h, const int *jags, const double *x, double *frozen) const
    {
      if (row < 0)
        return;
      double x_j[n_cached];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          x_j[e] = load(x + columns[e]);
      double sums[2] = {n == n_cached ? off_block_sum(A, jags, h.n_jags, x, threadIdx.x, n_cached) : 0., 0.};
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          sums[e % 2] += values[e] * x_j[e];
      frozen[row] = sums[0] + sums[1];
    }
  };

  /**
   * The persistent form, a thread a row: each block iterates by itself, its matrix, right-hand side and values in registers and shared memory. With a
   * monitor the blocks wait for one another twice, before the first and after the last iteration, for the true residuals.
   */
  template <typename Format, int width, int n_cached, int max_threads>
  __global__ void __launch_bounds__(max_threads)
    persistent_rows_kernel(const MatrixView<Format> A, const RelaxVectors v, const RelaxParameters parameters, const MonitorView m)
  {
    __shared__ double  y[2 * max_threads], frozen[max_threads], partial[32];
    __shared__ int     state;
    const int         *header = A.header(blockIdx.x), *jags = header + A.first_jag;
    const HeaderFields h = read_header(header);
    const int          i = threadIdx.x, row = h.begin + i, local = h.first_local + i;
    const bool         active = i < h.rows, owned = static_cast<unsigned int>(i - h.owned_begin) < static_cast<unsigned int>(h.owned_rows);

    RowInRegisters<Format, width> a;
    a.load(A.inner, header[header_size + i / 32], header[header_size + i / 32 + 1], i);
    double b = 0., value = 0., weight = 0., keep = A.keep, velocity = 0.;
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
    a.decode(A.inner, i);
    const OffBlock<n_cached> off_block(A, h, jags);
    const int k = parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    // s = b - off-block part, with the newest values in the first half of y
    const auto freeze = [&] {
      off_block.freeze(A, h, jags, v.x, frozen);
      if (active && !owned)
        value = load(v.x + row);
      y[i] = value;
      __syncthreads();
      return b - frozen[i];
    };
    const auto residual_part = [&](double s) {
      const double residual = owned ? a.subtract_from(s, y) + (keep - 1.) * value / weight : 0.;
      return sum_over_block(residual * residual, partial);
    };
    const auto sweep = [&](double s, int from) {
      double next = weight * a.subtract_from(s, y + from * max_threads) + keep * value;
      if (parameters.momentum > 0.)
        {
          next += parameters.momentum * velocity;
          velocity = next - value;
        }
      value                           = next;
      y[(1 - from) * max_threads + i] = value;
      __syncthreads(); // all have read one half and written the other
    };
    frozen[i] = 0.;
    if (i == 0)
      state = go_on;
    __syncthreads();
    if (m.monitor != nullptr)
      {
        const double residual = residual_part(freeze()), b_part = sum_over_block(owned ? b * b : 0., partial);
        begin_solve(m, residual, b_part, partial);
      }

    int iteration = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if (m.monitor != nullptr && i == 0)
          state = monitor_state(m.monitor);
        const double s = freeze(), start = value;
        if (state != go_on)
          break;
        if (parameters.test_every > 0 && iteration % parameters.test_every == 0 && iteration > 0)
          {
            const double part = residual_part(s);
            if (i == 0)
              store(m.parts + blockIdx.x, part);
            look_at_residual(m.monitor, m.parts, iteration);
          }
        for (int n = 0; n + 2 <= k; n += 2)
          {
            sweep(s, 0);
            sweep(s, 1);
          }
        if (k % 2 == 1)
          sweep(s, 0);
        if (parameters.block_omega != 1.)
          value = start + parameters.block_omega * (value - start);
        if (owned)
          store(v.x + row, value);
      }
    if (active && parameters.momentum > 0.)
      v.velocity[local] = velocity;
    if (m.monitor != nullptr)
      {
        wait_for_all(m);
        end_solve(m, residual_part(freeze()), iteration, partial);
      }
  }

  /**
   * One global iteration of blocks of any size and rows of any length: threads share out the rows, and the matrix is read anew in each sweep,
   * mostly from the L1 cache. Shared memory: three values a row, and 32.
   */
  template <typename Format>
  __global__ void __launch_bounds__(1024)
    relax_any_kernel(const MatrixView<Format> A, const RelaxVectors v, const RelaxParameters parameters, int stride)
  {
    extern __shared__ double shared[];
    const int               *header = A.header(blockIdx.x);
    const HeaderFields       h      = read_header(header);
    double                  *y = shared, *next = y + stride, *s = next + stride, *partial = s + stride;
    const auto               owned   = [&](int i) { return i >= h.owned_begin && i < h.owned_begin + h.owned_rows; };
    const auto               row_sum = [&](int i) {
      double    sum = s[i];
      const int end = header[header_size + i / 32 + 1];
#pragma unroll 4
      for (int pair = header[header_size + i / 32] + i % 32; pair < end; pair += 32)
        {
          const typename Format::Raw raw = A.inner.load_pair(pair);
#pragma unroll
          for (int q = 0; q < 2; ++q)
            {
              int    column = 0;
              double value  = 0.;
              A.inner.decode(raw, q, i, column, value);
              sum -= value * y[column];
            }
        }
      return sum;
    };

    for (int i = threadIdx.x; i < h.rows; i += blockDim.x)
      {
        y[i] = v.x[h.begin + i];
        s[i] = v.b[h.begin + i];
      }
    __syncthreads();
    for (int r = threadIdx.x; r < h.n_boundary; r += blockDim.x)
      s[A.boundary_rows[h.first_boundary + r]] -= off_block_sum(A, header + A.first_jag, h.n_jags, v.off_block, r, 0);
    __syncthreads();
    const auto keep_of = [&](int local) { return A.keeps != nullptr ? A.keeps[local] : A.keep; };
    if (parameters.test_every > 0)
      {
        double norm = 0.;
        for (int i = threadIdx.x; i < h.rows; i += blockDim.x)
          if (owned(i))
            {
              const double residual = row_sum(i) + (keep_of(h.first_local + i) - 1.) * y[i] / A.weights(h.first_local + i);
              norm += residual * residual;
            }
        norm = sum_over_block(norm, partial);
        if (threadIdx.x == 0)
          v.parts[blockIdx.x] = norm;
      }
    if (parameters.local_iterations == 0)
      return;
    const int k = parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    for (int n = 0; n < k; ++n)
      {
        for (int i = threadIdx.x; i < h.rows; i += blockDim.x)
          {
            const int local   = h.first_local + i;
            double    relaxed = keep_of(local) * y[i] + A.weights(local) * row_sum(i);
            if (parameters.momentum > 0.)
              {
                relaxed += parameters.momentum * v.velocity[local];
                v.velocity[local] = relaxed - y[i];
              }
            next[i] = relaxed;
          }
        __syncthreads();
        double *swap = y;
        y            = next;
        next         = swap;
      }
    for (int i = threadIdx.x; i < h.rows; i += blockDim.x)
      if (owned(i))
        {
          const double start = parameters.block_omega == 1. ? 0. : load(v.x + h.begin + i); // nobody else writes it
          store(v.x + h.begin + i, parameters.block_omega == 1. ? y[i] : start + parameters.block_omega * (y[i] - start));
        }
  }
} // namespace leopard
