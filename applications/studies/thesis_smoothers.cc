// SPDX-License-Identifier: Apache-2.0
#include "thesis_smoothers.h"

#include <applications/base/log.h>
#include <applications/studies/papers/published.h>
#include <applications/studies/papers/sample_statistics.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace leopard
{
  using studies::cell;
  using studies::Report;
  using studies::Table;

  namespace
  {
    const double not_known = std::numeric_limits<double>::quiet_NaN();

    double cycles(const SmootherRow &row)
    {
      return row.cycle_statistics().mean;
    }

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

    /** The rows of a case, by what distinguishes them. */
    class RowSet
    {
    public:
      explicit RowSet(const std::vector<SmootherRow> &all)
        : rows(all)
      {
        for (const SmootherRow &row : rows)
          {
            if (row.method == "async")
              add(asyncs, row.smoother);
            else if (row.method == "gauss-seidel")
              gauss_seidel = row.smoother;
            else if (row.method == "jacobi" || row.method == "damped-jacobi")
              add(jacobis, row.smoother);
            add(smoothers, row.smoother);
            add(epsilons, row.epsilon);
            add(sizes, row.unknowns);
            add(levels, row.levels);
            add(steps, row.smoothing_steps);
          }
        std::sort(epsilons.begin(), epsilons.end());
        std::sort(sizes.begin(), sizes.end());
        std::sort(levels.begin(), levels.end());
        std::sort(steps.begin(), steps.end());
      }

      /** The row of a smoother that differs from another in nothing else; null if there is none that was run. */
      const SmootherRow *like(const SmootherRow &row, const std::string &smoother) const
      {
        return find(smoother, row.epsilon, row.unknowns, row.levels, row.smoothing_steps);
      }

      const SmootherRow *find(const std::string &smoother, double epsilon, long long size, int n_levels, int n_steps) const
      {
        for (const SmootherRow &row : rows)
          if (row.smoother == smoother && row.epsilon == epsilon && row.unknowns == size && row.levels == n_levels &&
              row.smoothing_steps == n_steps && !row.cycles.empty())
            return &row;
        return nullptr;
      }

      const std::vector<SmootherRow> &rows;
      std::string                     gauss_seidel; ///< as written; empty: there is none
      std::vector<std::string>        asyncs, jacobis, smoothers;
      std::vector<double>             epsilons;
      std::vector<long long>          sizes;
      std::vector<int>                levels, steps;

    private:
      template <typename T>
      static void add(std::vector<T> &list, const T &value)
      {
        if (std::find(list.begin(), list.end(), value) == list.end())
          list.push_back(value);
      }
    };

    /** Collects a number from pairs of rows, to judge a finding by its extremes. */
    struct Range
    {
      double minimum = std::numeric_limits<double>::infinity(), maximum = -std::numeric_limits<double>::infinity(), sum = 0.;
      int    n = 0;

      /** What is not a number makes all of them so. */
      void add(double value)
      {
        minimum = -studies::larger_or_nan(-minimum, -value);
        maximum = studies::larger_or_nan(maximum, value);
        sum += value;
        ++n;
      }
      double      mean() const { return sum / n; }
      std::string text(const char *number = "%.2f") const { return format(number, minimum) + " to " + format(number, maximum); }
    };

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
          Range all, large;
          for (const SmootherRow &row : set.rows)
            if (const SmootherRow *gs = set.like(row, set.gauss_seidel); row.smoother == async && gs != nullptr && row.converged() && gs->converged())
              {
                all.add(smoother_seconds(*gs) / smoother_seconds(row));
                if (row.unknowns >= 100000)
                  large.add(smoother_seconds(*gs) / (smoother_seconds(row) + row.copy_seconds * cycles(row)));
              }
          judge_times(report,
                      source,
                      async + ": at least three times as fast as Gauss-Seidel in all sizes and levels (printed: 2.8 to 7)",
                      all,
                      {2.8},
                      all.text() + " times as fast");
          judge_times(report,
                      "T Figure 4.29",
                      async + ": with the copies between host and device at least twice as fast, from n = 10^5 on",
                      large,
                      {2.},
                      large.text() + " times as fast");
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

    /** Smoothing steps with the smallest mean time to solution; 0 if none has converged. */
    int best_steps(const RowSet &set, const std::string &smoother, double epsilon)
    {
      int    best    = 0;
      double seconds = std::numeric_limits<double>::infinity();
      for (const int steps : set.steps)
        if (const SmootherRow *row = set.find(smoother, epsilon, set.sizes.back(), set.levels.back(), steps);
            row != nullptr && row->converged() && row->time_statistics().mean < seconds)
          {
            best    = steps;
            seconds = row->time_statistics().mean;
          }
      return best;
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
              const int         gs = best_steps(set, set.gauss_seidel, epsilon), as = best_steps(set, async, epsilon);
              const std::string source = std::string("T Figure 4.30") + "ab"[part];
              const std::string claim  = async +
                                        ": is fastest with more smoothing steps than Gauss-Seidel (printed: " + std::to_string(printed.async) +
                                        " and " + std::to_string(printed.gauss_seidel) + "; condition number not printed)";
              if (gs == 0 || as == 0 || (part == 1 && !two))
                report.undecided(source, claim, "the rows that it compares are missing or have not converged");
              else
                report.finding(source, claim, as > gs, std::to_string(as) + " and " + std::to_string(gs) + ", epsilon = " + format("%g", epsilon));
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
      const int         easy = best_steps(set, set.gauss_seidel, set.epsilons.back()), hard = best_steps(set, set.gauss_seidel, set.epsilons.front());
      const std::string claim = "Gauss-Seidel: larger condition numbers ask for more smoothing steps (printed: 1 and 2)";
      if (!two || easy == 0 || hard == 0)
        report.undecided("T Figure 4.30", claim, "there are not two condition numbers");
      else
        report.finding("T Figure 4.30", claim, hard > easy, std::to_string(easy) + " and " + std::to_string(hard));
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
