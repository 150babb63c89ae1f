// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "cuda_error.cuh"
#include "host_array.h"
#include "recording.cuh"

#include <string>

namespace leopard::device
{
  void *PageLockedMemory::allocate(std::size_t n_bytes)
  {
    const RecordingLock lock(recording());
    void               *pointer = nullptr;
    const cudaError_t   code    = cudaHostAlloc(&pointer, n_bytes, cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation)
      {
        cudaGetLastError();
        throw DeviceError(std::to_string(n_bytes) + " bytes of page-locked host memory are not to be had\n  expected: more memory or fewer ranks");
      }
    LEOPARD_CHECK(code);
    return pointer;
  }

  void PageLockedMemory::release(void *pointer) noexcept
  {
    if (pointer == nullptr)
      return;
    cudaStreamSynchronize(cudaStreamPerThread); // kernels may read it yet
    const RecordingLock lock(recording());
    cudaFreeHost(pointer);
  }
} // namespace leopard::device
