// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/matrix/crs_matrix.h>

#include <cstdint>
#include <vector>

namespace leopard::studies
{
  /** An update of one component in a chaotic relaxation (thesis, Definition 3.1.1), from old values of the others. */
  struct Update
  {
    int              row;
    std::vector<int> ages; ///< of the value taken for each entry of the row, counted in updates; 0: the newest
  };

  /**
   * x after each update x_i <- (b_i - sum_{j != i} a_ij x_j) / a_ii, the start first; arrays of n_rows numbers.
   * @throws InvalidInput where values would be older than the start.
   */
  std::vector<std::vector<double>>
  chaotic_relaxation(const CrsMatrix<double> &A, const std::vector<double> &b, const std::vector<double> &start, const std::vector<Update> &updates);

  /** Jacobi's method: all rows in turn, from the values before the first of them. */
  std::vector<Update> jacobi_schedule(const CrsMatrix<double> &A, int n_sweeps);

  /**
   * An order with bounded ages, below 3 n for n rows, that diverges if rho(|B|) > 1, |B| is irreducible and the start
   * is not the solution of any row, whatever rho(B) is. First a step of Jacobi's method, so that there are two values
   * p_j and q_j of each component. Then, in each round of 2 n updates, two new ones of each: p_i' takes that of p_j and
   * q_j which makes it larger, and q_i' the other one, so that
   *   p_i' - q_i' = sum_j |b_ij| |p_j - q_j|,
   * and the differences, and with them x, grow by rho(|B|) a round. B = I - D^-1 A. Source: the theorem is 3.2.6 of the
   * thesis (Chazan and Miranker 1969, Strikwerda 1997, Szyld 1998); the construction with differences needs no sign of
   * the values themselves.
   */
  std::vector<Update> diverging_schedule(const CrsMatrix<double> &A, const std::vector<double> &b, const std::vector<double> &start, int n_rounds);

  /**
   * The factor of the error in a round of diverging_schedule(), in the mean over the second half of the rounds, where
   * updates are weighted and the component's own value is as old as the others:
   *   x_i <- sum_j m_ij x_j + omega b_i / a_ii, M = I - omega D^-1 A, of which two values a component are kept.
   * It tends to rho(|M|), which is |1 - omega| + omega rho(|B|) where A has a positive diagonal and B no diagonal. From
   * ones, b = 0. Not a number if the error becomes zero or is none.
   */
  double factor_of_diverging_rounds(const CrsMatrix<double> &A, double omega, int n_rounds);

  /**
   * The factor of the error in a sweep of n updates, in the mean over the second half of the sweeps: of random rows,
   * each from values that are up to max_age sweeps old, at random for each entry (0: the newest one; else what x was
   * when one of the last sweeps began), weighted as above. In the Euclidean norm, from ones, b = 0. @param seed of the
   * order.
   */
  double factor_of_random_order(const CrsMatrix<double> &A, double omega, int max_age, int n_sweeps, std::uint64_t seed);

  /**
   * Ones on the diagonal and couplings of neighbours on a ring of four, three of them c and one -c: symmetric, rho(B) =
   * sqrt(2) c and rho(|B|) = 2 c.
   */
  CrsMatrix<double> ring_of_four(double c);
} // namespace leopard::studies
