// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"
#include "device.h"

#include <cstddef>

namespace leopard::device
{
  /**
   * The memory that set-up on the device works in. What is freed is kept for the next request, as cudaMalloc() takes
   * longer than most steps of a set-up; release_scratch() gives it back. Queued on the
   * default stream. One pool a device, which lives as long as the program.
   */
  cudaMemPool_t scratch_pool();

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
        {
          cudaGetLastError();
          std::size_t free_memory = 0, total = 0;
          cudaMemGetInfo(&free_memory, &total);
          throw DeviceError("the GPU has no room for " + std::to_string(n * sizeof(T)) + " bytes to set up in: " + std::to_string(free_memory) +
                            " of " + std::to_string(total) +
                            " bytes are free\n  expected: a smaller problem, a larger GPU, more ranks on more GPUs, or the backend host");
        }
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
