// SPDX-License-Identifier: Apache-2.0
// The a-priori choice of the precision, an open question of the refinement paper (R, section 5), beside the times of
// what it chooses from.
#include "refinement_judge.h"
#include "refinement_runs.h"
#include "sample_statistics.h"
#include "study.h"

#include <solvers/refinement/precision_choice.h>

#include <cmath>
#include <functional>
#include <optional>

namespace leopard::studies
{
  namespace
  {
    constexpr double tolerance = 1e-10;
    constexpr double patience  = 20.; ///< seconds of a solve; what takes longer counts as not converging

    /** Seconds to the tolerance, and none where it is not reached. */
    std::optional<double> plain(Experiment &experiment)
    {
      StoppingCriteria criteria;
      criteria.relative_tolerance = tolerance;
      criteria.max_iterations     = 1000000;
      criteria.max_seconds        = patience;
      const SolveResult result    = experiment.solve(criteria);
      return result.status == SolveStatus::converged ? std::optional(result.seconds) : std::nullopt;
    }

    template <typename Number>
    std::optional<double> refined(Refinement<Number> &refinement, const std::vector<double> &b)
    {
      double                 seconds = 0.;
      const RefinementResult result  = solve_by(refinement, b, seconds);
      return result.converged() ? std::optional(seconds) : std::nullopt;
    }

    /** All three in turns, so that a disturbance meets them all; what fails once is not tried again. */
    PrecisionChoice measure(const Problem &problem, const BlockAsyncOptions &options, bool is_mixed, int runs)
    {
      BlockAsync<double> method(problem.A, options);
      Experiment         experiment(method, problem.b);
      double             deadline = 0.;
      RefinementOptions  how;
      how.tolerance        = tolerance;
      how.max_iterations   = 1000000;
      how.asked_to_stop    = [&] { return now() > deadline; };
      const auto in_single = make_refinement_with_async<float>(problem.A, options, how);
      const auto in_double = make_refinement_with_async<double>(problem.A, options, how);

      PrecisionChoice result{problem.name, is_mixed, {}, {}};
      struct Way
      {
        std::vector<double>                   &samples;
        std::function<std::optional<double>()> solve;
        bool                                   goes = true;
      };
      Way ways[] = {{result.in_double, [&] { return plain(experiment); }},
                    {result.mixed, [&] { return refined(*in_single, problem.b); }},
                    {result.refined, [&] { return refined(*in_double, problem.b); }}};
      for (int run = 0; run < runs; ++run)
        for (Way &way : ways)
          if (way.goes)
            {
              deadline           = now() + patience;
              const auto seconds = way.solve();
              way.goes           = seconds.has_value();
              if (seconds)
                way.samples.push_back(*seconds);
              else
                way.samples.clear();
            }
      return result;
    }
  } // namespace

  void study_precision(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"Chem97ZtZ",
                                                                 "fv1",
                                                                 "fv3",
                                                                 "trefethen",
                                                                 "trefethen-20000",
                                                                 "trefethen-200000",
                                                                 "five-point-60",
                                                                 "five-point-100",
                                                                 "five-point-200",
                                                                 "seven-point-16",
                                                                 "seven-point-30",
                                                                 "seven-point-50",
                                                                 "circuit-30",
                                                                 "circuit-60",
                                                                 "random-2000",
                                                                 "random-50000",
                                                                 "random-500000",
                                                                 "elasticity-10"});
    refuse_unused("precision", settings, {}, names);
    const int                    runs    = settings.runs_or(11, 21);
    const BlockAsyncOptions      options = async(settings, settings.block_size_or(512), settings.local_iterations_or(5));
    std::vector<PrecisionChoice> choices;
    report.say("precision: " + machine(settings) + ", async-(" + std::to_string(options.local_iterations) + ") in blocks of " +
               std::to_string(options.block_size) + " rows to a relative residual of " + cell(tolerance, "%.0e") +
               ", in double (tested every ten "
               "iterations) and as the inner solver of a refinement in single and in double precision; medians of " +
               std::to_string(runs) + " runs in turns, without set-up, of " + cell(patience, "%.0f") + " s at most");
    Table table("A-priori choice of the precision (R, section 5: an open question): what leopard-solve --precision automatic takes, and times",
                {"matrix",
                 "rows",
                 "double (ms): predicted",
                 "measured",
                 "mixed (ms): predicted",
                 "measured",
                 "mixed against double: predicted",
                 "measured",
                 "refinement in double (ms): predicted",
                 "measured",
                 "choice",
                 "right",
                 "why"});
    for (const std::string &name : names)
      {
        const Problem            problem   = load_problem(name, settings);
        const PredictedPrecision predicted = predict_precision(problem.A, options, tolerance);
        const PrecisionChoice   &choice    = choices.emplace_back(measure(problem, options, predicted.is_mixed(), runs));
        const auto               number    = [](double value, const char *format) { return std::isfinite(value) ? cell(value, format) : "-"; };
        const auto               time      = [](const std::vector<double> &seconds) { return seconds.empty() ? HUGE_VAL : median(seconds); };
        table.add_row({name,
                       cell(problem.A.n_rows),
                       number(1e3 * predicted.seconds_double, "%.3g"),
                       number(1e3 * time(choice.in_double), "%.3g"),
                       number(1e3 * predicted.seconds_mixed, "%.3g"),
                       number(1e3 * time(choice.mixed), "%.3g"),
                       number(predicted.seconds_mixed / predicted.seconds_double, "%.2f"),
                       number(time(choice.mixed) / time(choice.in_double), "%.2f"),
                       number(1e3 * predicted.seconds_refined, "%.3g"),
                       number(1e3 * time(choice.refined), "%.3g"),
                       choice.is_mixed ? "mixed" : "double",
                       to_string(verdict_of(choice)),
                       predicted.reason});
      }
    report.add(table);
    judge_choices(choices, report);
  }
} // namespace leopard::studies
