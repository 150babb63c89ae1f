// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"
#include "device.h"

#include <algorithm>
#include <cstddef>

namespace leopard::device
{
  // Kernels whose threads take one element after the other, a grid apart:
  //   for (int i = first_index<int>(); i < n; i += stride<int>())
  // launched with <<<blocks_for(n), threads, 0, stream()>>>.

  constexpr int threads = 256;

  inline int blocks_for(std::size_t n)
  {
    return static_cast<int>(std::min<std::size_t>((n + threads - 1) / threads, 1 << 20));
  }

  template <typename T>
  __device__ T first_index()
  {
    return static_cast<T>(blockIdx.x) * blockDim.x + threadIdx.x;
  }
  template <typename T>
  __device__ T stride()
  {
    return static_cast<T>(gridDim.x) * blockDim.x;
  }

  inline cudaStream_t stream()
  {
    return cudaStreamPerThread;
  }

  /** How many bits keys from 0 to largest have; at least one. For sorts by radix. */
  inline int bits_for(long largest)
  {
    int bits = 1;
    while (largest >> bits != 0)
      ++bits;
    return bits;
  }

  template <typename T>
  T to_host(const T *value)
  {
    T result;
    copy_to_host(&result, value, sizeof(T));
    return result;
  }
} // namespace leopard::device
