// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "operations.h"

namespace leopard
{
  std::unique_ptr<Multigrid::Operations> make_stencil_host_operations(const std::vector<StencilGrid> & /*levels*/,
                                                                      const MultigridOptions & /*options*/)
  {
    throw InvalidInput("not yet");
  }
} // namespace leopard
