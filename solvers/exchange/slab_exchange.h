// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport.h"

#include <cstddef>

namespace leopard
{
  /**
   * The rank's planes of a vector, plane after plane: one ghost plane lies right before the first, two right behind the
   * last one (see Stencil; only one where nobody restricts). Of several fields, one after the other, all planes travel
   * together.
   */
  struct SlabVector
  {
    double *values;           ///< the first own value of the first field
    int     plane;            ///< values a plane
    int     n_planes;         ///< own ones, at least two
    int     n_fields     = 1; ///< exchange(x, b): 1
    long    field_stride = 0; ///< values from one field to the next
  };

  /**
   * What ranks with slabs of a grid tell one another: ghost planes to the slabs below and above. All functions are
   * collective, called by all ranks in the same order; on the device they are queued if is_queued(), and wait for the
   * exchange otherwise.
   */
  class SlabExchange : public Transport
  {
  public:
    /** Fetches the ghost planes of x next to the slab, and waits until they are there. */
    virtual void exchange(const SlabVector &x) = 0;

    /** For a restriction: fetches all ghost planes of x and the ghost plane of b above the slab, and waits for them. */
    virtual void exchange(const SlabVector &x, double *b) = 0;

    /**
     * Sends the outermost planes of the slab, and puts the newest planes that have arrived from the neighbours since
     * the cycle came to this level into the ghost planes; where none have arrived, the ghost planes stay as they are.
     * No rank waits for another one (but for some microseconds for planes that are on their way).
     * @param begins true in the first such exchange since the cycle came to this level.
     */
    virtual void exchange_loosely(const SlabVector &x, bool begins) = 0;

  protected:
    void count(long n_values) { sent->count(static_cast<std::size_t>(n_values) * sizeof(double)); }
  };
} // namespace leopard
