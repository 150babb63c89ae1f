// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "operations.h"

namespace leopard
{
  std::unique_ptr<Multigrid::Operations> make_stencil_cuda_operations(const std::vector<StencilGrid> & /*levels*/,
                                                                      const MultigridOptions & /*options*/)
  {
    no_cuda();
  }
} // namespace leopard
