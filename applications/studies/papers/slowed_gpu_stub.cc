// SPDX-License-Identifier: Apache-2.0
#include "slowed_gpu.h"

#include <solvers/base/errors.h>

namespace leopard::studies
{
  struct SlowedGpu::Data
  {
  };

  SlowedGpu::SlowedGpu(int /*device*/, double /*part*/)
  {
    throw DeviceError("built without CUDA: configure with -D LEOPARD_CUDA=ON");
  }

  SlowedGpu::~SlowedGpu() = default;
} // namespace leopard::studies
