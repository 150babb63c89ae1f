// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/backend.h"
#include "../matrix/crs_matrix.h"
#include "preconditioner.h"

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** Where a solve ends. */
  struct KrylovLimits
  {
    double tolerance = 1e-10; ///< converged for ||b - A x||_2 <= tolerance ||b||_2 (dimensionless); for b = 0 the first residual stands for ||b||
    double absolute_tolerance = 0.; ///< or for ||b - A x||_2 <= absolute_tolerance (units of b). Both 0: until it falls no more, or max_iterations
    int    max_iterations     = 1000;
    double max_seconds        = 0.; ///< wall time after which no further step is made; 0: no limit. Not of GCR
    int    early_iterations   = 0;  ///< after so many the residual is to be early_residual ||b||_2 at most, or the solve ends; 0: none. Not of GCR
    double early_residual     = 1.; ///< dimensionless, positive; see there

    /** @throws InvalidInput naming the limit, what was found and what is expected. */
    void validate() const;
  };

  /** What all Krylov methods are told; the limits are those of solves that are given no others. */
  struct KrylovOptions : KrylovLimits
  {
    /** reference: one thread; host: threads; cuda: a solve is one CUDA graph that loops by itself. */
    Backend backend      = Backend::host;
    int     n_threads    = 0;     ///< host backend; 0: as many as this process may use
    bool    keep_history = false; ///< KrylovResult::history; on the device of max_iterations and 2^20 steps at most. Not of GCR

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /** Why a solve has ended. */
  enum class KrylovReason
  {
    converged,                 ///< the true residual has reached its goal
    maximum_iterations,        ///< max_iterations were done
    time_limit,                ///< max_seconds have passed
    indefinite,                ///< CG: p^T A p <= 0, A is not positive definite (negative curvature), or only semidefinite
    indefinite_preconditioner, ///< CG: r^T M r <= 0 for the preconditioner M
    breakdown,                 ///< FGMRES, GCR: A times what the preconditioner finds is nothing new, and x is no solution; A or M is singular
    stagnated,                 ///< the method's own residual has reached the goal, the true one has not and falls no more: rounding errors
    standing_still, ///< early_iterations have gained too little; FGMRES: cycles gain so little that max_iterations would not halve the residual
    not_finite      ///< a number of b, of A, or of what the preconditioner returns is not finite, or has become so
  };

  /** "converged", "iteration limit", "indefinite matrix", ... */
  std::string to_string(KrylovReason reason);

  struct KrylovResult
  {
    bool                converged    = false; ///< reason == converged
    KrylovReason        reason       = KrylovReason::maximum_iterations;
    int                 n_iterations = 0;
    double              residual     = 0.; ///< ||b - A x||_2 of the x that is returned, computed from it in double precision; units of b
    std::vector<double> history;           ///< if asked for: of each step (see keep_history), the residual by the method's own recurrence; units of b
    std::vector<double> history_seconds;   ///< on the host, of each of these steps the wall time since the solve began
    double              relative_residual =
      0.; ///< the same as residual, divided by ||b||_2, for b = 0 by the first residual (dimensionless); not a number where that is none
  };

  /**
   * A Krylov method for A x = b with a preconditioner, made by make_cg(), make_fgmres() or make_gcr().
   *
   * The methods work on corrections: with s, a power of two of the size of b and of the first residual, they solve
   * A e = (b - A x) / s from e = 0, and whenever e is a solution by the method's own recurrence, or the method begins
   * anew, x <- x + s e and the residual is computed from x. So squares neither over- nor underflow whatever the units
   * of b are, and what a result says of x is true of x. Vectors are Numbers; sums, and the residuals that are computed
   * from x, are double.
   */
  template <typename Number>
  class KrylovSolver
  {
  public:
    virtual ~KrylovSolver() = default;

    /** "CG", "FGMRES(30)", "GCR(10)". */
    virtual std::string name() const         = 0;
    virtual int         n_rows() const       = 0;
    virtual MemorySpace memory_space() const = 0;
    /** Those of the options. */
    virtual const KrylovLimits &limits() const = 0;

    /**
     * Solves A x = b from the x that is given. Allocates nothing but a history. On the device the host waits once, for
     * the result.
     * @param x, b n_rows() values in memory_space(). Where something on the way is not finite, x is that of the steps
     * before, unless the correction itself has overflowed. @param limits of this solve, instead of those of the
     * options.
     * @throws InvalidInput, DeviceError.
     */
    virtual KrylovResult solve(Number *x, const Number *b, const KrylovLimits &limits) = 0;
    /** The same with the limits of the options. */
    KrylovResult solve(Number *x, const Number *b) { return solve(x, b, limits()); }

    /**
     * Takes new values for the pattern of A: one value an entry, host memory, in the order of the CrsMatrix. To be
     * called after each change of the preconditioner, too: on the device both are recorded anew.
     * @throws InvalidInput if the preconditioner is queued no more.
     */
    virtual void update_values(const Number *values) = 0;
  };
} // namespace leopard
