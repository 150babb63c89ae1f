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

  /** Before a persistent launch: sums what is known of the residual and of b, sets goal and limit, and forgets the parts. */
  static __global__ void begin_kernel(Monitor *monitor, double *parts, int n_parts, const double *b_parts, int n_b_parts, ResidualTest test)
  {
    __shared__ double shared[32];
    double            initial = 0., b = 0.;
    if (test.initial_residual < 0.)
      {
        for (int i = threadIdx.x; i < n_parts; i += blockDim.x)
          initial += parts[i];
        for (int i = threadIdx.x; i < n_b_parts; i += blockDim.x)
          b += b_parts[i];
      }
    initial = sum_over_block(initial, shared);
    b       = sum_over_block(b, shared);
    for (int i = threadIdx.x; i < n_parts; i += blockDim.x)
      parts[i] = -1.;
    if (threadIdx.x > 0)
      return;
    if (test.initial_residual >= 0.)
      {
        initial = test.initial_residual * test.initial_residual;
        b       = test.norm_b * test.norm_b;
      }
    const double goal =
      fmax(test.absolute_tolerance * test.absolute_tolerance, test.relative_tolerance * test.relative_tolerance * (b > 0. ? b : initial));
    monitor->initial     = initial;
    monitor->b           = b;
    monitor->goal        = goal;
    monitor->limit       = test.divergence_factor * test.divergence_factor * fmax(initial, goal);
    monitor->state       = initial <= goal ? goal_met : go_on;
    monitor->n_estimates = 0;
  }

  /** After it, when the parts hold the true residual's: its sum, and the blocks' iterations. */
  static __global__ void end_kernel(Monitor *monitor, const double *parts, const int *iterations_done, int n)
  {
    __shared__ double shared[32];
    __shared__ int    fewest, most;
    if (threadIdx.x == 0)
      {
        fewest = 2147483647;
        most   = 0;
      }
    __syncthreads();
    double residual = 0., iterations = 0.;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      {
        residual += parts[i];
        iterations += iterations_done[i];
        atomicMin(&fewest, iterations_done[i]);
        atomicMax(&most, iterations_done[i]);
      }
    residual   = sum_over_block(residual, shared);
    iterations = sum_over_block(iterations, shared);
    if (threadIdx.x == 0)
      {
        monitor->final  = residual;
        monitor->mean   = iterations / n;
        monitor->fewest = fewest;
        monitor->most   = most;
      }
  }

  /** The residual's parts and what becomes of them: norms, and the report of a persistent launch. */
  class CudaMonitor
  {
  public:
    explicit CudaMonitor(int n_blocks_)
      : n_blocks(n_blocks_)
      , device_parts(std::max(n_blocks_, reduction_threads))
      , b_parts(reduction_threads)
      , sum(1)
      , done(n_blocks_)
      , monitor(1)
    {
      LEOPARD_CHECK(cudaMallocHost(&host, sizeof(Monitor)));
    }
    CudaMonitor(const CudaMonitor &)            = delete;
    CudaMonitor &operator=(const CudaMonitor &) = delete;
    ~CudaMonitor() { cudaFreeHost(host); }

    double  *parts() const { return device_parts.data(); }
    int     *iterations_done() const { return done.data(); }
    Monitor *data() const { return monitor.data(); }

    double sum_of_parts() const { return sum_of(parts(), n_blocks); }

    double norm_squared(const double *b, int n) const
    {
      queue_squares(b, n);
      return sum_of(b_parts.data(), reduction_threads);
    }

    /** Queues the parts of ||b||^2, for begin(). */
    void queue_squares(const double *b, int n) const
    {
      squares_kernel<<<reduction_threads, reduction_threads>>>(b, n, b_parts.data());
      LEOPARD_CHECK(cudaGetLastError());
    }

    /** If the test knows no norms, parts() must hold the residual's and queue_squares() have been called. */
    void begin(const ResidualTest &test)
    {
      begin_kernel<<<1, 512>>>(monitor.data(), parts(), n_blocks, b_parts.data(), reduction_threads, test);
      LEOPARD_CHECK(cudaGetLastError());
    }

    /** When parts() hold the final residual's. */
    IterationReport end()
    {
      end_kernel<<<1, 512>>>(monitor.data(), parts(), done.data(), n_blocks);
      LEOPARD_CHECK(cudaGetLastError());
      LEOPARD_CHECK(cudaMemcpyAsync(host, monitor.data(), sizeof(Monitor), cudaMemcpyDeviceToHost));
      LEOPARD_CHECK(cudaStreamSynchronize(nullptr));
      IterationReport result;
      result.minimum          = host->fewest;
      result.maximum          = host->most;
      result.mean             = host->mean;
      result.initial_residual = std::sqrt(host->initial);
      result.norm_b           = std::sqrt(host->b);
      result.final_residual   = std::sqrt(host->final);
      for (int i = 0; i < host->n_estimates; ++i)
        if (const int iteration = host->estimate_iterations[i]; iteration > 0 && iteration <= host->most)
          {
            result.estimate_iterations.push_back(iteration);
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
    Monitor               *host = nullptr; ///< pinned
  };
} // namespace leopard
