// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/device/device.h>
#include <solvers/distributed/gpus/several_gpus.h>

#include <algorithm>

namespace leopard
{
  /** So many parts, on as many GPUs as there are. */
  inline SeveralGpusOptions parts_on_gpus(int n_parts, GpuExchange exchange, bool waits = false)
  {
    SeveralGpusOptions result;
    for (int part = 0; part < n_parts; ++part)
      result.devices.push_back(part % std::max(1, device::n_devices()));
    result.exchange = exchange;
    result.waits    = waits;
    return result;
  }
} // namespace leopard
