// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device.h"
#include "owned_array.h"

#include <vector>

namespace leopard::device
{
  struct DeviceMemory
  {
    static void *allocate(std::size_t n_bytes) { return device::allocate(n_bytes); }
    static void  release(void *pointer) noexcept { device::release(pointer); }
  };

  /** An array in device memory that frees itself. */
  template <typename T>
  class Array : public OwnedArray<T, DeviceMemory>
  {
  public:
    using OwnedArray<T, DeviceMemory>::OwnedArray;
    Array() = default;
    explicit Array(const std::vector<T> &host)
      : Array(host.size())
    {
      if (this->size() > 0)
        copy_to_device(this->data(), host.data(), this->size() * sizeof(T));
    }
  };
} // namespace leopard::device
