// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard::device
{
  /** What the host does while it waits for the GPU. */
  enum class Waiting
  {
    spin, ///< asks again and again, as CUDA does by itself: the shortest wait, and a core that is busy
    block ///< sleeps until the GPU's interrupt ("idle-wait"): some microseconds more a wait, and a core for others
  };

  /** "spin", "block". */
  std::string to_string(Waiting waiting);
  /** @throws InvalidInput for other words. */
  Waiting waiting_of(const std::string &name);

  /**
   * For all waits of this process for the current device, from now on: cudaSetDeviceFlags() with
   * cudaDeviceScheduleAuto or cudaDeviceScheduleBlockingSync. @throws DeviceError.
   * Source: thesis, section 5.3.3; Anzt et al., Analysis and optimization of power consumption in the iterative
   * solution of sparse linear systems on multi-core and many-core platforms, 2011.
   */
  void set_waiting(Waiting waiting);
  /** That of the current device. @throws DeviceError. */
  Waiting waiting();

  /** "0000:3b:00.0", of the current device: what NVML knows it by. @throws DeviceError. */
  std::string pci_bus_id();
} // namespace leopard::device
