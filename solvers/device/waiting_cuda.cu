// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.cuh"
#include "sleep.cuh"
#include "waiting.h"

#include <atomic>

namespace leopard::device
{
  namespace
  {
    std::atomic<bool> sleeps{false};
  }

  void sleep_until_done()
  {
    if (sleeps.load(std::memory_order_relaxed))
      LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  }

  void set_waiting(Waiting waiting)
  {
    unsigned int flags = 0;
    LEOPARD_CHECK(cudaGetDeviceFlags(&flags));
    flags = (flags & ~cudaDeviceScheduleMask) | (waiting == Waiting::block ? cudaDeviceScheduleBlockingSync : cudaDeviceScheduleAuto);
    LEOPARD_CHECK(cudaSetDeviceFlags(flags));
    sleeps = waiting == Waiting::block;
  }

  Waiting waiting()
  {
    unsigned int flags = 0;
    LEOPARD_CHECK(cudaGetDeviceFlags(&flags));
    return (flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync ? Waiting::block : Waiting::spin;
  }

  std::string pci_bus_id()
  {
    int  device   = 0;
    char text[32] = "";
    LEOPARD_CHECK(cudaGetDevice(&device));
    LEOPARD_CHECK(cudaDeviceGetPCIBusId(text, sizeof(text), device));
    return text;
  }
} // namespace leopard::device
