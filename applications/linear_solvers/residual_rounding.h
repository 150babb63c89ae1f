// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/matrix/row_residual.h>

#include <limits>

namespace leopard
{
  /** How far x is from solving A x = b, and how far rounding lets it be. */
  struct ResidualRounding
  {
    double residual    = 0.; ///< ||b - A x||_2, its sums in extended precision
    double rounding    = 0.; ///< || u (|A| |x| + |b|) ||_2, u = 2^-53
    double of_each_row = 0.; ///< the largest RowResidual::backward_error(); not a number if one is none

    bool   is_rounding() const { return is_rounding_of_residual(residual, rounding); }
    double terms() const { return rounding / (std::numeric_limits<double>::epsilon() / 2.); } ///< || |A| |x| + |b| ||_2
  };

  /** Copies the rank's rows of A. Collective. */
  ResidualRounding rounding_of_residual(const HostMatrix &A, const HostVector &x, const HostVector &b);
} // namespace leopard
