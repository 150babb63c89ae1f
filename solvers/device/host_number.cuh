// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_error.cuh"
#include "sleep.cuh"

namespace leopard::device
{
  /**
   * Waits, awake, until is_done(), which looks at what a kernel of the calling thread's stream writes into page-locked
   * memory: that is seen some microseconds before the end of the kernel is known. Now and then the stream is asked,
   * since a kernel that fails writes nothing. With Waiting::block it is slept until the stream is done.
   * @return at the latest when the stream is done. @throws DeviceError.
   */
  template <typename IsDone>
  void wait_until(const IsDone &is_done)
  {
    sleep_until_done();
    for (unsigned int n = 1; !is_done(); ++n)
      if (n % 4096 == 0)
        {
          const cudaError_t status = cudaStreamQuery(cudaStreamPerThread);
          if (status == cudaSuccess)
            return;
          if (status != cudaErrorNotReady)
            LEOPARD_CHECK(status);
        }
  }

  /**
   * A place in page-locked memory for a number that a kernel hands to the host; one a thread, seen by all GPUs. It is
   * empty until the kernel has written it.
   */
  double *empty_place();
  /** Waits for the number, which may be none (NaN). @throws DeviceError. */
  double number_in_place();
} // namespace leopard::device
