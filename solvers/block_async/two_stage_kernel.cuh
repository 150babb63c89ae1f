// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/launch.cuh"
#include "../device/relaxed_atomics.cuh"
#include "rows_in_registers.cuh"

namespace leopard
{
  /** Bytes of dynamic shared memory that two_stage_kernel has for each row of a block. */
  template <typename Number>
  constexpr std::size_t two_stage_bytes_a_row = 2 * sizeof(Number) + sizeof(int);

  /**
   * One global iteration with an asynchronous inner one, a thread block for each block of any size, with rows of any
   * length: two-stage inner and outer (thesis, Algorithms 12 and 13), or if it publishes, total (Algorithm 15). Once
   * the values y of the block are in shared memory nothing orders its warps. Each relaxes its 32 rows k times from what
   * stands there at that moment, so that values of other warps are of an earlier or of a later sweep, as it happens,
   * and those of its own 32 rows of the sweep before, as all of them are relaxed at once. In blocks of more than 1024
   * rows a thread has several, one after the other. The race is the method: accesses to y are volatile, which are
   * relaxed atomic ones to PTX (PTX ISA, memory consistency model), so that a read gives some value that was written,
   * never a torn one, and is made anew each time.
   *
   * If it publishes, each row is written to x at once, and takes other blocks' values as they are in x at that moment;
   * else off-block sums are frozen at the beginning, from v.off_block, and rows are written at the end, each by the
   * thread that has relaxed it.
   */
  template <typename Format, bool publishes>
  __global__ void __launch_bounds__(1024) two_stage_kernel(const MatrixView<Format>                       A,
                                                           const RelaxVectors<typename Format::Number>    v,
                                                           const RelaxParameters<typename Format::Number> parameters)
  {
    using Number = typename Format::Number;
    extern __shared__ __align__(16) char values_of_rows[];
    const BlockView<Format>              block = A.block(blockIdx.x);
    const int                            begin = block.header.begin, rows = block.header.rows, first_local = block.header.first_local;
    Number                              *s      = reinterpret_cast<Number *>(values_of_rows);
    volatile Number                     *y      = s + rows;
    int                                 *places = reinterpret_cast<int *>(s + 2 * rows); ///< among the rows with outer entries

    device::wait_for_previous(); // the matrix is there since it was made; vectors are not
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      {
        y[i] = load(v.off_block + begin + i); // own rows are the same in v.x; those of the overlap other blocks write there
        s[i] = v.b[begin + i];
        if constexpr (publishes)
          places[i] = -1;
      }
    __syncthreads();
    for (int r = threadIdx.x; r < block.header.n_boundary; r += blockDim.x)
      if constexpr (publishes)
        places[block.boundary_row(r)] = r;
      else
        s[block.boundary_row(r)] -= off_block_sum(block, A.tables, v.off_block, r, 0);
    __syncthreads(); // the last time that threads wait for one another

    const int k = parameters.local_iterations_per_block != nullptr ? parameters.local_iterations_per_block[blockIdx.x] : parameters.local_iterations;
    for (int n = 0; n < k; ++n)
      for (int i = threadIdx.x; i < rows; i += blockDim.x)
        {
          Number sum = s[i];
          if constexpr (publishes)
            if (const int r = places[i]; r >= 0)
              sum -= off_block_sum(block, A.tables, v.off_block, r, 0);
          sum                  = subtract_inner_entries(block, A.tables, sum, i, y);
          const Number keep    = A.keeps != nullptr ? A.keeps[first_local + i] : A.keep;
          const Number relaxed = keep * y[i] + block.weight(i, A.tables) * sum;
          y[i]                 = relaxed;
          if constexpr (publishes)
            store(v.x + begin + i, relaxed);
        }
    if constexpr (!publishes)
      for (int i = threadIdx.x; i < rows; i += blockDim.x)
        if (i >= block.header.owned_begin && i < block.header.owned_begin + block.header.owned_rows)
          {
            const Number relaxed = y[i];
            const Number start   = parameters.block_omega == Number(1) ? Number(0) : load(v.x + begin + i); // nobody else writes it
            store(v.x + begin + i, parameters.block_omega == Number(1) ? relaxed : start + parameters.block_omega * (relaxed - start));
          }
  }
} // namespace leopard
