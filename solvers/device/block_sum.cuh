// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  struct Addition
  {
    static __device__ double merge(int /*q*/, double a, double b) { return a + b; }
  };

  /**
   * Merges n values a thread over the block, entry q by Merger::merge(q, a, b), for which 0 must be neutral; the result
   * is valid in thread 0. `partial` has 32 n entries. Ends with a barrier.
   */
  template <typename Merger, int n>
  __device__ void merge_over_block(double (&value)[n], double *partial)
  {
    for (int q = 0; q < n; ++q)
      {
        for (int offset = 16; offset > 0; offset /= 2)
          value[q] = Merger::merge(q, value[q], __shfl_down_sync(0xffffffffu, value[q], offset));
        if (threadIdx.x % 32 == 0)
          partial[32 * q + threadIdx.x / 32] = value[q];
      }
    __syncthreads();
    if (threadIdx.x < 32)
      for (int q = 0; q < n; ++q)
        {
          value[q] = threadIdx.x < (blockDim.x + 31) / 32 ? partial[32 * q + threadIdx.x] : 0.;
          for (int offset = 16; offset > 0; offset /= 2)
            value[q] = Merger::merge(q, value[q], __shfl_down_sync(0xffffffffu, value[q], offset));
        }
    __syncthreads();
  }

  /**
   * Merges what thread blocks or ranks have written, n values each; by one thread block, the result is valid in thread
   * 0.
   */
  template <typename Merger, int n>
  __device__ void merge_parts(const double *parts, int n_parts, double (&value)[n])
  {
    __shared__ double shared[32 * n];
    for (int i = threadIdx.x; i < n_parts; i += blockDim.x)
      for (int q = 0; q < n; ++q)
        value[q] = Merger::merge(q, value[q], parts[i * n + q]);
    merge_over_block<Merger>(value, shared);
  }

  /** Merges parts likewise, then thread 0 calls f(merged): what a kernel of one thread block does with sums. */
  template <typename Merger, int n, typename F>
  __device__ void with_merged(const double *parts, int n_parts, const F &f)
  {
    double value[n] = {};
    merge_parts<Merger>(parts, n_parts, value);
    if (threadIdx.x == 0)
      f(value);
  }

  /** Of a thread block, from its threads' values; `stride` from one block's part to the next. */
  template <typename Merger, int n>
  __device__ void write_part(double (&value)[n], double *parts, int stride)
  {
    __shared__ double shared[32 * n];
    merge_over_block<Merger>(value, shared);
    if (threadIdx.x == 0)
      for (int q = 0; q < n; ++q)
        parts[blockIdx.x * stride + q] = value[q];
  }

  /**
   * Sums one value a thread over the block; the result is valid in thread 0. `partial` has 32 entries. Ends with a
   * barrier.
   */
  __device__ inline double sum_over_block(double value, double *partial)
  {
    double sum[1] = {value};
    merge_over_block<Addition>(sum, partial);
    return sum[0];
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
