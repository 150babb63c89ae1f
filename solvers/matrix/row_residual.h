// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "crs_matrix.h"

#include <cmath>
#include <limits>

namespace leopard
{
  /** Of one row of A x = b, its sums in extended precision (long double). */
  struct RowResidual
  {
    long double residual = 0.L; ///< b_i - sum_j a_ij x_j
    long double terms    = 0.L; ///< |b_i| + sum_j |a_ij x_j|

    /** What changes the residual where every entry changes in its last place: u terms, u = 2^-53. */
    double rounding() const
    {
      constexpr double unit = std::numeric_limits<double>::epsilon() / 2.;
      return static_cast<double>(unit * terms) + std::numeric_limits<double>::denorm_min(); // of sums beyond double, too
    }
    /** By what part of itself every entry would have to change for x to be exact; 0 where there are none. */
    double backward_error() const { return terms == 0.L ? 0. : static_cast<double>(std::abs(residual) / terms); }
  };

  /** @param x as many as A has columns. @param b of row i. */
  inline RowResidual row_residual(const CrsMatrix<double> &A, int i, const double *x, double b)
  {
    RowResidual row{b, std::abs(b)};
    for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
      {
        const long double term = static_cast<long double>(A.values[p]) * x[A.columns[p]];
        row.residual -= term;
        row.terms += std::abs(term);
      }
    return row;
  }

  /**
   * Whether rounding errors are why a residual is no smaller: ||b - A x|| <= 20 || u (|A| |x| + |b|) ||, so at most
   * 10 epsilon (|| |A| |x| || + ||b||). False where one is no number, or infinite. @param rounding || u (|A| |x| + |b|)
   * ||.
   */
  inline bool is_rounding_of_residual(double residual, double rounding)
  {
    return reached(residual, 20. * rounding);
  }
} // namespace leopard
