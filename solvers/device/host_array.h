// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "owned_array.h"

namespace leopard::device
{
  /**
   * Host memory that stays in its place (page-locked): kernels of all GPUs read and write it at the same address, and
   * copies take it as it is.
   */
  struct PageLockedMemory
  {
    static void *allocate(std::size_t n_bytes); ///< @throws DeviceError with the bytes that were asked for.
    static void  release(void *pointer) noexcept;
  };

  /** An array in such memory that frees itself. */
  template <typename T>
  using HostArray = OwnedArray<T, PageLockedMemory>;
} // namespace leopard::device
