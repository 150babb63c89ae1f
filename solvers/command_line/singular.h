// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"

#include <vector>

namespace leopard::command_line
{
  /** The first row whose diagonal entry is missing or zero; -1: none. By all threads. */
  int row_without_diagonal(const CrsMatrix<double> &A);

  /**
   * A row and a column i that are zero, with b_i = 0, get a_ii = 1, so that x_i = 0. @return how many there are.
   * @throws InvalidInput for a zero row with another b_i, and for a row or a column that is zero alone.
   */
  int complete_zero_rows(CrsMatrix<double> &A, const std::vector<double> &b);

  /**
   * Looks at the parts of a matrix that are coupled to nothing else. Where the rows of one sum to zero, constants on it
   * are in the null space; where its columns do, no x has an A x that does not sum to zero on it.
   * @param is_symmetric what is known of A. @param tolerance of the residual, relative. @param is_given whether b was
   * given, and is not A 1.
   * @throws InvalidInput if A x = b has no solution for that reason, or b = A 1 is zero.
   */
  void check_range(const CrsMatrix<double> &A, bool is_symmetric, const std::vector<double> &b, double tolerance, bool is_given);
} // namespace leopard::command_line
