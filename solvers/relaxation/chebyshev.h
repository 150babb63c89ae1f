// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relaxation.h"

#include <memory>
#include <vector>

namespace leopard
{
  template <typename Number>
  struct CrsMatrix;
  namespace device
  {
    template <typename Number>
    struct DeviceCrs;
  }

  struct ChebyshevOptions
  {
    double lambda_min = 0.; ///< lower end of the interval, an eigenvalue of D^-1 A, dimensionless; 0: lambda_max / ratio
    double ratio      = 0.; ///< for smoothing: what it has to reduce; 0: 30, or, for a smoother of multigrid, what suits the dimension
    double lambda_max = 0.; ///< upper end, which no eigenvalue of D^-1 A should exceed; 0: estimate_lambda_max()
    /**
     * Polynomials that are best for smoothing in a multigrid V-cycle (fourth_kind_weights()), in the place of those
     * that are smallest in the interval: lambda_min is not given then, and ratio not read.
     */
    bool    fourth_kind = false;
    Backend backend     = Backend::host;
    int     n_threads   = 0; ///< of the host, for the estimate on either backend, which does not depend on it; 0: as many as this process may use

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * Largest eigenvalue of D^-1 A, dimensionless and rather too large than too small: 1.05 times what power iteration
   * gives from a fixed random vector, in the norm v^T |D| v, in which the estimate only grows and stays below the
   * eigenvalue if A is symmetric and D positive; at most the bound of Gershgorin, max_i sum_j |a_ij| / |a_ii|. Always
   * the same for the same matrix. Ghost columns count in Gershgorin's bound only: for a rank's part of a matrix take
   * the maximum over the ranks.
   * @param A host memory, a matrix that validate() accepts. @param n_steps of power iteration. @param n_threads, on
   * which the result does not depend; 0: as many as this process may use. @throws InvalidInput if
   * the iteration overflows.
   */
  template <typename Number>
  double estimate_lambda_max(const CrsMatrix<Number> &A, int n_steps = 40, int n_threads = 1);

  /**
   * max_i sum_j |a_ij| / |a_ii|, which no eigenvalue of D^-1 A exceeds; dimensionless. @param A host memory, ghost
   * columns count.
   */
  template <typename Number>
  double gershgorin_bound(const CrsMatrix<Number> &A);

  /** The same two for a matrix that is on the device. The estimate's random vector is another one. */
  template <typename Number>
  double estimate_lambda_max(const device::DeviceCrs<Number> &A, int n_steps = 40);
  template <typename Number>
  double gershgorin_bound(const device::DeviceCrs<Number> &A);

  /**
   * Weights w_1 < ... < w_k of k sweeps x <- x + w_s / lambda_max D^-1 (b - A x) that smooth best: p(l) = prod_s (1 -
   * w_s l / lambda_max) has the smallest maximum of l p(l)^2 / (1 - p(l)^2) over (0, lambda_max], lambda_max tan^2(pi /
   * (4 k + 2)), which bounds the factor of a V-cycle. 1 / w_s are the zeros of the polynomials of Chebyshev's fourth
   * kind with optimized weights. The small ones come first, so that the large ones find hardly anything to amplify.
   * Dimensionless.
   * @param k 1 to most_fourth_kind. @throws InvalidInput.
   * Source: Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30 (2023) e2518;
   * as smoother beside others: Phillips, Fischer 2022. The zeros were computed from that property.
   */
  std::vector<double> fourth_kind_weights(int k);
  constexpr int       most_fourth_kind = 8;

  /**
   * Chebyshev iteration with D^-1 A, D the diagonal, for spectra in [lambda_min, lambda_max]: after n iterations from
   * x_0 the error is p_n(D^-1 A) (x* - x_0) with p_n(l) = T_n((lambda_max + lambda_min - 2 l) / (lambda_max -
   * lambda_min)) / T_n((lambda_max + lambda_min) / (lambda_max - lambda_min)), the polynomial with p_n(0) = 1 that is
   * smallest there. By the three-term recurrence
   *   x_{k+1} = x_k + d_k,   d_k = rho_k rho_{k-1} d_{k-1} + (2 rho_k / delta) D^-1 (b - A x_k),
   * whose state (d and rho) lives from one iterate() to the next until restart(): then iterate(3), iterate(4) is
   * iterate(7). Until restart() b and the x of the last call have to be passed on unchanged but for ghosts; each
   * restart() begins a polynomial anew, and from there and x = 0 the result is a fixed linear function of b. With an
   * interval that covers the spectrum it solves, with a part of lambda_max at its lower end it smooths.
   *
   * With fourth_kind each call of iterate() is a polynomial of as many sweeps as it has iterations, with
   * fourth_kind_weights(); of more than most_fourth_kind, several with nearly the same number.
   *
   * On the host with threads; on the backend cuda one kernel an iteration, and x and b in device memory.
   * update_values() finds an interval that was not given anew, on the host in either case: where values change often,
   * give lambda_max. It implies restart().
   * @param A host memory; copied. With ghost columns lambda_max has to be given, the same on all ranks.
   * @throws InvalidInput, DeviceError.
   * Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 12.1; as a smoother: Adams, Brezina, Hu,
   * Tuminaro 2003.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev(const CrsMatrix<Number> &A, const ChebyshevOptions &options);
} // namespace leopard
