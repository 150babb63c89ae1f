// SPDX-License-Identifier: Apache-2.0
// What local iterations cost (thesis, section 4.4.2, Table 4.5).
#include "judges.h"
#include "published.h"
#include "sample_statistics.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>

#include <array>
#include <cmath>
#include <limits>

namespace leopard::studies
{
  namespace
  {
    constexpr int                n_k    = 9;
    constexpr std::array<int, 5> counts = {100, 200, 300, 400, 500};
    using Seconds                       = std::array<std::array<double, counts.size()>, n_k>;

    /** Start-up, transfers and iterations, as there. */
    double total_seconds(const Problem &problem, const BlockAsyncOptions &options, int n_iterations)
    {
      const double       start = now();
      BlockAsync<double> method(problem.A, options);
      Experiment         experiment(method, problem.b);
      experiment.iterate(n_iterations);
      const std::vector<double> x = experiment.x();
      return now() - start;
    }

    double percent_over(double value, double reference)
    {
      return 100. * (value / reference - 1.);
    }

    double slope(const std::array<double, counts.size()> &seconds)
    {
      return (seconds.back() - seconds.front()) / (counts.back() - counts.front());
    }

    void tabulate(const Problem &problem, const Seconds &seconds, const Seconds &published, Report &report)
    {
      std::vector<std::string> columns = {"k"};
      for (const int n : counts)
        columns.insert(columns.end(), {std::to_string(n) + " its (s)", "published"});
      Table times("Total time, " + problem.name + " (T Table 4.5)", columns);
      columns = {"k"};
      for (const int n : counts)
        columns.insert(columns.end(), {std::to_string(n) + " its (%)", "published"});
      columns.insert(columns.end(), {"us an iteration", "over k = 1 (%)", "published"});
      Table overheads("More time than k = 1 takes, " + problem.name + " (from T Table 4.5)", columns);
      for (int k = 0; k < n_k; ++k)
        {
          std::vector<std::string> row = {cell(k + 1)}, overhead = row;
          for (std::size_t i = 0; i < counts.size(); ++i)
            {
              row.insert(row.end(), {cell(seconds[k][i], "%.6f"), cell(published[k][i], "%.6f")});
              overhead.insert(
                overhead.end(),
                {cell(percent_over(seconds[k][i], seconds[0][i]), "%.1f"), cell(percent_over(published[k][i], published[0][i]), "%.1f")});
            }
          overhead.insert(overhead.end(),
                          {cell(1e6 * slope(seconds[k]), "%.2f"),
                           cell(percent_over(slope(seconds[k]), slope(seconds[0])), "%.1f"),
                           cell(percent_over(slope(published[k]), slope(published[0])), "%.1f")});
          times.add_row(row);
          overheads.add_row(overhead);
        }
      report.add(times);
      report.add(overheads);
    }

    /** Residual reduction an iteration, well after the start. */
    double factor(const Problem &problem, const BlockAsyncOptions &options, int n)
    {
      BlockAsync<double> method(problem.A, options);
      Experiment         experiment(method, problem.b);
      experiment.iterate(n);
      const double before = experiment.relative_residual();
      experiment.iterate(n);
      return std::pow(experiment.relative_residual() / before, 1. / n);
    }
  } // namespace

  void judge_local_iterations(const LocalIterations &found, Report &report)
  {
    const auto more = [](double ratio) { return cell(100. * (ratio - 1.), "%.1f") + " percent"; };
    report.decide_times("T Table 4.5",
                        "the second local iteration costs less than 5 percent (500 global iterations)",
                        {-INFINITY, 1.05},
                        {found.second},
                        more(found.second));
    report.decide_times("T section 4.4.2, Table 4.5",
                        "nine local iterations cost less than 35 percent more than one (printed: 36.5 for 500 global iterations)",
                        {-INFINITY, 1.366},
                        {found.ninth},
                        more(found.ninth));
    const double fewer  = std::log(found.factor_five) / std::log(found.factor_one);
    const bool   timed  = found.seconds_one > 0. && found.seconds_five > 0.; // else the start's time varies by more than iterations take
    const double faster = timed ? fewer * found.seconds_one / found.seconds_five : std::numeric_limits<double>::quiet_NaN();
    report.finding("T section 4.4.2",
                   "async-(5) needs at most 4 times fewer global iterations than async-(1)",
                   fewer > 0. && fewer < 4.05,
                   cell(fewer, "%.2f") + " times fewer (factors " + cell(found.factor_five, "%.5f") + " and " + cell(found.factor_one, "%.5f") + ")");
    report.decide_times("T section 4.4.2",
                        "local iterations pay: async-(5) is faster than async-(1) in time too",
                        {1.},
                        {faster},
                        cell(faster, "%.2f") + " times as fast",
                        timed ? "" : "start and transfers vary by more than the iterations take");
  }

  void study_local_iterations(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"fv3"});
    if (names.size() != 1)
      throw InvalidInput("--matrix has " + std::to_string(names.size()) + " names, and local-iterations is of one matrix\n  expected: one name");
    refuse_unused("local-iterations", settings, {}, names);
    const int     runs    = settings.runs_or(5, 20);
    const Problem problem = load_problem(names.front(), settings);
    const int     rows    = settings.block_size_or(512);
    const auto    options = [&](int k) { return async(settings, rows, k); };
    report.say("cost of local iterations: " + machine(settings) + ", " + problem.name + ", blocks of " + std::to_string(rows) +
               " rows (printed: none beside the table; 512 in general), medians of " + std::to_string(runs) +
               "; times hold start-up, conversion and transfers");
    {
      BlockAsync<double> method(problem.A, options(5));
      report.say(method.description());
    }
    std::vector<std::vector<double>> samples(n_k * counts.size());
    total_seconds(problem, options(1), counts[0]); // warms up
    for (int run = 0; run < runs; ++run)           // in turns, so that a disturbance meets all
      for (int k = 0; k < n_k; ++k)
        for (std::size_t i = 0; i < counts.size(); ++i)
          samples[k * counts.size() + i].push_back(total_seconds(problem, options(k + 1), counts[i]));
    Seconds seconds, published = published::seconds_of_local_iterations;
    if (problem.name != "fv3")
      for (auto &row : published)
        row.fill(std::numeric_limits<double>::quiet_NaN());
    for (int k = 0; k < n_k; ++k)
      for (std::size_t i = 0; i < counts.size(); ++i)
        seconds[k][i] = median(samples[k * counts.size() + i]);
    tabulate(problem, seconds, published, report);

    judge_local_iterations({seconds[1].back() / seconds[0].back(),
                            seconds[8].back() / seconds[0].back(),
                            factor(problem, options(1), 500),
                            factor(problem, options(5), 500),
                            slope(seconds[0]),
                            slope(seconds[4])},
                           report);
  }
} // namespace leopard::studies
