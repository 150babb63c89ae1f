// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../relaxation/relaxation.h"
#include "../relaxation/slab_exchange.h"
#include "grid.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** Of so many exchanges of ghosts between sweeps the last one is waited for, the others are not: no rank's values grow older than that. */
  constexpr int waited_exchange_interval = 4;

  /**
   * A grid shared out over ranks: each owns some planes of the last direction (planes of constant z; in two dimensions lines of constant y), in order, and
   * knows one plane of each neighbour beside them. Coarser grids of a multigrid hierarchy are whole on every rank.
   */
  class GridSlabs
  {
  public:
    /**
     * @param exchange in the memory space of the backend; on a GPU one that is queued.
     * @throws InvalidInput with why_not().
     */
    GridSlabs(const NodeGrid &grid, int rank, int n_ranks, Backend backend, std::shared_ptr<SlabExchange> exchange);

    /** Why a grid cannot be shared out, in a sentence; empty if it can. */
    static std::string why_not(const NodeGrid &grid, int n_ranks, Backend backend);

    /** The planes of all ranks but the last come in multiples of this even number: on a GPU the height of a tile. */
    static int multiple(const NodeGrid &grid, Backend backend) { return backend != Backend::cuda ? 2 : grid.is_flat() ? 32 : 8; }

    int  n_ranks() const { return static_cast<int>(begin.size()) - 1; }
    int  first() const { return begin[rank]; }
    int  n_own() const { return begin[rank + 1] - begin[rank]; }
    bool has_below() const { return rank > 0; }
    bool has_above() const { return rank + 1 < n_ranks(); }

    /** The rank's nodes as a grid, without its neighbours'. */
    NodeGrid own_grid() const;
    /** Of the finest level of all ranks: the rank's planes and those of its neighbours, with the transfers to the next coarser one, which is whole. */
    GridLevel own_level(const GridLevel &finest) const;
    /** Where each rank's nodes of the next coarser grid begin, those on its own planes, and their number. */
    std::vector<int> coarse_offsets(const GridLevel &finest) const;

    /** Collective, host memory: entry q becomes merge(q, merge(q, that of rank 0, of rank 1), ...), the same on all ranks to the last bit. */
    template <typename Merge>
    void merge(double *values, int n, const Merge &merge)
    {
      all.resize(static_cast<std::size_t>(n) * n_ranks());
      offsets.resize(begin.size());
      for (int r = 0; r <= n_ranks(); ++r)
        offsets[r] = n * r;
      for (int q = 0; q < n; ++q)
        all[offsets[rank] + q] = values[q];
      exchange->gather(all.data(), offsets);
      for (int q = 0; q < n; ++q)
        {
          values[q] = all[q];
          for (int r = 1; r < n_ranks(); ++r)
            values[q] = merge(q, values[q], all[offsets[r] + q]);
        }
    }
    /** merge() with the larger one of two numbers. */
    double max(double value);

    const NodeGrid                      grid;      ///< of all ranks
    const int                           direction; ///< 1 (y) in two dimensions, 2 (z) in three
    const int                           rank;
    const std::vector<int>              begin; ///< the first plane of each rank, and the number of planes
    const std::shared_ptr<SlabExchange> exchange;

  private:
    std::vector<double> all; ///< workspace of merge()
    std::vector<int>    offsets;
  };
} // namespace leopard::reaction_diffusion
