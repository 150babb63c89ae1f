// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "hierarchy.h"
#include "smoother.h"

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
  };

  /**
   * One for each level. Level 0, which is not smoothed, and methods without blocks keep their order.
   * @param on_device whether the orders are wanted in device memory; those of METIS and RCM are in both. @throws
   * InvalidInput, DeviceError.
   */
  std::vector<LevelOrder> level_orders(const MultigridHierarchy &hierarchy, const SmootherOptions &options, int n_threads, bool on_device = false);
} // namespace leopard
