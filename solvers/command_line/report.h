// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../relaxation/relaxation.h"

#include <string>

namespace leopard::command_line
{
  /**
   * At most 20 lines of the history: iteration, residual divided by scale, and the factor an iteration between the
   * lines.
   * @param note of the residuals in between; may be empty. @param scale ||b||, or what stands for it.
   */
  std::string convergence_table(const SolveResult &result, double scale, const std::string &note);

  /** The whole history as CSV: iteration,residual,relative,time, the time empty where it is not known. */
  std::string history_csv(const SolveResult &result, double scale);

  /**
   * "converged after 120 global iterations (115 to 120 a block, 118.2 in the mean), by the factor 0.83 each". @param
   * unit what is counted.
   */
  std::string outcome(const SolveResult &result, bool has_blocks, const std::string &unit);

  /** A line of the log on the standard output: what it is about, and the text. */
  void log_line(const std::string &label, const std::string &text);

  void print(const std::string &text);

  /** short_text(), or "not finite". */
  std::string text_of_residual(double residual, int digits);
} // namespace leopard::command_line
