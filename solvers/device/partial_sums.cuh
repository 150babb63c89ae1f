// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "block_sum.cuh"
#include "cuda_error.cuh"
#include "device_array.h"
#include "grid_stride.cuh"
#include "host_number.cuh"
#include "launch.cuh"

#include <algorithm>
#include <cstddef>

namespace leopard::device
{
  constexpr int reduction_threads = 256, sum_threads = 1024;

  static __global__ void sum_kernel(const double *parts, int n, double *result)
  {
    wait_for_previous();
    __shared__ double shared[32];
    double            sums[8] = {}; // all loads of a round are on their way at once
    for (int first = threadIdx.x; first < n; first += 8 * blockDim.x)
#pragma unroll
      for (int k = 0; k < 8; ++k)
        if (const int i = first + k * blockDim.x; i < n)
          sums[k] += parts[i];
    const double sum = sum_over_block(((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])), shared);
    if (threadIdx.x == 0)
      *result = sum;
  }

  template <typename Number>
  __global__ void squares_kernel(const Number *b, int n, double *parts)
  {
    __shared__ double shared[32];
    double            sum = 0.;
    for (auto i = first_index<int>(); i < n; i += stride<int>())
      sum += square(b[i]);
    sum = sum_over_block(sum, shared);
    if (threadIdx.x == 0)
      parts[blockIdx.x] = sum;
  }

  template <typename Number>
  __global__ void products_kernel(const Number *x, const Number *y, std::size_t n, double *parts)
  {
    __shared__ double shared[32];
    double            sum = 0.;
    for (auto i = first_index<std::size_t>(); i < n; i += stride<std::size_t>())
      sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    sum = sum_over_block(sum, shared);
    if (threadIdx.x == 0)
      parts[blockIdx.x] = sum;
  }

  /**
   * Sums in two steps, always the same to the last bit: a part from each of some blocks, then the parts by one block.
   */
  class PartialSums
  {
  public:
    /** @param n_blocks_ blocks that write parts(). */
    explicit PartialSums(int n_blocks_)
      : n_blocks(n_blocks_)
      , device_parts(2 * static_cast<std::size_t>(std::max(n_blocks_, reduction_threads)))
      , b_parts(std::max(n_blocks_, reduction_threads))
    {
    }

    /** Device memory, two numbers a block. */
    double *parts() const { return device_parts.data(); }
    double  sum_of_parts() const { return sum_of(parts(), n_blocks); }
    /** Sum of the first n parts, waited for. */
    double sum_of(int n) const { return sum_of(parts(), n); }

    template <typename Number>
    double norm_squared(const Number *b, int n) const
    {
      squares_kernel<<<reduction_threads, reduction_threads>>>(b, n, other_parts());
      LEOPARD_CHECK(cudaGetLastError());
      return sum_of(other_parts(), reduction_threads);
    }

    template <typename Number>
    double dot(const Number *x, const Number *y, std::size_t n) const
    {
      products_kernel<<<reduction_threads, reduction_threads>>>(x, y, n, other_parts());
      LEOPARD_CHECK(cudaGetLastError());
      return sum_of(other_parts(), reduction_threads);
    }

  protected:
    double *other_parts() const { return b_parts.data(); } ///< one number a block

  private:
    double sum_of(const double *some_parts, int n) const
    {
      launch_early(sum_kernel, 1, sum_threads, 0, some_parts, n, empty_place());
      return number_in_place();
    }

    const int     n_blocks;
    Array<double> device_parts, b_parts;
  };
} // namespace leopard::device
