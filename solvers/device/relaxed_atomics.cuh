// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/atomic>

namespace leopard
{
  // Off-block values are read while other blocks write them. That race is the method; relaxed atomic accesses of device
  // scope make it well defined: a read gives some value that was written, never a torn one. They go past the L1 cache
  // to where all blocks see the same memory.
  template <typename Number>
  __device__ Number load(const Number *x)
  {
    return cuda::atomic_ref<Number, cuda::thread_scope_device>(*const_cast<Number *>(x)).load(cuda::memory_order_relaxed);
  }

  template <typename Number>
  __device__ void store(Number *x, Number value)
  {
    cuda::atomic_ref<Number, cuda::thread_scope_device>(*x).store(value, cuda::memory_order_relaxed);
  }

  /**
   * Relaxed loads and stores of two neighbours; each of the two is atomic by itself. The address is a multiple of the
   * size of both.
   */
  __device__ inline double2 load_pair(const double *x)
  {
    double2 v;
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(x) : "memory");
    return v;
  }

  __device__ inline float2 load_pair(const float *x)
  {
    float2 v;
    asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(x) : "memory");
    return v;
  }

  __device__ inline void store_pair(double *x, double2 v)
  {
    asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(x), "d"(v.x), "d"(v.y) : "memory");
  }

  __device__ inline void store_pair(float *x, float2 v)
  {
    asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(x), "f"(v.x), "f"(v.y) : "memory");
  }
} // namespace leopard
