// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scratch.cuh"

#include <cub/device/device_scan.cuh>

namespace leopard::device
{
  /** values[i] <- sum_{j < i} values[j] for i < n, device memory. Queued on the default stream. */
  template <typename T>
  void exclusive_scan(T *values, std::size_t n)
  {
    with_scratch([&](void *memory, std::size_t &n_bytes) {
      return cub::DeviceScan::ExclusiveSum(memory, n_bytes, values, values, static_cast<int>(n), cudaStreamPerThread);
    });
  }
} // namespace leopard::device
