// SPDX-License-Identifier: Apache-2.0
// A quarter of the components stops at iteration 10 and is taken up again later, or never (thesis, section 4.5, Figure
// 4.7, Table 4.7).
#include "fault_run.h"
#include "faults.h"
#include "judges.h"
#include "published.h"
#include "sample_statistics.h"

#include <solvers/base/norms.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace leopard::studies
{
  namespace
  {
    constexpr int    failure = 10, longest = 600, shown = 120;
    constexpr double tolerance = 1e-12; ///< the accuracy of Table 4.7 is not printed
    constexpr int    never     = 1000000;
    // after how many iterations the components are taken up; 0: they never stop
    constexpr std::array<int, 5> scenarios = {0, 10, 20, 30, never};

    std::string name_of(int recovery)
    {
      return recovery == 0 ? "no failure" : recovery == never ? "no recovery" : "recover-(" + std::to_string(recovery) + ")";
    }

    struct SetUp
    {
      std::string name;
      int         block_size, local_iterations;
    };

    struct History
    {
      std::vector<double> residuals; ///< after each global iteration, the initial one first
      double              iterations = std::numeric_limits<double>::quiet_NaN(), seconds = iterations; ///< to the tolerance
      double              final_factor = std::numeric_limits<double>::quiet_NaN(); ///< over the six iterations before the tolerance is met
    };

    /** The interpolated iteration at which the residual passes the tolerance. */
    void find_crossing(History &h)
    {
      for (std::size_t t = 1; t < h.residuals.size(); ++t)
        if (reached(h.residuals[t], tolerance) && !reached(h.residuals[t - 1], tolerance))
          {
            h.iterations = static_cast<double>(t) - std::log(tolerance / h.residuals[t]) / std::log(h.residuals[t - 1] / h.residuals[t]);
            if (t > 6) // an even number, as residuals may alternate
              h.final_factor = std::pow(h.residuals[t - 1] / h.residuals[t - 7], 1. / 6.);
            return;
          }
    }

    History run_scenario(FaultRun &run, int recovery)
    {
      History h;
      run.start();
      h.residuals.push_back(run.relative_residual());
      for (int t = 0; t < longest && (t < shown || (recovery != never && !reached(h.residuals.back(), tolerance))); ++t)
        {
          if (recovery != 0 && t == failure)
            run.stop();
          if (t == failure + recovery)
            run.recover();
          run.iterate(1);
          h.residuals.push_back(run.relative_residual());
        }
      find_crossing(h);
      return h;
    }

    /** Seconds of so many iterations without tests, the middle one of three. */
    double time_scenario(FaultRun &run, int recovery, double iterations)
    {
      if (std::isnan(iterations))
        return iterations;
      const int           n = static_cast<int>(std::ceil(iterations)), before = recovery == 0 ? n : std::min(n, failure);
      const int           between = std::min(n - before, recovery);
      std::vector<double> times;
      for (int i = 0; i < 3; ++i)
        {
          run.start();
          double seconds = run.iterate(before);
          if (between > 0)
            {
              run.stop();
              seconds += run.iterate(between);
              run.recover();
            }
          if (n > before + between)
            seconds += run.iterate(n - before - between);
          times.push_back(seconds);
        }
      return median(times);
    }

    using Histories = std::array<std::vector<History>, scenarios.size()>; ///< a scenario's runs

    Histories measure(const Problem &problem, const SetUp &set_up, const Settings &settings, int runs)
    {
      const BlockAsyncOptions                   options = async(settings, set_up.block_size, set_up.local_iterations);
      const std::unique_ptr<BlockAsync<double>> method  = make_varying(problem.A, options, settings);
      Experiment                                healthy(*method, problem.b);
      Histories                                 result;
      for (int i = 0; i < runs; ++i)
        {
          FaultRun run(problem, healthy, options, settings, choose_rows(problem.A.n_rows, 0.25, settings.seed + i));
          for (std::size_t s = 0; s < scenarios.size(); ++s)
            {
              History h = run_scenario(run, scenarios[s]);
              if (scenarios[s] != never)
                h.seconds = time_scenario(run, scenarios[s], h.iterations);
              result[s].push_back(h);
            }
        }
      return result;
    }

    double mean_of(const std::vector<History> &histories, double History::*what)
    {
      double sum = 0.;
      for (const History &h : histories)
        sum += h.*what;
      return sum / static_cast<double>(histories.size());
    }

    double mean_residual(const std::vector<History> &histories, std::size_t t)
    {
      double sum = 0.;
      for (const History &h : histories)
        sum += t < h.residuals.size() ? h.residuals[t] : std::numeric_limits<double>::quiet_NaN();
      return sum / static_cast<double>(histories.size());
    }

    void tabulate_histories(const Problem &problem, const SetUp &set_up, const Histories &all, Report &report)
    {
      std::vector<std::string> columns = {"iteration"};
      for (const int recovery : scenarios)
        columns.push_back(name_of(recovery));
      Table table("Relative residual, " + problem.name + ", " + set_up.name + ", means of the runs (T Figure 4.7: curves only)", columns);
      for (int t = 0; t <= shown; t += t < 50 ? 5 : 10)
        {
          std::vector<std::string> row = {cell(t)};
          for (const auto &histories : all)
            row.push_back(cell(mean_residual(histories, t)));
          table.add_row(row);
        }
      report.add(table);
    }

    /** Extra iterations in percent. */
    std::array<double, 3> tabulate_costs(const Problem &problem, const SetUp &set_up, const Histories &all, Table &table)
    {
      const auto p = std::find_if(published::recovery.begin(), published::recovery.end(), [&](const auto &r) { return problem.name == r.matrix; });
      std::array<double, 3> result{};
      const double          iterations = mean_of(all[0], &History::iterations), seconds = mean_of(all[0], &History::seconds);
      for (int i = 0; i < 3; ++i)
        {
          const auto  &histories = all[i + 1];
          const double more      = mean_of(histories, &History::iterations) - iterations;
          result[i]              = 100. * more / iterations;
          table.add_row({problem.name,
                         set_up.name,
                         name_of(scenarios[i + 1]),
                         cell(iterations, "%.1f"),
                         cell(more, "%.1f"),
                         cell(result[i], "%.2f"),
                         cell(100. * (mean_of(histories, &History::seconds) / seconds - 1.), "%.2f"),
                         p == published::recovery.end() ? "-" : cell(p->extra_percent[i], "%.2f")});
        }
      return result;
    }

    OfRecovery recovery_of(const Problem &problem, const SetUp &set_up, const Histories &all, const std::array<double, 3> &extra)
    {
      return {problem.name,
              set_up.name,
              shown,
              mean_residual(all.back(), shown / 2),
              mean_residual(all.back(), shown),
              mean_of(all[0], &History::final_factor),
              mean_of(all[3], &History::final_factor),
              extra,
              tolerance,
              std::any_of(all[0].begin(), all[0].end(), [](const History &h) { return h.iterations <= failure; })};
    }
  } // namespace

  void judge_recovery(const OfRecovery &found, Report &report)
  {
    const std::string where   = found.matrix + ", " + found.set_up + ": ";
    const auto        why_not = [&](double value) {
      return found.was_over ? "the tolerance was met before the failure" : std::isfinite(value) ? "" : "the tolerance was not met";
    };
    report.decide("T section 4.5",
                  where + "without recovery the residual stalls far from the solution",
                  found.end > 1e-6 && found.end > 0.99 * found.half,
                  cell(found.half, "%.3e") + " after " + std::to_string(found.shown / 2) + " iterations, " + cell(found.end, "%.3e") + " after " +
                    std::to_string(found.shown),
                  std::isfinite(found.end + found.half) ? "" : "a residual is no finite number");
    const double apart = std::abs(std::log(found.late) / std::log(found.free) - 1.);
    report.decide("T section 4.5",
                  where + "after recovery the normal rate returns, ending in the same approximation (factors equal to 3 percent in the logarithm)",
                  apart < 0.03,
                  "factor " + cell(found.late, "%.4f") + " after recover-(30), " + cell(found.free, "%.4f") + " without failure",
                  why_not(apart + found.free)); // of infinity the logarithm is, too, and the quotient 0
    const auto p = std::find_if(published::recovery.begin(), published::recovery.end(), [&](const auto &r) { return found.matrix == r.matrix; });
    if (p == published::recovery.end())
      return;
    double      difference = 0.;
    std::string measured;
    for (int i = 0; i < 3; ++i)
      {
        difference = larger_or_nan(difference, std::abs(found.extra[i] - p->extra_percent[i]));
        measured += (i > 0 ? ", " : "") + cell(found.extra[i], "%.1f");
      }
    report.decide("T Table 4.7",
                  where + "recovery after 10, 20, 30 iterations costs " + cell(p->extra_percent[0], "%.1f") + ", " +
                    cell(p->extra_percent[1], "%.1f") + ", " + cell(p->extra_percent[2], "%.1f") + " percent more (to 5 points)",
                  difference < 5.,
                  measured + " percent more iterations to " + cell(found.tolerance, "%.0e"),
                  why_not(difference));
  }

  void study_faults(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"Chem97ZtZ", "fv1", "trefethen"});
    refuse_unused("faults", settings, {true}, names);
    const int runs = settings.runs_or(5, 100);
    report.say(
      "components that stop: " + machine(settings) + "; a random quarter of the components stops after " + std::to_string(failure) +
      " global iterations; means of " + std::to_string(runs) + " runs with other components" +
      std::string(settings.full || settings.runs > 0 ? "" : " (100 with --full)") +
      "\nThe accuracy of the printed costs is not printed; here a relative residual of 1e-12. Chem97ZtZ is a reconstruction."
      "\nSet-ups: async-(5) in blocks of 448 rows, which is what the journal version uses in general, and async-(6) in blocks of 112, with which"
      "\nTables 4.1 and 4.2 are reproduced.");
    std::vector<SetUp> set_ups = {{"blocks of 448, k = 5", 448, 5}, {"blocks of 112, k = 6", 112, 6}};
    if (settings.block_size > 0 || settings.local_iterations > 0)
      set_ups = {{"as wanted", settings.block_size_or(448), settings.local_iterations_or(5)}};
    Table costs("More iterations and time when a quarter of the components stops for a while (T Table 4.7, J Table 6)",
                {"matrix", "set-up", "recovery", "iterations without failure", "more", "more (%)", "more time (%)", "published time (%)"});
    for (const std::string &name : names)
      {
        const Problem problem = load_problem(name, settings);
        for (const SetUp &set_up : set_ups)
          {
            const Histories all = measure(problem, set_up, settings, runs);
            tabulate_histories(problem, set_up, all, report);
            judge_recovery(recovery_of(problem, set_up, all, tabulate_costs(problem, set_up, all, costs)), report);
          }
      }
    report.add(costs);
    study_detection(settings, report);
  }
} // namespace leopard::studies
