// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../device/cuda_error.cuh"
#include "../../device/grid_stride.cuh"

#include <cstddef>

namespace leopard
{
  /** Host memory that all GPUs copy from and to without waiting. */
  template <typename Number>
  class Pinned
  {
  public:
    explicit Pinned(std::size_t n)
    {
      if (n > 0)
        LEOPARD_CHECK(cudaHostAlloc(&pointer, n * sizeof(Number), cudaHostAllocPortable));
    }
    Pinned(const Pinned &)            = delete;
    Pinned &operator=(const Pinned &) = delete;
    ~Pinned() { cudaFreeHost(pointer); }
    Number *data() const { return static_cast<Number *>(pointer); }

  private:
    void *pointer = nullptr;
  };

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
