// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace leopard
{
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
