// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange_pattern.h"

namespace leopard
{
  /**
   * The rank's slab of a grid, plane after plane, with ghost planes of the slabs below and above right before the first
   * own plane and right behind the last one. Planes are numbered as they stand in the vector.
   */
  struct Slab
  {
    int rank, n_ranks;                      ///< slabs are in the order of ranks
    int first;                              ///< own plane; 0 where there is no room for a ghost plane below
    int n_own;                              ///< at least two
    int n_fields = 1, planes_per_field = 0; ///< one field after the other; the latter counts ghosts, too
  };

  /**
   * The ghost planes beside a slab, as entries of as many values as a plane has (see Transport::connect()).
   */
  ExchangePattern slab_pattern(const Slab &slab);

  /**
   * What a restriction needs (see Stencil): of the vector x the ghost planes beside the slab and the second one above;
   * of a second vector, b, the ghost plane above. Of one field.
   */
  ExchangePattern slab_pattern_for_restriction(const Slab &slab);
} // namespace leopard
