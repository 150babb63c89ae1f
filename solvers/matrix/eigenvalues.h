// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

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

  /**
   * The first entry with |a_ij - a_ji| > 1e-12 sqrt(|a_ii a_jj|); less is rounding of an assembly.
   * @param n_threads 0: as many as this process may use.
   */
  Asymmetry find_asymmetry(const CrsMatrix<double> &A, int n_threads = 0);

  /** The first row whose diagonal entry is not positive; -1: none. @param n_threads as find_asymmetry()'s. */
  int row_without_positive_diagonal(const CrsMatrix<double> &A, int n_threads = 0);

  /**
   * Of D^-1/2 A D^-1/2 for symmetric A with positive diagonal; relative to them. Of lambda_1 < 1e-4 the error is up to
   * tolerance 1e-4.
   */
  ExtremeEigenvalues extreme(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /** What estimate_smallest() found. */
  struct SmallestEigenvalue
  {
    double value       = 0.; ///< a Rayleigh quotient: but for rounding, never below the smallest eigenvalue
    double last_change = 0.; ///< relative, by which the second half of the steps with A itself has lowered it; some times as much is left
  };

  /**
   * An upper bound of the smallest eigenvalue of D^-1 A for symmetric A with positive diagonal, in the time of some
   * tens of products: the quotient x^T A x / x^T D x is lowered on levels of aggregates of rows, P^T A P with P of
   * ones, each of which begins with the vector of the coarser one (as cascadic multigrid does: Bornemann, Deuflhard
   * 1996), by the locally optimal steps of Knyazev 2001. Of matrices like those of diffusion it is 0 to 3 percent too
   * large, whatever their size; where coefficients jump by orders of magnitude from node to node up to some times too
   * large; of others, whose smooth vectors are not constant on aggregates, it may be far too large.
   * @param tolerance ends when it has changed by less in the second half of the steps, of which there are ten at least,
   * or after max_seconds.
   */
  SmallestEigenvalue estimate_smallest(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /** What estimate_extreme() found; of a matrix on several ranks all numbers are the same on every rank. */
  struct Estimate
  {
    ExtremeEigenvalues eigenvalues;
    std::size_t        n_products      = 0;
    bool               settled         = false; ///< whether they changed by less than the tolerance in the end
    double             smallest_change = 1.;    ///< SmallestEigenvalue::last_change, where the smallest is from there

    /** "the largest is found to about a percent, the smallest is an upper bound, about 3 percent too large ..." */
    std::string what_is_known() const;
  };

  /**
   * The same roughly, from inside the spectrum, so that lambda_1 is rather too large and lambda_n too small: the
   * smaller of estimate_smallest() and what the Lanczos method finds, without restart and without orthogonalization,
   * which costs little more than the products, until the values change by less than tolerance, or max_seconds have
   * passed and 40 products are done. Of many rows it ends with these where estimate_smallest() has settled. It begins
   * with D^1/2 (1 + random numbers): of diffusion the constant is like the vector of lambda_1, which is then found in
   * some tens of products, where random numbers alone need as many as the mesh has nodes a side.
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
    int                                              n_threads = 0;  ///< for vectors; 0: as many as this process may use
  };

  /**
   * The extreme eigenvalues of M, from inside the spectrum, by Lanczos without restart and without orthogonalization.
   * @param floor a smallest eigenvalue below it counts as settled when it changes by less than tolerance * floor.
   * @param is_over asked after each product, on all ranks alike; more than max_products are not done.
   */
  Estimate
  estimate_extreme(const SymmetricProduct &M, double tolerance, double floor, std::size_t max_products, const std::function<bool()> &is_over = {});

  /**
   * Whether an eigenvalue of D^-1 A is below zero (-1e-10), for symmetric A with positive diagonal, as far as 60 steps
   * of estimate_extreme() from a smooth vector show, or fewer, but 20, after max_seconds: true proves that A is not
   * definite, as the values are from inside the spectrum, false proves nothing. It needs memory for some vectors.
   */
  bool finds_negative_eigenvalue(const CrsMatrix<double> &A, double max_seconds);

  constexpr int n_dense = 64; ///< up to this many rows a dense method finds all eigenvalues, and is quicker

  /**
   * rho(I - D^-1 A) of any matrix as Arnoldi's method finds it, which is off by more than the tolerance where B is far
   * from normal.
   */
  double radius(const CrsMatrix<double> &A, double tolerance, double max_seconds);

  /**
   * rho(|I - D^-1 A|), to the tolerance where A is symmetric or symmetrized(), else likewise. @param symmetric whether
   * A is.
   */
  double radius_abs(const CrsMatrix<double> &A, bool symmetric, double tolerance, double max_seconds);

  /** Whether I - D^-1 A of an A with positive diagonal has no negative entry, so that it is its own absolute value. */
  bool is_nonnegative_iteration(const CrsMatrix<double> &A);

  /** What of analyze() needs no eigenvalues. */
  MatrixAnalysis analysis_without_eigenvalues(const CrsMatrix<double> &A, const Blocks &blocks);

  /** analyze() with a limit of time for all of it. */
  MatrixAnalysis analyze_within(const CrsMatrix<double> &A, const Blocks &blocks, double max_seconds);

  /**
   * The same in about so many seconds whatever the size, on all threads: where numbers are not found in half of them
   * (they are not tried to be of more than 200,000 rows) bounds and estimates stand in their places, as
   * MatrixAnalysis::estimated says: of symmetric matrices those of estimate_extreme(), of others the bounds of Collatz
   * and Wielandt for rho(|B|) and power steps for rho(B).
   */
  MatrixAnalysis analyze_in_time(const CrsMatrix<double> &A, const Blocks &blocks, double seconds = 1.);
} // namespace leopard::spectrum
