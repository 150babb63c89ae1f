// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../device/device_vector.h"

#include <cstddef>
#include <vector>

namespace leopard::command_line
{
  /** f(x, b) with x from and to host memory and b from there, both where the solver wants them. */
  template <typename Number, typename F>
  auto with_vectors(MemorySpace space, const std::vector<Number> &b, std::vector<Number> &x, const F &f)
  {
    if (space == MemorySpace::host)
      return f(x.data(), b.data());
    DeviceVector<Number> device_x(x.size()), device_b(b.size());
    device_x.copy_from_host(x.data());
    device_b.copy_from_host(b.data());
    auto result = f(device_x.data(), device_b.data());
    device_x.copy_to_host(x.data());
    return result;
  }

  /**
   * x without its part along v, which a matrix maps to zero: cycles in single precision leave some of it. @param v as
   * constants_in_null_space(), or empty for a regular matrix.
   */
  inline void take_out(const std::vector<double> &v, std::vector<double> &x)
  {
    double of_x = 0., of_v = 0.;
    for (std::size_t i = 0; i < v.size(); ++i)
      {
        of_x += v[i] * x[i];
        of_v += v[i] * v[i];
      }
    for (std::size_t i = 0; i < v.size(); ++i)
      x[i] -= of_x / of_v * v[i];
  }
} // namespace leopard::command_line
