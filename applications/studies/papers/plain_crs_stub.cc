// SPDX-License-Identifier: Apache-2.0
#include "plain_crs.h"

#include <solvers/base/errors.h>

namespace leopard::studies
{
  namespace
  {
    const char *const without_cuda = "built without CUDA: configure with -D LEOPARD_CUDA=ON, or choose the backend host";
  }

  std::unique_ptr<Relaxation<double>> make_plain_crs_cuda(const CrsMatrix<double> & /*A*/, int /*block_size*/, int /*local_iterations*/)
  {
    throw DeviceError(without_cuda);
  }

  std::unique_ptr<Relaxation<double>>
  make_printed_crs_cuda(const CrsMatrix<double> & /*A*/, int /*block_size*/, int /*local_iterations*/, FindsDiagonal /*finds_diagonal*/)
  {
    throw DeviceError(without_cuda);
  }
} // namespace leopard::studies
