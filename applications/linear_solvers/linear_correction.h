// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_solver.h"
#include "residual_rounding.h"

#include <functional>
#include <string>

namespace leopard
{
  /**
   * Solves a linear equation whose residual at u is known, by u += x, A x = residual: one solve, and one more where
   * rounding errors, or what a solver thinks of its own residual, have left more than the goal. Where that cannot be
   * reached, as terms much larger than the right-hand side cancel, what is_at_rounding() solves it, and `note` says so.
   */
  struct LinearCorrection
  {
    LinearSolver &solver;
    double        tolerance;      ///< of the residual against `scale`, or the first one if that is larger; 0: one solve without a test
    double        scale;          ///< what the residual is measured against
    int           max_iterations; ///< of a solve
    std::string   to_try;         ///< what helps beside another solver where the tolerance is missed, for a message; may be empty

    const HostMatrix *A = nullptr; ///< with b: of the whole equation A u = b, by which rounding is judged; null: it is not
    const HostVector *b = nullptr; ///< likewise

    /**
     * @param residual of u, before and after. @param update workspace. @param compute_residual puts the residual of u
     * there. Collective.
     * @return the iterations of all solves, the last residual and the convergence factor of the first solve.
     * @throws ConvergenceFailure if the residual after all is not finite or, with a tolerance, above the goal and above
     * rounding.
     */
    LinearSolveResult operator()(HostVector &u, HostVector &residual, HostVector &update, const std::function<void()> &compute_residual) const;

  private:
    /** Whether u is as good as rounding lets it be; then `note` says what limits it. Collective. */
    bool is_at_rounding(const HostVector &u, double goal, std::string &note) const;
  };
} // namespace leopard
