// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/launch.cuh"
#include "rows_in_registers.cuh"

#include <cstdint>

namespace leopard
{
  /** Bulk copies of packets from global to shared memory, one at a time, which a barrier in shared memory counts. */
  struct PacketPipeline
  {
    char          *outer, *inner;
    std::uint64_t *barrier;

    static __device__ unsigned int address(const void *p) { return static_cast<unsigned int>(__cvta_generic_to_shared(p)); }

    __device__ void init() const
    {
      if (threadIdx.x == 0)
        {
          asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
          asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    }

    /**
     * The inner part of a packet, and then the outer one: each by one thread, when all have read that of the packet
     * before.
     */
    __device__ void request_inner(const char *packets, const BlockExtent &e) const
    {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(e.inner_bytes) : "memory");
      copy(inner, packets + static_cast<std::size_t>(e.packet) * 16 + e.outer_bytes, e.inner_bytes);
    }

    __device__ void request_outer(const char *packets, const BlockExtent &e) const
    {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(e.outer_bytes) : "memory");
      copy(outer, packets + static_cast<std::size_t>(e.packet) * 16, e.outer_bytes);
    }

    /** Parities of the packets: 0, 1, 0, ... */
    __device__ void wait(unsigned int parity) const
    {
      unsigned int done = 0;
      while (done == 0)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address(barrier)), "r"(parity)
                     : "memory");
    }

  private:
    __device__ void copy(char *to, const char *from, int n_bytes) const
    {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)),
                   "l"(from),
                   "r"(n_bytes),
                   "r"(address(barrier))
                   : "memory");
    }
  };

  /**
   * Off-block values of a block on their way from memory to shared memory; all loads are under way before the first
   * value is there.
   */
  template <typename Number>
  struct GhostValues
  {
    static constexpr int n = 4;
    const bool           are_few; ///< at most one a thread, as those of tiles are
    Number               x[n];

    template <typename Format>
    __device__ GhostValues(const BlockView<Format> &block, const Number *from)
      : are_few(block.header.n_ghosts <= static_cast<int>(blockDim.x))
    {
      if (static_cast<int>(threadIdx.x) < block.header.n_ghosts)
        x[0] = load(from + block.ghost(threadIdx.x));
      if (!are_few)
#pragma unroll
        for (int q = 1; q < n; ++q)
          if (const int g = threadIdx.x + q * blockDim.x; g < block.header.n_ghosts)
            x[q] = load(from + block.ghost(g));
    }

    template <typename Format>
    __device__ void publish(const BlockView<Format> &block, const Number *from, Number *values) const
    {
      if (static_cast<int>(threadIdx.x) < block.header.n_ghosts)
        values[threadIdx.x] = x[0];
      if (are_few)
        return;
#pragma unroll
      for (int q = 1; q < n; ++q)
        if (const int g = threadIdx.x + q * blockDim.x; g < block.header.n_ghosts)
          values[g] = x[q];
      for (int g = threadIdx.x + n * blockDim.x; g < block.header.n_ghosts; g += blockDim.x)
        values[g] = load(from + block.ghost(g));
    }
  };

  /** The sums of off-block products, for the rows that have any; a row a thread. @tparam n entries of a row at once. */
  template <int n, typename Format, typename Tables, typename Number = typename Format::Number>
  __device__ void add_outer_entries(const BlockView<Format> &block, const Tables &tables, const Number *ghosts, Number *sums)
  {
    const int n_jags = block.header.n_jags;
    int       begin[n + 1];
#pragma unroll
    for (int e = 0; e <= n; ++e)
      begin[e] = block.jag(min(e, n_jags));
    const auto product = [&](int p) { return block.outer_value(p, tables) * ghosts[block.outer_number(p)]; };
    for (int r = threadIdx.x; r < block.header.n_boundary; r += blockDim.x)
      {
        Number sum = 0;
#pragma unroll
        for (int e = 0; e < n; ++e)
          if (begin[e] + r < begin[e + 1])
            sum += product(begin[e] + r);
        if (n_jags > n)
          for (int e = n; block.has_outer(r, e); ++e)
            sum += product(block.jag(e) + r);
        sums[block.boundary_row(r)] = sum;
      }
  }

  /** What a launch does with each block; the fewer cases a kernel has, the more registers its rows have. */
  enum class Relaxing
  {
    plain,   ///< relaxes, without l1 weights and momentum, k the same in all blocks and a block's omega 1
    general, ///< relaxes
    residual ///< relaxes nothing, and finds the residual
  };

  /** A thread's rows of a block while it is relaxed. A row that does not exist has the value 0 and weight 0. */
  template <typename Rows, Relaxing what>
  struct RelaxedRows
  {
    using Format           = typename Rows::Format;
    using Number           = typename Format::Number;
    static constexpr int n = Rows::n;

    const BlockExtent extent;
    const int         stride, first;
    const bool        busy; ///< has a row
    int               owned_begin, owned_rows, first_local;
    Rows              a;
    Number            value[n], start[n], s[n], weight[n], keep[n], velocity[n];

    /** Reads x and b. */
    __device__ RelaxedRows(const BlockExtent &extent_, const RelaxVectors<Number> &v)
      : extent(extent_)
      , stride(Rows::stride(extent_))
      , first(Rows::first(stride))
      , busy(first < extent_.rows)
    {
#pragma unroll
      for (int r = 0; r < n; ++r)
        {
          value[r] = exists(r) ? load(v.off_block + place(r)) : Number(0);
          s[r]     = exists(r) ? __ldcs(v.b + place(r)) : Number(0);
        }
    }

    __device__ int row(int r) const
    {
      return first + r * stride;
    }
    /** Of the row, in vectors. */
    __device__ int place(int r) const
    {
      return extent.begin + row(r);
    }
    __device__ bool exists(int r) const
    {
      return row(r) < extent.rows;
    }
    __device__ bool owned(int r) const
    {
      return static_cast<unsigned int>(row(r) - owned_begin) < static_cast<unsigned int>(owned_rows);
    }

    /** All that is needed of the packet but its off-block part. */
    template <typename Tables>
    __device__ void take(const BlockView<Format>       &block,
                         const MatrixView<Format>      &A,
                         const Tables                  &tables,
                         const RelaxVectors<Number>    &v,
                         const RelaxParameters<Number> &parameters)
    {
      owned_begin = block.header.owned_begin;
      owned_rows  = block.header.owned_rows;
      first_local = block.header.first_local;
      a.take(block, first, stride, extent.rows, tables);
#pragma unroll
      for (int r = 0; r < n; ++r)
        {
          weight[r]   = exists(r) ? block.weight(row(r), tables) : Number(0);
          keep[r]     = what != Relaxing::plain && A.keeps != nullptr && exists(r) ? A.keeps[first_local + row(r)] : A.keep;
          velocity[r] = what == Relaxing::general && parameters.momentum > Number(0) && exists(r) ? v.velocity[first_local + row(r)] : Number(0);
          start[r]    = value[r];
        }
    }

    /** Values to shared memory, and zeros for the off-block sums. */
    __device__ void publish(Number *y, Number *sums) const
    {
      if (busy)
#pragma unroll
        for (int r = 0; r < n; ++r)
          {
            y[row(r)]    = value[r];
            sums[row(r)] = 0;
          }
    }

    __device__ void freeze(const Number *sums)
    {
      if (busy)
#pragma unroll
        for (int r = 0; r < n; ++r)
          s[r] -= sums[row(r)];
    }

    /** The last one publishes nothing. */
    __device__ void sweep(const Number *from, Number *to, bool last, const RelaxParameters<Number> &parameters)
    {
      Number sums[n];
      if (!busy)
        return;
      a.subtract(from, first, stride, value, s, sums);
#pragma unroll
      for (int r = 0; r < n; ++r)
        {
          Number next = weight[r] * sums[r] + keep[r] * value[r];
          if (what == Relaxing::general && parameters.momentum > Number(0))
            {
              next += parameters.momentum * velocity[r];
              velocity[r] = next - value[r];
            }
          value[r] = next;
          if (!last)
            to[row(r)] = next;
        }
    }

    /** The thread's part of ||r||^2; r itself goes to `to` if that is not null. */
    __device__ double residual(const Number *y, Number *to) const
    {
      Number sums[n];
      double norm = 0.;
      if (busy)
        {
          a.subtract(y, first, stride, value, s, sums);
#pragma unroll
          for (int r = 0; r < n; ++r)
            if (owned(r))
              {
                const Number residual = (keep[r] - Number(1)) * value[r] / weight[r] + sums[r];
                norm += square(residual);
                if (to != nullptr)
                  __stcs(to + place(r), residual);
              }
        }
      return norm;
    }

    __device__ void write(const RelaxVectors<Number> &v, const RelaxParameters<Number> &parameters) const
    {
#pragma unroll
      for (int r = 0; r < n; ++r)
        {
          if (owned(r))
            store(v.x + place(r),
                  what == Relaxing::plain || parameters.block_omega == Number(1) ? value[r]
                                                                                 : start[r] + parameters.block_omega * (value[r] - start[r]));
          if (what == Relaxing::general && exists(r) && parameters.momentum > Number(0))
            v.velocity[first_local + row(r)] = velocity[r];
        }
    }
  };

  /**
   * One global iteration: a thread block relaxes the matrix blocks blockIdx.x, blockIdx.x + gridDim.x, ... While it
   * sweeps over one, a bulk copy brings the next one's packet to shared memory; what else a block waits for, its
   * neighbours on the multiprocessor use. Dynamic shared memory: a packet, and a number for each ghost of a block.
   */
  template <typename Rows, Relaxing what>
  __global__ void __launch_bounds__(Rows::max_threads, Rows::at_once(what != Relaxing::general))
    relax_rows_kernel(const MatrixView<typename Rows::Format>      A,
                      const RelaxVectors<typename Rows::Number>    v,
                      const RelaxParameters<typename Rows::Number> parameters)
  {
    using Number           = typename Rows::Number;
    constexpr int     half = max_rows_in_registers + DistanceSlots::max_reach; // lattices read zeros beside the rows
    extern __shared__ __align__(128) char packet[];
    __shared__ Number                     cells[2 * half + DistanceSlots::max_reach];
    __shared__ double                     partial[32];
    __shared__ std::uint64_t   barrier;
    constexpr int              n_in_table = Rows::Format::has_dictionary ? most_distinct_values : 1;
    __shared__ Number          weights[n_in_table], values[n_in_table];
    const bool                 has_weights = A.tables.has_weights();
    const SharedTables<Number> tables      = {weights, values, has_weights};
    const PacketPipeline       pipeline    = {packet, packet + A.outer_bytes, &barrier};
    Number                    *ghosts = reinterpret_cast<Number *>(packet + A.outer_bytes + A.inner_bytes), *y = cells + DistanceSlots::max_reach;

    pipeline.init();
    for (int i = threadIdx.x; i < 2 * half + DistanceSlots::max_reach; i += blockDim.x)
      cells[i] = 0;
    if constexpr (Rows::Format::has_dictionary)
      for (int i = threadIdx.x; i < n_in_table; i += blockDim.x)
        {
          values[i] = A.tables.value(i);
          if (has_weights)
            weights[i] = A.tables.weight(i);
        }
    __syncthreads();
    BlockExtent  next   = A.extents[blockIdx.x];
    unsigned int parity = 0;
    if (threadIdx.x == 0)
      {
        pipeline.request_inner(A.packets, next);
        pipeline.request_outer(A.packets, next);
      }
    device::wait_for_previous(); // the matrix is there since it was made; vectors are not
    for (int j = blockIdx.x; j < A.n_blocks; j += gridDim.x)
      {
        RelaxedRows<Rows, what> rows(next, v);
        const bool              goes_on = j + gridDim.x < A.n_blocks;
        if (goes_on)
          next = A.extents[j + gridDim.x];
        pipeline.wait(parity);
        parity = 1 - parity;
        const BlockView<typename Rows::Format> block(packet, pipeline.inner);
        const GhostValues<Number>              ghost_values(block, v.off_block);
        rows.take(block, A, tables, v, parameters);
        rows.publish(y, y + half);
        ghost_values.publish(block, v.off_block, ghosts);
        __syncthreads();
        if (threadIdx.x == 0 && goes_on)
          pipeline.request_inner(A.packets, next);
        if (block.header.n_jags <= 2) // as in tiles, where only corners have two
          add_outer_entries<2>(block, tables, ghosts, y + half);
        else
          add_outer_entries<4>(block, tables, ghosts, y + half);
        __syncthreads();
        if (threadIdx.x == 0 && goes_on)
          pipeline.request_outer(A.packets, next);
        rows.freeze(y + half);
        if constexpr (what == Relaxing::residual)
          {
            const double norm = sum_over_block(rows.residual(y, v.residual), partial);
            if (threadIdx.x == 0)
              v.parts[j] = norm;
          }
        else
          {
            const int k = what == Relaxing::general && parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[j]
                                                                                                        : parameters.local_iterations;
            for (int n = 0; n < k; n += 2) // two at a time: then places in shared memory are the same each time
              {
                rows.sweep(y, y + half, n + 1 == k, parameters);
                __syncthreads(); // all have read one half and written the other
                if (n + 1 == k)
                  break;
                rows.sweep(y + half, y, n + 2 == k, parameters);
                __syncthreads();
              }
            rows.write(v, parameters);
          }
      }
  }

  /**
   * One global iteration of blocks of any size and rows of any length: threads share out the rows, and the matrix is
   * read anew in each sweep, mostly from the L1 cache. Shared memory: 32 sums, and three values a row.
   */
  template <typename Format>
  __global__ void __launch_bounds__(1024) relax_any_kernel(const MatrixView<Format>                       A,
                                                           const RelaxVectors<typename Format::Number>    v,
                                                           const RelaxParameters<typename Format::Number> parameters,
                                                           int                                            stride)
  {
    using Number = typename Format::Number;
    extern __shared__ __align__(16) char sums_and_rows[];
    const BlockView<Format>              block = A.block(blockIdx.x);
    const int                            begin = block.header.begin, rows = block.header.rows, first_local = block.header.first_local;
    double                              *partial = reinterpret_cast<double *>(sums_and_rows);
    Number                              *y = reinterpret_cast<Number *>(partial + 32), *next = y + stride, *s = next + stride;
    const auto owned   = [&](int i) { return i >= block.header.owned_begin && i < block.header.owned_begin + block.header.owned_rows; };
    const auto row_sum = [&](int i) { return subtract_inner_entries(block, A.tables, s[i], i, y); };

    device::wait_for_previous();
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      {
        y[i] = load(v.off_block + begin + i); // own rows are the same in v.x; those of the overlap other blocks write there
        s[i] = v.b[begin + i];
      }
    __syncthreads();
    for (int r = threadIdx.x; r < block.header.n_boundary; r += blockDim.x)
      s[block.boundary_row(r)] -= off_block_sum(block, A.tables, v.off_block, r, 0);
    __syncthreads();
    const auto keep_of = [&](int local) { return A.keeps != nullptr ? A.keeps[local] : A.keep; };
    if (parameters.test_every > 0)
      {
        double norm = 0.;
        for (int i = threadIdx.x; i < rows; i += blockDim.x)
          if (owned(i))
            {
              const Number residual = row_sum(i) + (keep_of(first_local + i) - Number(1)) * y[i] / block.weight(i, A.tables);
              norm += square(residual);
              if (v.residual != nullptr)
                v.residual[begin + i] = residual;
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
            Number    relaxed = keep_of(local) * y[i] + block.weight(i, A.tables) * row_sum(i);
            if (parameters.momentum > Number(0))
              {
                relaxed += parameters.momentum * v.velocity[local];
                v.velocity[local] = relaxed - y[i];
              }
            next[i] = relaxed;
          }
        __syncthreads();
        Number *swap = y;
        y            = next;
        next         = swap;
      }
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      if (owned(i))
        {
          const Number start = parameters.block_omega == Number(1) ? Number(0) : load(v.x + begin + i); // nobody else writes it
          store(v.x + begin + i, parameters.block_omega == Number(1) ? y[i] : start + parameters.block_omega * (y[i] - start));
        }
  }
} // namespace leopard
