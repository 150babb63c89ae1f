// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "../matrix/stencil.h"
#include "../relaxation/relaxation.h"

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * One level of a multigrid hierarchy, in host memory. n is the number of unknowns of the level, n_coarse that of the level below; in a
   * distributed program these are the rank's own ones, and columns from n (or n_coarse) on are ghosts: entry n + g of a level's vector is the
   * g-th ghost of its communication. All matrices that read a level's vector (its own, the prolongation to the next finer level, the restriction
   * from it) share this one numbering.
   */
  struct MultigridLevel
  {
    CrsMatrix matrix; ///< A_l, n x n. Rows of unknowns that are not of the level's problem (refinement edges, boundary) are rows of the identity
    CrsMatrix prolongation; ///< P_l, n x n_coarse; empty on level 0. Zero rows for unknowns that no correction may change
    CrsMatrix restriction;  ///< R_l, n_coarse x n; empty: the transpose of P_l (one rank only)

    /**
     * Local smoothing on adaptive meshes: the couplings E_l, n x n, from unknowns inside the level (columns) to unknowns on the refinement edge to
     * the coarser level (rows), which A_l does not have (deal.II's interface matrix). Empty: none.
     */
    CrsMatrix interface;
    CrsMatrix interface_transpose; ///< E_l^T, n x n; empty: the transpose of E_l (one rank only)

    /** The unknowns that the level shares with the active mesh: entry global_rows[i] of a global vector is entry level_rows[i] of the level's. Empty on
     * hierarchies of global refinement, where the finest level's vectors are the global ones. */
    std::vector<int> global_rows, level_rows;

    std::vector<double> coordinates; ///< dim numbers an unknown, unknown after unknown; empty: not known (smoothers in tiles need them)
    int                 dim = 0;

    std::shared_ptr<const Communication> communication; ///< null: one rank
  };

  /**
   * Levels of a multigrid method, coarsest first, for A x = b. Either every vector of the finest level is a global vector (global refinement; matrix is
   * empty), or the finest level covers part of the domain only (local smoothing) and matrix holds A over the active mesh.
   */
  struct MultigridHierarchy
  {
    std::vector<MultigridLevel>          levels;
    CrsMatrix                            matrix;
    std::shared_ptr<const Communication> communication; ///< of matrix; null: one rank, or that of the finest level

    bool is_adaptive() const { return matrix.n_rows > 0; }
    /** The operator of the whole problem: matrix, or the finest level's. */
    const CrsMatrix &finest_matrix() const { return is_adaptive() ? matrix : levels.back().matrix; }
    /**
     * Lengths of arrays and indices in range, at least one level, level matrices that CrsMatrix::validate() accepts.
     * @throws InvalidInput naming the level and the array, what was found and what is expected.
     */
    void validate() const;
  };

  /**
   * Grids for geometric multigrid with stencils. Of N = n + 1 intervals in a direction every second node is kept if N is even (n_coarse = N / 2 - 1);
   * if N is odd, the coarse grid has that one of (N - 1) / 2 and (N + 1) / 2 intervals of twice the size which is even and can be halved again, so that
   * its far boundary lies one fine interval inside or outside the domain: a perturbation of the coarse problem of relative size 1/N, which smoothing
   * and the next cycle remove. Coarse node i stands at fine node 2 i + 1 (counted from 0). One node stays one node.
   * @return n_coarse. @param n >= 1 nodes.
   */
  int coarse_nodes(int n);

  /**
   * Linear interpolation from coarse to fine nodes on a grid, as a matrix: n_x n_y n_z rows, and the tensor product of 1/2, 1, 1/2 in its columns.
   * @param coarse the grid of coarse_stencil(fine). @throws InvalidInput for any other.
   */
  CrsMatrix stencil_prolongation(const Stencil &fine, const Stencil &coarse);

  /**
   * The stencil of the same operator on the next coarser grid, scaled so that R = P^T needs no factor: for coefficients in units of h^(dim-2)
   * (finite elements, or finite differences times h^dim) those that do not depend on h.
   * The Laplacian's part of the diagonal (what makes the row sum zero) keeps its scale 2^(dim-2), the rest (mass) 2^dim; a rest that varies is averaged
   * with the weights of R. Directions with one node are not coarsened, do not count in dim, and their coefficients, which mean nothing, become zero.
   * @throws InvalidInput if there is only one node.
   */
  Stencil coarse_stencil(const Stencil &fine);

  /** finest and what coarse_stencil() makes of it, coarsest first. @param n_levels 0: down to one node. @throws InvalidInput if there are fewer. */
  std::vector<Stencil> coarsen(const Stencil &finest, int n_levels = 0);

  /** The hierarchy of stored matrices for a stencil: coarsen(), with coordinates in units of the finest interval. */
  MultigridHierarchy make_hierarchy(const Stencil &finest, int n_levels = 0);
} // namespace leopard
