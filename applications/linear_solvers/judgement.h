// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  struct LinearSolverParameters;

  /** How an iteration that has missed its goal has gone on at last. Norms in the same units. */
  struct Progress
  {
    int    n_iterations       = 0;
    double first              = 0.;    ///< residual norm at the beginning
    double last               = 0.;    ///< and at the end
    double goal               = 0.;    ///< what it should have come to
    double rate               = 0.;    ///< factor of the residual an iteration, see recent_rate(); 0: not known
    bool   stagnated          = false; ///< the method itself has found that it does not get on
    bool   negative_curvature = false; ///< cg has found that the matrix, or the preconditioner, is not positive definite
    bool   at_rounding        = false; ///< a refinement has found that the backward error is some roundings of double precision
    bool   ill_conditioned    = false; ///< and that the matrix is too ill-conditioned for corrections in single precision
  };

  enum class Verdict
  {
    slow,       ///< the residual falls
    stagnating, ///< it does not
    diverging   ///< it grows or is not finite
  };

  /**
   * The factor by which an iteration has reduced the residual lately: from the least residual of the third quarter of
   * the history to that of the fourth, as single ones may grow. Not below 1 where these hardly differ and the least
   * ones of their halves do not fall one after the other; 0 for fewer than two residuals.
   * @param residuals at the same distance of so many iterations.
   */
  double recent_rate(const std::vector<double> &residuals, double iterations_between = 1.);

  Verdict judge(const Progress &progress);

  /** Iterations that are missing at the rate of the last ones; infinite where it does not fall. */
  double missing_iterations(const Progress &progress);

  /** The verdict in words: "it is slow: about 40000 more iterations at the rate of the last ones". */
  std::string judgement(const Progress &progress);

  /**
   * What to take instead, "'Linear solver/Method' = ..., ...; ...", of what this program has and suits. @param more
   * what else helps, beside.
   */
  std::string advice(const Progress &progress, const LinearSolverParameters &parameters, const std::string &more = "");
} // namespace leopard
