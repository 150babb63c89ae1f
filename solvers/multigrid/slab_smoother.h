// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "smoother.h"

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * How far the smoothing of slabs reaches into those beside them, so that the borders between slabs move as those of
   * tiles do: every second iteration relaxes some planes of the neighbours, too, as these do at the same time, and its
   * tiles stand across the borders.
   */
  struct SlabOverlap
  {
    int planes = 0; ///< of each neighbour; 0: none, and tiles at the borders stay
    /**
     * For each level, coarsest first (which needs none): its slab with these planes. The diagonal, if there is one, is
     * that of all of them.
     */
    std::vector<Stencil<double>> wide = {};

    /** Ghost planes that x has below and above a slab. A restriction needs two above. */
    int below() const { return planes + 1; }
    int above() const { return planes > 0 ? planes + 1 : 2; }
    /** The same of b: a restriction needs one above. */
    int b_above() const { return planes > 0 ? planes : 1; }
    /** Coarse ghost planes from which the ghost planes of a slab are corrected. */
    int coarse() const { return (planes + 3) / 2; }
  };

  /**
   * Whether make_slab_smoother() takes these options on this backend: async, on a GPU with the chaotic schedule and
   * tiles that move.
   */
  bool can_overlap(const SmootherOptions &options, Backend backend, int dim);

  /** Planes that every second iteration is to reach into the neighbours: half a tile. */
  int planes_of_overlap(bool flat);

  /**
   * A smoother of a slab whose first, third, ... iterations relax its own planes, and the others those of `wide`, too.
   * x has one ghost plane more than that on both sides where there is a neighbour, and b as many as that.
   * @param wide the same slab with `n_below` planes more below and some above. @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>>
  make_slab_smoother(const Stencil<Number> &own, const Stencil<Number> &wide, int n_below, const SmootherOptions &options, Backend backend);
} // namespace leopard
