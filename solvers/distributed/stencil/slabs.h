// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../multigrid/hierarchy.h"
#include "../../multigrid/slab_smoother.h"

#include <functional>
#include <vector>

namespace leopard
{
  /**
   * Who owns which planes of which level, for geometric multigrid with a stencil on several ranks. Planes are those of
   * the last direction: of constant z, in two dimensions lines of constant y. Coarse plane i stands at fine plane 2 i +
   * 1 (see StencilGrid), and the owner of coarse planes [a, b) owns fine planes [2 a, 2 b), the last rank all that are
   * left: a rank needs one ghost plane below and two above, and restriction and interpolation need no others.
   *
   * Levels are distributed from the finest one on down to the last one with more than gather_below unknowns. The next
   * coarser one is the first gathered level, which each rank has whole; its planes are shared out evenly, and that
   * decides what is owned on the finer ones.
   */
  struct SlabPartition
  {
    /**
     * @param whole the grid of all ranks; its diagonal is not looked at. @param gather_below unknowns. @param multiple
     * planes of the first gathered level are shared out in multiples of this number, so that slabs of the levels above
     * it are whole tiles.
     * @throws InvalidInput if there are not at least two planes a rank on the first gathered level, or less than
     * `multiple`, or only one direction has more than one node.
     */
    SlabPartition(const Stencil<double> &whole, int n_ranks, int gather_below, int multiple = 1);

    /** The distributed levels and, as number 0, the first gathered one; coarsest first. */
    int n_levels() const { return static_cast<int>(n_planes.size()); }
    /** The first plane that a rank owns on a level; with rank = n_ranks the number of planes. */
    int begin(int level, int rank) const { return offsets[level][rank]; }
    int n_owned(int level, int rank) const { return begin(level, rank + 1) - begin(level, rank); }

    int                             n_ranks;
    int                             direction; ///< 1 (y) in two dimensions, 2 (z) in three
    std::vector<std::array<int, 3>> nodes;     ///< of the whole grid in x, y and z, a level
    std::vector<int>                n_planes;  ///< of the whole grid, a level
    std::vector<std::vector<int>>   offsets;
  };

  /**
   * Collective: values of a rank's lowest plane go to the rank below, and those of the rank above are returned (empty
   * on the last rank).
   */
  using ShiftDown = std::function<std::vector<double>(const std::vector<double> &lowest_plane)>;
  /**
   * Collective: values go to the rank below and to that above; what they have sent is returned (empty where there is
   * none).
   */
  struct Beside
  {
    std::vector<double> below, above;
  };
  using ExchangeBeside = std::function<Beside(const Beside &to)>;
  /** Collective: what all ranks have, rank after rank. */
  using Concatenate = std::function<std::vector<double>(const std::vector<double> &own)>;

  /** What the levels of one rank are made from. */
  struct SlabGrids
  {
    std::vector<StencilGrid> slabs; ///< the rank's slabs of the levels of the partition, coarsest first
    StencilGrid              whole; ///< the first gathered level
  };

  /**
   * The rank's slab of each distributed level and the whole first gathered one, by coarsen(). Collective if
   * own_diagonal is not empty or the diagonal varies on coarser levels (it does where last_interval is not 1).
   * @param own_diagonal entries of the finest level's rows that the rank owns, or empty: the stencil's central
   * coefficient.
   * @throws InvalidInput for a wrong number of them.
   */
  SlabGrids make_slab_grids(const Stencil<double>     &whole,
                            const std::vector<double> &own_diagonal,
                            const SlabPartition       &partition,
                            int                        rank,
                            const ShiftDown           &shift_down,
                            const Concatenate         &concatenate);

  /**
   * The slabs with so many planes of their neighbours, which own as many and one more. Collective if the diagonal
   * varies. @param planes 0: no overlap.
   */
  SlabOverlap make_overlap(const SlabGrids &grids, int planes, const ExchangeBeside &exchange);
} // namespace leopard
