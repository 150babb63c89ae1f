// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis.h"

#include <cstddef>
#include <functional>

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

  /** What estimate_extreme() found; of a matrix on several ranks all numbers are the same on every rank. */
  struct Estimate
  {
    ExtremeEigenvalues eigenvalues;
    std::size_t        n_products = 0;
    bool               settled    = false; ///< whether they changed by less than the tolerance in the end
  };

  /**
   * The same roughly: the Lanczos method without restart and without orthogonalization, which costs little more than
   * the products, until the values change by less than tolerance, or max_seconds have passed and 40 products are done.
   * They lie within the spectrum, so lambda_1 is rather too large and lambda_n too small. It begins with D^1/2 (1 +
   * random numbers): of diffusion the constant is like the vector of lambda_1, which is then found in some tens of
   * products, where random numbers alone need as many as the mesh has nodes a side.
   */
  Estimate estimate_extreme(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /** A symmetric matrix M whose rows may be spread over the ranks of a program, as products with vectors tell of it. */
  struct SymmetricProduct
  {
    std::size_t                                      n_rows = 0;     ///< of this rank
    std::function<void(const double *x, double *Mx)> multiply;       ///< n_rows values each, host memory; collective
    std::function<double(double)>                    sum;            ///< of one number a rank, the same everywhere; collective
    unsigned int                                     seed      = 1;  ///< of the first vector; another one on each rank
    std::vector<double>                              smooth    = {}; ///< added to it, n_rows values or none
    int                                              n_threads = 0;  ///< for vectors; 0: as many as the machine has
  };

  /**
   * The extreme eigenvalues of M, from inside the spectrum, by Lanczos without restart and without orthogonalization.
   * @param floor a smallest eigenvalue below it counts as settled when it changes by less than tolerance * floor.
   * @param is_over asked after each product, on all ranks alike; more than max_products are not done.
   */
  Estimate
  estimate_extreme(const SymmetricProduct &M, double tolerance, double floor, std::size_t max_products, const std::function<bool()> &is_over = {});

  /** rho(I - D^-1 A) of any matrix. */
  double radius(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /** rho(|I - D^-1 A|); in symmetric form if A is symmetric. */
  double radius_abs(const CrsMatrix<double> &A, bool symmetric, double tolerance, double max_seconds);

  /** analyze() with a limit of time. */
  MatrixAnalysis analyze_within(const CrsMatrix<double> &A, const Blocks &blocks, double max_seconds);
} // namespace leopard::spectrum
