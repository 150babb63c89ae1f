// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Marks functions that a CUDA compiler is to compile for the GPU as well; nothing elsewhere. */
#if defined(__CUDACC__)
#define LEOPARD_HOST_DEVICE __host__ __device__
#else
#define LEOPARD_HOST_DEVICE
#endif

/** Marks functions of which there is to be one copy, not one at each place of use. */
#if defined(__CUDACC__)
#define LEOPARD_NO_INLINE __noinline__
#else
#define LEOPARD_NO_INLINE __attribute__((noinline))
#endif

namespace leopard
{
  /** What code of both kinds reads: the copy in device memory on a GPU, the host's elsewhere. */
  template <typename T>
  LEOPARD_HOST_DEVICE const T &copy_at_hand([[maybe_unused]] const T &on_host, [[maybe_unused]] const T *on_device)
  {
#if defined(__CUDA_ARCH__)
    return *on_device;
#else
    return on_host;
#endif
  }
} // namespace leopard
