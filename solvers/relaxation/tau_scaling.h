// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "../matrix/analysis.h"

#include <string>

namespace leopard
{
  /** How estimate_tau() works. */
  struct TauEstimateOptions
  {
    int          max_products = 500; ///< with A, at most, >= 1; where values change again and again, some 40 will do
    double       max_seconds  = 0.5; ///< wall time after which, and after 40 products, there is no further one; 0: no limit
    int          n_threads    = 1;   ///< of a rank, >= 0; 0: as many as this process may use
    unsigned int rank         = 0;   ///< number of this rank, so that each begins with other random numbers
  };

  /** omega = tau and what it was found from; dimensionless, the same on all ranks. */
  struct TauEstimate
  {
    double             omega = 1.;          ///< 2 / (lambda_1 + lambda_n)
    ExtremeEigenvalues eigenvalues;         ///< lambda_1 and lambda_n of D^-1 A
    bool               settled     = false; ///< whether they were found to 1e-3; else lambda_1 is smaller
    int                n_products  = 0;     ///< with A, for them
    bool               out_of_time = false; ///< whether TauEstimateOptions::max_seconds has ended it

    /**
     * "omega = tau = 0.98, of the eigenvalues 0.04 to 2 of D^-1 A, estimated with 60 products", and whether that was
     * for want of time, when the next run may find another tau.
     */
    std::string text() const;
  };

  /**
   * tau scaling (see tau_scaling()) of a matrix that may be spread over ranks, by Lanczos on D^-1/2 A D^-1/2 with
   * products and sums over all of them. The method sees the spectrum from inside, so lambda_n is taken to be 1 percent
   * larger than found: with one that is too small damped Jacobi would amplify. A lambda_1 that is zero but for rounding
   * counts as zero: tau is then 2 / lambda_n, with which the other components converge. Where time ends it the rank
   * that is out of time first decides for all. Collective, errors too.
   * @param A host memory, the rank's rows; own columns first, then ghosts, as communication has them.
   * @throws InvalidInput, on all ranks, if A is not symmetric, a diagonal entry is not positive, an eigenvalue is
   * negative (beyond rounding) or not finite.
   */
  TauEstimate estimate_tau(const CrsMatrix<double>     &A,
                           const Communication<double> &communication = Communication<double>(),
                           const TauEstimateOptions    &options       = TauEstimateOptions());
} // namespace leopard
