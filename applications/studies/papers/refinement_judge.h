// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

#include <array>
#include <string>
#include <vector>

namespace leopard::studies
{
  /** The residual of one solver of one matrix over its iterations: of the run that needs the median of them. */
  struct Curve
  {
    std::string         name;
    bool                converged = false;                  ///< in all runs
    std::vector<double> at = {}, residuals = {};            ///< global iterations, of all corrections; ||b - A x|| / ||b||
    int                 n_corrections = 0, n_predicted = 0; ///< of a refinement
    int                 most_corrections = 0;               ///< of all runs
    std::vector<double> needed = {}, seconds = {};          ///< of all runs: global iterations to the tolerance, and time

    /** Global iterations to this residual, interpolated; infinitely many where it is not reached. */
    double iterations_to(double residual) const;
    /**
     * The largest factor by which a correction has reduced the residual, without the last one, which does no more than
     * is wanted: what the inner solver guarantees. Not a number with fewer than two corrections.
     */
    double inner_accuracy() const;
    double iterations() const { return at.back(); }
    double time() const; ///< not a number where it has not converged
    double time_to(double residual) const { return time() * iterations_to(residual) / iterations(); }
  };

  /** All of them, of one matrix. */
  struct Curves
  {
    Curve plain, in_double, mixed, block_double, block_mixed;

    std::array<const Curve *, 5> all() const { return {&plain, &in_double, &mixed, &block_double, &block_mixed}; }
  };

  /** The least and the largest. */
  std::array<double, 2> extremes(const std::vector<double> &samples);

  /** Thesis, equation 2.10: ceil(log(eps) / log(eps_inner)); 0 where one of them is no number between 0 and 1. */
  int corrections_for(double accuracy, double inner_accuracy);

  /** What --precision automatic chooses for a matrix, and what both take, and refinement in double beside. */
  struct PrecisionChoice
  {
    std::string         matrix;
    bool                is_mixed;         ///< what was chosen
    std::vector<double> in_double, mixed; ///< seconds of each run; empty where it does not converge
    std::vector<double> refined = {};     ///< likewise, corrections in double, which are never chosen
  };

  enum class ChoiceVerdict
  {
    right, ///< in the time of the faster one, or within precision_tolerance of it
    wrong, ///< slower, or without convergence where the other one converges
    runs_differ,
    none_converges
  };

  constexpr double precision_tolerance = 0.1; ///< by as much double may be slower before mixed is chosen

  /** By the medians, unless the quartiles that are farthest apart say otherwise. What is no number is never right. */
  ChoiceVerdict verdict_of(const PrecisionChoice &choice);
  std::string   to_string(ChoiceVerdict verdict);

  /** How often the choice is right, of the matrices that decide, and whether refinement in double is missed in it. */
  void judge_choices(const std::vector<PrecisionChoice> &choices, Report &report);

  /** Thesis, sections 2.2, 4.12 and 4.13: of the matrices it has; of others nothing. */
  void judge_refinement(const std::string &matrix, double tolerance, const Curves &curves, Report &report);
} // namespace leopard::studies
