// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "../matrix/stencil.h"

#include <memory>
#include <string>

namespace leopard::command_line
{
  constexpr double fast_radius = 0.9; ///< rho(|B|) up to which relaxation alone is as good as anything: 22 iterations a digit at most

  /**
   * What a look at a matrix tells of the methods that suit it. Each entry is read some times, by
   * usable_cores() threads.
   */
  struct MatrixTraits
  {
    int  n_rows                = 0;
    bool is_symmetric          = false; ///< values, up to rounding
    bool has_positive_diagonal = false;
    bool has_whole_diagonal    = false; ///< no entry of it is zero or missing
    bool is_dominant   = false; ///< no row has |a_ii| < sum_j |a_ij|, j != i, up to rounding: with a positive diagonal it is semidefinite at least
    bool is_triangular = false; ///< and not symmetric: no entry is above the diagonal, or none below; its incomplete factors are exact
    bool is_singular   = false; ///< all rows that are coupled to others sum to zero, up to rounding
    bool is_singular_in_single = false; ///< the same up to rounding in single precision
    bool is_like_mesh          = true;  ///< nodes within some edges of one another grow in number as in three dimensions at most
    /** Rows that are left when those with one neighbour are taken out again and again; -1: not looked at. */
    int n_core = -1;
    /**
     * Symmetric with positive diagonal, but not definite, and why: "the sum of its entries is below zero". Empty: not
     * known.
     */
    std::string why_indefinite = "";
    double      wrong_sign     = 0.; ///< share of the off-diagonal entries (absolute values) that have the diagonal's sign, in [0, 1]
    double      diagonal_range = 1.; ///< largest absolute value of the diagonal over the smallest, zeros left out; may be infinite
    double      radius_bound   = 0.; ///< an upper bound of rho(|I - D^-1 A|) (Collatz, Wielandt); infinite without a whole diagonal

    /** What it is in the natural order of a whole grid, if that suits multigrid; else null. */
    std::shared_ptr<const Stencil<double>> stencil;

    /**
     * A graph that spreads faster than a mesh, and has more rows than a dense matrix may have where all that trees of
     * rows hang on is taken: no order of the rows leaves its factors sparse.
     */
    bool has_hopeless_factors() const { return !is_like_mesh && n_core > 3000; }
    /** A tree, such as a chain, but for some rows: its factors have hardly more entries than it. */
    bool is_like_tree() const { return n_core >= 0 && n_core <= 1000; }
    /** Relaxation alone solves it, so that nothing that takes time is asked of what would come next. */
    bool relaxes_fast() const { return radius_bound <= fast_radius; }
    /** Like those of diffusion: smoothed aggregation suits it. */
    bool is_like_diffusion() const { return wrong_sign <= 0.2; }
  };

  /** @param is_symmetric what is known of it. */
  MatrixTraits look_at(const CrsMatrix<double> &A, bool is_symmetric);

  /** How much entries of the diagonal differ: "1.3e+12", also where no double is large enough. */
  std::string range_text(const MatrixTraits &traits);
} // namespace leopard::command_line
