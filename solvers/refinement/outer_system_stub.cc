// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "outer_engine.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> make_cuda_vectors(int /*n*/, double /*weight*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_cuda_system(const CrsMatrix<double> & /*A*/, const std::vector<double> & /*scale*/)
  {
    no_cuda();
  }

  template <typename Number>
  std::unique_ptr<OuterSystem<Number>> make_cuda_system(const Stencil<double> & /*A*/, double /*weight*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                                                                      \
  template std::unique_ptr<MixedVectors<Number>> make_cuda_vectors(int n, double weight);                                        \
  template std::unique_ptr<OuterSystem<Number>>  make_cuda_system(const CrsMatrix<double> &A, const std::vector<double> &scale); \
  template std::unique_ptr<OuterSystem<Number>>  make_cuda_system(const Stencil<double> &A, double weight);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
