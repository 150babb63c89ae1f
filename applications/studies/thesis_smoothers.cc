// SPDX-License-Identifier: Apache-2.0
#include "thesis_smoothers.h"
#include "thesis_rows.h"

#include <applications/base/log.h>
#include <applications/studies/papers/published.h>
#include <applications/studies/papers/sample_statistics.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace leopard
{
  using studies::cell;
  using studies::Report;
  using studies::Table;

  namespace
  {
    const double not_known = std::numeric_limits<double>::quiet_NaN();

    /** Seconds to convergence, as the sum of the parts that the profile found. */
    double grid_seconds(const SmootherRow &row)
    {
      return row.transfer_seconds * cycles(row);
    }

    double smoother_seconds(const SmootherRow &row)
    {
      return row.smoother_seconds * cycles(row);
    }

    /** "9 cycles (0.0812)". */
    std::string cycles_and_factor(const SmootherRow *row)
    {
      if (row == nullptr)
        return "-";
      return (row->converged() ? format("%.1f", cycles(*row)) : row->status) + format(" (%.4f)", row->factor);
    }

    /** Why a finding has nothing to be decided by; empty if it has. */
    std::string why_not(const Range &range)
    {
      return range.n == 0 ? "the rows that it compares are missing or have not converged" : "";
    }

    /** A finding that is decided if there is anything to decide it by. */
    void judge(Report &report, const std::string &source, const std::string &claim, const Range &range, bool holds, const std::string &measured)
    {
      report.decide(source, claim, holds, measured, why_not(range));
    }

    /**
     * The same of ratios of times, all of which have to be within limits; so near to these that runs differ by it,
     * nothing is decided.
     */
    void judge_times(Report                &report,
                     const std::string     &source,
                     const std::string     &claim,
                     const Range           &range,
                     const studies::Limits &limits,
                     const std::string     &measured)
    {
      report.decide_times(source, claim, limits, {range.minimum, range.maximum}, measured, why_not(range));
    }

    /** The same of their mean, which is said, too. */
    void judge_mean_time(Report                &report,
                         const std::string     &source,
                         const std::string     &claim,
                         const Range           &range,
                         const studies::Limits &limits,
                         const std::string     &of_what)
    {
      const std::string measured = format("%.2f", range.mean()) + " in the mean, " + range.text() + of_what;
      report.decide_times(source, claim, limits, {range.mean()}, measured, why_not(range));
    }

    /** The same of ratios of cycles. @param holds of these. */
    void judge_cycles(Report &report, const std::string &source, const std::string &claim, const Range &ratios, bool (*holds)(const Range &))
    {
      judge(report,
            source,
            claim,
            ratios,
            holds(ratios),
            ratios.text() + " times the cycles, " + format("%.2f", ratios.mean()) + " in the mean" +
              (std::isinf(ratios.maximum) ? " (inf: does not converge)" : ""));
    }

    /**
     * Cycles of a smoother against those of Gauss-Seidel in the same conditions; what has not converged counts as
     * infinitely many.
     */
    Range ratio_to_gauss_seidel(const RowSet &set, const std::string &smoother)
    {
      Range range;
      for (const SmootherRow &row : set.rows)
        {
          const SmootherRow *reference = set.like(row, set.gauss_seidel);
          if (row.smoother == smoother && reference != nullptr && reference->converged() && !row.cycles.empty())
            range.add(row.converged() ? cycles(row) / cycles(*reference) : std::numeric_limits<double>::infinity());
        }
      return range;
    }

    void report_attainable(const RowSet &set, const std::string &async, Report &report)
    {
      const std::string claim = async + ": Gauss-Seidel attains a smaller residual";
      Range             range;
      for (const SmootherRow &row : set.rows)
        if (const SmootherRow *reference = set.like(row, set.gauss_seidel);
            row.smoother == async && reference != nullptr && row.attainable > 0. && reference->attainable > 0.)
          range.add(row.attainable / reference->attainable);
      if (range.n == 0)
        report.undecided("T Figure 4.27", claim, "'Cycles beyond' is 0, or none has converged");
      else
        report.finding("T Figure 4.27",
                       claim,
                       range.mean() > 1.,
                       "attainable residual " + range.text() + " times that of Gauss-Seidel, " + format("%.2f", range.mean()) + " in the mean");
    }

    void report_figure_27(const RowSet &set, Report &report)
    {
      const std::string        source  = "T Figure 4.27";
      std::vector<std::string> columns = {"epsilon", "condition number 4/epsilon", "smoothing steps"};
      columns.insert(columns.end(), set.smoothers.begin(), set.smoothers.end());
      Table table("Figure 4.27: cycles to convergence (factor a cycle); published: curves without numbers", columns);
      for (const double epsilon : set.epsilons)
        for (const int steps : set.steps)
          {
            std::vector<std::string> cells = {cell(epsilon, "%.0e"), cell(4. / epsilon, "%.0e"), cell(steps)};
            for (const std::string &smoother : set.smoothers)
              cells.push_back(cycles_and_factor(set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), steps)));
            table.add_row(cells);
          }
      report.add(table);

      std::vector<std::string> compared = set.asyncs;
      compared.push_back(set.gauss_seidel);
      for (const std::string &smoother : compared)
        {
          Range range;
          for (const double epsilon : set.epsilons)
            {
              const SmootherRow *one = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), 1),
                                *two = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), 2);
              if (one != nullptr && two != nullptr && two->converged() && one->converged())
                range.add(cycles(*two) / cycles(*one));
            }
          judge_cycles(report,
                       source,
                       smoother + ": two smoothing steps instead of one decrease the cycles considerably (to 0.8 times in the mean)",
                       range,
                       [](const Range &ratios) { return ratios.mean() <= 0.8; });
        }
      for (const std::string &jacobi : set.jacobis)
        judge_cycles(report,
                     source,
                     jacobi + " converges considerably more slowly than Gauss-Seidel (1.3 times the cycles at least)",
                     ratio_to_gauss_seidel(set, jacobi),
                     [](const Range &range) { return range.minimum >= 1.3; });
      for (const std::string &async : set.asyncs)
        {
          judge_cycles(report,
                       source,
                       async + " in the place of Gauss-Seidel hardly affects convergence (at most 10 percent more cycles)",
                       ratio_to_gauss_seidel(set, async),
                       [](const Range &range) { return range.maximum <= 1.1; });
          Range best;
          for (const SmootherRow &row : set.rows)
            if (const SmootherRow *reference = set.like(row, set.gauss_seidel);
                row.smoother == async && row.epsilon == set.epsilons.back() && reference != nullptr && row.converged() && reference->converged())
              best.add(row.factor / reference->factor);
          judge(report,
                source,
                async + ": for very small condition numbers in many cases better than Gauss-Seidel",
                best,
                best.minimum < 1.,
                best.text() + " times the factor a cycle, 4/epsilon = " + format("%.0f", 4. / set.epsilons.back()));
          report_attainable(set, async, report);
        }
    }

    void report_figure_28(const RowSet &set, Report &report)
    {
      std::vector<std::string> columns = {"epsilon", "unknowns"};
      columns.insert(columns.end(), set.smoothers.begin(), set.smoothers.end());
      Table table("Figure 4.28: cycles to convergence (factor a cycle); published: curves without numbers", columns);
      for (const double epsilon : set.epsilons)
        for (const long long size : set.sizes)
          {
            std::vector<std::string> cells = {cell(epsilon, "%.0e"), std::to_string(size)};
            for (const std::string &smoother : set.smoothers)
              cells.push_back(cycles_and_factor(set.find(smoother, epsilon, size, set.levels.back(), set.steps.back())));
            table.add_row(cells);
          }
      report.add(table);
      for (const std::string &smoother : set.smoothers)
        for (const double epsilon : set.epsilons)
          {
            Range range;
            for (const long long size : set.sizes)
              if (const SmootherRow *row = set.find(smoother, epsilon, size, set.levels.back(), set.steps.back()); row != nullptr && row->converged())
                range.add(cycles(*row));
            const std::string claim =
              smoother + ", epsilon = " + format("%g", epsilon) + ": the size has almost no influence on convergence (one cycle at most)";
            if (range.n < 2)
              report.undecided("T Figure 4.28", claim, "fewer than two sizes have converged");
            else
              report.finding("T Figure 4.28",
                             claim,
                             range.maximum - range.minimum <= 1.,
                             range.text("%.1f") + " cycles, n = " + std::to_string(set.sizes.front()) + " to " + std::to_string(set.sizes.back()));
          }
    }

    /**
     * The printed seconds for a number of levels and unknowns: Gauss-Seidel, async-(5), transfer; not a number where
     * there are none.
     */
    std::array<double, 3> printed_seconds(int levels, long long size)
    {
      for (const auto &row : studies::published::smoother_seconds)
        for (int i = 0; i < 4; ++i)
          if (row.levels == levels && size == std::llround(std::pow(10., 4 + i)))
            return {row.gauss_seidel[i], row.async[i], row.transfer[i]};
      return {not_known, not_known, not_known};
    }

    void tabulate_smoother_seconds(const RowSet &set, const std::string &async, Report &report)
    {
      Table table("Table 4.11 and Figure 4.29: seconds in the smoother until convergence, here and (T) printed; async: " + async,
                  {"levels", "unknowns", "Gauss-Seidel", "T", "async-(5)", "T", "copies", "T", "times as fast", "T", "with copies", "T"});
      for (const int levels : set.levels)
        for (const long long size : set.sizes)
          {
            const SmootherRow *gs = set.find(set.gauss_seidel, set.epsilons.back(), size, levels, set.steps.back()),
                              *as = set.find(async, set.epsilons.back(), size, levels, set.steps.back());
            const bool   both     = gs != nullptr && as != nullptr && gs->converged() && as->converged();
            const auto   printed  = printed_seconds(levels, size);
            const auto   s        = [](double value) { return cell(value, "%.5f"); };
            const auto   ratio    = [](double value) { return cell(value, "%.2f"); };
            const double t_gs = both ? smoother_seconds(*gs) : not_known, t_as = both ? smoother_seconds(*as) : not_known,
                         copies = both ? as->copy_seconds * cycles(*as) : not_known;
            table.add_row({cell(levels),
                           std::to_string(size),
                           s(t_gs),
                           s(printed[0]),
                           s(t_as),
                           s(printed[1]),
                           s(copies),
                           s(printed[2]),
                           ratio(t_gs / t_as),
                           ratio(printed[0] / printed[1]),
                           ratio(t_gs / (t_as + copies)),
                           ratio(printed[0] / (printed[1] + printed[2]))});
          }
      report.add(table);
    }

    /** Time in the smoother over size, from one size to the next: 1 is linear growth. */
    Range growth(const RowSet &set, const std::string &smoother, long long from_size)
    {
      Range range;
      for (const int levels : set.levels)
        for (std::size_t i = 0; i + 1 < set.sizes.size(); ++i)
          {
            const SmootherRow *small = set.find(smoother, set.epsilons.back(), set.sizes[i], levels, set.steps.back()),
                              *large = set.find(smoother, set.epsilons.back(), set.sizes[i + 1], levels, set.steps.back());
            if (set.sizes[i] >= from_size && small != nullptr && large != nullptr && small->converged() && large->converged())
              range.add(smoother_seconds(*large) / smoother_seconds(*small) * static_cast<double>(set.sizes[i]) /
                        static_cast<double>(set.sizes[i + 1]));
          }
      return range;
    }

    /** The time of Gauss-Seidel over that of async; not a number where one of them is missing or has not converged. */
    double times_as_fast(const RowSet &set, const std::string &async, long long size, int levels)
    {
      const SmootherRow *gs = set.find(set.gauss_seidel, set.epsilons.back(), size, levels, set.steps.back()),
                        *as = set.find(async, set.epsilons.back(), size, levels, set.steps.back());
      return gs != nullptr && as != nullptr && gs->converged() && as->converged() ? smoother_seconds(*gs) / smoother_seconds(*as) : not_known;
    }

    void report_table_11(const RowSet &set, Report &report)
    {
      const std::string source = "T Table 4.11";
      Range             linear = growth(set, set.gauss_seidel, 0);
      judge_times(report,
                  source,
                  "Gauss-Seidel: the smoother's time grows linearly with the size (0.7 to 1.4 times that)",
                  linear,
                  {0.7, 1.4},
                  linear.text() + " times linear growth");
      for (const std::string &async : set.asyncs)
        {
          tabulate_smoother_seconds(set, async, report);
          linear = growth(set, async, 100000);
          judge_times(report, source, async + ": so it does, from n = 10^5 on", linear, {0.7, 1.4}, linear.text() + " times linear growth");
          Range all, large, growing;
          bool  copies = false; // to a GPU and back: none where all levels are on it
          for (const SmootherRow &row : set.rows)
            if (const SmootherRow *gs = set.like(row, set.gauss_seidel); row.smoother == async && gs != nullptr && row.converged() && gs->converged())
              {
                all.add(smoother_seconds(*gs) / smoother_seconds(row));
                if (row.unknowns >= 100000)
                  large.add(smoother_seconds(*gs) / (smoother_seconds(row) + row.copy_seconds * cycles(row)));
                copies = copies || row.copy_seconds > 0.;
              }
          for (const int levels : set.levels)
            growing.add(times_as_fast(set, async, set.sizes.back(), levels) / times_as_fast(set, async, set.sizes.front(), levels));
          judge_times(report,
                      source,
                      async + ": at least three times as fast as Gauss-Seidel in all sizes and levels (so the text; the table has 2.83 to 7.01)",
                      all,
                      {3.},
                      all.text() + " times as fast");
          report.decide_times(source,
                              async +
                                ": what it gains over Gauss-Seidel rises with the size (from three to seven times; from the smallest to the largest)",
                              {1.},
                              {growing.minimum},
                              growing.text() + " times the gain of the smallest size",
                              set.sizes.size() < 2 ? "there is one size" : why_not(growing));
          report.decide_times("T Figure 4.29",
                              async + ": with the copies between host and device at least twice as fast, from n = 10^5 on",
                              {2.},
                              {large.minimum},
                              large.text() + " times as fast",
                              !why_not(large).empty() ? why_not(large)
                              : copies                ? ""
                                       : "nothing is copied, as all levels are where the smoother is: what it gains stands at T Table 4.11");
        }
      Range levels;
      for (const std::string &smoother : set.smoothers)
        for (const long long size : set.sizes)
          for (std::size_t i = 0; i + 1 < set.levels.size(); ++i)
            {
              const SmootherRow *few  = set.find(smoother, set.epsilons.back(), size, set.levels[i], set.steps.back()),
                                *more = set.find(smoother, set.epsilons.back(), size, set.levels[i + 1], set.steps.back());
              if (few != nullptr && more != nullptr && few->converged() && more->converged())
                levels.add(smoother_seconds(*more) / smoother_seconds(*few));
            }
      judge_mean_time(report,
                      source,
                      "more levels cost more time in the smoother, in the mean (printed: 1.03 to 2.13 times for one level more)",
                      levels,
                      {1.},
                      " times for the next number of levels");
    }

    /** Mean seconds to the solution by the number of smoothing steps, of those that have converged. */
    std::map<int, double> seconds_of_steps(const RowSet &set, const std::string &smoother, double epsilon)
    {
      std::map<int, double> seconds;
      for (const int steps : set.steps)
        if (const SmootherRow *row = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), steps); row != nullptr && row->converged())
          seconds[steps] = row->time_statistics().mean;
      return seconds;
    }

    /** Smoothing steps with the smallest time; 0 if there are none. */
    int best_steps(const std::map<int, double> &seconds)
    {
      int best = 0;
      for (const auto &[steps, time] : seconds)
        if (best == 0 || time < seconds.at(best))
          best = steps;
      return best;
    }

    /**
     * The smallest time of more than so many smoothing steps over that of as many or fewer; no finite number without
     * both.
     */
    double more_over_fewer(const std::map<int, double> &seconds, int steps)
    {
      double more = std::numeric_limits<double>::infinity(), fewer = more;
      for (const auto &[n, time] : seconds)
        {
          double &least = n > steps ? more : fewer;
          least         = -larger_or_nan(-least, -time);
        }
      return more / fewer;
    }

    /**
     * Whether one of them is fastest with more smoothing steps than the other: for each number of steps with which the
     * latter is fastest, or slower by no more than what decides nothing.
     */
    void judge_best_steps(Report                      &report,
                          const std::string           &source,
                          const std::string           &claim,
                          const std::map<int, double> &one,
                          const std::map<int, double> &other,
                          const std::string           &where)
    {
      std::vector<double> ratios;
      for (const auto &[steps, time] : other)
        if (time <= (1. + studies::undecided_within) * other.at(best_steps(other)))
          ratios.push_back(more_over_fewer(one, steps));
      std::string text = std::to_string(best_steps(one)) + " and " + std::to_string(best_steps(other)) + where + "; more steps take ";
      for (std::size_t i = 0; i < ratios.size(); ++i)
        text += (i > 0 ? ", " : "") + format("%.3f", ratios[i]);
      report.decide_times(source,
                          claim,
                          {-std::numeric_limits<double>::infinity(), 1.},
                          ratios,
                          text + " times as long as those or fewer",
                          ratios.empty() || one.empty() ? "the rows that it compares are missing or have not converged" : "");
    }

    void tabulate_split(const RowSet &set, Report &report)
    {
      Table table("Figure 4.30: where the time to solution goes, in milliseconds; published: bars without numbers",
                  {"epsilon", "smoother", "smoothing steps", "cycles", "in all", "smoother", "residual, transfers", "coarse solver", "copies"});
      for (const double epsilon : set.epsilons)
        for (const std::string &smoother : set.smoothers)
          for (const int steps : set.steps)
            if (const SmootherRow *row = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), steps))
              {
                const auto ms = [&](double seconds) { return cell(1e3 * seconds * cycles(*row), "%.3f"); };
                table.add_row({cell(epsilon, "%.0e"),
                               smoother,
                               cell(steps),
                               row->converged() ? cell(cycles(*row), "%.1f") : row->status,
                               cell(1e3 * row->time_statistics().mean, "%.3f"),
                               ms(row->smoother_seconds),
                               ms(row->transfer_seconds),
                               ms(row->coarse_seconds),
                               ms(row->copy_seconds)});
              }
      report.add(table);
    }

    /** Findings on the number of smoothing steps of one smoother. */
    void report_steps(const RowSet &set, const std::string &smoother, Report &report)
    {
      Range fewer, grid, share;
      for (const double epsilon : set.epsilons)
        for (std::size_t i = 0; i < set.steps.size(); ++i)
          if (const SmootherRow *row = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), set.steps[i]);
              row != nullptr && row->converged())
            {
              const double parts = row->smoother_seconds + row->transfer_seconds + row->coarse_seconds + row->copy_seconds;
              share.add((row->smoother_seconds + row->copy_seconds) / parts);
              const SmootherRow *first = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), set.steps.front());
              if (i > 0 && first != nullptr && first->converged())
                {
                  fewer.add(cycles(*row) / cycles(*first));
                  grid.add(grid_seconds(*row) / grid_seconds(*first) / (cycles(*row) / cycles(*first)));
                }
            }
      judge(report,
            "T Figure 4.30",
            smoother + ": more smoothing steps reduce the number of cycles",
            fewer,
            fewer.maximum < 1.,
            fewer.text() + " times the cycles of the fewest steps");
      judge_times(report,
                  "T Figure 4.30",
                  smoother + ": the time of residuals and transfers follows the number of cycles (to 25 percent)",
                  grid,
                  {0.75, 1.25},
                  grid.text() + " times what the cycles say");
      judge_mean_time(report,
                      "T section 4.11.2.2",
                      smoother + ": the smoother takes a high percentage of the time (half of it in the mean)",
                      share,
                      {0.5},
                      " of the time of a cycle");
    }

    void report_figure_30(const RowSet &set, Report &report)
    {
      tabulate_split(set, report);
      const bool two = set.epsilons.size() >= 2;
      for (const std::string &async : set.asyncs)
        {
          for (int part = 0; part < 2; ++part)
            {
              const double      epsilon = part == 0 ? set.epsilons.back() : set.epsilons.front();
              const auto       &printed = studies::published::best_smoothing_steps[part];
              const auto        gs = seconds_of_steps(set, set.gauss_seidel, epsilon), as = seconds_of_steps(set, async, epsilon);
              const std::string source = std::string("T Figure 4.30") + "ab"[part];
              const std::string claim  = async + ": is fastest with more smoothing steps than Gauss-Seidel (which number is best depends on the " +
                                        "machine; printed: " + std::to_string(printed.async) + " and " + std::to_string(printed.gauss_seidel) +
                                        "; condition number not printed)";
              if (part == 1 && !two)
                report.undecided(source, claim, "the rows that it compares are missing or have not converged");
              else
                judge_best_steps(report, source, claim, as, gs, ", epsilon = " + format("%g", epsilon));
            }
          Range gain;
          for (const double epsilon : set.epsilons)
            {
              const auto times_as_fast = [&](int steps) {
                const SmootherRow *gs = set.find(set.gauss_seidel, epsilon, set.sizes.back(), set.levels.back(), steps),
                                  *as = set.find(async, epsilon, set.sizes.back(), set.levels.back(), steps);
                return gs != nullptr && as != nullptr && gs->converged() && as->converged() ? gs->time_statistics().mean / as->time_statistics().mean
                                                                                            : not_known;
              };
              const double change = times_as_fast(set.steps.back()) / times_as_fast(set.steps.front());
              if (std::isfinite(change) && set.steps.size() > 1)
                gain.add(change);
            }
          judge_times(report,
                      "T Figure 4.30",
                      async + ": what it gains over Gauss-Seidel grows with the number of smoothing steps",
                      gain,
                      {1.},
                      gain.text() + " times the gain of the fewest steps");
        }
      const std::string claim = "Gauss-Seidel: larger condition numbers ask for more smoothing steps (printed: 2 and 1)";
      if (!two)
        report.undecided("T Figure 4.30", claim, "there are not two condition numbers");
      else
        judge_best_steps(report,
                         "T Figure 4.30",
                         claim,
                         seconds_of_steps(set, set.gauss_seidel, set.epsilons.front()),
                         seconds_of_steps(set, set.gauss_seidel, set.epsilons.back()),
                         "");
      for (const std::string &smoother : set.smoothers)
        report_steps(set, smoother, report);
    }
  } // namespace

  void report_thesis_findings(const std::string &published, const std::vector<SmootherRow> &rows, Report &report)
  {
    if (rows.empty())
      return;
    const RowSet set(rows);
    if (published == "Figure 4.27")
      report_figure_27(set, report);
    else if (published == "Figure 4.28")
      report_figure_28(set, report);
    else if (published == "Table 4.11")
      report_table_11(set, report);
    else if (published == "Figure 4.30")
      report_figure_30(set, report);
    else
      throw InvalidInput("published findings of '" + published + "'\n  expected: Figure 4.27, Figure 4.28, Table 4.11 or Figure 4.30");
  }
} // namespace leopard
