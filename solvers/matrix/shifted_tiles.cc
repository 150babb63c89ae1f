// SPDX-License-Identifier: Apache-2.0
#include "shifted_tiles.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    /** The even number that is next to the middle of [from, to] and inside; from, if there is none. */
    int cut_of(int from, int to)
    {
      const int middle = from + (to - from) / 2, even = middle - (middle % 2 != 0 ? 1 : 0);
      return even > from ? even : even + 2 < to ? even + 2 : from;
    }
  } // namespace

  ShiftedTiles ShiftedTiles::whole(long n, int dim, const std::array<double, 3> &extents, int block_size)
  {
    std::array<double, 3> sides    = extents;
    std::array<long, 3>   counts   = {1, 1, 1};
    const long            n_needed = n == 0 ? 1 : (n - 1) / block_size + 1;
    auto                  n_blocks = static_cast<double>(n_needed);
    while (n_blocks > 1.)
      {
        int longest = 0;
        for (int d = 1; d < dim; ++d)
          if (is_longer_side(sides[d], sides[longest]))
            longest = d;
        const double factor = std::min(2., n_blocks); // the last cut leaves no half of a tile
        counts[longest]     = std::lround(std::ceil(factor * static_cast<double>(counts[longest])));
        sides[longest] /= factor;
        n_blocks /= factor;
      }
    ShiftedTiles result{n, dim, {}, {}};
    for (int d = 0; d < 3; ++d)
      {
        result.from[d] = counts[d] > 1 ? -1 : 0;
        result.to[d]   = result.from[d] + 2 * static_cast<int>(counts[d]);
      }
    return result;
  }

  int ShiftedTiles::direction() const
  {
    int result = -1;
    for (int d = 0; d < dim; ++d)
      if (cut_of(from[d], to[d]) > from[d] && (result < 0 || to[d] - from[d] > to[result] - from[result]))
        result = d;
    return result;
  }

  long ShiftedTiles::n_tiles() const
  {
    long result = 1;
    for (int d = 0; d < 3; ++d)
      {
        const int first = from[d] - (from[d] % 2 != 0 ? 1 : 0); // where the first tile would begin
        result *= (to[d] - first + 1) / 2;
      }
    return result;
  }

  std::array<ShiftedTiles, 2> ShiftedTiles::halves(int block_size) const
  {
    const int                   d = direction(), cut = cut_of(from[d], to[d]);
    std::array<ShiftedTiles, 2> result = {*this, *this};
    result[0].to[d] = result[1].from[d] = cut;
    const double share                  = static_cast<double>(cut - from[d]) / static_cast<double>(to[d] - from[d]);
    const long   most = std::min(n, result[0].n_tiles() * block_size), least = std::max(0l, n - result[1].n_tiles() * block_size);
    result[0].n = std::clamp(std::lround(share * static_cast<double>(n)), least, most);
    result[1].n = n - result[0].n;
    return result;
  }
} // namespace leopard
