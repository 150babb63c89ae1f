// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../device/host_array.h"
#include "../device/host_number.cuh"
#include "../device/partial_sums.cuh"
#include "../relaxation/relaxation.h"
#include "monitor.cuh"

#include <cmath>
#include <cstddef>

namespace leopard
{
  /** What a persistent launch reports, beside norms from the blocks' parts. */
  class CudaMonitor : public device::PartialSums
  {
  public:
    explicit CudaMonitor(int n_blocks_)
      : PartialSums(n_blocks_)
      , done(n_blocks_)
      , monitor(1)
      , report_in_host(1)
    {
      LEOPARD_CHECK(cudaMemset(monitor.data(), 0, sizeof(Monitor)));
      host->complete = 0;
    }

    /** For one launch with tests. */
    MonitorView view(const ResidualTest &test) const
    {
      host->complete = 0;
      return {monitor.data(), true, parts(), other_parts(), done.data(), host, test};
    }
    /** Before a launch of the synchronous schedule without tests, which leaves its count. */
    void reset() const { LEOPARD_CHECK(cudaMemsetAsync(monitor.data(), 0, offsetof(Monitor, initial))); }

    /** For launches without tests. */
    MonitorView no_tests() const { return {monitor.data(), false, nullptr, nullptr, nullptr, nullptr, {}}; }

    /** Waits for a launch with tests and says what it has done. */
    IterationReport report() const
    {
      device::wait_until([this] { return __atomic_load_n(&host->complete, __ATOMIC_ACQUIRE) != 0; });
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
    device::Array<int>            done;
    device::Array<Monitor>        monitor;
    device::HostArray<HostReport> report_in_host;
    HostReport *const             host = report_in_host.data();
  };
} // namespace leopard
