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
    double       *other_x;  ///< persistent form, synchronous schedule: the second of two vectors that are read and written in turn, else null
  };

  constexpr int max_rows_in_registers = 512; ///< of a block whose rows are held in registers

  /** At most `width` inner entries of a row in registers. */
  template <typename Format, int width>
  struct RowInRegisters
  {
    int    columns[width];
    double values[width];

    __device__ void take(const BlockView<Format> &block, int i, const TableView &tables)
    {
      const int begin = block.slice(i / 32), n_pairs = (block.slice(i / 32 + 1) - begin) / 32;
#pragma unroll
      for (int e = 0; e < width / 2; ++e)
        {
          columns[2 * e] = columns[2 * e + 1] = i;
          values[2 * e] = values[2 * e + 1] = 0.;
          if (e < n_pairs)
            block.inner_pair(begin + 32 * e + i % 32, i, tables, columns + 2 * e, values + 2 * e);
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
  };

  /** sum of a_ij x_j over the off-block entries of the r-th row that has any, from its entry e on; four at a time. */
  template <typename Format>
  __device__ double off_block_sum(const BlockView<Format> &block, const TableView &tables, const double *x, int r, int e)
  {
    double sum = 0.;
    for (; block.has_outer(r, e); e += 4)
      {
        double x_j[4];
#pragma unroll
        for (int q = 0; q < 4; ++q)
          x_j[q] = block.has_outer(r, e + q) ? load(x + block.outer_column(block.jag(e + q) + r)) : 0.;
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (block.has_outer(r, e + q))
            sum += block.outer_value(block.jag(e + q) + r, tables) * x_j[q];
      }
    return sum;
  }

  /** Bulk copies from global to shared memory, which a barrier in shared memory counts. */
  struct PacketPipeline
  {
    char          *stages;
    std::uint64_t *barriers;
    int            stage_bytes;

    static __device__ unsigned int address(const void *p) { return static_cast<unsigned int>(__cvta_generic_to_shared(p)); }

    __device__ void init() const
    {
      if (threadIdx.x == 0)
        {
          for (int stage = 0; stage < 2; ++stage)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(barriers + stage)) : "memory");
          asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    }

    /** By one thread. */
    __device__ void request(int stage, const char *packet, int n_bytes) const
    {
      const unsigned int barrier = address(barriers + stage);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(n_bytes) : "memory");
      asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(stages + stage * stage_bytes)),
        "l"(packet),
        "r"(n_bytes),
        "r"(barrier)
        : "memory");
    }

    __device__ void wait(int stage, unsigned int parity) const
    {
      const unsigned int barrier = address(barriers + stage);
      unsigned int       done    = 0;
      while (done == 0)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    }
  };

  constexpr int rows_a_thread = 2; ///< of the launch form

  /** Thread blocks a multiprocessor that registers are left for; packets of doubles leave no room for a third one anyway. */
  constexpr int launch_blocks_at_once(int width, bool plain, std::size_t value_bytes)
  {
    return width <= 4 ? (plain ? 4 : 3) : width <= 8 ? (plain && value_bytes < 8 ? 3 : 2) : 1;
  }

  /**
   * One global iteration: a thread block relaxes the matrix blocks blockIdx.x, blockIdx.x + gridDim.x, ..., two rows a thread. While it relaxes one, a
   * bulk copy brings the next one's packet to shared memory. `plain`: omega = 1, no weights, no momentum, k the same in all blocks, and no residual is
   * asked for. Dynamic shared memory: two packets, and a number for each outer entry of a block.
   */
  template <typename Format, int width, bool plain>
  __global__ void __launch_bounds__(max_rows_in_registers / rows_a_thread, launch_blocks_at_once(width, plain, sizeof(typename Format::Value)))
    relax_rows_kernel(const MatrixView<Format> A, const RelaxVectors v, const RelaxParameters parameters)
  {
    extern __shared__ __align__(128) char stages[];
    __shared__ double                     y[2 * max_rows_in_registers], frozen[max_rows_in_registers], partial[32];
    __shared__ std::uint64_t barriers[2];
    const PacketPipeline     pipeline = {stages, barriers, A.stage_bytes};
    double                  *products = reinterpret_cast<double *>(stages + 2 * A.stage_bytes);
    const int                t = threadIdx.x, n_threads = blockDim.x;
    const auto               request = [&](int j, int stage) {
      if (t == 0 && j < A.n_blocks)
        {
          const int begin = __ldg(A.packet_offsets + j);
          pipeline.request(stage, A.packets + static_cast<std::size_t>(begin) * 16, (__ldg(A.packet_offsets + j + 1) - begin) * 16);
        }
    };
    // x and b come by registers, one block ahead; a thread without a row reads the block's first
    const auto extent = [&](int j) { return j < A.n_blocks ? __ldg(A.extents + j) : make_int2(0, 0); };
    double     next_value[rows_a_thread], next_b[rows_a_thread];
    const auto read_ahead = [&](int2 e) {
#pragma unroll
      for (int r = 0; r < rows_a_thread; ++r)
        {
          const int row = e.x + (t + r * n_threads < e.y ? t + r * n_threads : 0);
          next_value[r] = load(v.off_block + row);
          next_b[r]     = __ldcs(v.b + row);
        }
    };

    pipeline.init();
#pragma unroll
    for (int r = 0; r < rows_a_thread; ++r)
      frozen[t + r * n_threads] = 0.;
    __syncthreads();
    int          j = blockIdx.x, stage = 0;
    unsigned int parity = 0;
    request(j, 0);
    read_ahead(extent(j));
    int2 next_extent = extent(j + gridDim.x);
    for (; j < A.n_blocks; j += gridDim.x)
      {
        double value[rows_a_thread], b[rows_a_thread];
#pragma unroll
        for (int r = 0; r < rows_a_thread; ++r)
          {
            value[r] = next_value[r];
            b[r]     = next_b[r];
          }
        request(j + gridDim.x, 1 - stage);
        if (j + gridDim.x < A.n_blocks)
          {
            read_ahead(next_extent);
            next_extent = extent(j + 2 * gridDim.x);
          }
        pipeline.wait(stage, parity);
        const BlockView<Format> block(stages + stage * A.stage_bytes);
        // off-block products, an entry a thread; what they are sums of comes after the barrier
        for (int p = t, n = block.jag(block[header_n_jags]); p < n; p += n_threads)
          products[p] = block.outer_value(p, A.tables) * load(v.off_block + block.outer_column(p));
        const int                     rows = block[header_rows], begin = block[header_begin], first_local = block[header_first_local];
        const int                     owned_begin = block[header_owned_begin], owned_rows = block[header_owned_rows];
        RowInRegisters<Format, width> a[rows_a_thread];
        double                        weight[rows_a_thread], keep[rows_a_thread], velocity[rows_a_thread];
#pragma unroll
        for (int r = 0; r < rows_a_thread; ++r)
          {
            const int i    = t + r * n_threads;
            const int safe = i < rows ? i : 0; // a thread without a row relaxes the first one too, and writes it nowhere
            a[r].take(block, safe, A.tables);
            weight[r]   = block.weight(safe, A.tables);
            keep[r]     = !plain && A.keeps != nullptr ? A.keeps[first_local + safe] : A.keep;
            velocity[r] = !plain && parameters.momentum > 0. ? v.velocity[first_local + safe] : 0.;
            y[i]        = value[r];
          }
        __syncthreads();
        for (int r = t; r < block[header_n_boundary]; r += n_threads)
          {
            double sum = 0.;
            for (int e = 0; block.has_outer(r, e); ++e)
              sum += products[block.jag(e) + r];
            frozen[block.boundary_row(r)] = sum;
          }
        __syncthreads();
        double s[rows_a_thread], start[rows_a_thread];
#pragma unroll
        for (int r = 0; r < rows_a_thread; ++r)
          {
            s[r]                      = b[r] - frozen[t + r * n_threads];
            start[r]                  = value[r];
            frozen[t + r * n_threads] = 0.; // for the next block
          }
        const auto owned = [&](int r) { return static_cast<unsigned int>(t + r * n_threads - owned_begin) < static_cast<unsigned int>(owned_rows); };
        const auto sweep = [&](const double *from, double *to) {
#pragma unroll
          for (int r = 0; r < rows_a_thread; ++r)
            {
              double next = weight[r] * a[r].subtract_from(s[r], from);
              if (!plain)
                {
                  next += keep[r] * value[r];
                  if (parameters.momentum > 0.)
                    {
                      next += parameters.momentum * velocity[r];
                      velocity[r] = next - value[r];
                    }
                }
              value[r]              = next;
              to[t + r * n_threads] = next;
            }
          __syncthreads(); // all have read one half and written the other
        };
        if (!plain && parameters.test_every > 0)
          {
            double norm = 0.;
#pragma unroll
            for (int r = 0; r < rows_a_thread; ++r)
              if (owned(r))
                {
                  const double residual = (keep[r] - 1.) * value[r] / weight[r] + a[r].subtract_from(s[r], y);
                  norm += residual * residual;
                }
            norm = sum_over_block(norm, partial);
            if (t == 0)
              v.parts[j] = norm;
          }
        int k = !plain && parameters.local_iterations_per_block != nullptr && parameters.local_iterations > 0
                  ? parameters.local_iterations_per_block[j]
                  : parameters.local_iterations;
        if (!plain && k == 0)
          __syncthreads(); // all have read frozen and y
        for (; k >= 2; k -= 2)
          {
            sweep(y, y + max_rows_in_registers);
            sweep(y + max_rows_in_registers, y);
          }
        if (k > 0)
          sweep(y, y + max_rows_in_registers);
        if (plain || parameters.local_iterations > 0)
#pragma unroll
          for (int r = 0; r < rows_a_thread; ++r)
            {
              const int i = t + r * n_threads;
              if (owned(r))
                store(v.x + begin + i, plain || parameters.block_omega == 1. ? value[r] : start[r] + parameters.block_omega * (value[r] - start[r]));
              if (!plain && i < rows && parameters.momentum > 0.)
                v.velocity[first_local + i] = velocity[r];
            }
        stage = 1 - stage;
        parity ^= stage == 0;
      }
  }

  /** Off-block entries of a row in registers, for iterations without end. The first n_cached of a row, and the others from memory. */
  template <int n_cached>
  struct OffBlock
  {
    int    row = -1, n = 0;
    int    columns[n_cached];
    double values[n_cached];

    template <typename Format>
    __device__ OffBlock(const BlockView<Format> &block, const TableView &tables)
    {
      const int r = threadIdx.x;
      if (r >= block[header_n_boundary])
        return;
      row = block.boundary_row(r);
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (block.has_outer(r, e))
          {
            columns[e] = block.outer_column(block.jag(e) + r);
            values[e]  = block.outer_value(block.jag(e) + r, tables);
            n          = e + 1;
          }
    }

    template <typename Format>
    __device__ void freeze(const BlockView<Format> &block, const TableView &tables, const double *x, double *frozen) const
    {
      if (row < 0)
        return;
      double x_j[n_cached];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          x_j[e] = load(x + columns[e]);
      double sums[2] = {n == n_cached ? off_block_sum(block, tables, x, threadIdx.x, n_cached) : 0., 0.};
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          sums[e % 2] += values[e] * x_j[e];
      frozen[row] = sums[0] + sums[1];
    }
  };

  /**
   * The persistent form, a thread a row: each block iterates by itself, its matrix, right-hand side and values in registers and shared memory. Dynamic shared memory: the packet. With tests the blocks wait for one another twice, before the first and after the last iteration, for the true residuals; in the synchronous schedule they do so after each iteration.
   */
  template <typename Format, int width, int n_cached, int max_threads>
  __global__ void __launch_bounds__(max_threads)
    persistent_rows_kernel(const MatrixView<Format> A, const RelaxVectors v, const RelaxParameters parameters, const MonitorView m)
  {
    extern __shared__ __align__(128) char packet[];
    __shared__ double                     y[2 * max_threads], frozen[max_threads], partial[32];
    __shared__ std::uint64_t barriers[2];
    __shared__ int           state;
    const PacketPipeline     pipeline = {packet, barriers, A.stage_bytes};
    pipeline.init();
    __syncthreads();
    if (threadIdx.x == 0)
      pipeline.request(0, A.block(blockIdx.x).base, (A.packet_offsets[blockIdx.x + 1] - A.packet_offsets[blockIdx.x]) * 16);
    pipeline.wait(0, 0);
    const BlockView<Format> block(packet);
    const int               i = threadIdx.x, row = block[header_begin] + i, local = block[header_first_local] + i;
    const bool              active = i < block[header_rows];
    const bool              owned  = static_cast<unsigned int>(i - block[header_owned_begin]) < static_cast<unsigned int>(block[header_owned_rows]);

    RowInRegisters<Format, width> a;
    a.take(block, active ? i : 0, A.tables);
    double b = 0., value = 0., weight = 0., keep = A.keep, velocity = 0.;
    if (active)
      {
        value  = load(v.x + row);
        b      = v.b[row];
        weight = block.weight(i, A.tables);
        if (A.keeps != nullptr)
          keep = A.keeps[local];
        if (parameters.momentum > 0.)
          velocity = v.velocity[local];
      }
    const OffBlock<n_cached> off_block(block, A.tables);
    const int k = parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    // s = b - off-block part, with the block's values in the first half of y
    const auto freeze = [&](const double *x) {
      off_block.freeze(block, A.tables, x, frozen);
      if (active && !owned)
        value = load(x + row);
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
    if (m.tests)
      {
        const double residual = residual_part(freeze(v.x)), b_part = sum_over_block(owned ? b * b : 0., partial);
        begin_solve(m, residual, b_part, partial);
      }

    const bool synchronous = v.other_x != nullptr;
    double    *from = v.x, *to = synchronous ? v.other_x : v.x;
    int        iteration = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if (m.tests && !synchronous && i == 0)
          state = monitor_state(m.monitor);
        const double s = freeze(from), start = value;
        if (state != go_on)
          break;
        const bool tests = m.tests && iteration % parameters.test_every == 0 && iteration > 0;
        if (tests)
          {
            const double part = residual_part(s);
            if (i == 0)
              store(m.parts + blockIdx.x, part);
            if (!synchronous && blockIdx.x == 0)
              {
                const int decision = look_at_residual(m.monitor, m.parts, iteration, true);
                if (i == 0 && decision != go_on)
                  set_monitor_state(m.monitor, decision);
              }
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
          store(to + row, value);
        if (synchronous)
          {
            wait_for_all(&m.monitor->barrier, (iteration + 1) * gridDim.x);
            if (tests)
              {
                // every block adds up the same numbers in the same order, and so comes to the same decision
                const int decision = look_at_residual(m.monitor, m.parts, iteration, blockIdx.x == 0);
                if (i == 0)
                  state = decision;
              }
            double *swap = from;
            from         = to;
            to           = swap;
          }
      }
    if (synchronous && from != v.x && owned)
      store(v.x + row, value);
    if (active && parameters.momentum > 0.)
      v.velocity[local] = velocity;
    if (m.tests)
      {
        wait_for_all(&m.monitor->arrived[1], gridDim.x);
        end_solve(m, residual_part(freeze(v.x)), iteration, partial);
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
    const BlockView<Format>  block = A.block(blockIdx.x);
    const int                begin = block[header_begin], rows = block[header_rows], first_local = block[header_first_local];
    double                  *y = shared, *next = y + stride, *s = next + stride, *partial = s + stride;
    const auto owned   = [&](int i) { return i >= block[header_owned_begin] && i < block[header_owned_begin] + block[header_owned_rows]; };
    const auto row_sum = [&](int i) {
      double    sum = s[i];
      const int end = block.slice(i / 32 + 1);
#pragma unroll 4
      for (int pair = block.slice(i / 32) + i % 32; pair < end; pair += 32)
        {
          int    column[2];
          double value[2];
          block.inner_pair(pair, i, A.tables, column, value);
          sum -= value[0] * y[column[0]] + value[1] * y[column[1]];
        }
      return sum;
    };

    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      {
        y[i] = v.x[begin + i];
        s[i] = v.b[begin + i];
      }
    __syncthreads();
    for (int r = threadIdx.x; r < block[header_n_boundary]; r += blockDim.x)
      s[block.boundary_row(r)] -= off_block_sum(block, A.tables, v.off_block, r, 0);
    __syncthreads();
    const auto keep_of = [&](int local) { return A.keeps != nullptr ? A.keeps[local] : A.keep; };
    if (parameters.test_every > 0)
      {
        double norm = 0.;
        for (int i = threadIdx.x; i < rows; i += blockDim.x)
          if (owned(i))
            {
              const double residual = row_sum(i) + (keep_of(first_local + i) - 1.) * y[i] / block.weight(i, A.tables);
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
        for (int i = threadIdx.x; i < rows; i += blockDim.x)
          {
            const int local   = first_local + i;
            double    relaxed = keep_of(local) * y[i] + block.weight(i, A.tables) * row_sum(i);
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
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      if (owned(i))
        {
          const double start = parameters.block_omega == 1. ? 0. : load(v.x + begin + i); // nobody else writes it
          store(v.x + begin + i, parameters.block_omega == 1. ? y[i] : start + parameters.block_omega * (y[i] - start));
        }
  }
} // namespace leopard
