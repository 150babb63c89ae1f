// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../block_async/block_async.h"

#include <string>

namespace leopard
{
  /** What async-(k) in double, and as the inner solver of a Refinement, is expected to take for a tolerance. */
  struct PredictedPrecision
  {
    double seconds_double  = 0.; ///< plain, in double; infinite where no convergence is expected
    double seconds_refined = 0.; ///< corrections in double
    double seconds_mixed   = 0.; ///< corrections in single precision; infinite where they do not help
    double digits          = 0.; ///< decimal digits that a correction in single precision gains
    int    n_corrections   = 0;  ///< of them

    std::string reason; ///< what decided, for a log

    /** Whether mixed precision is expected to be the fastest, by more than the prediction errs as a rule. */
    bool is_mixed() const { return seconds_mixed < 0.9 * seconds_double; }
  };

  /**
   * From the matrix alone: the rate of the synchronous schedule, tried out (predicted_convergence()); what an iteration
   * costs, a fixed time and one for its work in double and in single precision, with constants of one machine, so that
   * times are right to a factor of a few and their ratios are what counts; the digits that a correction can gain,
   *   min(6, -log10(eps kappa)) with eps = 6e-8, kappa = 2 k / (1 - factor) >= cond(D^-1 A) about,
   * and whether the values fit into single precision (scaled_to()). Refinement in double is not chosen, as it does what
   * the plain iteration does and residuals beside; it is predicted to compare.
   *
   * The storage of the values is no part of the choice: it is the smallest that loses nothing (Storage::automatic).
   * Iterations are predicted with 8 and 4 bytes a value, also where a dictionary of 1 byte will be found: with its
   * bytes no choice of the matrices in benchmarks/results/2026-11-28_h200_precision_choice.md is another one, and the
   * times are farther from the measured ones (2026-11-30_precision_choice_host.md).
   * @param options those of the iteration, with its backend. @param tolerance of the relative residual. @param
   * max_seconds to try the rate out. @throws InvalidInput.
   */
  PredictedPrecision predict_precision(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double tolerance, double max_seconds = 2.);
} // namespace leopard
