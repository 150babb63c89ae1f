// SPDX-License-Identifier: Apache-2.0
// The classes of two-stage iterations (thesis, section 3.3, Table 3.1), of which nothing was measured.
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/matrix/analysis.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace leopard::studies
{
  namespace
  {
    /** A line of Table 3.1. */
    struct Class
    {
      TwoStage    kind;
      const char *inner, *outer, *values, *of_baudet; ///< the last with one local iteration (preprint, Table I)
    };

    constexpr Class classes[] = {{TwoStage::synchronous, "sync.", "sync.", "beginning of iter.", ""},
                                 {TwoStage::inner, "async.", "sync.", "beginning of iter.", ""},
                                 {TwoStage::block, "sync.", "async.", "beginning of iter.", "AJ"},
                                 {TwoStage::outer, "async.", "async.", "beginning of iter.", "AGS"},
                                 {TwoStage::total, "async.", "async.", "latest available", "PA"}};

    BlockAsyncOptions of_class(const Settings &settings, TwoStage kind, int block_size, int k)
    {
      BlockAsyncOptions options = async(settings, block_size, k);
      options.execution         = Execution::launch; // on a GPU all classes have that one
      options.two_stage         = kind;
      if (kind == TwoStage::synchronous || kind == TwoStage::inner)
        options.schedule = Schedule::synchronous;
      return options;
    }

    /** What the runs of a class have in common. */
    struct Measured
    {
      double iterations = 0., factor = 0., seconds = 0.; ///< medians; infinite where a run does not converge
    };

    Measured measure(const Problem &problem, const BlockAsyncOptions &options, double tolerance, int runs)
    {
      BlockAsync<double>  method(problem.A, options);
      Experiment          experiment(method, problem.b);
      std::vector<double> iterations, factors, seconds;
      for (int run = 0; run < runs; ++run)
        {
          const Reached r = reach(experiment, tolerance, 50000);
          iterations.push_back(r.iterations_needed());
          factors.push_back(r.factor);
          seconds.push_back(r.converged ? r.seconds : INFINITY);
        }
      return {median(iterations), median(factors), median(seconds)};
    }

    bool has_no_negative_coupling(const CrsMatrix<double> &A)
    {
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i && A.values[p] > 0.)
            return false;
      return true;
    }

    /** x after some iterations with a row a block and one local iteration, seeded. */
    std::vector<double> of_single_rows(const Problem &problem, const Settings &settings, TwoStage kind)
    {
      BlockAsyncOptions options = of_class(settings, kind, 1, 1);
      options.backend           = Backend::reference;
      if (options.schedule == Schedule::chaotic)
        options.schedule = Schedule::replay;
      BlockAsync<double> method(problem.A, options);
      Experiment         experiment(method, problem.b);
      experiment.start();
      experiment.iterate(5);
      return experiment.x();
    }

    /** @param settings with the backend host or cuda. */
    void study_backend(const Problem &problem, const Settings &settings, int block_size, double radius_abs, Report &report)
    {
      const int         k = settings.local_iterations_or(5), runs = settings.runs_or(3, 10);
      const double      tolerance = problem.name == "fv3" && !settings.full ? 1e-4 : 1e-8;
      const std::string where     = problem.name + (settings.backend == "cuda" ? " on cuda" : "");
      Table             table(where + ": to " + cell(tolerance, "%.0e") + ", median of " + std::to_string(runs) + " runs",
                  {"two-stage", "inner iter.", "outer iter.", "values", "local its", "Baudet", "iterations", "factor", "time (ms)"});
      OfClasses         found{where, radius_abs, has_no_negative_coupling(problem.A), {}, {}};
      for (const int local : k > 1 ? std::vector<int>{1, k} : std::vector<int>{1})
        for (const Class &c : classes)
          {
            const Measured m = measure(problem, of_class(settings, c.kind, block_size, local), tolerance, runs);
            table.add_row({to_string(c.kind),
                           c.inner,
                           c.outer,
                           c.values,
                           cell(local),
                           local == 1 ? c.of_baudet : "",
                           cell(m.iterations, "%.1f"),
                           cell(m.factor, "%.5f"),
                           cell(1e3 * m.seconds, "%.3f")});
            found.kinds.push_back(c.kind);
            found.iterations.push_back(m.iterations);
          }
      report.add(table);
      judge_classes(found, report);
    }

    void study_matrix(const Problem &problem, const std::vector<Settings> &on_backends, int block_size, Report &report)
    {
      const double radius_abs = estimate_spectral_radius_abs(problem.A);
      for (const Settings &settings : on_backends)
        study_backend(problem, settings, block_size, radius_abs, report);
      std::map<TwoStage, std::vector<double>> x;
      for (const Class &c : classes)
        x[c.kind] = of_single_rows(problem, on_backends.front(), c.kind);
      judge_single_rows(problem.name, x, report);
    }
  } // namespace

  void judge_classes(const OfClasses &found, Report &report)
  {
    bool        all_converge = !found.iterations.empty(), newest_is_better = all_converge;
    double      of_synchronous = NAN;
    std::string iterations;
    for (std::size_t i = 0; i < found.iterations.size(); ++i)
      {
        all_converge = all_converge && std::isfinite(found.iterations[i]);
        iterations += (iterations.empty() ? "" : ", ") + to_string(found.kinds[i]) + " " + cell(found.iterations[i], "%.1f");
        if (found.kinds[i] == TwoStage::synchronous)
          of_synchronous = found.iterations[i];
        if (found.kinds[i] == TwoStage::inner)
          newest_is_better = newest_is_better && std::isfinite(of_synchronous) && found.iterations[i] <= 1.01 * of_synchronous;
      }
    const std::string radius = "rho(|B|) = " + cell(found.radius_abs, "%.4f");
    report.decide("T section 3.3.6",
                  found.matrix + ": where rho(|B|) < 1 all classes converge",
                  all_converge,
                  radius + "; iterations: " + iterations,
                  found.radius_abs < 1. ? "" : radius);
    report.decide("T section 2.4.6",
                  found.matrix + ": where B has no negative entry, newest values in a block do not take more iterations: inner, and synchronous",
                  newest_is_better,
                  iterations,
                  !(found.radius_abs < 1.)          ? radius
                  : !found.has_no_negative_coupling ? "B has negative entries"
                                                    : "");
  }

  void judge_single_rows(const std::string &matrix, const std::map<TwoStage, std::vector<double>> &x, Report &report)
  {
    report.finding("T section 3.3",
                   matrix + ": with one row a block and one local iteration synchronous and inner are the same, and so are block, outer and total",
                   x.at(TwoStage::synchronous) == x.at(TwoStage::inner) && x.at(TwoStage::block) == x.at(TwoStage::outer) &&
                     x.at(TwoStage::block) == x.at(TwoStage::total),
                   "to the last bit of the backend reference, whose order is seeded");
  }

  void study_taxonomy(const Settings &settings, Report &report)
  {
    if (settings.schedule == "synchronous")
      throw InvalidInput("--schedule is synchronous, which contradicts three of the five classes\n  expected: automatic, chaotic or replay");
    const std::vector<std::string> names = settings.matrices_or({"fv1", "fv3", "trefethen"});
    refuse_unused("taxonomy", settings, {true, settings.backend == "automatic"}, names);
    std::vector<Settings> on_backends(1, settings);
    if (settings.backend == "automatic") // both, which are compared; a GPU has no replay
      {
        on_backends[0].backend = "host";
        if (device::n_devices() > 0 && settings.schedule != "replay")
          {
            on_backends.push_back(settings);
            on_backends[1].backend = "cuda";
          }
      }
    const int   block_size = settings.block_size_or(256);
    std::string machines;
    for (const Settings &on : on_backends)
      machines += (machines.empty() ? "" : "; ") + machine(on);
    report.say("taxonomy: " + machines + "; blocks of " + std::to_string(block_size) +
               " rows; where the inner iteration is asynchronous, a host thread takes the rows of a block in their order, and on a GPU its warps "
               "do not wait for one another; there each class has a launch a global iteration"
               "\n(no numbers were published; fv3 to 1e-4 unless --full is given)");
    for (const std::string &name : names)
      study_matrix(load_problem(name, settings), on_backends, block_size, report);
  }
} // namespace leopard::studies
