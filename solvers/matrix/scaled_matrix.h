// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <cmath>
#include <vector>

namespace leopard
{
  /**
   * A matrix in a lower precision, fl(S A S) with a diagonal S of powers of two, so that scaling itself rounds nothing:
   * s_i^2 |a_ii| is in [1/2, 2). S A S y = S r gives A^-1 r = S y; it is symmetric if A is, and D^-1 A and S A S have
   * the same eigenvalues after division by the diagonal, so that relaxations converge as before.
   */
  template <typename Number>
  struct ScaledMatrix
  {
    CrsMatrix<Number>   matrix;
    std::vector<double> scale; ///< the diagonal of S; empty: all ones
  };

  /**
   * Scales, and then rounds, each value once. Nothing is scaled where it is not needed, see SizesOfValues, nor for
   * Number = double. Off the diagonal, what is below the smallest Number becomes zero: it is so small against the
   * diagonal that rounding hides it.
   * @param A square, with a diagonal that is not zero. @throws InvalidInput naming the entry that is too large for
   * Number even so.
   */
  template <typename Number>
  ScaledMatrix<Number> scaled_to(const CrsMatrix<double> &A);

  /**
   * The same with an S that is known: n_columns powers of two, or empty for all ones. @throws InvalidInput likewise.
   */
  template <typename Number>
  ScaledMatrix<Number> scaled_to(const CrsMatrix<double> &A, const std::vector<double> &scale);

  /** What says whether a matrix is to be scaled; of one in parts, the largest of each over these. */
  struct SizesOfValues
  {
    bool   is_extreme = false;     ///< whether values are not between 2^-40 and 2^40
    double largest    = -HUGE_VAL; ///< log2 |a_ii|, where a_ii is not zero
    double smallest   = HUGE_VAL;  ///< likewise

    explicit SizesOfValues(const CrsMatrix<double> &A);
    SizesOfValues(bool is_extreme_, double largest_, double smallest_)
      : is_extreme(is_extreme_)
      , largest(largest_)
      , smallest(smallest_)
    {
    }

    /**
     * Where values are extreme, or the diagonal's ones differ by more than 2^8: then rounding errors of the largest
     * equations hide the smallest ones.
     */
    bool need_scaling() const { return is_extreme || largest - smallest > 8.; }
  };

  /** The s_i of the rows of A. */
  std::vector<double> scale_of_rows(const CrsMatrix<double> &A);

  /** The s_i of a diagonal entry that is not zero: a power of two. */
  double scale_of(double diagonal);

  /**
   * fl(scaled) of an entry. @param row, column counted from 0. @throws InvalidInput naming them, likewise, where it is
   * too large for Number.
   */
  template <typename Number>
  Number rounded_entry(double scaled, double value, int row, int column);
} // namespace leopard
