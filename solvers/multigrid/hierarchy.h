// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "../matrix/stencil.h"
#include "../relaxation/relaxation.h"

#include <array>
#include <memory>
#include <vector>

namespace leopard
{
  /**
   * One level of a multigrid hierarchy, in host memory. n is the number of unknowns of the level, n_coarse that of the
   * level below; in a distributed program these are the rank's own ones, and columns from n (or n_coarse) on are
   * ghosts: entry n + g of a level's vector is the g-th ghost of its communication. All matrices that read a level's
   * vector (its own, the prolongation to the next finer level, the restriction from it) share this one numbering.
   */
  struct MultigridLevel
  {
    CrsMatrix<double>
      matrix; ///< A_l, n x n. Rows of unknowns that are not of the level's problem (refinement edges, boundary) are rows of the identity
    CrsMatrix<double> prolongation; ///< P_l, n x n_coarse; empty on level 0. Zero rows for unknowns that no correction may change
    CrsMatrix<double> restriction;  ///< R_l, n_coarse x n; empty: the transpose of P_l (one rank only)

    /**
     * Local smoothing on adaptive meshes: the couplings E_l, n x n, from unknowns inside the level (columns) to
     * unknowns on the refinement edge to the coarser level (rows), which A_l does not have (deal.II's interface
     * matrix). Empty: none.
     */
    CrsMatrix<double> interface;
    CrsMatrix<double> interface_transpose; ///< E_l^T, n x n; empty: the transpose of E_l (one rank only)

    /**
     * The unknowns that the level shares with the active mesh: entry global_rows[i] of a global vector is entry
     * level_rows[i] of the level's. Empty on hierarchies of global refinement, where the finest level's vectors are the
     * global ones. Either of the two, not both, may be a ghost: a rank lists the pairs of which it owns one, and
     * right-hand sides go down and corrections come up by ghosts of global vectors and of the level's.
     */
    std::vector<int> global_rows, level_rows;

    std::vector<double> coordinates; ///< dim numbers an unknown, unknown after unknown; empty: not known (smoothers in tiles need them)
    int                 dim = 0;

    std::shared_ptr<const Communication<double>> communication; ///< null: one rank
  };

  /**
   * Levels of a multigrid method, coarsest first, for A x = b. Either every vector of the finest level is a global
   * vector (global refinement; matrix is empty), or the finest level covers part of the domain only (local smoothing)
   * and matrix holds A over the active mesh.
   */
  struct MultigridHierarchy
  {
    std::vector<MultigridLevel>                  levels;
    CrsMatrix<double>                            matrix;
    std::shared_ptr<const Communication<double>> communication; ///< of matrix; null: one rank, or that of the finest level

    /** The same on all ranks, also on those without rows. */
    bool is_adaptive() const { return matrix.n_rows > 0 || communication != nullptr; }
    /** The operator of the whole problem: matrix, or the finest level's. */
    const CrsMatrix<double> &finest_matrix() const { return is_adaptive() ? matrix : levels.back().matrix; }
    /** Of vectors of the whole problem. Null: one rank. */
    const std::shared_ptr<const Communication<double>> &finest_communication() const
    {
      return communication != nullptr ? communication : levels.back().communication;
    }
    /**
     * Lengths of arrays and indices in range, at least one level, level matrices that CrsMatrix::validate() accepts.
     * @param with_entries false: not the entries of level matrices and prolongations, which set-up on the device
     * checks.
     * @throws InvalidInput naming the level and the array, what was found and what is expected.
     */
    void validate(bool with_entries = true) const;
  };

  /**
   * A stencil on one level of geometric multigrid. Nodes are h apart, and before the first and behind the last of them
   * lies the boundary, where values are zero: h before the first, and last_interval h behind the last one in each
   * direction, in (0, 1].
   *
   * Coarse node i stands at fine node 2 i + 1 (counted from 0), so n nodes become floor(n / 2), 2 h apart. An even n
   * puts the last coarse node on the last fine one, and its distance to the boundary, in units of the coarse 2 h, is
   * half of last_interval; an odd n leaves one fine node behind it, and the distance is (1 + last_interval) / 2: 1
   * stays 1.
   */
  struct StencilGrid
  {
    Stencil<double>       stencil;
    std::array<double, 3> last_interval = {1., 1., 1.};

    /** Number of nodes in direction d (0: x). */
    int n(int d) const { return d == 0 ? stencil.n_x : d == 1 ? stencil.n_y : stencil.n_z; }
    /** Number of directions with more than one node. */
    int dim() const { return (stencil.n_x > 1) + (stencil.n_y > 1) + (stencil.n_z > 1); }
    /**
     * What the interpolated value of the last node is multiplied with in direction d: linear interpolation between the
     * last coarse node (distance 1) and the boundary (distance last_interval) has the weight last_interval / (1 +
     * last_interval) and not 1/2, if n(d) is odd.
     */
    double last_weight(int d) const { return n(d) % 2 == 1 && n(d) > 1 ? 2. * last_interval[d] / (1. + last_interval[d]) : 1.; }
  };

  /**
   * The same operator on the next coarser grid, scaled so that R = P^T needs no factor: the Laplacian's part
   * (off-diagonal coefficients) grows by 2^(dim-2), the rest of the diagonal, what a row sums up to (mass), by 2^dim.
   * Where last_interval is not 1, the diagonal of the last nodes is that of a difference quotient to the near boundary:
   * it grows by (1 / last_interval - 1) times the coefficients that reach over the boundary. A varying diagonal's mass
   * is averaged over the fine nodes around the coarse one with the weights of the interpolation. Directions with one
   * node are not coarsened and do not count in dim; what couples to their boundary is mass. @throws InvalidInput if
   * there is one node only.
   */
  StencilGrid coarsen(const StencilGrid &fine);
  /** The same into a grid that is there, whose memory is taken. */
  void coarsen(const StencilGrid &fine, StencilGrid &coarse);

  /**
   * finest and what coarsen() makes of it, coarsest first. @param n_levels 0: down to one node. @throws InvalidInput if
   * there are fewer.
   */
  std::vector<StencilGrid> stencil_levels(const Stencil<double> &finest, int n_levels = 0);
  /** The same for another stencil on the finest of these grids, in their memory. */
  void update_levels(std::vector<StencilGrid> &levels, const Stencil<double> &finest);

  /**
   * Linear interpolation from coarse to fine nodes as a matrix. @throws InvalidInput if coarse is not what coarsen()
   * makes.
   */
  CrsMatrix<double> stencil_prolongation(const StencilGrid &fine, const StencilGrid &coarse);

  /**
   * The hierarchy of stored matrices for a stencil: stencil_levels(), with coordinates in units of the finest interval.
   */
  MultigridHierarchy make_hierarchy(const Stencil<double> &finest, int n_levels = 0);
} // namespace leopard
