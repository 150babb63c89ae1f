// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
#include "arguments.h"
#include "matrix_traits.h"

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
   * Of symmetric A with entries like those of diffusion, whose near null space the arguments do not give, and whose
   * diagonal is not about the same everywhere; others are left as they are. Where unknowns have units of their own, S A
   * S of a Laplacian A, it is not the constant but 1 / s. Taken is v_i =
   * |a_ii|^-1/2, and said, if v^T A v / v^T |D| v is a tenth of that of the constant or less.
   */
  Arguments with_units_of_unknowns(Arguments arguments, const CrsMatrix<double> &A, const MatrixTraits &traits);

  /**
   * Of symmetric A with positive diagonal and entries unlike those of diffusion, where the arguments do not tell: two
   * or three unknowns a node, if the rows of a node couple the same nodes, and constants of each unknown are near the
   * null space, v^T A v a tenth of v^T |D| v at most, as of elasticity displacements of the body.
   */
  Arguments with_found_nodes(Arguments arguments, const CrsMatrix<double> &A, const MatrixTraits &traits);

  /**
   * The same for R A C, whose near null space is C^-1 v. @param c the diagonal of C. @throws InvalidInput for numbers
   * that overflow.
   */
  Arguments with_scaled_nodes(Arguments arguments, const std::vector<double> &c);

  /** The constant of each unknown of a node, in A's units. */
  std::vector<std::vector<double>> constants_of_nodes(int n_rows, int block_unknowns);

  /** "--block-unknowns 3 and --near-null-space": those that are given, "3 unknowns each" where they are found. */
  std::string text_of_nodes(const Arguments &arguments);
} // namespace leopard::command_line
