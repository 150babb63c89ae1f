// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"

#include <cublas_v2.h>
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

  inline void check(cublasStatus_t code, const char *what, const char *file, int line)
  {
    if (code != CUBLAS_STATUS_SUCCESS)
      throw DeviceError(std::string("cuBLAS: ") + what + " failed at " + file + ":" + std::to_string(line) + ": " + cublasGetStatusString(code));
  }

  inline void check(cusparseStatus_t code, const char *what, const char *file, int line)
  {
    if (code != CUSPARSE_STATUS_SUCCESS)
      throw DeviceError(std::string("cuSPARSE: ") + what + " failed at " + file + ":" + std::to_string(line) + ": " + cusparseGetErrorString(code));
  }
} // namespace leopard::device

/** Checks the code of a CUDA, cuBLAS or cuSPARSE call. */
#define LEOPARD_CHECK(call) ::leopard::device::check((call), #call, __FILE__, __LINE__)
