// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <optional>
#include <vector>

namespace leopard::spectrum
{
  /**
   * The symmetric matrix T^-1 A T with a positive diagonal matrix T, if there is one: a_ij and a_ji have the same sign,
   * or are zero together, and the product of a_ij / a_ji along each closed way is 1 (Kolmogorov's condition). Its
   * entries are sign(a_ij) sqrt(a_ij a_ji), and rho(I - D^-1 A), rho(|I - D^-1 A|) and the eigenvalues of D^-1 A are
   * those of A. Central and upwind differences of convection by a constant velocity are such matrices, far from normal:
   * Krylov methods see what is near an eigenvalue of them, not the eigenvalue. Host memory, O(entries); columns of
   * other ranks and zeros off the diagonal are left out.
   */
  std::optional<CrsMatrix<double>> symmetrized(const CrsMatrix<double> &A);

  /**
   * log t_i of the diagonal of that T, zero in the first row of each part of A that is coupled; empty if there is none.
   * @param A without columns of other ranks.
   */
  std::vector<double> symmetrizing_logarithms(const CrsMatrix<double> &A);
} // namespace leopard::spectrum
