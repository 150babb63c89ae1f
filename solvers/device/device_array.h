// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device.h"

#include <vector>

namespace leopard::device
{
  /** An array in device memory that frees itself. */
  template <typename T>
  class Array
  {
  public:
    Array() = default;
    explicit Array(std::size_t n_)
      : n(n_)
      , pointer(n_ > 0 ? static_cast<T *>(allocate(n_ * sizeof(T))) : nullptr)
    {
    }
    explicit Array(const std::vector<T> &host)
      : Array(host.size())
    {
      if (n > 0)
        copy_to_device(pointer, host.data(), n * sizeof(T));
    }
    Array(Array &&other) noexcept
      : n(other.n)
      , pointer(other.pointer)
    {
      other.n       = 0;
      other.pointer = nullptr;
    }
    Array &operator=(Array &&other) noexcept
    {
      std::swap(n, other.n);
      std::swap(pointer, other.pointer);
      return *this;
    }
    ~Array() { release(pointer); }

    T          *data() const { return pointer; }
    std::size_t size() const { return n; }

  private:
    std::size_t n       = 0;
    T          *pointer = nullptr;
  };
} // namespace leopard::device
