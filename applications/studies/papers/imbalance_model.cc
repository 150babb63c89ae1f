// SPDX-License-Identifier: Apache-2.0
#include "imbalance_model.h"

#include "sample_statistics.h"

#include <algorithm>
#include <cmath>

namespace leopard::studies
{
  namespace
  {
    constexpr double free_cores = 1.1; ///< up to this slow-down nothing else is at work

    /** By how much the larger one is larger. */
    double factor_between(double a, double b)
    {
      return a > b ? a / b : b > a ? b / a : a == b ? 1. : INFINITY;
    }

    std::string percent_more(double ratio)
    {
      return cell(100. * (ratio - 1.), "%+.1f") + " percent";
    }

    /** With waiting against without, of a global iteration. */
    double ratio_of_iterations(const Imbalance &row)
    {
      return row.waiting.seconds_an_iteration() / row.free.seconds_an_iteration();
    }
  } // namespace

  double ImbalanceModel::fair_slow_down(int n_threads, int n_busy, int n_cores)
  {
    return std::max(1., static_cast<double>(n_threads + n_busy) / n_cores);
  }

  void judge_imbalance(const std::string &name, int n_threads, const std::vector<Imbalance> &rows, Report &report)
  {
    const ImbalanceModel model(rows);
    const Imbalance     &alone = rows.front();
    const std::string    one   = n_threads < 2 ? "one thread waits for nobody" : "";
    const std::string other = alone.slow_down > free_cores ? "other work slows the cores down by " + cell(alone.slow_down, "%.2f") + " already" : "";
    const std::string not_alone = one.empty() ? other : one;
    report.decide("",
                  name + ": alone, not waiting loses at most 10 percent of the time to solution",
                  alone.free.seconds <= 1.1 * alone.waiting.seconds,
                  "without waiting against with: " + percent_more(alone.free.seconds / alone.waiting.seconds),
                  not_alone);
    report.decide("",
                  name + ": alone, waiting costs at most 25 percent of a global iteration",
                  ratio_of_iterations(alone) <= 1.25,
                  "with waiting against without: " + percent_more(ratio_of_iterations(alone)),
                  not_alone);

    std::vector<Imbalance> slowed;
    for (const Imbalance &row : rows)
      if (row.slow_down > free_cores * alone.slow_down)
        slowed.push_back(row);
    const std::string none        = slowed.empty() ? "no busy process took time from the threads" : "";
    double            unexplained = 0., least_ratio = INFINITY, off_free = 1., off_waiting = 1.;
    std::string       unexplained_text, ratios;
    for (const Imbalance &row : slowed)
      {
        const double more = row.free.seconds / model.predicted_free(row.slow_down), ratio = ratio_of_iterations(row);
        unexplained = larger_or_nan(unexplained, more);
        least_ratio = std::isnan(ratio) ? ratio : std::min(least_ratio, ratio);
        off_free    = larger_or_nan(off_free, factor_between(more, 1.));
        off_waiting = larger_or_nan(off_waiting, factor_between(row.waiting.seconds, model.predicted_waiting(row.slow_down)));
        unexplained_text += (unexplained_text.empty() ? "" : ", ") + cell(more, "%.2f");
        ratios += (ratios.empty() ? "" : ", ") + cell(ratio, "%.2f");
      }
    report.decide("",
                  name + ": beside other work the time without waiting is within 1.5 times what its share of the cores explains",
                  unexplained <= 1.5,
                  "times " + unexplained_text,
                  none);
    report.decide("",
                  name + ": beside other work waiting makes a global iteration longer than it does alone",
                  least_ratio > ratio_of_iterations(alone),
                  "with waiting over without: " + ratios + "; alone " + cell(ratio_of_iterations(alone), "%.2f"),
                  not_alone.empty() ? none : not_alone);
    report.decide("",
                  name + ": the model's times beside other work are right within a factor of 1.5",
                  off_free <= 1.5 && off_waiting <= 1.5,
                  "at worst " + cell(off_free, "%.2f") + " without waiting, " + cell(off_waiting, "%.2f") + " with",
                  none);
  }
} // namespace leopard::studies
