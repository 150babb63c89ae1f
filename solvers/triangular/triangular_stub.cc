// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "factor_sweep_rule.h"
#include "triangular_engine.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<TriangularEngine<Number>> make_cuda_triangular(const CrsMatrix<Number> & /*T*/, Triangle /*triangle*/)
  {
    no_cuda();
  }

  template <typename Number>
  void scale_on_cuda(Number * /*x*/, const Number * /*factors*/, const Number * /*b*/, int /*n*/)
  {
    no_cuda();
  }

  template <typename Number>
  void sweep_on_cuda(const FactorPattern & /*pattern*/,
                     const std::vector<Number> & /*A*/,
                     std::vector<Number> & /*values*/,
                     const FactorSweepOptions & /*options*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                                                   \
  template std::unique_ptr<TriangularEngine<Number>> make_cuda_triangular(const CrsMatrix<Number> &T, Triangle triangle);     \
  template void                                      scale_on_cuda(Number *x, const Number *factors, const Number *b, int n); \
  template void                                      sweep_on_cuda(                                                           \
                                         const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &values, const FactorSweepOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
