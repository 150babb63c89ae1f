// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/distributed/mpi/gpus_of_ranks.h>

namespace leopard
{
  /**
   * What a log says of ranks that share a GPU, and of GPUs that are not alike: a line each. @param ranks_wait for one
   * another's values.
   */
  std::vector<std::string> remarks_on(const std::vector<RankGpu> &gpus, bool ranks_wait = true);
} // namespace leopard
