// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "../matrix/device_crs.h"
#include "relaxation_engine.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_multicolour_cuda(const CrsMatrix<Number> & /*A*/, const PointRelaxationOptions & /*options*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> & /*A*/, const ChebyshevOptions & /*options*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const device::DeviceCrs<Number> & /*A*/, const ChebyshevOptions & /*options*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                                                              \
  template std::unique_ptr<Relaxation<Number>> make_multicolour_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options); \
  template std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> &A, const ChebyshevOptions &options);         \
  template std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
