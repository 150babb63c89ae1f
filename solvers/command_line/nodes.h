// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "arguments.h"

#include <string>
#include <vector>

namespace leopard::command_line
{
  /**
   * The arguments with what --near-null-space holds, and both options checked against the matrix; says what is read,
   * and warns of vectors far from the null space.
   * @throws UsageError for --block-unknowns that do not divide the rows, InvalidInput for a file that holds no vectors
   * of A's length, or one that is zero.
   */
  Arguments with_nodes(Arguments arguments, const CrsMatrix<double> &A);

  /**
   * The same for R A C, whose near null space is C^-1 v. @param c the diagonal of C. @throws InvalidInput for numbers
   * that overflow.
   */
  Arguments with_scaled_nodes(Arguments arguments, const std::vector<double> &c);

  /**
   * v^T A v / v^T |D| v in absolute value: far below 1 near the null space, about 1 for random numbers. By all threads.
   */
  double energy_of(const CrsMatrix<double> &A, const std::vector<double> &v);

  /** "--block-unknowns 3 and --near-null-space": those that are given. */
  std::string text_of_nodes(const Arguments &arguments);
} // namespace leopard::command_line
