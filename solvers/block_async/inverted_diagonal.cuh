// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../matrix/stencil.h"

#include <vector>

namespace leopard
{
  /** omega / c_0, which the coefficients of a stencil are multiplied with; 1 if its diagonal varies. */
  template <typename Number>
  double scale_of(const Stencil<Number> &stencil, double omega)
  {
    return stencil.diagonal.empty() ? omega / stencil.coefficient(0, 0, 0) : 1.;
  }

  template <typename Number>
  __global__ void invert_kernel(Number *d, double omega, std::size_t n)
  {
    if (const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n)
      d[i] = static_cast<Number>(omega / d[i]);
  }

  /** result_i = omega / d_i. @param result device memory, as many values as d has, which is in host memory. */
  template <typename Number>
  void copy_inverted(const device::Array<Number> &result, const std::vector<Number> &d, double omega)
  {
    if (d.empty())
      return;
    device::copy_to_device(result.data(), d.data(), d.size() * sizeof(Number));
    invert_kernel<<<static_cast<unsigned int>((d.size() + 255) / 256), 256>>>(result.data(), omega, d.size());
    LEOPARD_CHECK(cudaGetLastError());
  }
} // namespace leopard
