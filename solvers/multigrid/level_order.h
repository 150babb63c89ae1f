// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "hierarchy.h"
#include "multigrid.h"

#include <string>
#include <vector>

namespace leopard
{
  /** The numbering of a level in which the blocks of its smoother are contiguous. */
  struct LevelOrder
  {
    std::vector<int>   old_row;       ///< new row i is old row old_row[i]; empty: as it is
    std::vector<int>   block_offsets; ///< for BlockAsyncOptions; empty: block_size rows each
    std::string        text;          ///< for a log: what blocks these are
    device::Array<int> on_device;     ///< old_row in device memory, instead or as well; empty: not there

    // blocks that move: the others
    std::vector<int>   moved_rows; ///< its row i is row moved_rows[i] of this order; empty: none, or in device memory
    device::Array<int> moved_on_device;
    std::vector<int>   moved_offsets; ///< empty: blocks that stay
  };

  /**
   * One for each level. Level 0, which is not smoothed, and methods without blocks keep their order.
   * @param moves SmootherOptions::moving_blocks, decided: see blocks_move().
   * @param on_device whether the orders are wanted in device memory; those of METIS and RCM are in both. @throws
   * InvalidInput, DeviceError.
   */
  std::vector<LevelOrder>
  level_orders(const MultigridHierarchy &hierarchy, const SmootherOptions &options, bool moves, int n_threads, bool on_device = false);

  /**
   * Whether the blocks of all smoothed levels of more than one block move: as SmootherOptions::moving_blocks says, or,
   * automatically, where it pays: on a GPU with the schedule chaotic and at least three local iterations
   * (smoother_moves()), in two dimensions, with at least 12 entries a row of the finest matrix (Q2: 16). Shorter rows
   * are relaxed as fast as vectors are brought into the other order and back, and in three dimensions a third more
   * cycles are needed (benchmarks/results/2026-11-28_h200_moving_blocks.md).
   * @throws InvalidInput if it is asked for where it cannot be: another method than async, blocks that are not tiles
   * from coordinates, blocks that overlap, several ranks.
   */
  bool blocks_move(const MultigridHierarchy &hierarchy, const MultigridOptions &options);
} // namespace leopard
