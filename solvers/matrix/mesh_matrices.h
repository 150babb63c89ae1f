// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

namespace leopard
{
  /**
   * @file
   * Matrices of discretizations of other kinds than a uniform grid's, in the place of those of a collection that is not
   * here. All on the unit square with zero boundary values, without the rows of the boundary, numbered row by row of
   * the mesh. They throw InvalidInput for n < 2 and for more than 2^31 - 1 rows or entries.
   */

  /**
   * -laplace u with bilinear elements (Q1) on a mesh refined once in its right half: n x 2n cells on the left, 2n x 4n
   * of half the width on the right. Hanging nodes, in the middle of a coarse cell's side, are the mean of the two ends
   * and no unknowns, as deal.II's AffineConstraints would have it.
   */
  CrsMatrix<double> hanging_nodes_matrix(int n);

  /** -laplace u with biquadratic elements (Q2) on n x n cells: (2n - 1)^2 rows. */
  CrsMatrix<double> quadratic_elements_matrix(int n);

  /**
   * -div k grad u in n x n cells (finite volumes; between two cells the harmonic mean of their k), k = 1 and 1e6 on the
   * fields of a checkerboard of 8 x 8.
   */
  CrsMatrix<double> jumping_coefficients_matrix(int n);

  /** h^2 (-laplace u + 1000 (du/dx + 1/2 du/dy)) on n x n nodes, upwind differences, h = 1 / (n + 1): not symmetric. */
  CrsMatrix<double> convection_matrix(int n);
} // namespace leopard
