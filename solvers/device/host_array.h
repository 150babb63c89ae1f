// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace leopard::device
{
  /**
   * Host memory that stays in its place (page-locked): kernels of all GPUs read and write it at the same address, and
   * copies take it as it is. @throws DeviceError with the bytes that were asked for.
   */
  void *allocate_on_host(std::size_t n_bytes);
  void  release_on_host(void *pointer) noexcept;

  /** An array in such memory that frees itself. */
  template <typename T>
  class HostArray
  {
  public:
    HostArray() = default;
    explicit HostArray(std::size_t n_)
      : n(n_)
      , pointer(n_ > 0 ? static_cast<T *>(allocate_on_host(n_ * sizeof(T))) : nullptr)
    {
    }
    HostArray(const HostArray &)            = delete;
    HostArray &operator=(const HostArray &) = delete;
    HostArray &operator=(HostArray &&other) noexcept
    {
      std::swap(n, other.n);
      std::swap(pointer, other.pointer);
      return *this;
    }
    ~HostArray() { release_on_host(pointer); }

    T          *data() const { return pointer; }
    std::size_t size() const { return n; }

  private:
    std::size_t n       = 0;
    T          *pointer = nullptr;
  };
} // namespace leopard::device
