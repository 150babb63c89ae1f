// SPDX-License-Identifier: Apache-2.0
// What waiting costs where threads are not equally fast: host threads with other work on the same cores. GPUs: gpus.cc.
#include "busy_processes.h"
#include "imbalance_model.h"
#include "sample_statistics.h"
#include "study.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/stopwatch.h>
#include <solvers/base/usable_resources.h>
#include <solvers/block_async/host_scheduler.h>

#include <algorithm>
#include <cmath>

namespace leopard::studies
{
  namespace
  {
    constexpr double tolerance = 1e-2, least_seconds = 0.2;
    constexpr int    most_busy = 4, most_iterations = 100000;

    /** From x = 0, with a test after each `every` global iterations; what the last ones did too much is taken away. */
    Imbalance::Way solve(Experiment &experiment, int every)
    {
      experiment.start();
      const double start = now();
      double       time = 0., residual = experiment.relative_residual();
      for (int iterations = every; iterations <= most_iterations && residual < 1e6; iterations += every)
        {
          const double time_before = time, residual_before = residual;
          experiment.iterate(every);
          residual = experiment.relative_residual();
          time     = now() - start;
          if (!reached(residual, tolerance))
            continue;
          const double part = std::log(residual_before / tolerance) / std::log(residual_before / residual);
          return {time_before + part * (time - time_before), iterations - every + part * every};
        }
      throw ConvergenceFailure("the relative residual within " + std::to_string(most_iterations) + " global iterations is " + cell(residual, "%.1e") +
                               "\n  expected: a matrix for which it becomes " + cell(tolerance, "%.0e"));
    }

    /** Solves until least_seconds are over: means. */
    Imbalance::Way sample(Experiment &experiment, int every)
    {
      Imbalance::Way sum;
      int            n = 0;
      for (; n == 0 || sum.seconds < least_seconds; ++n)
        {
          const Imbalance::Way way = solve(experiment, every);
          sum.seconds += way.seconds;
          sum.iterations += way.iterations;
        }
      return {sum.seconds / n, sum.iterations / n};
    }

    Imbalance::Way medians(const std::vector<Imbalance::Way> &ways)
    {
      std::vector<double> seconds, iterations;
      for (const Imbalance::Way &way : ways)
        {
          seconds.push_back(way.seconds);
          iterations.push_back(way.iterations);
        }
      return {median(seconds), median(iterations)};
    }

    Imbalance measure(Experiment &free, Experiment &waiting, int n_busy, int n_threads, int every, int runs)
    {
      const BusyProcesses         busy(n_busy);
      std::vector<double>         slow_downs;
      std::vector<Imbalance::Way> of_free, of_waiting;
      for (int run = 0; run < runs; ++run) // in turns, so that all see the same of what else the machine does
        {
          slow_downs.push_back(1. / core_share(n_threads, least_seconds));
          of_free.push_back(sample(free, every));
          of_waiting.push_back(sample(waiting, every));
        }
      Imbalance row;
      row.n_busy    = n_busy;
      row.slow_down = median(slow_downs);
      row.free      = medians(of_free);
      row.waiting   = medians(of_waiting);
      return row;
    }

    void add_table(const std::string &title, int n_threads, const std::vector<Imbalance> &rows, Report &report)
    {
      const ImbalanceModel model(rows);
      const int            n_cores = usable_cores();
      Table                table(title,
                  {"busy processes",
                                  "fair slow-down",
                                  "slow-down seen",
                                  "without waiting (ms)",
                                  "predicted",
                                  "iterations",
                                  "with waiting (ms)",
                                  "predicted, waiting",
                                  "iterations, waiting",
                                  "waiting, an iteration (times)"});
      for (const Imbalance &row : rows)
        table.add_row({cell(row.n_busy),
                       cell(ImbalanceModel::fair_slow_down(n_threads, row.n_busy, n_cores), "%.2f"),
                       cell(row.slow_down, "%.2f"),
                       cell(1e3 * row.free.seconds, "%.2f"),
                       cell(1e3 * model.predicted_free(row.slow_down), "%.2f"),
                       cell(row.free.iterations, "%.1f"),
                       cell(1e3 * row.waiting.seconds, "%.2f"),
                       cell(1e3 * model.predicted_waiting(row.slow_down), "%.2f"),
                       cell(row.waiting.iterations, "%.1f"),
                       cell(row.waiting.seconds_an_iteration() / row.free.seconds_an_iteration(), "%.2f")});
      report.add(table);
    }

    void study_matrix(const Problem &problem, const Settings &settings, Report &report)
    {
      BlockAsyncOptions  options = async(settings, settings.block_size_or(256), settings.local_iterations_or(5));
      BlockAsync<double> chaotic(problem.A, options);
      options.schedule = Schedule::synchronous;
      BlockAsync<double> synchronous(problem.A, options);
      Experiment         free(chaotic, problem.b), waiting(synchronous, problem.b);

      const int n_threads = HostScheduler(options.blocks(problem.A.n_rows).n_blocks(), problem.A.n_rows, options.n_threads).n_threads();
      const int runs      = settings.runs_or(3, 9);
      // seldom tests, after which both wait
      const int              every = std::max(1, static_cast<int>(solve(waiting, 10).iterations / 20.));
      std::vector<Imbalance> rows;
      for (int n_busy = 0; n_busy <= most_busy; ++n_busy)
        rows.push_back(measure(free, waiting, n_busy, n_threads, every, runs));
      add_table(problem.name + ": to " + cell(tolerance, "%.0e") + " on " + std::to_string(n_threads) + " threads, medians of " +
                  std::to_string(runs) + " runs",
                n_threads,
                rows,
                report);

      const ImbalanceModel model(rows);
      const auto           wins = std::find_if(rows.begin(), rows.end(), [](const Imbalance &row) { return row.free.seconds < row.waiting.seconds; });
      report.say(problem.name + ": a global iteration takes " + cell(1e3 * model.seconds_an_iteration(), "%.3f") +
                 " ms where the threads run always; not waiting wins from a slow-down of " +
                 (wins == rows.end() ? "none that was seen" : cell(wins->slow_down, "%.2f")) + " on");
      judge_imbalance(problem.name, n_threads, rows, report);
    }
  } // namespace

  void study_imbalance(const Settings &settings, Report &report)
  {
    if (settings.schedule != "automatic" && settings.schedule != "chaotic")
      throw InvalidInput("--schedule is " + settings.schedule +
                         ", and this study compares chaotic with synchronous\n  expected: automatic or chaotic");
    if (settings.backend == "cuda")
      return study_imbalance_of_gpus(settings, report);
    const std::vector<std::string> names   = settings.matrices_or({"five-point-256", "five-point-512"});
    Settings                       on_host = settings;
    on_host.backend                        = "host";
    refuse_unused("imbalance", on_host, {}, names);
    report.say("imbalance: " + machine(on_host) + ", beside 0 to " + std::to_string(most_busy) + " busy processes" +
               "\n(no numbers were published; without waiting: the schedule chaotic, with: synchronous, where all wait after each global iteration;"
               "\na fair slow-down is threads and busy processes over cores, that seen is of threads that do nothing but read the clock)");
    for (const std::string &name : names)
      study_matrix(load_problem(name, settings), on_host, report);
  }
} // namespace leopard::studies
