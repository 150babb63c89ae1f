// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device.h"
#include "../relaxation/relaxation.h"
#include "relax_kernels.cuh"

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
      sum += b[i] * b[i];
    sum = sum_over_block(sum, shared);
    if (threadIdx.x == 0)
      parts[blockIdx.x] = sum;
  }

  static __global__ void reset_monitor_kernel(Monitor *monitor, double *parts, int n_blocks, double goal_squared, double limit_squared)
  {
    for (int block = threadIdx.x; block < n_blocks; block += blockDim.x)
      parts[block] = -1.;
    if (threadIdx.x == 0)
      {
        monitor->state         = go_on;
        monitor->n_estimates   = 0;
        monitor->goal_squared  = goal_squared;
        monitor->limit_squared = limit_squared;
      }
  }

  /** The residual's parts and what becomes of them: norms, and the report of a persistent launch. */
  class CudaMonitor
  {
  public:
    explicit CudaMonitor(int n_blocks_)
      : n_blocks(n_blocks_)
      , device_parts(std::max(n_blocks_, reduction_threads))
      , sum(1)
      , done(n_blocks_)
      , monitor(1)
      , host_done(n_blocks_)
    {
    }

    double  *parts() const { return device_parts.data(); }
    int     *iterations_done() const { return done.data(); }
    Monitor *data() const { return monitor.data(); }

    void reset(const ResidualTest &test)
    {
      reset_monitor_kernel<<<1, 512>>>(monitor.data(), parts(), n_blocks, test.goal * test.goal, test.limit * test.limit);
      LEOPARD_CHECK(cudaGetLastError());
    }

    double sum_of_parts() const { return sum_of(n_blocks); }

    double norm_squared(const double *b, int n) const
    {
      if (n == 0)
        return 0.;
      squares_kernel<<<reduction_threads, reduction_threads>>>(b, n, parts());
      return sum_of(reduction_threads);
    }

    IterationReport report()
    {
      int head[2] = {0, 0}; // state and number of estimates
      device::copy_to_host(host_done.data(), done.data(), n_blocks * sizeof(int));
      device::copy_to_host(head, monitor.data(), sizeof(head));
      IterationReport result;
      result.minimum = *std::min_element(host_done.begin(), host_done.end());
      result.maximum = *std::max_element(host_done.begin(), host_done.end());
      result.mean    = std::accumulate(host_done.begin(), host_done.end(), 0.) / n_blocks;
      result.estimate_iterations.resize(head[1]);
      result.estimates.resize(head[1]);
      const char *from = reinterpret_cast<const char *>(monitor.data());
      if (head[1] > 0)
        {
          device::copy_to_host(result.estimate_iterations.data(), from + offsetof(Monitor, estimate_iterations), head[1] * sizeof(int));
          device::copy_to_host(result.estimates.data(), from + offsetof(Monitor, estimates_squared), head[1] * sizeof(double));
        }
      for (double &estimate : result.estimates)
        estimate = std::sqrt(estimate);
      return result;
    }

  private:
    double sum_of(int n) const
    {
      sum_kernel<<<1, reduction_threads>>>(parts(), n, sum.data());
      LEOPARD_CHECK(cudaGetLastError());
      double result = 0.;
      device::copy_to_host(&result, sum.data(), sizeof(double));
      return result;
    }

    const int              n_blocks;
    device::Array<double>  device_parts, sum;
    device::Array<int>     done;
    device::Array<Monitor> monitor;
    std::vector<int>       host_done;
  };
} // namespace leopard
