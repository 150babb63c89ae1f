// SPDX-License-Identifier: Apache-2.0
#include "plain_crs.h"

#include <solvers/base/errors.h>

namespace leopard::studies
{
  std::unique_ptr<Relaxation<double>> make_plain_crs_cuda(const CrsMatrix<double> & /*A*/, int /*block_size*/, int /*local_iterations*/)
  {
    throw DeviceError("built without CUDA: configure with -D LEOPARD_CUDA=ON, or choose the backend host");
  }
} // namespace leopard::studies
