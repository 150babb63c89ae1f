// SPDX-License-Identifier: Apache-2.0
#include "slab_pattern.h"

namespace leopard
{
  ExchangePattern slab_pattern(const Slab &slab)
  {
    ExchangePattern pattern;
    const auto      add = [&](int rank, int own, int ghost) {
      for (int c = 0; c < slab.n_fields; ++c)
        {
          pattern.add_sent(rank, c * slab.planes_per_field + own);
          pattern.add_received(rank, c * slab.planes_per_field + ghost);
        }
    };
    const int end = slab.first + slab.n_own;
    if (slab.rank > 0)
      add(slab.rank - 1, slab.first, slab.first - 1);
    if (slab.rank + 1 < slab.n_ranks)
      add(slab.rank + 1, end - 1, end);
    return pattern;
  }

  ExchangePattern slab_pattern_for_restriction(const Slab &slab)
  {
    ExchangePattern pattern;
    const int       end = slab.first + slab.n_own;
    pattern.second      = end + 2; // behind the planes of x
    if (slab.rank > 0)
      {
        for (const int plane : {slab.first, slab.first + 1, pattern.second + slab.first})
          pattern.add_sent(slab.rank - 1, plane);
        pattern.add_received(slab.rank - 1, slab.first - 1);
      }
    if (slab.rank + 1 < slab.n_ranks)
      {
        pattern.add_sent(slab.rank + 1, end - 1);
        for (const int plane : {end, end + 1, pattern.second + end})
          pattern.add_received(slab.rank + 1, plane);
      }
    return pattern;
  }
} // namespace leopard
