// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/launch.cuh"
#include "../exchange/peer_memory.cuh"
#include "relax_kernels.cuh"

#include <cstdint>

namespace leopard
{
  /**
   * A thread's off-block entries in registers, for iterations without end. The first n_cached of the row, and the
   * others from memory.
   */
  template <typename Number, int n_cached>
  struct OffBlock
  {
    int    r = -1, n = 0; ///< r: the row's place among those with outer entries
    int    columns[n_cached];
    Number values[n_cached];

    /** `places`: shared memory, one a thread. */
    template <typename Format>
    __device__ OffBlock(const BlockView<Format> &block, const TableView<Number> &tables, int *places)
    {
      places[threadIdx.x] = -1;
      __syncthreads();
      if (threadIdx.x < block.header.n_boundary)
        places[block.boundary_row(threadIdx.x)] = threadIdx.x;
      __syncthreads();
      r = places[threadIdx.x];
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (r >= 0 && block.has_outer(r, e))
          {
            columns[e] = block.outer_column(block.jag(e) + r);
            values[e]  = block.outer_value(block.jag(e) + r, tables);
            n          = e + 1;
          }
    }

    __device__ void fetch(const Number *x, Number (&x_j)[n_cached]) const
    {
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          x_j[e] = load(x + columns[e]);
    }

    /** `packet`: its outer part, whose header is read again rather than kept in registers for rows of many entries. */
    template <typename Format>
    __device__ Number sum(const char *packet, const TableView<Number> &tables, const Number *x, const Number (&x_j)[n_cached]) const
    {
      Number sums[2] = {n == n_cached ? off_block_sum(BlockView<Format>(packet, packet), tables, x, r, n_cached) : Number(0), 0};
#pragma unroll
      for (int e = 0; e < n_cached; ++e)
        if (e < n)
          sums[e % 2] += values[e] * x_j[e];
      return sums[0] + sums[1];
    }
  };

  /**
   * The persistent form, a thread a row: each block iterates by itself, its matrix, right-hand side and values in
   * registers and shared memory. Dynamic shared memory: the packet. With tests the blocks wait for one another twice,
   * before the first and after the last iteration, for the true residuals; in the synchronous schedule they do so after
   * each iteration.
   *
   * There every block looks at the same parts of the residual behind the barrier of an iteration with a test, and all
   * must come to the same decision: who went on alone would wait for the others for ever. A block that is late still
   * reads the parts of test n while a quick one, already behind no further barrier if every iteration is tested, writes
   * those of test n + 1. So tests use two arrays in turn. Two are enough: the parts of test n + 2 are written behind
   * the barrier of test n + 1, where a block arrives only when it has read all parts of test n.
   */
  template <typename Format, int width, int n_cached, int max_threads>
  __global__ void __launch_bounds__(max_threads) persistent_rows_kernel(const MatrixView<Format>                       A,
                                                                        const RelaxVectors<typename Format::Number>    v,
                                                                        const RelaxParameters<typename Format::Number> parameters,
                                                                        const MonitorView                              m)
  {
    using Number = typename Format::Number;
    extern __shared__ __align__(128) char packet[];
    __shared__ Number                     y[2 * max_threads];
    __shared__ double                     partial[32];
    __shared__ int                        places[max_threads];
    __shared__ std::uint64_t barrier;
    __shared__ int           state;
    const PacketPipeline     pipeline = {packet, packet + A.outer_bytes, &barrier};
    pipeline.init();
    __syncthreads();
    if (threadIdx.x == 0)
      {
        pipeline.request_inner(A.packets, A.extents[blockIdx.x]);
        pipeline.request_outer(A.packets, A.extents[blockIdx.x]);
      }
    pipeline.wait(0);
    const BlockView<Format> block(packet, pipeline.inner);
    const int               i = threadIdx.x, row = block.header.begin + i, local = block.header.first_local + i;
    const bool              active = i < block.header.rows;
    const bool              owned  = static_cast<unsigned int>(i - block.header.owned_begin) < static_cast<unsigned int>(block.header.owned_rows);

    RowInRegisters<Format, width> a;
    a.take(block, i, active, A.tables);
    Number b = 0, value = 0, weight = 0, keep = A.keep, velocity = 0;
    if (active)
      {
        weight = block.weight(i, A.tables);
        if (A.keeps != nullptr)
          keep = A.keeps[local];
      }
    const OffBlock<Number, n_cached> off_block(block, A.tables, places);
    const int k = parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    device::wait_for_previous(); // the matrix is there since it was made; vectors are not
    if (active)
      {
        value = load(v.x + row);
        b     = load(v.b + row);
        if (parameters.momentum > Number(0) && !parameters.velocity_is_zero)
          velocity = v.velocity[local];
      }
    // s = b - off-block part, with the block's values in the first half of y
    const auto freeze = [&](const Number *x) {
      Number x_j[n_cached];
      off_block.fetch(x, x_j);
      if (active && !owned)
        value = load(x + row);
      y[i] = value;
      __syncthreads(); // while off-block values are on their way
      return b - off_block.template sum<Format>(packet, A.tables, x, x_j);
    };
    const auto residual_part = [&](Number s) {
      const Number residual = owned ? a.subtract_from(s, y) + (keep - Number(1)) * value / weight : Number(0);
      return sum_over_block(square(residual), partial);
    };
    const auto sweep = [&](Number s, int from) {
      Number next = weight * a.subtract_from(s, y + from * max_threads) + keep * value;
      if (parameters.momentum > Number(0))
        {
          next += parameters.momentum * velocity;
          velocity = next - value;
        }
      value                           = next;
      y[(1 - from) * max_threads + i] = value;
      __syncthreads(); // all have read one half and written the other
    };
    if (i == 0)
      state = go_on;
    __syncthreads();
    if (m.tests)
      {
        const double residual = residual_part(freeze(v.x)), b_part = sum_over_block(owned ? square(b) : 0., partial);
        begin_solve(m, residual, b_part, partial);
      }

    int first_mirror = 0, end_mirrors = 0;
    if (v.mirrors.offsets != nullptr && owned)
      {
        first_mirror = v.mirrors.offsets[row];
        end_mirrors  = v.mirrors.offsets[row + 1];
      }
    const bool synchronous = v.other_x != nullptr;
    Number    *from = v.x, *to = synchronous ? v.other_x : v.x;
    double    *parts     = m.parts;
    int        iteration = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if (m.tests && !synchronous && i == 0)
          state = monitor_state(m.monitor);
        const Number s = freeze(from), start = value;
        if (state != go_on)
          break;
        const bool tests = m.tests && iteration % parameters.test_every == 0 && iteration > 0;
        if (tests)
          {
            const double part = residual_part(s);
            if (i == 0)
              store(parts + blockIdx.x, part);
            if (!synchronous && blockIdx.x == 0)
              {
                const int decision = look_at_residual(m, parts, iteration, true);
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
        if (parameters.block_omega != Number(1))
          value = start + parameters.block_omega * (value - start);
        if (owned)
          store(to + row, value);
        for (int e = first_mirror; e < end_mirrors; ++e)
          peer::store(v.mirrors.places[e], value); // it arrives in that GPU's L2 cache, where load() looks
        if (synchronous)
          {
            wait_for_all(&m.monitor->barrier, (iteration + 1) * gridDim.x);
            if (tests)
              {
                // every block adds up the same numbers in the same order, and so comes to the same decision
                const int decision = look_at_residual(m, parts, iteration, blockIdx.x == 0);
                if (i == 0)
                  state = decision;
                parts = parts == m.parts ? m.parts + gridDim.x : m.parts;
              }
            Number *swap = from;
            from         = to;
            to           = swap;
          }
      }
    if (synchronous && from != v.x && owned)
      store(v.x + row, value);
    if (active && parameters.momentum > Number(0))
      v.velocity[local] = velocity;
    if (m.tests)
      {
        wait_for_all(&m.monitor->arrived[1], gridDim.x);
        end_solve(m, residual_part(freeze(v.x)), iteration, partial);
      }
  }
} // namespace leopard
