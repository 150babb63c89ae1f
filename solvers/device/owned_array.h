// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace leopard::device
{
  /**
   * An array that frees itself, in memory of one kind. Its values are not initialized.
   * @tparam Memory has allocate(n_bytes), which may throw DeviceError, and release(pointer), which takes null, too.
   */
  template <typename T, typename Memory>
  class OwnedArray
  {
  public:
    OwnedArray() = default;
    explicit OwnedArray(std::size_t n_)
      : n(n_)
      , pointer(n_ > 0 ? static_cast<T *>(Memory::allocate(n_ * sizeof(T))) : nullptr)
    {
    }
    OwnedArray(OwnedArray &&other) noexcept
      : n(std::exchange(other.n, 0))
      , pointer(std::exchange(other.pointer, nullptr))
    {
    }
    OwnedArray &operator=(OwnedArray &&other) noexcept
    {
      std::swap(n, other.n);
      std::swap(pointer, other.pointer);
      return *this;
    }
    ~OwnedArray() { Memory::release(pointer); }

    T          *data() const { return pointer; }
    std::size_t size() const { return n; }

  private:
    std::size_t n       = 0;
    T          *pointer = nullptr;
  };
} // namespace leopard::device
