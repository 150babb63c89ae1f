// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"

#include <optional>
#include <string>
#include <vector>

namespace leopard
{
  struct MatrixAnalysis;
}

namespace leopard::command_line
{
  /** "4.1 s", "12 minutes", "3.2 hours", "5.1 days", "3.1e+02 years" */
  std::string duration(double seconds);

  /**
   * Iterations after which the residual of a run will have fallen to the goal, at the slower pace of its last half
   * and its last quarter (residuals of CG rise for a while, too); infinite where it does not fall, or that is not
   * known.
   */
  double iterations_to_come(const SolveResult &run, double goal);

  /** "at the factor 0.9999 an iteration (18979 iterations a digit)", factor in (0, 1). */
  std::string rate_text(double factor);

  /**
   * The part of an error that falls slowest, which a right-hand side may have little of: then it cannot be seen in the
   * residual until the rest of it is gone.
   */
  struct SlowPart
  {
    double factor   = 0.;    ///< by which an iteration shrinks it
    double residual = 0.;    ///< ||A e||_2 of it, in the units of b
    bool   settled  = false; ///< whether the factor no longer changed; else it is one of parts that fall faster, too

    /** Iterations until its residual is the goal; 0 if it is below. */
    double iterations_to(double goal) const;
  };

  /**
   * The slowest part of the error of x, in the direction e = y - 1 that is left when the iteration has solved A y = A 1
   * for a while: of the residual r = b - A x its share is (e.r / e.Ae) Ae, for a symmetric positive definite A, in
   * whose scalar product the parts of an error are (nearly) orthogonal. None if the iteration does not bear it out.
   */
  std::optional<SlowPart> find_slow_part(const CrsMatrix<double>   &A,
                                         const std::vector<double> &y,
                                         const SolveResult         &result_of_y,
                                         const std::vector<double> &x,
                                         const std::vector<double> &b);

  /**
   * What is still to come at a measured rate: "at the factor 0.9999 an iteration (18979 iterations a digit) the
   * tolerance 1e-10 takes at least 128000 global iterations in all, 4.1 s".
   * @param result of which the iterations done, their seconds and the last residual are read. @param factor of the
   * residual an iteration.
   * @param goal the residual that the tolerance asks for, in the units of b. @param slow of which more iterations may
   * be needed than the factor lets expect; then "about" so many. Empty if it does not get there at all.
   */
  std::string
  time_to_come(const SolveResult &result, double factor, double goal, double tolerance, const std::optional<SlowPart> &slow = std::nullopt);

  /**
   * For a slow or failed iteration: what the options of leopard-solve can do for a matrix, and what it needs where they
   * cannot.
   */
  std::string what_helps(const MatrixAnalysis &found, const Arguments &arguments);

  /**
   * The same with the spectral radii, which are looked for in about a second (spectrum::analyze_in_time()), and the
   * result, with what to change in the options that were given.
   */
  std::string advice_for(const CrsMatrix<double> &A, const Arguments &arguments, const SolveResult *result);

  /** What to do after a Krylov method, multigrid or direct factors have failed. */
  std::string advice_after_failure(const Arguments &arguments, SolveStatus status);

  /** Whether entries of the diagonal differ by less than ten times, so that scaling by them changes little. */
  bool has_even_diagonal(const CrsMatrix<double> &A);

  /**
   * What to do about a solution whose error is too large though its residual is small: more digits of it, or a scaling
   * that gives all rows a say. @param residual the relative one. @param expected the error that was hoped for.
   * @param is_scaled whether rows count already.
   */
  std::string what_helps_against_error(const CrsMatrix<double> &A,
                                       const Arguments         &arguments,
                                       const SolveResult       &result,
                                       double                   residual,
                                       double                   error,
                                       double                   expected,
                                       bool                     is_scaled);

  /**
   * About how far x is from the solution, ||D^-1 r||_inf / (1 - factor), relative to ||x||_inf: dimensionless. The
   * correction of a Jacobi sweep, and as many more as the iteration, which shrinks what remains by the factor, would
   * still add. Unlike the residual it does not depend on how rows are scaled. Where the diagonal entry is small in its
   * row, D has the largest one there.
   * @param factor of an iteration; outside (0, 1): the first correction alone.
   */
  double estimated_error(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b, double factor);
} // namespace leopard::command_line
