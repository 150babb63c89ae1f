// SPDX-License-Identifier: Apache-2.0
// How much the residuals of runs differ (thesis, section 4.3, Tables 4.1 to 4.4).
#include "variation.h"
#include "published.h"
#include "sample_statistics.h"
#include "study.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard::studies
{
  namespace
  {
    constexpr double rounding = 1e-12; ///< means below are not used in verdicts
    const double     unknown  = std::numeric_limits<double>::quiet_NaN();

    /** Those matrices have much of their weight outside the diagonal blocks. */
    bool is_trefethen(const std::string &name)
    {
      return name.rfind("trefethen", 0) == 0;
    }

    struct SetUp
    {
      std::string name;
      int         block_size, local_iterations;
    };

    struct Measured
    {
      std::vector<int>        iterations;
      std::vector<Statistics> statistics;  ///< one a sample point
      std::vector<double>     synchronous; ///< the residual of the synchronous schedule
      std::string             schedule;

      /** Residual reduction an iteration, between the first sample and the last above rounding. */
      double factor() const
      {
        const std::size_t last = last_above_rounding();
        return last == 0 ? unknown : std::pow(statistics[last].mean / statistics[0].mean, 1. / (iterations[last] - iterations[0]));
      }

      std::size_t last_above_rounding() const
      {
        std::size_t last = 0;
        for (std::size_t i = 0; i < statistics.size(); ++i)
          if (statistics[i].mean > rounding)
            last = i;
        return last;
      }

      double largest_relative_variation() const
      {
        double result = 0.;
        for (std::size_t i = 0; i <= last_above_rounding(); ++i)
          result = larger_or_nan(result, statistics[i].relative_variation);
        return result;
      }
    };

    /** What decides. */
    Varied varied(const std::string &matrix, const SetUp &set_up, const Measured &m)
    {
      const std::size_t last = m.last_above_rounding();
      Varied            result{m.factor(),
                    std::pow(m.synchronous[last] / m.synchronous[0], 1. / std::max(1, m.iterations[last] - m.iterations[0])),
                    m.largest_relative_variation(),
                    m.statistics[0].relative_variation,
                    m.statistics[last].relative_variation,
                    m.schedule,
                    {}};
      if (matrix == "trefethen" && set_up.block_size == 112 && set_up.local_iterations == 6)
        result.synchronous.assign(m.synchronous.begin(), m.synchronous.begin() + 4);
      return result;
    }

    Measured measure(const Problem &problem, const SetUp &set_up, int runs, const Settings &settings)
    {
      const bool dominant = is_trefethen(problem.name);
      Measured   result;
      for (int n = dominant ? 5 : 10; n <= (dominant ? 50 : 150); n += dominant ? 5 : 10)
        result.iterations.push_back(n);

      BlockAsyncOptions options = async(settings, set_up.block_size, set_up.local_iterations);
      if (settings.execution == "automatic")
        options.execution = Execution::launch; // a launch a global iteration, as there
      const std::unique_ptr<BlockAsync<double>> method = make_varying(problem.A, options, settings);
      result.schedule                                  = method->name() + ", " + method->description();
      Experiment                       experiment(*method, problem.b);
      std::vector<std::vector<double>> samples(result.iterations.size());
      for (int run = 0; run < runs; ++run)
        {
          experiment.start();
          for (std::size_t i = 0; i < result.iterations.size(); ++i)
            {
              experiment.iterate(result.iterations[i] - (i > 0 ? result.iterations[i - 1] : 0));
              samples[i].push_back(experiment.relative_residual());
            }
        }
      for (const auto &sample : samples)
        result.statistics.push_back(statistics(sample));

      options.schedule  = Schedule::synchronous;
      options.execution = Execution::automatic;
      BlockAsync<double> synchronous(problem.A, options);
      Experiment         reference(synchronous, problem.b);
      for (std::size_t i = 0; i < result.iterations.size(); ++i)
        {
          reference.iterate(result.iterations[i] - (i > 0 ? result.iterations[i - 1] : 0));
          result.synchronous.push_back(reference.relative_residual());
        }
      return result;
    }

    void tabulate(const Problem &problem, const SetUp &set_up, const Measured &measured, Report &report)
    {
      const std::string what = problem.name + ", " + set_up.name + ": blocks of " + std::to_string(set_up.block_size) + " rows, " +
                               std::to_string(set_up.local_iterations) + " local iterations";
      Table       residuals("Relative residual, " + what + " (T Tables 4.1, 4.2)",
                      {"iteration", "mean", "published", "max", "published", "min", "published", "synchronous"});
      Table       spreads("Variation, " + what + " (T Tables 4.1 to 4.4)",
                    {"iteration",
                           "absolute",
                           "published",
                           "relative",
                           "published",
                           "variance",
                           "published",
                           "std deviation",
                           "published",
                           "std error",
                           "published"});
      const auto &all = published::variation(problem.name);
      for (std::size_t i = 0; i < measured.iterations.size(); ++i)
        {
          const published::Variation p =
            i < all.size() ? all[i] : published::Variation{0, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown};
          const Statistics &s = measured.statistics[i];
          residuals.add_row({cell(measured.iterations[i]),
                             cell(s.mean),
                             cell(p.mean),
                             cell(s.maximum),
                             cell(p.maximum),
                             cell(s.minimum),
                             cell(p.minimum),
                             cell(measured.synchronous[i])});
          spreads.add_row({cell(measured.iterations[i]),
                           cell(s.absolute_variation),
                           cell(p.absolute_variation),
                           cell(s.relative_variation),
                           cell(p.relative_variation),
                           cell(s.variance),
                           cell(p.variance),
                           cell(s.standard_deviation),
                           cell(p.standard_deviation),
                           cell(s.standard_error),
                           cell(p.standard_error)});
        }
      report.say("schedule: " + measured.schedule);
      report.add(residuals);
      report.add(spreads);
    }
  } // namespace

  void judge_variation(const std::string &matrix, const std::string &set_up, const Varied &found, Report &report)
  {
    const auto &p = published::variation(matrix);
    if (p.empty())
      return;
    const std::string           where = matrix + ", " + set_up;
    const published::Variation &late  = matrix == "fv1" ? p[9] : p[4];
    const double                due   = std::pow(late.mean / p[0].mean, 1. / (late.iteration - p[0].iteration));
    report.finding("T Tables 4.1, 4.2",
                   where + ": a global iteration reduces the residual by " + cell(due, "%.4f") + " (to 2 percent)",
                   std::abs(found.factor / due - 1.) < 0.02,
                   cell(found.factor, "%.4f") + ", synchronous schedule " + cell(found.synchronous_factor, "%.4f"));
    const std::string equal = found.largest != 0. ? "" : "no variation on this machine: all runs are equal (" + found.schedule + ")";
    if (matrix == "fv1")
      return report.decide("T Table 4.1",
                           where + ": before rounding takes over, runs differ by less than 1e-3 of the mean (printed: up to 6.9e-4)",
                           found.largest < 1e-3,
                           "up to " + cell(found.largest, "%.2e"),
                           equal);
    report.decide("T Table 4.2",
                  where + ": the runs' spread grows from 10 percent of the mean to 20 percent (each within a factor of 2)",
                  found.first > 0.05 && found.first < 0.2 && found.last > 0.1 && found.last < 0.4 && found.last > found.first,
                  "from " + cell(100. * found.first, "%.3g") + " to " + cell(100. * found.last, "%.3g") + " percent",
                  equal);
    if (found.synchronous.empty())
      return;
    double deviation = 0.;
    for (std::size_t i = 0; i < found.synchronous.size(); ++i)
      deviation = larger_or_nan(deviation, std::abs(found.synchronous[i] / p.at(i).maximum - 1.));
    report.finding("reconstruction of T Table 4.2",
                   where + ": the printed maxima at 5 to 20 iterations are the residuals of the synchronous schedule (to 1e-4)",
                   deviation < 1e-4,
                   "largest relative difference " + cell(deviation, "%.1e"));
  }

  void judge_spreads(const std::string &set_up, const Spread &weak, const Spread &strong, Report &report)
  {
    const std::string measured = "up to " + cell(strong.relative, "%.2e") + " and " + cell(weak.relative, "%.2e") + " of the mean";
    const bool        vary     = std::max(strong.relative, weak.relative) > 0.,
               near            = strong.relative < 2. * weak.relative && weak.relative < 2. * strong.relative;
    report.decide("T section 4.3",
                  set_up + ": weight outside the diagonal blocks makes runs differ: " + strong.matrix + " varies more than " + weak.matrix,
                  strong.relative > weak.relative,
                  measured,
                  !vary  ? "no variation on this machine: all runs are equal"
                  : near ? measured + ", which is within a factor of 2"
                         : "");
  }

  void study_variation(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"fv1", "trefethen"});
    refuse_unused("variation", settings, {may_replay(settings)}, names);
    const int runs = settings.runs_or(100, 1000);
    report.say("variation over runs: " + machine(settings) + ", " + std::to_string(runs) + " runs (printed: 1000), b = 1, x = 0" +
               (runs < 1000 ? "; fewer runs than printed, all of them with --full or --runs 1000" : ""));
    report.say(
      "The residual is computed between two global iterations, each time after all blocks have finished: they wait for each other there only.");
    std::vector<SetUp> set_ups = {{"as printed", 128, 5}, {"as reconstructed", 112, 6}};
    if (settings.block_size > 0 || settings.local_iterations > 0)
      set_ups = {{"as wanted", settings.block_size_or(128), settings.local_iterations_or(5)}};
    // by set-up; weak: what is weak outside the diagonal blocks, the others are the Trefethen matrices
    std::vector<Spread> weak, strong;
    for (const std::string &name : names)
      {
        const Problem problem = load_problem(name, settings);
        for (const SetUp &set_up : set_ups)
          {
            const Measured measured = measure(problem, set_up, runs, settings);
            tabulate(problem, set_up, measured, report);
            judge_variation(name, set_up.name, varied(name, set_up, measured), report);
            (is_trefethen(name) ? strong : weak).push_back({name, measured.largest_relative_variation()});
          }
      }
    for (std::size_t i = 0; i < std::min(weak.size(), strong.size()); ++i)
      judge_spreads(set_ups[i % set_ups.size()].name, weak[i], strong[i], report);
  }
} // namespace leopard::studies
