// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "relaxation_engine.h"

namespace leopard
{
  std::unique_ptr<Relaxation> make_multicolour_cuda(const CrsMatrix & /*A*/, const PointRelaxationOptions & /*options*/)
  {
    no_cuda();
  }

  std::unique_ptr<Relaxation> make_chebyshev_cuda(const CrsMatrix & /*A*/, const ChebyshevOptions & /*options*/)
  {
    no_cuda();
  }
} // namespace leopard
