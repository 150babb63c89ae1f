// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"

namespace leopard
{
  /** target[position[n]] = values[source[n]], or values[n] without sources. */
  template <typename Number>
  __global__ void put_kernel(Number *target, const unsigned int *position, const int *source, const Number *values, int n)
  {
    if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
      target[position[i]] = values[source != nullptr ? source[i] : i];
  }

  /** Queues that, into packets. @param sources device memory, or null. */
  template <typename Number>
  void put(const device::Array<char> &packets, const device::Array<unsigned int> &where, const int *sources, const device::Array<Number> &values)
  {
    const int n = static_cast<int>(where.size());
    if (n > 0)
      put_kernel<<<(n + 255) / 256, 256>>>(reinterpret_cast<Number *>(packets.data()), where.data(), sources, values.data(), n);
    LEOPARD_CHECK(cudaGetLastError());
  }
} // namespace leopard
