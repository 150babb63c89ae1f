// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/stencil.h"
#include "arguments.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace leopard::command_line
{
  /**
   * What a look at a matrix tells of the methods that suit it. Each entry is read some times, by all threads of the
   * host.
   */
  struct MatrixTraits
  {
    int  n_rows                = 0;
    bool is_symmetric          = false; ///< values, up to rounding
    bool has_positive_diagonal = false;
    bool has_whole_diagonal    = false; ///< no entry of it is zero or missing
    bool is_dominant = false; ///< no row has |a_ii| < sum_j |a_ij|, j != i, up to rounding: with a positive diagonal it is semidefinite at least
    bool is_singular = false; ///< all rows that are coupled to others sum to zero, up to rounding
    bool is_singular_in_single = false; ///< the same up to rounding in single precision
    bool is_like_mesh = true; ///< nodes within some edges of one another grow in number as in three dimensions at most, if it is like diffusion
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

    /** Like those of diffusion: smoothed aggregation suits it. */
    bool is_like_diffusion() const { return wrong_sign <= 0.2; }
  };

  /** @param is_symmetric what is known of it. */
  MatrixTraits look_at(const CrsMatrix<double> &A, bool is_symmetric);

  /** R A C y = R b with diagonal R and C, powers of two, gives x = C y. Empty: nothing is scaled. */
  struct Scaling
  {
    std::vector<double> rows, columns; ///< R, C: equal where A is symmetric, so that R A C is, too
    std::string         text;          ///< "S A S y = S b with a diagonal near 1, x = S y"
    std::string         why;           ///< "entries of the diagonal differ by the factor 1e+12"
    bool                is_empty() const { return rows.empty(); }
  };

  /**
   * Makes the diagonal of a symmetric matrix, or the largest entries of the rows and columns of another one, about 1.
   * Empty where the diagonal, and of the other one rows and columns, are within six orders of magnitude, where the
   * diagonal has zeros, or the matrix is singular with constants, which it would no longer be.
   */
  Scaling equilibration(const CrsMatrix<double> &A, const MatrixTraits &traits);

  /** How much entries of the diagonal differ: "1.3e+12", also where no double is large enough. */
  std::string range_text(const MatrixTraits &traits);

  /** R A C. @throws InvalidInput for entries that overflow. */
  CrsMatrix<double> scaled(CrsMatrix<double> A, const Scaling &scaling);

  /** A method for a matrix, and why it is tried. */
  struct Attempt
  {
    std::string method, preconditioner = "none";
    std::string why;
    int         max_iterations = 0; ///< after which the next one is tried; 0: what the arguments say

    std::shared_ptr<const Stencil<double>> stencil             = nullptr; ///< that the matrix is, where the method is for it
    double                                 largest_shift       = std::numeric_limits<double>::infinity(); ///< see Arguments
    bool                                   has_factors_to_come = false; ///< sparse factors follow, what they cost is not known yet, see at_its_turn()
    bool                                   in_double           = false; ///< cycles, too: single precision does not do, or has failed
    bool                                   is_for_singular     = false; ///< where factors have shown that the matrix is
    std::string                            smoother            = "";    ///< of multigrid; empty: what the arguments say
  };

  /**
   * What to try, in this order: the first is what should be fastest, each of the next is stronger. Of arguments with a
   * method it is that method.
   * @param A whose traits these are, or with another scaling; its pattern tells what factors cost.
   */
  std::vector<Attempt> attempts_for(const CrsMatrix<double> &A, const MatrixTraits &traits, const Arguments &arguments);

  /**
   * The attempt when those before it have failed: where sparse factors follow that are cheap, it may take no longer
   * than these are worth. That needs an analysis of the pattern of A, for which what the first attempt solves does not
   * wait.
   */
  Attempt at_its_turn(Attempt attempt, const CrsMatrix<double> &A);

  /** The arguments as if the attempt had been asked for. */
  Arguments with_attempt(const Arguments &arguments, const Attempt &attempt);

  /** "CG preconditioned by multigrid" */
  std::string text_of(const Attempt &attempt);
} // namespace leopard::command_line
