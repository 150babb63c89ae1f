// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "crs_matrix.h"

#include <cmath>

namespace leopard
{
  /**
   * A row's sum that is at most this part of the sum of its absolute values is rounding of zero, with
   * room for the products that coarse levels are made of, each of which rounds. Dimensionless.
   */
  constexpr double row_sum_rounding = 1e-13;
  /** The same where values are in single precision. */
  constexpr double row_sum_rounding_single = 1e-6;

  /** What a row of a matrix does to constants. */
  enum class RowSum
  {
    zero,     ///< it is coupled to others, and maps constants to zero, but for rounding
    other,    ///< it is coupled to others, and does not; also where an entry is no number
    uncoupled ///< all its entries beside the diagonal are zero
  };

  /** The same from the sum of a row's entries and that of their absolute values. */
  inline RowSum kind_of_row_sum(double sum, double absolute, bool is_coupled, double rounding = row_sum_rounding)
  {
    if (!is_coupled)
      return RowSum::uncoupled;
    return reached(std::abs(sum), rounding * absolute) ? RowSum::zero : RowSum::other;
  }

  /**
   * Whether constants are in the null space of A, as far as row i tells: the one rule by which solvers take a matrix
   * for singular. Columns of ghosts count.
   */
  inline RowSum kind_of_row_sum(const CrsMatrix<double> &A, int i, double rounding = row_sum_rounding)
  {
    double sum = 0., absolute = 0.;
    bool   is_coupled = false;
    for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
      {
        sum += A.values[p];
        absolute += std::abs(A.values[p]);
        is_coupled = is_coupled || (A.columns[p] != i && A.values[p] != 0.);
      }
    return kind_of_row_sum(sum, absolute, is_coupled, rounding);
  }
} // namespace leopard
