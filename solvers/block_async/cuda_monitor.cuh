// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "../device/device_array.h"
#include "../relaxation/relaxation.h"
#include "monitor.cuh"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace leopard
{
  constexpr int reduction_threads = 256;

  static __global__ void sum_kernel(const double *parts, int n, double *result)
  {
    __shared__ double shared[32];
    double            sum = 0.;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      sum += parts[i];
    sum = sum_over_block(sum, shared);
    if (threadIdx.x == 0)
      *result = sum;
  }

  static __global__ void squares_kernel(const double *b, int n, double *parts)
  {
    __shared__ double shared[32];
    double            sum = 0.;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      sum += square(b[i]);
    sum = sum_over_block(sum, shared);
    if (threadIdx.x == 0)
      parts[blockIdx.x] = sum;
  }

  /** Norms from the blocks' parts, and what a persistent launch reports. */
  class CudaMonitor
  {
  public:
    explicit CudaMonitor(int n_blocks_)
      : n_blocks(n_blocks_)
      , device_parts(2 * static_cast<std::size_t>(std::max(n_blocks_, reduction_threads)))
      , b_parts(std::max(n_blocks_, reduction_threads))
      , sum(1)
      , done(n_blocks_)
      , monitor(1)
    {
      LEOPARD_CHECK(cudaMemset(monitor.data(), 0, sizeof(Monitor)));
      LEOPARD_CHECK(cudaHostAlloc(&host, sizeof(HostReport), cudaHostAllocMapped));
      host->complete = 0;
    }
    CudaMonitor(const CudaMonitor &)            = delete;
    CudaMonitor &operator=(const CudaMonitor &) = delete;
    ~CudaMonitor() { cudaFreeHost(host); }

    double *parts() const { return device_parts.data(); }
    double  sum_of_parts() const { return sum_of(parts(), n_blocks); }
    /** Queues the sum of the first n parts. @param result one number, in device or pinned host memory. */
    void queue_sum(int n, double *result) const
    {
      sum_kernel<<<1, reduction_threads>>>(parts(), n, result);
      LEOPARD_CHECK(cudaGetLastError());
    }
    /** Sum of the first n parts, waited for. */
    double sum_of(int n) const { return sum_of(parts(), n); }

    double norm_squared(const double *b, int n) const
    {
      squares_kernel<<<reduction_threads, reduction_threads>>>(b, n, b_parts.data());
      LEOPARD_CHECK(cudaGetLastError());
      return sum_of(b_parts.data(), reduction_threads);
    }

    /** For one launch with tests. */
    MonitorView view(const ResidualTest &test) const
    {
      host->complete = 0;
      return {monitor.data(), true, parts(), b_parts.data(), done.data(), host, test};
    }
    /** Before a launch of the synchronous schedule without tests, which leaves its count. */
    void reset() const { LEOPARD_CHECK(cudaMemsetAsync(monitor.data(), 0, offsetof(Monitor, initial))); }

    /** For launches without tests. */
    MonitorView no_tests() const { return {monitor.data(), false, nullptr, nullptr, nullptr, nullptr, {}}; }

    /** Waits for a launch with tests and says what it has done. */
    IterationReport report() const
    {
      // the end of a kernel is known microseconds later; now and then it is asked for, since a kernel that fails reports nothing
      for (unsigned int n = 1; __atomic_load_n(&host->complete, __ATOMIC_ACQUIRE) == 0; ++n)
        if (n % 4096 == 0)
          {
            const cudaError_t status = cudaStreamQuery(nullptr);
            if (status == cudaSuccess)
              break;
            if (status != cudaErrorNotReady)
              LEOPARD_CHECK(status);
          }
      IterationReport result;
      result.minimum          = host->fewest;
      result.maximum          = host->most;
      result.mean             = host->mean;
      result.initial_residual = std::sqrt(host->initial);
      result.norm_b           = std::sqrt(host->b);
      result.final_residual   = std::sqrt(host->final);
      for (int i = 0; i < host->n_estimates; ++i)
        {
          result.estimate_iterations.push_back(host->estimate_iterations[i]);
          result.estimates.push_back(std::sqrt(host->estimates[i]));
        }
      return result;
    }

  private:
    double sum_of(const double *some_parts, int n) const
    {
      sum_kernel<<<1, reduction_threads>>>(some_parts, n, sum.data());
      LEOPARD_CHECK(cudaGetLastError());
      double result = 0.;
      device::copy_to_host(&result, sum.data(), sizeof(double));
      return result;
    }

    const int              n_blocks;
    device::Array<double>  device_parts, b_parts, sum;
    device::Array<int>     done;
    device::Array<Monitor> monitor;
    HostReport            *host = nullptr; ///< pinned, and seen by the device
  };
} // namespace leopard
