// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/host_device.h"

#include <array>

namespace leopard
{
  /**
   * Whether a side in a later direction is to be cut instead of the longest of those before it: where it is not
   * shorter, but for rounding. So of equal sides the last one is cut, and tiles of a grid are long in the first
   * direction, in which rows are neighbours in memory: in shared memory more of them stand in banks of their own.
   */
  LEOPARD_HOST_DEVICE inline bool is_longer_side(double side, double longest)
  {
    return side >= (1. - 1e-9) * longest;
  }

  /**
   * A part of the tiles of coordinate_partition() that are half a tile beside the first ones: n rows, which lie from
   * `from` to `to` in each direction, in halves of a tile. Tiles begin at even numbers, the domain at -1.
   */
  struct ShiftedTiles
  {
    long               n   = 0;
    int                dim = 0;
    std::array<int, 3> from{}, to{};

    /**
     * The whole domain: as many tiles in each direction as bisection along the longest side makes of a box.
     * @param n rows. @param extents of their bounding box, any unit. @param block_size rows that a tile may have.
     */
    static ShiftedTiles whole(long n, int dim, const std::array<double, 3> &extents, int block_size);

    /** Where it is cut next: the direction in which it is longest, in tiles. -1: it is one tile. */
    int direction() const;

    /**
     * Two parts, cut where a tile begins, next to the middle, with their shares of the rows, and neither with more than
     * fit into its tiles.
     */
    std::array<ShiftedTiles, 2> halves(int block_size) const;

  private:
    long n_tiles() const;
  };
} // namespace leopard
