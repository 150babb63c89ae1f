// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "operations.h"

namespace leopard
{
  template <typename Number>
  std::unique_ptr<MultigridOperations<Number>>
  make_stencil_cuda_operations(const std::vector<StencilGrid> & /*levels*/, const MultigridOptions & /*options*/, const SlabOverlap & /*overlap*/)
  {
    no_cuda();
  }

#define INSTANTIATE(Number)                                                           \
  template std::unique_ptr<MultigridOperations<Number>> make_stencil_cuda_operations( \
    const std::vector<StencilGrid> &levels, const MultigridOptions &options, const SlabOverlap &overlap);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
