// SPDX-License-Identifier: Apache-2.0
#include "host_array.h"
#include "host_number.cuh"
#include "waiting.h"

#include <atomic>
#include <cstring>

namespace leopard::device
{
  namespace
  {
    std::atomic<bool> sleeps{false};

    constexpr unsigned long long empty = 0x7ff4'1e0f'a4d0'0001ull; ///< a signalling NaN, which no arithmetic makes

    double *place()
    {
      thread_local const HostArray<double> mine(1);
      return mine.data();
    }
  } // namespace

  double *empty_place()
  {
    double *const result = place();
    std::memcpy(result, &empty, sizeof(empty));
    return result;
  }

  double number_in_place()
  {
    const double *const where = place();
    wait_until([where] { return __atomic_load_n(reinterpret_cast<const unsigned long long *>(where), __ATOMIC_ACQUIRE) != empty; });
    return *where;
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
