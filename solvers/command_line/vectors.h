// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../device/device_vector.h"

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
} // namespace leopard::command_line
