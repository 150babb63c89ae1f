// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_grid.h"

#include <solvers/exchange/ranks.h>
#include <solvers/exchange/slab_pattern.h>
#include <solvers/relaxation/relaxation.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * A grid shared out over ranks: each owns some planes of the last direction (planes of constant z; in two dimensions
   * lines of constant y), in order, and knows one plane of each neighbour beside them. Coarser grids of a multigrid
   * hierarchy of more than `share_above` nodes are shared out as the finest one is, to the owners of the fine planes
   * that the coarse ones are; smaller ones are whole on every rank.
   */
  class GridSlabs : public Ranks
  {
  public:
    /** @param transport see Ranks. @throws InvalidInput with why_not(). */
    GridSlabs(const NodeGrid &grid, int rank, int n_ranks, Backend backend, std::shared_ptr<Transport> transport);

    /** Why a grid cannot be shared out, in a sentence; empty if it can. */
    static std::string why_not(const NodeGrid &grid, int n_ranks, Backend backend);

    /** The planes of all ranks but the last come in multiples of this even number: on a GPU the height of a tile. */
    static int multiple(const NodeGrid &grid, Backend backend) { return backend != Backend::cuda ? 2 : grid.is_flat() ? 32 : 8; }

    int  first() const { return begin[rank]; }
    int  n_own() const { return begin[rank + 1] - begin[rank]; }
    bool has_below() const { return rank > 0; }
    bool has_above() const { return rank + 1 < n_ranks(); }

    /** The rank's nodes as a grid, without its neighbours'. */
    NodeGrid own_grid() const;
    /**
     * Of a level of all ranks: the rank's planes and those of its neighbours. Transfers to the next coarser level have
     * the numbers of all its planes, and those of the rank's known planes of this one.
     * @param planes where each rank's planes of this level begin, see shared_planes().
     */
    GridLevel own_level(const GridLevel &level, const std::vector<int> &planes) const;
    /**
     * Where each rank's planes of the first grids of a hierarchy begin, and their number: of the finest one, of those
     * that are shared, too, and of the first whole one.
     */
    std::vector<std::vector<int>> shared_planes(const std::vector<GridLevel> &grids) const;

    /**
     * The exchange of the neighbours' planes beside the own ones, for vectors of planes of so many values. Collective.
     * @param first_own, n_fields, planes_per_field see Slab.
     */
    std::unique_ptr<Exchange> connect(int plane, int first_own, int n_fields = 1, int planes_per_field = 0) const
    {
      return transport->connect(slab_pattern({rank, n_ranks(), first_own, n_own(), n_fields, planes_per_field}), plane);
    }

    /**
     * On a smaller grid the exchanges of a cycle take longer than what of its work others can do. On GPUs that is
     * counted with 7 microseconds an exchange; by messages an exchange takes more, but gathering a grid does, too. On
     * host threads a node takes longer.
     */
    long share_above;

    const NodeGrid         grid;      ///< of all ranks
    const int              direction; ///< 1 (y) in two dimensions, 2 (z) in three
    const std::vector<int> begin;     ///< the first plane of each rank, and the number of planes
  };
} // namespace leopard::reaction_diffusion
