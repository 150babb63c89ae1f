// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard::device
{
  /**
   * Before a copy to the host or a sum that is waited for. With Waiting::block: waits, asleep, until the calling
   * thread's stream is done; with spin nothing, as the copy waits by itself. CUDA says what cudaStreamSynchronize()
   * does when cudaDeviceScheduleBlockingSync is set, and not what copies do.
   */
  void sleep_until_done();
} // namespace leopard::device
