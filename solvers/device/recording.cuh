// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace leopard::device
{
  /**
   * Held by a thread while it records a graph, and by others for what would spoil the recording or fail meanwhile: CUDA
   * forbids to wait for a device one of whose streams is being recorded, which is what making and deleting of graphs
   * and library handles may do. Nobody waits for the device with it. What frees arrays while other threads record calls
   * allocate_beside_others().
   */
  std::recursive_mutex &recording();

  using RecordingLock = std::lock_guard<std::recursive_mutex>;
} // namespace leopard::device
