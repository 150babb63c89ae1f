// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include "../base/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace leopard::command_line
{
  namespace
  {
    constexpr std::size_t max_lines = 20;
  }

  void log_line(const std::string &label, const std::string &text)
  {
    print((label.size() < 12 ? label + std::string(12 - label.size(), ' ') : label) + text + "\n");
  }

  void print(const std::string &text)
  {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  std::string text_of_residual(double residual, int digits)
  {
    return std::isfinite(residual) ? short_text(residual, digits) : "not finite";
  }

  std::string convergence_table(const SolveResult &result, double scale, const std::string &note)
  {
    const std::size_t n    = result.history_residuals.size();
    std::string       text = "   iteration   relative residual   factor an iteration\n";
    const std::size_t rows = std::min(n, max_lines - (note.empty() ? 1 : 2));
    std::size_t       last = 0;
    for (std::size_t row = 0; row < rows; ++row)
      {
        const std::size_t i = rows < 2 ? 0 : row * (n - 1) / (rows - 1);
        char              line[80];
        std::snprintf(
          line, sizeof(line), "%12d %19.3e", result.history_iterations[i], std::abs(result.history_residuals[i] / scale)); // a NaN without a sign
        text += line;
        const int steps = result.history_iterations[i] - result.history_iterations[last];
        if (row > 0 && steps > 0 && result.history_residuals[last] > 0. && std::isfinite(result.history_residuals[i]))
          {
            std::snprintf(line, sizeof(line), " %21.5f", std::pow(result.history_residuals[i] / result.history_residuals[last], 1. / steps));
            text += line;
          }
        text += "\n";
        last = i;
      }
    return note.empty() ? text : text + "   (" + note + ")\n";
  }

  std::string history_csv(const SolveResult &result, double scale)
  {
    std::string text   = "iteration,residual,relative,time\n";
    const auto  append = [&](double value) { // std::to_chars knows no locale
      char digits[32];
      text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
    };
    for (std::size_t i = 0; i < result.history_residuals.size(); ++i)
      {
        text += std::to_string(result.history_iterations[i]) + ",";
        append(result.history_residuals[i]);
        text += ",";
        append(result.history_residuals[i] / scale);
        text += ",";
        if (!std::isnan(result.history_seconds[i]))
          append(result.history_seconds[i]);
        text += "\n";
      }
    return text;
  }

  std::string outcome(const SolveResult &result, bool has_blocks, const std::string &unit)
  {
    std::string text = to_string(result.status) + " after " + std::to_string(result.n_iterations) + " " + unit;
    if (has_blocks && result.min_iterations != result.n_iterations)
      text += " (" + std::to_string(result.min_iterations) + " to " + std::to_string(result.n_iterations) + " a block, " +
              short_text(result.mean_iterations, 6) + " in the mean)";
    else if (has_blocks)
      text += " (every block)";
    const double factor = result.convergence_factor();
    return factor > 0. && std::isfinite(factor) ? text + ", at the end by the factor " + short_text(factor, 4) + " each" : text;
  }
} // namespace leopard::command_line
