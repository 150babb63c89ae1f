// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"

namespace leopard::device
{
  /**
   * cuSPARSE for the current device and the calling thread's default stream. One for each thread and device, as making
   * one takes milliseconds; it lives as long as the program.
   */
  cusparseHandle_t sparse_handle();
} // namespace leopard::device
