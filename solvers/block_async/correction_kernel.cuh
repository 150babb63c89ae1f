// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../device/block_sum.cuh"
#include "../device/relaxed_atomics.cuh"
#include "corrections.h"
#include "rows_in_registers.cuh"

namespace leopard
{
  /** What a block needs beside its packets; device memory, one a local row. */
  template <typename Number, typename Low>
  struct CorrectionRows
  {
    const Low    *weights; ///< omega / (s_i d_i s_i)
    const Low    *keeps;   ///< 1 - omega a_ii / d_i, or null:
    Low           keep;    ///< then the same for all rows, 1 - omega
    const Number *scale;   ///< s_i
  };

  /** One launch. Device memory. */
  template <typename Number>
  struct CorrectionLaunch
  {
    Number       *x;
    const Number *off_block; ///< where off-block values are read: x, or a copy in the synchronous schedule
    const Number *b;
    double       *parts; ///< not null: nothing is relaxed, and it receives each block's part of ||b - A x||^2
    int           n_iterations, local_iterations, correction_loops;
    const int    *local_iterations_per_block;
    Number        block_omega;
  };

  struct LargestOfBlock
  {
    static __device__ double merge(int /*q*/, double a, double b) { return b > a ? b : a; }
  };

  /** Numbers, and those in low precision, that a block has for each of its rows in shared memory, beside 33 doubles. */
  constexpr int correction_numbers = 3, correction_lows = 3;

  /**
   * Global iterations of block-asynchronous refinement, a thread block for each block: no thread block waits for
   * another, so that several of them at once are for blocks that are all on the chip. `High` holds the matrix, with the
   * diagonal where weights stand otherwise; `LowFormat` the blocks in the precision of corrections, whose weights are
   * not read. width > 0: that many entries of a row at most, at least a thread a row, and rows of the latter are held
   * in registers; 0: any block, and they are read anew in each sweep, mostly from the L1 cache.
   */
  template <typename High, typename LowFormat, int width>
  __global__ void __launch_bounds__(width > 0 ? max_rows_in_registers : 1024)
    correct_kernel(const MatrixView<High>                                                  A,
                   const MatrixView<LowFormat>                                             L,
                   const CorrectionRows<typename High::Number, typename LowFormat::Number> of_rows,
                   const CorrectionLaunch<typename High::Number>                           launch,
                   int                                                                     stride)
  {
    using Number = typename High::Number;
    using Low    = typename LowFormat::Number;
    extern __shared__ __align__(16) char memory[];
    const BlockView<High>                block = A.block(blockIdx.x);
    const BlockView<LowFormat>           low   = L.block(blockIdx.x);
    const int                            begin = block.header.begin, rows = block.header.rows, first_local = block.header.first_local;
    double                              *partial = reinterpret_cast<double *>(memory);
    Number                              *y = reinterpret_cast<Number *>(partial + 33), *s = y + stride, *r = s + stride;
    Low                                 *low_r = reinterpret_cast<Low *>(r + stride), *c = low_r + stride, *next = c + stride;

    RowInRegisters<LowFormat, (width > 0 ? width : 2)> held;
    Low                                                held_weight = 0, held_keep = of_rows.keep;
    const auto keep_of = [&](int i) { return of_rows.keeps != nullptr ? of_rows.keeps[first_local + i] : of_rows.keep; };
    if constexpr (width > 0)
      {
        const int i = threadIdx.x;
        held.take(low, i, i < rows, L.tables);
        if (i < rows)
          {
            held_weight = of_rows.weights[first_local + i];
            held_keep   = keep_of(i);
          }
      }
    // of the diagonal block without its diagonal
    const auto subtract = [](const auto &view, const auto &tables, int i, auto sum, const auto *values) {
      const int n_pairs = view.n_pairs(i);
#pragma unroll 4
      for (int e = 0; e < n_pairs; ++e)
        {
          int           column[2];
          decltype(sum) value[2];
          view.inner_columns(i, e, column);
          view.inner_values(view.pair(i, e), tables, value);
          sum -= value[0] * values[column[0]] + value[1] * values[column[1]];
        }
      return sum;
    };
    const auto residual = [&](int i) { return subtract(block, A.tables, i, s[i], y) - block.weight(i, A.tables) * y[i]; };
    const auto relaxed  = [&](int i) {
      if constexpr (width > 0)
        return held_keep * c[i] + held_weight * held.subtract_from(low_r[i], c);
      else
        return keep_of(i) * c[i] + of_rows.weights[first_local + i] * subtract(low, L.tables, i, low_r[i], c);
    };
    const int k = launch.local_iterations_per_block != nullptr ? launch.local_iterations_per_block[blockIdx.x] : launch.local_iterations;

    for (int n = 0; n < launch.n_iterations; ++n)
      {
        for (int i = threadIdx.x; i < rows; i += blockDim.x)
          {
            y[i] = load(launch.off_block + begin + i); // own rows are the same in launch.x
            s[i] = launch.b[begin + i];
          }
        __syncthreads();
        for (int boundary = threadIdx.x; boundary < block.header.n_boundary; boundary += blockDim.x)
          s[block.boundary_row(boundary)] -= off_block_sum(block, A.tables, launch.off_block, boundary, 0);
        __syncthreads();
        if (launch.parts != nullptr)
          {
            double norm = 0.;
            for (int i = threadIdx.x; i < rows; i += blockDim.x)
              norm += square(residual(i));
            norm = sum_over_block(norm, partial);
            if (threadIdx.x == 0)
              launch.parts[blockIdx.x] = norm;
            return;
          }
        for (int loop = 0; loop < launch.correction_loops; ++loop)
          {
            double largest[1] = {0.};
            for (int i = threadIdx.x; i < rows; i += blockDim.x)
              {
                r[i]       = of_rows.scale[first_local + i] * residual(i);
                largest[0] = LargestOfBlock::merge(0, largest[0], abs(static_cast<double>(r[i])));
              }
            Number unit = 1;
            if constexpr (!std::is_same_v<Number, Low>)
              {
                merge_over_block<LargestOfBlock>(largest, partial);
                if (threadIdx.x == 0)
                  partial[32] = largest[0] > 0. && isfinite(largest[0]) ? ldexp(1., max(-1000, min(1000, -ilogb(largest[0])))) : 1.;
                __syncthreads();
                unit = partial[32];
              }
            for (int i = threadIdx.x; i < rows; i += blockDim.x)
              {
                low_r[i] = static_cast<Low>(unit * r[i]);
                c[i]     = of_rows.weights[first_local + i] * low_r[i]; // the first sweep, from zero
              }
            __syncthreads(); // all have read y, and c is there
            for (int sweep = 1; sweep < k; ++sweep)
              {
                for (int i = threadIdx.x; i < rows; i += blockDim.x)
                  next[i] = relaxed(i);
                __syncthreads();
                Low *swap = c;
                c         = next;
                next      = swap;
              }
            const Number back = launch.block_omega / unit;
            for (int i = threadIdx.x; i < rows; i += blockDim.x)
              y[i] += back * of_rows.scale[first_local + i] * static_cast<Number>(c[i]);
            __syncthreads(); // before others' y are read
          }
        for (int i = threadIdx.x; i < rows; i += blockDim.x)
          store(launch.x + begin + i, y[i]);
      }
  }
} // namespace leopard
