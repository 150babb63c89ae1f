// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"
#include "device.h"

#include <cstddef>

namespace leopard::device
{
  /**
   * The memory that set-up on the device works in. What is freed is kept for the next request, as cudaMalloc() takes
   * longer than most steps of a set-up; release_scratch() gives it back. Queued on the default stream. One pool a
   * device, which lives as long as the program.
   */
  cudaMemPool_t scratch_pool();

  /** @throws DeviceError with the bytes asked for and those that are free. */
  [[noreturn]] void refuse_memory(std::size_t n_bytes);

  /** An array of that memory. */
  template <typename T>
  class Scratch
  {
  public:
    explicit Scratch(std::size_t n_)
      : n(n_)
    {
      if (n == 0)
        return;
      void             *memory = nullptr;
      const cudaError_t code   = cudaMallocFromPoolAsync(&memory, n * sizeof(T), scratch_pool(), cudaStreamPerThread);
      if (code == cudaErrorMemoryAllocation)
        refuse_memory(n * sizeof(T));
      LEOPARD_CHECK(code);
      pointer = static_cast<T *>(memory);
    }
    Scratch(const Scratch &)            = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch()
    {
      if (pointer != nullptr)
        cudaFreeAsync(pointer, cudaStreamPerThread);
    }

    T          *data() const { return pointer; }
    std::size_t size() const { return n; }

  private:
    std::size_t n       = 0;
    T          *pointer = nullptr;
  };

  /** A call of CUB: function(memory, bytes) twice, first for the number of bytes. */
  template <typename Function>
  void with_scratch(const Function &function)
  {
    std::size_t n_bytes = 0;
    LEOPARD_CHECK(function(nullptr, n_bytes));
    const Scratch<char> memory(n_bytes > 0 ? n_bytes : 1);
    LEOPARD_CHECK(function(memory.data(), n_bytes));
  }
} // namespace leopard::device
