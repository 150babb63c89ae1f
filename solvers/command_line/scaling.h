// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "matrix_traits.h"

#include <string>
#include <vector>

namespace leopard::command_line
{
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

  /** R A C. @throws InvalidInput for entries that overflow. */
  CrsMatrix<double> scaled(CrsMatrix<double> A, const Scaling &scaling);
} // namespace leopard::command_line
