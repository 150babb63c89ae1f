// SPDX-License-Identifier: Apache-2.0
// Silent errors: an unexpected delay of convergence gives them away (thesis, section 4.5, which proposes it and
// measures nothing).
#include "fault_run.h"
#include "faults.h"
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/base/norms.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace leopard::studies
{
  namespace
  {
    constexpr int                   window     = 5;
    constexpr double                floor_of_r = 1e-12, goal = 1e-10;
    constexpr std::array<double, 6> thresholds = {0.05, 0.1, 0.25, 0.5, 1., 2.};

    constexpr int reference = 2; ///< the threshold that verdicts are about, 0.25 iterations

    struct Fault
    {
      std::string name;
      int         n_rows          = 0; ///< that change, or stop
      double      relative_change = 0.;
      int         stopped_for     = 0; ///< iterations; 0: the values change instead
    };

    struct Outcome
    {
      std::array<int, thresholds.size()> detected = {};            ///< runs
      double                             latency = 0., delay = 0.; ///< at the threshold 0.25: iterations from fault to report; to the goal
      int                                delayed = 0, delayed_and_detected = 0, reported = 0;
    };

    /** The interpolated iteration of the goal, or the length of the history. */
    double iterations_to_goal(const std::vector<double> &history)
    {
      for (std::size_t t = 1; t < history.size(); ++t)
        if (reached(history[t], goal))
          return static_cast<double>(t) - std::log(goal / history[t]) / std::log(history[t - 1] / history[t]);
      return static_cast<double>(history.size());
    }

    /** A run with a fault after so many iterations (n_iterations: none). */
    std::vector<double> history_of(FaultRun &run, int n_iterations, int at, const Fault &fault, const std::vector<int> &rows)
    {
      run.start();
      std::vector<double> history = {run.relative_residual()};
      for (int t = 0; t < n_iterations; ++t)
        {
          if (t == at && fault.stopped_for > 0)
            run.stop();
          else if (t == at)
            run.change(rows, fault.relative_change);
          if (fault.stopped_for > 0 && t == at + fault.stopped_for)
            run.recover();
          run.iterate(1);
          history.push_back(run.relative_residual());
        }
      return history;
    }

    class Detection
    {
    public:
      Detection(const Problem &problem_, const Settings &settings_, int runs_)
        : problem(problem_)
        , settings(settings_)
        , runs(runs_)
        , options(async(settings_, settings_.block_size_or(448), settings_.local_iterations_or(5)))
        , method(make_varying(problem_.A, options, settings_))
        , healthy(*method, problem_.b)
        , random(settings_.seed)
      {
        n_iterations = static_cast<int>(std::min(300., std::ceil(reach(healthy, floor_of_r, 300, false).iterations)));
        FaultRun                         run(problem, healthy, options, settings, {});
        std::vector<std::vector<double>> histories;
        histories.reserve(runs);
        for (int i = 0; i < runs; ++i)
          histories.push_back(history_of(run, n_iterations, n_iterations, {}, {}));
        calibration = calibrate(histories, window, floor_of_r);
        for (const auto &history : histories)
          expected += iterations_to_goal(history) / runs;
        for (int t = window; t <= n_iterations; ++t)
          if (!std::isnan(calibration.log_reduction[t]))
            {
              last_calibrated = t;
              spread          = std::max(spread, window * calibration.deviation[t] / std::abs(calibration.log_reduction[t]));
            }
      }

      /** Runs other than those of the calibration, in which there is nothing to report. */
      std::array<int, thresholds.size()> false_alarms()
      {
        FaultRun                           run(problem, healthy, options, settings, {});
        std::array<int, thresholds.size()> result = {};
        for (int i = 0; i < runs; ++i)
          count(history_of(run, n_iterations, n_iterations, {}, {}), 0, result);
        return result;
      }

      Outcome run(const Fault &fault)
      {
        Outcome outcome;
        for (int i = 0; i < runs; ++i)
          {
            const std::vector<int> rows = choose_rows(problem.A.n_rows, static_cast<double>(fault.n_rows) / problem.A.n_rows, random());
            // not so late that there is nothing left to observe
            const int latest = std::max(window + 1, last_calibrated - 2 * window), at = window + 1 + static_cast<int>(random() % (latest - window));
            FaultRun  one(problem, healthy, options, settings, fault.stopped_for > 0 ? rows : std::vector<int>());
            const std::vector<double> history = history_of(one, n_iterations + 40, at, fault, rows);
            count(history, at + 1, outcome.detected);
            const double delay = iterations_to_goal(history) - expected;
            const int    when  = suspected_at(calibration, history, thresholds[reference], at + 1);
            outcome.delay += delay / runs;
            outcome.latency += when >= 0 ? when - at : 0;
            outcome.reported += when >= 0;
            outcome.delayed += delay > 0.5;
            outcome.delayed_and_detected += delay > 0.5 && when >= 0;
          }
        outcome.latency = outcome.reported > 0 ? outcome.latency / outcome.reported : std::numeric_limits<double>::quiet_NaN();
        return outcome;
      }

      double expected_iterations() const { return expected; }
      /** Largest standard deviation of the delay, in iterations. */
      double      largest_spread() const { return spread; }
      std::string description() const { return method->name() + ", " + method->description(); }

    private:
      void count(const std::vector<double> &history, int from, std::array<int, thresholds.size()> &result) const
      {
        for (std::size_t i = 0; i < thresholds.size(); ++i)
          result[i] += suspected_at(calibration, history, thresholds[i], from) >= 0;
      }

      const Problem                      &problem;
      const Settings                     &settings;
      const int                           runs;
      const BlockAsyncOptions             options;
      std::unique_ptr<BlockAsync<double>> method;
      Experiment                          healthy;
      std::mt19937_64                     random;
      Calibration                         calibration;
      int                                 n_iterations = 0, last_calibrated = window;
      double                              expected = 0., spread = 0.;
    };
  } // namespace

  void judge_detection(const OfDetection &found, Report &report)
  {
    const bool all_found = found.found >= 0.95 * found.delayed;
    report.decide("T section 4.5",
                  found.matrix + ": an unexpected delay signals a silent error (threshold " + cell(thresholds[reference], "%g") +
                    " iterations: 95 percent of the errors that cost more than half an iteration found, at most 1 percent false alarms)",
                  all_found && found.false_alarms <= 0.01 * found.runs,
                  std::to_string(found.found) + " of " + std::to_string(found.delayed) + " found, " +
                    cell(100. * found.false_alarms / found.runs, "%.1f") + " percent false alarms",
                  found.runs == 0                     ? "there was no run"
                  : found.delayed == 0                ? "no run was delayed"
                  : all_found && !(found.spread > 0.) ? "all runs without a fault are equal, so that none could have raised a false alarm"
                                                      : "");
  }

  void study_detection(const Settings &settings, Report &report)
  {
    const int runs = settings.runs_or(20, 1000);
    report.say("silent errors: from " + std::to_string(runs) + " fault-free runs the residual's expected reduction over " + std::to_string(window) +
               " global iterations is known for each iteration;\na silent error is suspected where a run loses more iterations than a threshold in "
               "such a window. As many further fault-free runs give the false\nalarms, and as many runs with a fault at a random iteration the "
               "detections. Delay: to 1e-10, against the mean of the fault-free runs.");
    for (const std::string &name : settings.matrices_or({"fv1", "trefethen"}))
      {
        const Problem problem = load_problem(name, settings);
        Detection     detection(problem, settings, runs);
        report.say(detection.description() + "\n" + cell(detection.expected_iterations(), "%.1f") +
                   " iterations to 1e-10 without fault; standard deviation of the delay in a window: up to " +
                   cell(detection.largest_spread(), "%.1e") + " iterations");
        std::vector<std::string> columns = {"fault"};
        for (const double threshold : thresholds)
          columns.push_back("> " + cell(threshold, "%g") + " its (%)");
        columns.insert(columns.end(), {"mean delay (its)", "delayed by > 0.5", "of these found at 0.25", "its until found"});
        Table      table("Suspected silent errors in percent of the runs by threshold of lost iterations, " + name + " (not in the papers)", columns);
        const auto percent           = [&](int n) { return cell(100. * n / runs, "%.1f"); };
        const auto alarms            = detection.false_alarms();
        std::vector<std::string> row = {"none (false alarms)"};
        for (const int n : alarms)
          row.push_back(percent(n));
        row.insert(row.end(), {"0.0", "-", "-", "-"});
        table.add_row(row);
        int delayed = 0, found = 0;
        for (const Fault &fault : {Fault{"3 values, relative change 1e-6", 3, 1e-6, 0},
                                   Fault{"3 values, relative change 1e-3", 3, 1e-3, 0},
                                   Fault{"3 values doubled", 3, 1., 0},
                                   Fault{"3 values times 1001", 3, 1e3, 0},
                                   Fault{"1 % of the rows stop for 10 its", std::max(1, problem.A.n_rows / 100), 0., 10}})
          {
            const Outcome outcome = detection.run(fault);
            row                   = {fault.name};
            for (const int n : outcome.detected)
              row.push_back(percent(n));
            row.insert(row.end(),
                       {cell(outcome.delay, "%.2f"), cell(outcome.delayed), cell(outcome.delayed_and_detected), cell(outcome.latency, "%.1f")});
            table.add_row(row);
            delayed += outcome.delayed;
            found += outcome.delayed_and_detected;
          }
        report.add(table);
        judge_detection({name, runs, alarms[reference], delayed, found, detection.largest_spread()}, report);
      }
  }
} // namespace leopard::studies
