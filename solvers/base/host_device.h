// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Marks functions that a CUDA compiler is to compile for the GPU as well; nothing elsewhere. */
#if defined(__CUDACC__)
#define LEOPARD_HOST_DEVICE __host__ __device__
#else
#define LEOPARD_HOST_DEVICE
#endif
