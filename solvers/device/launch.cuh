// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"

#include <cstddef>

namespace leopard::device
{
  /**
   * Queues a kernel that may be brought to the multiprocessors while the one before it ends (programmatic dependent
   * launch), which saves about a microsecond a kernel. It has to begin with wait_for_previous(), and what it reads may
   * not be __restrict__ const, which says that nobody writes it while the kernel runs.
   */
  template <typename... Parameters, typename... Arguments>
  void launch_early(void (*kernel)(Parameters...), const dim3 &blocks, const dim3 &threads, std::size_t shared_bytes, Arguments &&...arguments)
  {
    cudaLaunchAttribute attribute                        = {};
    attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t configuration                     = {};
    configuration.gridDim                                = blocks;
    configuration.blockDim                               = threads;
    configuration.dynamicSmemBytes                       = shared_bytes;
    configuration.stream                                 = cudaStreamPerThread;
    configuration.attrs                                  = &attribute;
    configuration.numAttrs                               = 1;
    LEOPARD_CHECK(cudaLaunchKernelEx(&configuration, kernel, static_cast<Parameters>(arguments)...));
  }

  /**
   * Waits until all kernels queued before are done and what they wrote is there, and lets the next one be brought in.
   * Nothing is read or written before. Without effect in a kernel that was launched otherwise.
   */
  __device__ inline void wait_for_previous()
  {
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
  }
} // namespace leopard::device
