// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace leopard::studies
{
  /**
   * Takes a part of a GPU's multiprocessors away from everybody else, as long as it lives and at most two minutes: a
   * kernel sits there with all their shared memory and sleeps. While it lives nothing may be allocated or given back on
   * that GPU, and nobody may wait for all of its streams.
   */
  class SlowedGpu
  {
  public:
    /** @param part of the multiprocessors, 0 < part < 1. @throws InvalidInput, DeviceError. */
    SlowedGpu(int device, double part);
    SlowedGpu(const SlowedGpu &)            = delete;
    SlowedGpu &operator=(const SlowedGpu &) = delete;
    ~SlowedGpu();

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };
} // namespace leopard::studies
