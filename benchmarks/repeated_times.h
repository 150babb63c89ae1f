// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/stopwatch.h>
#include <solvers/device/device.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace leopard
{
  struct Times
  {
    double median = 0., smallest = 0., largest = 0.; ///< seconds
  };

  /** Of n repetitions after one that warms up; the device is waited for. */
  inline Times measure(bool on_device, int n, const std::function<void()> &run)
  {
    std::vector<double> times;
    for (int i = -1; i < n; ++i)
      {
        if (on_device)
          device::synchronize();
        const double start = now();
        run();
        if (on_device)
          device::synchronize();
        if (i >= 0)
          times.push_back(now() - start);
      }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back()};
  }
} // namespace leopard
