// SPDX-License-Identifier: Apache-2.0
// Iterative refinement with async-(5) (thesis, section 4.12, Figures 4.31 to 4.33; R, Figures 4 to 6), and
// block-asynchronous refinement (section 4.13, Figures 4.34 to 4.37).
#include "published.h"
#include "refinement_judge.h"
#include "refinement_runs.h"
#include "sample_statistics.h"
#include "study.h"

#include <solvers/base/norms.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace leopard::studies
{
  namespace
  {
    constexpr int wanted_digits = 12; ///< of the residual

    /** The one with the median, of curves of a run each. */
    Curve of_runs(std::vector<Curve> runs)
    {
      std::sort(runs.begin(), runs.end(), [](const Curve &a, const Curve &b) { return a.needed[0] < b.needed[0]; });
      Curve result = runs[runs.size() / 2];
      result.needed.clear();
      result.seconds.clear();
      for (const Curve &run : runs)
        {
          result.converged        = result.converged && run.converged;
          result.most_corrections = std::max(result.most_corrections, run.n_corrections);
          result.needed.push_back(run.needed[0]);
          result.seconds.push_back(run.seconds[0]);
        }
      return result;
    }

    struct Task
    {
      const Problem  &problem;
      const Settings &settings;
      double          tolerance;
      int             most, runs; ///< iterations at most; runs whose median is the time
    };

    /** What does a run of a solver; from x = 0, each time. */
    using Solver = std::function<Curve()>;

    Solver relax(const Task &task, const std::string &name, const BlockAsyncOptions &options)
    {
      const auto method     = std::make_shared<BlockAsync<double>>(task.problem.A, options);
      const auto experiment = std::make_shared<Experiment>(*method, task.problem.b);
      return [&task, name, method, experiment] {
        const Reached reached = reach(*experiment, task.tolerance, task.most, false);
        Curve         curve{name, reached.converged, {reached.at.begin(), reached.at.end()}, reached.residuals};
        curve.needed = {curve.iterations_to(task.tolerance)};
        experiment->start();
        const double start = now();
        if (reached.converged)
          experiment->iterate(reached.at.back()); // without tests
        curve.seconds = {now() - start};
        return curve;
      };
    }

    template <typename Number>
    Solver refine(const Task &task, const std::string &name, const BlockAsyncOptions &options)
    {
      RefinementOptions how;
      how.tolerance                                        = task.tolerance;
      how.max_iterations                                   = task.most;
      const std::shared_ptr<Refinement<Number>> refinement = make_refinement_with_async<Number>(task.problem.A, options, how);
      return [&task, name, refinement] {
        double                 seconds = 0.;
        const RefinementResult found   = solve_by(*refinement, task.problem.b, seconds);
        Curve                  curve{name, found.converged(), {0.}};
        for (const double residual : found.history)
          curve.residuals.push_back(residual / found.history.front()); // x = 0: the first one is b
        for (const int n : found.inner_iterations)
          curve.at.push_back(curve.at.back() + n);
        curve.at.resize(curve.residuals.size(), curve.at.back()); // a correction may have been taken back
        curve.n_corrections = found.n_corrections;
        curve.n_predicted   = found.predicted;
        curve.needed        = {curve.iterations_to(task.tolerance)};
        curve.seconds       = {seconds};
        return curve;
      };
    }

    Curves measure(const Task &task)
    {
      const int               rows  = task.settings.block_size_or(512);
      const BlockAsyncOptions inner = async(task.settings, rows, task.settings.local_iterations_or(5));
      const auto              block = [&](Corrections corrections) {
        BlockAsyncOptions options = async(task.settings, rows, 15);
        options.corrections       = corrections;
        return options;
      };
      const std::array<Solver, 5>       solvers = {relax(task, "async", inner),
                                                   refine<double>(task, "refinement, double", inner),
                                                   refine<float>(task, "refinement, mixed", inner),
                                                   relax(task, "block-asynchronous, double", block(Corrections::working_precision)),
                                                   relax(task, "block-asynchronous, mixed", block(Corrections::single_precision))};
      std::array<std::vector<Curve>, 5> runs;
      for (int run = 0; run < task.runs; ++run) // in turns, so that a disturbance meets all
        for (std::size_t i = 0; i < solvers.size(); ++i)
          if (run == 0 || runs[i].back().converged)
            runs[i].push_back(solvers[i]());
      return {of_runs(runs[0]), of_runs(runs[1]), of_runs(runs[2]), of_runs(runs[3]), of_runs(runs[4])};
    }

    void tabulate(const Task &task, const Curves &curves, Report &report)
    {
      const std::string          &name    = task.problem.name;
      const published::Refinement printed = published::refinement(name);
      Table                       table("To a relative residual of " + cell(task.tolerance, "%.0e") + ", " + name,
                  {"solver",
                                         "global iterations",
                                         "corrections",
                                         "predicted (eq. 2.10)",
                                         "more (g)",
                                         "time (ms)",
                                         "against async",
                                         "ends at",
                                         "axis (its)",
                                         "axis (s)",
                                         "eps_inner",
                                         "due with it (eq. 2.10)"});
      for (const Curve *c : curves.all())
        {
          const bool is_refinement = c->n_corrections > 0, is_block = c == &curves.block_double || c == &curves.block_mixed;
          table.add_row({c->name,
                         c->converged ? cell(c->iterations_to(task.tolerance), "%.1f") : "> " + cell(c->iterations(), "%.0f"),
                         is_refinement ? cell(c->n_corrections) : "-",
                         is_refinement ? cell(c->n_predicted) : "-",
                         is_refinement ? cell(c->n_corrections - c->n_predicted) : "-",
                         cell(1e3 * c->time(), "%.3f"),
                         cell(c->time() / curves.plain.time(), "%.2f"),
                         cell(c->residuals.back(), "%.1e"),
                         is_block ? cell(printed.axis_iterations, "%.0f") : "-",
                         is_block ? cell(printed.axis_seconds, "%.2f") : "-",
                         cell(c->inner_accuracy(), "%.1e"),
                         c->n_corrections > 1 ? cell(corrections_for(task.tolerance, c->inner_accuracy())) : "-"});
        }
      report.add(table);
      std::vector<std::string> columns = {"residual"};
      for (const Curve *c : curves.all())
        columns.insert(columns.end(), {c->name + ": its", "ms"});
      Table levels("Iterations and time to a relative residual, " + name + " (T Figures 4.31, 4.32, 4.34 to 4.37: curves, no numbers printed)",
                   columns);
      for (int digits = 2; digits <= wanted_digits; digits += 2)
        {
          const double             level = std::pow(10., -digits);
          std::vector<std::string> row   = {cell(level, "%.0e")};
          for (const Curve *c : curves.all())
            {
              const double n = c->iterations_to(level);
              row.insert(row.end(), {std::isfinite(n) ? cell(n, "%.1f") : "-", std::isfinite(n) ? cell(1e3 * c->time_to(level), "%.3f") : "-"});
            }
          levels.add_row(row);
        }
      report.add(levels);
    }
  } // namespace

  void study_refinement(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"Chem97ZtZ", "fv1", "fv3", "trefethen"});
    refuse_unused("refinement", settings, {}, names);
    const int runs = settings.runs_or(3, 10);
    report.say(
      "refinement: " + machine(settings) + ", blocks of " + std::to_string(settings.block_size_or(512)) +
      " rows; inner solver and plain solver async-(" + std::to_string(settings.local_iterations_or(5)) +
      "), block-asynchronous refinement with 15 local iterations and one correction loop; times and iterations are medians of " +
      std::to_string(runs) +
      " runs, times without set-up\n(tolerance of the figures: not readable, their axes end near 1e-15; here 1e-12. Chem97ZtZ is a reconstruction. "
      "Figure 4.33 compares a "
      "C1060, a GTX280 and a GTX580 with a C2070: those are not here)");
    for (const std::string &name : names)
      {
        const Problem problem = load_problem(name, settings);
        const Task    task{problem, settings, std::pow(10., -wanted_digits), 100000, runs};
        const Curves  curves = measure(task);
        tabulate(task, curves, report);
        judge_refinement(name, task.tolerance, curves, report);
      }
  }
} // namespace leopard::studies
