// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../device/cuda_error.cuh"
#include "../../device/grid_stride.cuh"

namespace leopard
{
  /** When what was queued before is done. */
  class Event
  {
  public:
    Event() { LEOPARD_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
    Event(const Event &)            = delete;
    Event &operator=(const Event &) = delete;
    ~Event() { cudaEventDestroy(event); }
    void record() const { LEOPARD_CHECK(cudaEventRecord(event, device::stream())); }
    void wait() const { LEOPARD_CHECK(cudaEventSynchronize(event)); }

  private:
    cudaEvent_t event;
  };
} // namespace leopard
