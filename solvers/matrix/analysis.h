// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.h"

#include <cmath>
#include <string>
#include <vector>

namespace leopard
{
  template <typename Number>
  struct CrsMatrix;

  /**
   * rho(|I - D^-1 A|), which below 1 makes every schedule of an asynchronous iteration converge (Chazan and Miranker
   * 1969; thesis, theorem 3.2.6). Power iteration with |B| + I, which converges where |B| itself has eigenvalues of
   * both signs. Ghost columns are left out: for a rank's part of a matrix the result is a lower bound.
   * @param tolerance relative change of the estimate at which to stop.
   */
  double estimate_spectral_radius_abs(const CrsMatrix<double> &A, int max_iterations = 2000, double tolerance = 1e-7);

  /**
   * rho(I - D^-1 A), which below 1 makes Jacobi converge: power iteration with B^2, since B may have eigenvalues of
   * both signs.
   */
  double estimate_spectral_radius(const CrsMatrix<double> &A, int max_iterations = 2000, double tolerance = 1e-7);

  /**
   * Smallest and largest eigenvalue of D^-1 A, dimensionless. For a symmetric A with positive diagonal they are those
   * of D^-1/2 A D^-1/2.
   */
  struct ExtremeEigenvalues
  {
    double smallest = 0., largest = 0.;
  };

  /**
   * By the Lanczos method (Spectra) on D^-1/2 A D^-1/2.
   * @param tolerance relative error, and of a smallest eigenvalue below 1e-4 the error divided by 1e-4.
   * @throws InvalidInput if A is not symmetric (up to 1e-12 sqrt(a_ii a_jj)), has ghost columns, or a diagonal entry is
   * not positive, saying which.
   * @throws ConvergenceFailure, also if twice max_seconds (one for each) have passed.
   */
  ExtremeEigenvalues extreme_eigenvalues(const CrsMatrix<double> &A, double tolerance = 1e-6, double max_seconds = HUGE_VAL);

  /**
   * Diagonal and blocks against what lies outside the blocks (dimensionless; infinite where there is nothing outside).
   *
   * theta of a row is the largest number with |a_ii| >= theta sum_{j not in the block of i} |a_ij|, and that of the
   * matrix the smallest of its rows (thesis, equation 4.4): large where the entries that local iterations leave out are
   * small. The ratio of block and off-block part, for each block and for the whole matrix, is the sum of the absolute
   * values of its rows' entries inside the diagonal blocks, diagonal included, against that outside (section 4.10.4).
   */
  struct Theta
  {
    double              minimum = 0., maximum = 0.; ///< of theta over the rows
    double              ratio = 0.;                 ///< block against off-block part, whole matrix
    std::vector<double> block_ratios;               ///< and of each block
  };

  Theta theta(const CrsMatrix<double> &A, const Blocks &blocks);

  /** What an analysis finds out about a matrix and relaxation. */
  struct MatrixAnalysis
  {
    int         n_rows = 0, n_entries = 0;
    bool        symmetric           = false;                       ///< values, not only the pattern
    double      spectral_radius     = 0.;                          ///< rho(B), B = I - D^-1 A
    double      spectral_radius_abs = 0.;                          ///< rho(|B|)
    bool        has_eigenvalues     = false;                       ///< whether the next two are known: symmetric with positive diagonal
    double      smallest_eigenvalue = 0., largest_eigenvalue = 0.; ///< of D^-1 A
    Theta       theta;
    std::string estimated;       ///< which numbers are bounds or estimates, and how good; empty: none
    bool        is_open = false; ///< whether these bounds do not tell if rho(|B|) is below 1

    /**
     * "converges for every schedule", "Jacobi converges, not every schedule need", "neither", or "not known": with the
     * numbers and what to do.
     */
    std::string verdict() const;
    /** All of it, a line each. */
    std::string text() const;
  };

  /**
   * rho(B) and rho(|B|) to about 1e-4: by Lanczos where A is symmetric or similar to a symmetric matrix by a scaling,
   * by Arnoldi (Spectra) where not, which may be off by more, as `estimated` says. @throws InvalidInput,
   * ConvergenceFailure.
   */
  MatrixAnalysis analyze(const CrsMatrix<double> &A, const Blocks &blocks);

  /**
   * rho(|I - omega D^-1 A|) = |1 - omega| + omega rho(|B|), dimensionless: below 1 every asynchronous schedule with
   * this omega converges, and that is so for rho(|B|) < 1 and 0 < omega < largest_asynchronous_omega(). For rho(|B|) >=
   * 1 no omega makes it so, tau neither: 1 - tau + tau rho(|B|) >= 1.
   */
  double spectral_radius_abs_with(double omega, double spectral_radius_abs);

  /**
   * 2 / (1 + rho(|B|)) for rho(|B|) < 1 (Chazan and Miranker 1969; thesis, theorem 3.2.5), else 0: no omega is safe in
   * every schedule.
   */
  double largest_asynchronous_omega(double spectral_radius_abs);

  /**
   * tau = 2 / (lambda_1 + lambda_n): with omega = tau the damped Jacobi iteration (the synchronous schedule with one
   * local iteration) converges for every symmetric positive definite matrix, as fast as it can. Asynchronous schedules
   * need not: see spectral_radius_abs_with().
   * @throws InvalidInput if lambda_1 <= 0.
   */
  double tau_scaling(const ExtremeEigenvalues &eigenvalues);

  /**
   * Coefficients of the second-order Richardson iteration y <- y + omega D^-1 r + momentum (y - y_before) that
   * converges fastest for spectra in [lambda_1, lambda_n] (Golub and Varga 1961; asynchronously: Chow, Frommer, Szyld
   * 2021): omega = (2 / (sqrt(lambda_1) + sqrt(lambda_n)))^2, momentum = ((sqrt(lambda_n) - sqrt(lambda_1)) /
   * (sqrt(lambda_n) + sqrt(lambda_1)))^2.
   */
  struct MomentumParameters
  {
    double omega = 1., momentum = 0.;
  };

  /**
   * @param caution in [0, 1]: asynchronous iterations bear less momentum than synchronous ones; 0 gives the
   * coefficients above, 1 none (momentum 0 and omega = tau). In between lambda_1 is replaced by lambda_1^(1 - caution)
   * lambda_n^caution in them.
   * @throws InvalidInput for another caution, or if lambda_1 <= 0.
   */
  MomentumParameters momentum_parameters(const ExtremeEigenvalues &eigenvalues, double caution = 0.);

  /**
   * Local iterations for each block (thesis, section 4.10.4): more where the ratio of block and off-block part is above
   * that of the whole matrix, fewer where it is below, and in all no more updates than with k everywhere. The thesis
   * prints no amounts; the sums of its Table 4.9 are, to 2, those of k and k - 1, which are taken here: k where the
   * ratio is not below the matrix's, else k - 1, at least 1.
   * @param theta of these blocks. @throws InvalidInput if k < 1 or theta is of other blocks.
   * The thesis reports faster convergence for Trefethen_2000. Measured (leopard-study theta), it takes as many global
   * iterations or some more; predicted_convergence() says what to expect of a matrix.
   */
  std::vector<int> theta_dependent_local_iterations(const Theta &theta, const Blocks &blocks, int k);
} // namespace leopard
