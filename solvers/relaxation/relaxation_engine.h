// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/thread_pool.h"
#include "chebyshev.h"
#include "point_relaxation.h"

#include <memory>

namespace leopard
{
  /**
   * Multicolour Gauss-Seidel, SOR and SSOR on a GPU. @param options valid, and not Jacobi. @throws InvalidInput,
   * DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_multicolour_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options);

  /**
   * Jacobi iteration on a GPU: async-(1) with the synchronous schedule, made in block_async/. @param options valid.
   * @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_jacobi_cuda(const CrsMatrix<Number> &A, const PointRelaxationOptions &options);

  /** Chebyshev iteration on a GPU. @param options valid. @throws InvalidInput, DeviceError. */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const CrsMatrix<Number> &A, const ChebyshevOptions &options);
  /** @param A whose arrays are shared; update_values() takes values in device memory. */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_chebyshev_cuda(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options);

  /**
   * The interval of a Chebyshev iteration as the options and the matrix give it, and the coefficients of its recurrence
   *   d_0 = (1/theta) D^-1 r_0,   d_k = a_k d_{k-1} + c_k D^-1 r_k,   x_{k+1} = x_k + d_k
   * with theta = (lambda_max + lambda_min) / 2, delta = (lambda_max - lambda_min) / 2, sigma = theta / delta, rho_0 = 1
   * / sigma, rho_k = 1 / (2 sigma - rho_{k-1}), a_k = rho_k rho_{k-1}, c_k = 2 rho_k / delta (Saad 2003, algorithm
   * 12.1, for D^-1 A). Of the fourth kind a_k = 0 and c_k are fourth_kind_weights() over lambda_max.
   */
  class ChebyshevRecurrence
  {
  public:
    struct Coefficients
    {
      double direction = 0.; ///< a_k; exactly 0 for the first step
      double residual  = 0.; ///< c_k, 1/theta for the first step
    };

    /** @throws InvalidInput if an estimate is asked for that A does not allow, or lambda_min is not below it. */
    template <typename Number>
    ChebyshevRecurrence(const CrsMatrix<Number> &A, const ChebyshevOptions &options);
    /** The estimate takes fewer steps than on the host. */
    template <typename Number>
    ChebyshevRecurrence(const device::DeviceCrs<Number> &A, const ChebyshevOptions &options);

    bool estimates() const { return options.lambda_max == 0.; }
    /**
     * Finds the interval for values that have changed, and forgets the steps before. Allocates nothing. @throws
     * InvalidInput.
     */
    template <typename Number>
    void update(const CrsMatrix<Number> &A);
    template <typename Number>
    void update(const device::DeviceCrs<Number> &A);
    void restart() { started = false; }
    /** Before so many calls of next(). */
    void         begin(int n_steps);
    bool         has_started() const { return started; } ///< there was a step since restart()
    Coefficients next();
    std::string  name() const { return options.fourth_kind ? "Chebyshev of the fourth kind" : "Chebyshev"; }
    /** "for eigenvalues of D^-1 A between ... and ..., ...": for a log. */
    std::string text() const;

  private:
    /** @param n_ghosts columns behind the last row. */
    void check_ghosts(int n_ghosts) const;
    /** @param estimated in place of an upper end that was not given. */
    void set_interval(double estimated);

    ChebyshevOptions            options;
    double                      lambda_min = 0., lambda_max = 0., rho = 0.;
    bool                        started = false;
    std::vector<double>         weights; ///< fourth kind: of the steps to come, the last one first
    std::shared_ptr<ThreadPool> pool;
    std::vector<double>         work; ///< if it estimates
  };
} // namespace leopard
