// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conclusion.h"
#include "scaling.h"

#include <vector>

namespace leopard::command_line
{
  /** R A C y = R b, to be solved in the place of A x = b; nothing where the scaling is empty. */
  struct ScaledSystem
  {
    Scaling             scaling;
    CrsMatrix<double>   A;
    std::vector<double> b;
    Arguments           arguments; ///< with vectors near the null space of R A C
    bool                is_scaled() const { return !scaling.is_empty(); }
  };

  /** The system that is to be solved, and a line of the log that says why; empty where A x = b is as good. */
  ScaledSystem equilibrated(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const MatrixTraits &traits);

  /**
   * Makes of a solution of the scaled system one of A x = b, whose residual weighs rows otherwise: where it is above
   * the tolerance the same method goes on with what is left:
   * R A C d = R (b - A x), and C d is added to x. Where it stays above, the solution is called
   * stagnated, but for an x that rounding errors alone keep from it and that solves each equation to the tolerance,
   * measured by its own terms: one correction shows that they do.
   */
  void return_from_scaled(
    Solution &found, const ScaledSystem &system, const CrsMatrix<double> &A, const std::vector<double> &b, const StoppingCriteria &criteria);
} // namespace leopard::command_line
