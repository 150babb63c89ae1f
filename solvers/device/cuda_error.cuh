// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"

#include <cuda_runtime.h>
#include <cusparse.h>

#include <string>

namespace leopard::device
{
  /** @throws DeviceError with what was tried, where, and CUDA's words, unless the code says success. */
  inline void check(cudaError_t code, const char *what, const char *file, int line)
  {
    if (code != cudaSuccess)
      throw DeviceError(std::string("CUDA: ") + what + " failed at " + file + ":" + std::to_string(line) + ": " + cudaGetErrorString(code) +
                        "\n  expected: a GPU that works; look at nvidia-smi, or choose the backend host");
  }

  inline void check(cusparseStatus_t code, const char *what, const char *file, int line)
  {
    if (code != CUSPARSE_STATUS_SUCCESS)
      throw DeviceError(std::string("cuSPARSE: ") + what + " failed at " + file + ":" + std::to_string(line) + ": " + cusparseGetErrorString(code));
  }
} // namespace leopard::device

/** Checks the code of a CUDA or cuSPARSE call, or of another library for which there is a check(). */
#define LEOPARD_CHECK(call) ::leopard::device::check((call), #call, __FILE__, __LINE__)

namespace leopard::device
{
  /**
   * Lets a kernel use all the dynamic shared memory that the current device has beside the kernel's own. The setting
   * belongs to the kernel and not to who launches it, so it is always the largest. @return that many bytes.
   */
  inline std::size_t allow_shared_memory(const void *kernel)
  {
    int device = 0, all = 0;
    LEOPARD_CHECK(cudaGetDevice(&device));
    LEOPARD_CHECK(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    cudaFuncAttributes attributes;
    LEOPARD_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    const int left = all - static_cast<int>(attributes.sharedSizeBytes);
    LEOPARD_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, left));
    return left;
  }
} // namespace leopard::device
