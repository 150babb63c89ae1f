// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../matrix/blocks.h"

#include <vector>

namespace leopard::studies
{
  /**
   * A reconstruction of the rule behind Table 4.9 of the thesis, which prints no formula: k local iterations in the blocks whose entries within the
   * diagonal block weigh more against those outside than in the whole matrix (sums of absolute values, diagonal included), k - 1 in the others.
   * @throws InvalidInput if k < 2.
   */
  std::vector<int> two_valued_local_iterations(const CrsMatrix &A, const Blocks &blocks, int k);
} // namespace leopard::studies
