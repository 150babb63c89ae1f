// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis.h"

/**
 * @file
 * Eigenvalues by the Lanczos and Arnoldi methods of Spectra, whose headers only eigenvalues.cc includes. What is public
 * of it is in analysis.h. The functions here take validated square matrices, work on the host, products by all threads,
 * and throw ConvergenceFailure if max_seconds have passed or a method does not converge. They need memory for the
 * matrix once more and for up to 60 vectors (1 GiB at most, or 20 vectors).
 */
namespace leopard::spectrum
{
  struct Asymmetry
  {
    bool found = false;
    int  row = 0, column = 0; ///< where a_ij and a_ji differ
  };

  /** The first entry with |a_ij - a_ji| > 1e-12 sqrt(|a_ii a_jj|); less is rounding of an assembly. */
  Asymmetry find_asymmetry(const CrsMatrix<double> &A);

  /** The first row whose diagonal entry is not positive; -1: none. */
  int row_without_positive_diagonal(const CrsMatrix<double> &A);

  /**
   * Of D^-1/2 A D^-1/2 for symmetric A with positive diagonal; relative to them. Of lambda_1 < 1e-4 the error is up to
   * tolerance 1e-4.
   */
  ExtremeEigenvalues extreme(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /**
   * The same roughly: the Lanczos method without restart and without orthogonalization, which costs little more than
   * the products, until the values change by less than tolerance or max_seconds have passed. They lie within the
   * spectrum, so lambda_1 is rather too large and lambda_n too small.
   */
  ExtremeEigenvalues estimate_extreme(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /** rho(I - D^-1 A) of any matrix. */
  double radius(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /** rho(|I - D^-1 A|); in symmetric form if A is symmetric. */
  double radius_abs(const CrsMatrix<double> &A, bool symmetric, double tolerance, double max_seconds);

  /** analyze() with a limit of time. */
  MatrixAnalysis analyze_within(const CrsMatrix<double> &A, const Blocks &blocks, double max_seconds);
} // namespace leopard::spectrum
