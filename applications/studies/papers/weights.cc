// SPDX-License-Identifier: Apache-2.0
// omega (Algorithm 19), l1 weights (Algorithm 20) and both, against SOR (thesis, section 4.10.3, Figures 4.18 to 4.20).
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/relaxation/point_relaxation.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace leopard::studies
{
  namespace
  {
    const std::vector<double> omegas = {1.0, 1.1, 1.2, 1.3, 1.4, 1.5};

    const Reached *fastest(const std::vector<Reached> &all)
    {
      const Reached *best = nullptr;
      for (const Reached &r : all)
        if (r.converged && (best == nullptr || r.seconds < best->seconds))
          best = &r;
      return best;
    }

    Reached reach_async(const Problem &problem, const Settings &settings, int block_size, double omega, bool l1, double tolerance, int limit)
    {
      BlockAsyncOptions options = async(settings, block_size, settings.local_iterations_or(5));
      options.block_omega       = omega;
      options.l1_weights        = l1;
      BlockAsync<double> method(problem.A, options);
      Experiment         experiment(method, problem.b);
      return reach(experiment, tolerance, limit);
    }

    Reached reach_sor(const Problem &problem, double omega, double tolerance, int limit)
    {
      PointRelaxationOptions options;
      options.method                                   = omega == 1. ? PointMethod::gauss_seidel : PointMethod::sor;
      options.omega                                    = omega;
      const std::unique_ptr<Relaxation<double>> method = make_point_relaxation(problem.A, options);
      Experiment                                experiment(*method, problem.b);
      return reach(experiment, tolerance, limit);
    }

    OfWeights measure(const Problem &problem, const Settings &settings, int block_size, double tolerance, int limit, Report &report)
    {
      OfWeights series;
      Table     table("Iterations to " + cell(tolerance, "%.0e") + ", factor an iteration and time, " + problem.name +
                    " (T Figures 4.18, 4.20: curves and bars, no numbers printed)",
                  {"omega",
                       "SOR its",
                       "factor",
                       "time (ms)",
                       "async-(" + std::to_string(settings.local_iterations_or(5)) + ") its",
                       "factor",
                       "time (ms)",
                       "l1-async its",
                       "factor",
                       "time (ms)"});
      for (const double omega : omegas)
        {
          series.sor.push_back(reach_sor(problem, omega, tolerance, limit));
          series.async.push_back(reach_async(problem, settings, block_size, omega, false, tolerance, limit));
          series.l1.push_back(reach_async(problem, settings, block_size, omega, true, tolerance, limit));
          std::vector<std::string> row = {cell(omega, "%.1f")};
          for (const Reached *r : {&series.sor.back(), &series.async.back(), &series.l1.back()})
            row.insert(row.end(), {r->iterations_text(), cell(r->factor, "%.5f"), cell(1e3 * r->seconds, "%.3f")});
          table.add_row(row);
        }
      report.add(table);
      return series;
    }

    /** SOR's least time over async's, of the omegas tried. */
    void judge_speed(const std::string          &matrix,
                     const std::string          &method,
                     const std::vector<Reached> &all,
                     const std::vector<Reached> &sor,
                     double                      wanted,
                     const std::string          &claim,
                     Report                     &report)
    {
      const Reached *mine = fastest(all), *others = fastest(sor);
      if (mine == nullptr || others == nullptr)
        report.undecided("T Figure 4.20", claim, "one of them has not converged for any omega on " + matrix);
      else
        report.decide_times("T Figure 4.20",
                            claim,
                            {wanted},
                            {others->seconds / mine->seconds},
                            cell(others->seconds / mine->seconds, "%.2f") + " times as fast (each with its best omega of those tried; " + method +
                              " " + cell(1e3 * mine->seconds, "%.3f") + " ms, SOR on one host core " + cell(1e3 * others->seconds, "%.3f") + " ms)");
    }
    void study_block_sizes(const Problem &problem, const Settings &settings, Report &report)
    {
      Table table("l1 weights and block sizes, " + problem.name + ", iterations to 1e-12 (T Figure 4.19: curves only)",
                  {"block size", "async its", "factor", "l1-async its", "factor", "times fewer"});
      std::map<int, std::array<Reached, 2>> of_sizes;
      for (const int block_size : {32, 64, 128, 256, 512})
        {
          const Reached plain = reach_async(problem, settings, block_size, 1., false, 1e-12, 2000),
                        l1    = reach_async(problem, settings, block_size, 1., true, 1e-12, 2000);
          table.add_row({cell(block_size),
                         plain.iterations_text(),
                         cell(plain.factor, "%.4f"),
                         l1.iterations_text(),
                         cell(l1.factor, "%.4f"),
                         cell(plain.iterations / l1.iterations, "%.2f")});
          of_sizes[block_size] = {plain, l1};
        }
      report.add(table);
      if (problem.name == "trefethen")
        judge_block_sizes(of_sizes, report);
    }
  } // namespace

  void judge_weights(const std::string &matrix, const OfWeights &s, Report &report)
  {
    const auto        text  = [](const Reached &r) { return r.iterations_text() + " iterations, factor " + cell(r.factor, "%.4f"); };
    const std::string never = s.async[0].converged ? "" : "there is no convergence for omega = 1 either";
    if (matrix == "fv1" || matrix == "fv3")
      {
        report.finding("T Figure 4.18",
                       matrix + ": async-(5) needs fewer iterations than Gauss-Seidel",
                       s.async[0].iterations_needed() < s.sor[0].iterations_needed(),
                       text(s.async[0]) + ", and " + text(s.sor[0]));
        const auto best = std::min_element(s.async.begin(), s.async.end(), [](const Reached &a, const Reached &b) { return a.factor < b.factor; });
        report.finding("T Figure 4.18",
                       matrix + ": an omega above 1 can help further",
                       best != s.async.begin() && best->converged,
                       "best omega " + cell(omegas[best - s.async.begin()], "%.1f") + ": " + text(*best) + "; omega 1: " + text(s.async[0]));
        judge_speed(matrix, "async", s.async, s.sor, 10., matrix + ": async-(5) is more than 10 times as fast as SOR", report);
      }
    if (matrix == "Chem97ZtZ")
      {
        report.decide("T Figure 4.20", "Chem97ZtZ: omega = 1.1 already loses convergence", !s.async[1].converged, text(s.async[1]), never);
        report.finding("T Figure 4.20", "Chem97ZtZ: l1 weights keep omega = 1.1 convergent", s.l1[1].converged, text(s.l1[1]));
        report.decide("T Figure 4.20",
                      "Chem97ZtZ: l1 weights make the method slower at omega = 1",
                      s.l1[0].iterations_needed() > s.async[0].iterations_needed(),
                      text(s.l1[0]) + ", without: " + text(s.async[0]),
                      never);
        judge_speed(matrix, "async", s.async, s.sor, 1., "Chem97ZtZ: unweighted async-(5) is faster than SOR", report);
      }
    if (matrix == "trefethen")
      {
        report.decide(
          "T Figure 4.18",
          "Trefethen_2000: an omega above 1 does not help",
          std::all_of(s.async.begin() + 1, s.async.end(), [&](const Reached &r) { return !r.converged || r.factor >= s.async[0].factor; }),
          "omega 1: " + text(s.async[0]) + "; omega 1.1: " + text(s.async[1]),
          never);
        judge_speed(
          matrix, "l1-async", s.l1, s.sor, 4., "Trefethen_2000: l1 and omega together are nearly 5 times as fast as SOR (4 at least)", report);
      }
  }

  void judge_large_omegas(const std::map<std::string, std::vector<Reached>> &async, Report &report)
  {
    bool        any = false; // converges with omega = 1
    std::string survivors;
    for (const auto &[name, found] : async)
      {
        any = any || found.at(0).converged;
        for (std::size_t i = 4; i < omegas.size(); ++i)
          if (found.at(i).converged)
            survivors += (survivors.empty() ? "" : ", ") + name + " with " + cell(omegas[i], "%.1f");
      }
    report.decide("T section 4.10.3",
                  "without l1 weights omega >= 1.4 diverges on all test cases",
                  survivors.empty(),
                  survivors.empty() ? "divergence for 1.4 and 1.5 on all of them" : "convergence of " + survivors,
                  any || !survivors.empty() ? "" : "there is no convergence for omega = 1 either");
  }

  void judge_block_sizes(const std::map<int, std::array<Reached, 2>> &of_sizes, Report &report)
  {
    double least = INFINITY, most = 0.;
    for (const auto &[block_size, found] : of_sizes)
      {
        least = std::min(least, found[0].iterations_needed());
        most  = larger_or_nan(most, found[0].iterations_needed());
      }
    report.finding("T Figure 4.19",
                   "Trefethen_2000: without weights the block size does not matter (to 10 percent)",
                   std::isfinite(least) && std::isfinite(most) && most < 1.1 * least,
                   cell(least, "%.1f") + " to " + cell(most, "%.1f") + " iterations");
    const std::string claim = "Trefethen_2000: l1 weights gain almost a factor 2 in blocks of 512 (1.7 at least)";
    if (of_sizes.count(512) == 0)
      return report.undecided("T Figure 4.19", claim, "there are no blocks of 512");
    const auto &[plain, l1] = of_sizes.at(512);
    const double gain       = plain.converged ? plain.iterations / l1.iterations_needed() : 0.; // not more where one does not converge
    report.finding("T Figure 4.19", claim, gain > 1.7, "a factor " + cell(gain, "%.2f"));
  }

  void study_weights(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"Chem97ZtZ", "fv1", "fv3", "trefethen"});
    Uses                           uses;
    uses.full = std::find(names.begin(), names.end(), "fv3") != names.end();
    refuse_unused("weights", settings, uses, names);
    const int block_size = settings.block_size_or(512);
    report.say("weights: " + machine(settings) + ", blocks of " + std::to_string(block_size) +
               " rows; the times are of as many iterations as the tolerance takes, without tests, and SOR runs on one host core"
               "\n(tolerance of Figure 4.20: not readable; here 1e-8, and 1e-4 for fv3 unless --full is given; Chem97ZtZ is a reconstruction)");
    std::map<std::string, std::vector<Reached>> async;
    for (const std::string &name : names)
      {
        const Problem   problem = load_problem(name, settings);
        const OfWeights series  = measure(problem, settings, block_size, name == "fv3" && !settings.full ? 1e-4 : 1e-8, 50000, report);
        judge_weights(name, series, report);
        async[name] = series.async;
        if (name.rfind("trefethen", 0) == 0)
          study_block_sizes(problem, settings, report);
      }
    judge_large_omegas(async, report);
  }
} // namespace leopard::studies
