// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linear_solver.h"

#include <functional>
#include <string>

namespace leopard
{
  /**
   * Solves a linear equation whose residual at u is known, by u += x, A x = residual: one solve, and one more where
   * rounding errors, or what a solver thinks of its own residual, have left more than the goal.
   */
  struct LinearCorrection
  {
    LinearSolver &solver;
    double        tolerance;      ///< of the residual against `scale`, or the first one if that is larger; 0: one solve without a test
    double        scale;          ///< what the residual is measured against
    int           max_iterations; ///< of a solve
    std::string   to_try;         ///< what helps beside another solver where the tolerance is missed, for a message; may be empty

    /**
     * @param residual of u, before and after. @param update workspace. @param compute_residual puts the residual of u
     * there. Collective.
     * @return the iterations of all solves, the last residual and the convergence factor of the first solve.
     * @throws ConvergenceFailure if the residual after all is not finite or, with a tolerance, above the goal.
     */
    LinearSolveResult operator()(HostVector &u, HostVector &residual, HostVector &update, const std::function<void()> &compute_residual) const;
  };
} // namespace leopard
