// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <cstdint>
#include <functional>

namespace leopard
{
  /**
   * The five-point stencil of -laplace u + delta u with zero boundary values, times h^2: diagonal 4 + delta, n_x n_y
   * rows, x fastest.
   */
  CrsMatrix<double> five_point_matrix(int n_x, int n_y, double delta);

  /** The seven-point stencil likewise: diagonal 6 + delta. */
  CrsMatrix<double> seven_point_matrix(int n_x, int n_y, int n_z, double delta);

  /**
   * A circuit of resistors between neighbouring nodes of an n x n grid, and a thousand times weaker ones to ground:
   * conductances 10^e with e uniform in (-1.5, 1.5), the same for the same seed. Symmetric positive definite.
   */
  CrsMatrix<double> circuit_matrix(int n, std::uint64_t seed);

  /**
   * Multiplies each entry beside the diagonal by factor(i, j); the diagonal takes up the change, so that row sums stay.
   * With factors above zero that are the same for (i, j) and (j, i) it gives the edges between unknowns coefficients of
   * their own. @param A with a diagonal entry in each row.
   */
  void scale_edges(CrsMatrix<double> &A, const std::function<double(int i, int j)> &factor);

  /** The first n primes on the diagonal, ones where |i - j| is a power of two (1 included). */
  CrsMatrix<double> trefethen_matrix(int n);

  /**
   * A random nonsymmetric matrix with about entries_per_row off-diagonal entries of either sign a row, whose absolute
   * values sum up to dominance (in (0, 1)) times the diagonal: ||I - D^-1 A||_inf <= dominance. The same for the same
   * seed.
   */
  CrsMatrix<double> random_dominant_matrix(int n, int entries_per_row, double dominance, std::uint64_t seed);
} // namespace leopard
