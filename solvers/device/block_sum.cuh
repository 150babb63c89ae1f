// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
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

  /** The same, valid in all threads. */
  __device__ inline double sum_for_block(double value, double *partial)
  {
    const double sum = sum_over_block(value, partial);
    if (threadIdx.x == 0)
      partial[0] = sum;
    __syncthreads();
    value = partial[0];
    __syncthreads();
    return value;
  }
} // namespace leopard
