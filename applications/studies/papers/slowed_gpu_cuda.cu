// SPDX-License-Identifier: Apache-2.0
#include "slowed_gpu.h"

#include <solvers/device/cuda_error.cuh>

#include <algorithm>
#include <cmath>
#include <string>

namespace leopard::studies
{
  namespace
  {
    constexpr unsigned long long longest = 120ull * 1000 * 1000 * 1000; // ns

    __device__ unsigned long long nanoseconds()
    {
      unsigned long long t;
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
      return t;
    }

    /**
     * flags[0]: how many blocks are there; flags[1]: they are to go. Device memory, as a look at the host's disturbs
     * others.
     */
    __global__ void sit_kernel(int *flags)
    {
      if (threadIdx.x != 0)
        return; // the block stays with its shared memory
      atomicAdd(flags, 1);
      const unsigned long long start = nanoseconds();
      while (*static_cast<volatile int *>(flags + 1) == 0 && nanoseconds() - start < longest)
        __nanosleep(20000);
    }
  } // namespace

  struct SlowedGpu::Data
  {
    int          device = 0;
    int         *flags  = nullptr;
    cudaStream_t stream = nullptr, other = nullptr;
  };

  SlowedGpu::SlowedGpu(int device, double part)
    : data(std::make_unique<Data>())
  {
    if (!(part > 0. && part < 1.))
      throw InvalidInput("a part " + std::to_string(part) + " of a GPU is to be taken away\n  expected: a number between 0 and 1");
    int before = 0, n_multiprocessors = 0;
    LEOPARD_CHECK(cudaGetDevice(&before));
    LEOPARD_CHECK(cudaSetDevice(device));
    data->device = device;
    LEOPARD_CHECK(cudaMalloc(reinterpret_cast<void **>(&data->flags), 2 * sizeof(int)));
    LEOPARD_CHECK(cudaMemset(data->flags, 0, 2 * sizeof(int)));
    LEOPARD_CHECK(cudaDeviceSynchronize());
    for (cudaStream_t *stream : {&data->stream, &data->other})
      LEOPARD_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    LEOPARD_CHECK(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int         n_blocks = std::max(1, static_cast<int>(std::lround(part * n_multiprocessors)));
    const std::size_t shared   = device::allow_shared_memory(reinterpret_cast<const void *>(sit_kernel));
    sit_kernel<<<n_blocks, 32, shared, data->stream>>>(data->flags);
    LEOPARD_CHECK(cudaGetLastError());
    for (int there = 0; there < n_blocks;)
      {
        LEOPARD_CHECK(cudaMemcpyAsync(&there, data->flags, sizeof(int), cudaMemcpyDeviceToHost, data->other));
        LEOPARD_CHECK(cudaStreamSynchronize(data->other));
      }
    LEOPARD_CHECK(cudaSetDevice(before));
  }

  SlowedGpu::~SlowedGpu()
  {
    const int go = 1;
    cudaMemcpyAsync(data->flags + 1, &go, sizeof(int), cudaMemcpyHostToDevice, data->other);
    cudaStreamSynchronize(data->other);
    cudaStreamSynchronize(data->stream);
    cudaStreamDestroy(data->other);
    cudaStreamDestroy(data->stream);
    cudaFree(data->flags);
  }
} // namespace leopard::studies
