// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hierarchy.h"
#include "smoother.h"

#include <string>
#include <vector>

namespace leopard
{
  /** The numbering of a level in which the blocks of its smoother are contiguous. */
  struct LevelOrder
  {
    std::vector<int> old_row;       ///< new row i is old row old_row[i]; empty: as it is
    std::vector<int> block_offsets; ///< for BlockAsyncOptions; empty: block_size rows each
    std::string      text;          ///< for a log: what blocks these are
  };

  /**
   * One for each level. Level 0, which is not smoothed, and methods without blocks keep their order. @throws
   * InvalidInput.
   */
  std::vector<LevelOrder> level_orders(const MultigridHierarchy &hierarchy, const SmootherOptions &options, int n_threads);
} // namespace leopard
