// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  struct CrsMatrix;

  /**
   * rho(|I - D^-1 A|), which below 1 makes every schedule of an asynchronous iteration converge (Chazan and Miranker 1969; thesis,
   * theorem 3.2.6). Power iteration with |B| + I, which converges where |B| itself has eigenvalues of both signs. Ghost columns
   * are left out: for a rank's part of a matrix the result is a lower bound.
   * @param tolerance relative change of the estimate at which to stop.
   */
  double estimate_spectral_radius_abs(const CrsMatrix &A, int max_iterations = 2000, double tolerance = 1e-7);

  /** rho(I - D^-1 A), which below 1 makes Jacobi converge: power iteration with B^2, since B may have eigenvalues of both signs. */
  double estimate_spectral_radius(const CrsMatrix &A, int max_iterations = 2000, double tolerance = 1e-7);
} // namespace leopard
