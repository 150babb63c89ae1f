// SPDX-License-Identifier: Apache-2.0
// Overlap in percent of blocks of 256 rows: triangular factors of larger matrices (overlap paper 2016, Figures 8, 9,
// Table 1).
#include "overlap_percent.h"
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/base/norms.h>
#include <solvers/matrix/incomplete_factors.h>
#include <solvers/matrix/matrix_entries.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace leopard::studies
{
  namespace
  {
    constexpr int block_size = 256, percents[] = {0, 3, 13, 25, 50};

    /** Up to rounding, with a positive diagonal: IC(0) is for these. */
    bool is_symmetric(const CrsMatrix<double> &A)
    {
      const CrsMatrix<double>   T = transpose(A), sorted = transpose(T);
      const std::vector<double> diagonal = diagonal_of(A);
      if (T.columns != sorted.columns || T.row_offsets != sorted.row_offsets ||
          !std::all_of(diagonal.begin(), diagonal.end(), [](double d) { return d > 0.; }))
        return false;
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = T.row_offsets[i]; p < T.row_offsets[i + 1]; ++p)
          if (!(std::abs(T.values[p] - sorted.values[p]) <= 1e-12 * std::sqrt(diagonal[i]) * std::sqrt(diagonal[T.columns[p]])))
            return false;
      return true;
    }

    /** Blocks of a lower factor come in the order of their rows, those of an upper one reversed. */
    struct Factor
    {
      std::string       name; ///< "LAP", "q2-40: L"
      CrsMatrix<double> T;
      bool              lower;

      Overlap towards_dependencies() const { return lower ? Overlap::upward : Overlap::downward; }
      Overlap the_other_way() const { return lower ? Overlap::downward : Overlap::upward; }
    };

    /** Runs with one overlap. */
    struct OfRuns
    {
      int                  n_blocks = 0;
      std::vector<Reached> runs;

      double iterations() const
      {
        std::vector<double> of;
        for (const Reached &run : runs)
          of.push_back(run.iterations_needed());
        return median(of);
      }
      /** To the tolerance; infinite without convergence. */
      double seconds() const
      {
        std::vector<double> of;
        for (const Reached &run : runs)
          of.push_back(run.converged ? run.seconds : INFINITY);
        return median(of);
      }
      int last() const
      {
        int result = 0;
        for (const Reached &run : runs)
          result = std::max(result, run.at.back());
        return result;
      }
      /** The mean relative residual after n iterations; a run that has ended counts with its last. */
      double residual(int n) const
      {
        double sum = 0.;
        for (const Reached &run : runs)
          sum += run.residuals[std::upper_bound(run.at.begin(), run.at.end(), n) - run.at.begin() - 1];
        return sum / static_cast<double>(runs.size());
      }
      /** Seconds of an iteration, in the mean over those of the run in the middle. */
      double iteration() const
      {
        std::vector<double> of;
        for (const Reached &run : runs)
          of.push_back(run.seconds / run.at.back());
        return median(of);
      }
    };

    OfRuns measure(const Factor &factor, Overlap overlap, int percent, const Settings &settings)
    {
      BlockAsyncOptions options = async(settings, block_size, settings.local_iterations_or(2));
      options.overlap           = percent > 0 ? overlap : Overlap::none;
      options.overlap_percent   = percent;
      options.last_block_first  = !factor.lower;
      BlockAsync<double>        method(factor.T, options);
      const std::vector<double> b(factor.T.n_rows, 1.);
      Experiment                experiment(method, b);
      OfRuns                    result{options.blocks(factor.T.n_rows).n_blocks(), {}};
      for (int run = 0; run < settings.runs_or(5, 100); ++run)
        result.runs.push_back(reach(experiment, 1e-10, 5000));
      return result;
    }

    using ByPercent = std::map<int, OfRuns>;

    /** Iterations and seconds to the tolerance. */
    std::map<int, std::pair<double, double>> needed(const ByPercent &measured)
    {
      std::map<int, std::pair<double, double>> result;
      for (const auto &[percent, of] : measured)
        result[percent] = {of.iterations(), of.seconds()};
      return result;
    }

    ByPercent measure_all(const Factor &factor, Overlap overlap, const Settings &settings)
    {
      ByPercent result;
      for (const int percent : percents)
        result[percent] = measure(factor, overlap, percent, settings);
      return result;
    }

    std::string title_of(const Factor &factor, const Settings &settings)
    {
      return factor.name + ", reverse Cuthill-McKee order, blocks of " + std::to_string(block_size) + ", async-(" +
             std::to_string(settings.local_iterations_or(2)) + "): " + (factor.lower ? "bottom-up" : "top-down") + " overlap, ";
    }

    /** What the paper's curves are of: the mean residual over iterations, and when they are done. */
    void add_curves(const Factor &factor, const ByPercent &measured, const Settings &settings, Report &report)
    {
      std::vector<std::string> columns = {"iteration"};
      int                      last    = 0;
      for (const auto &[percent, of] : measured)
        {
          columns.push_back(std::to_string(percent) + " %");
          columns.push_back("ms at " + std::to_string(percent) + " %");
          last = std::max(last, of.last());
        }
      Table table("Curves of " + title_of(factor, settings) + "mean relative residual of the runs, and the time of so many iterations", columns);
      for (int n = 0; n <= last; n += std::max(1, last / 10))
        {
          std::vector<std::string> row = {cell(n)};
          for (const auto &[percent, of] : measured)
            {
              row.push_back(cell(of.residual(n)));
              row.push_back(cell(1e3 * n * of.iteration(), "%.3f"));
            }
          table.add_row(row);
        }
      report.add(table);
    }

    void study_factor(const Factor &factor, const std::string &figure, const Settings &settings, Report &report)
    {
      const ByPercent towards = measure_all(factor, factor.towards_dependencies(), settings),
                      uniform = measure_all(factor, Overlap::uniform, settings), away = measure_all(factor, factor.the_other_way(), settings);
      Table table(title_of(factor, settings) + "uniform, and the other way, to 1e-10, median of the runs",
                  {"overlap (%)", "blocks", "iterations", "ms", "iterations, uniform", "ms, uniform", "iterations, other way", "ms, other way"});
      for (const int percent : percents)
        {
          std::vector<std::string> row = {cell(percent), cell(towards.at(percent).n_blocks)};
          for (const ByPercent *by : {&towards, &uniform, &away})
            {
              row.push_back(cell(by->at(percent).iterations(), "%.1f"));
              row.push_back(cell(1e3 * by->at(percent).seconds(), "%.3f"));
            }
          table.add_row(row);
        }
      report.add(table);
      add_curves(factor, towards, settings, report);
      judge_percent(factor.name, figure, figure, needed(towards), settings.resolved_backend() == Backend::cuda, report);
      constexpr int wide = 25;
      judge_directions(
        factor.name, {towards.at(0).iterations(), uniform.at(wide).iterations(), towards.at(wide).iterations(), away.at(wide).iterations()}, report);
    }
  } // namespace

  void study_lap(int side, const CrsMatrix<double> &A, const Settings &settings, Report &report)
  {
    const Factor factor = {
      "LAP on " + std::to_string(side) + "^3 nodes", IncompleteFactors<double>(permute(A, rcm_partition(A, block_size))).lower(), true};
    judge_lap(side, factor.T.n_rows, factor.T.n_entries(), report);
    const ByPercent measured = measure_all(factor, factor.towards_dependencies(), settings);
    Table           table(title_of(factor, settings) + "to 1e-10, median of the runs (O Figures 8, 9: curves only)",
                {"overlap (%)", "blocks", "iterations", "ms"});
    for (const auto &[percent, of] : measured)
      table.add_row({cell(percent), cell(of.n_blocks), cell(of.iterations(), "%.1f"), cell(1e3 * of.seconds(), "%.3f")});
    report.add(table);
    add_curves(factor, measured, settings, report);
    judge_percent("LAP", "O Figure 9", "O section 5.2", needed(measured), settings.resolved_backend() == Backend::cuda, report);
  }

  void study_percent(const std::string &name, const CrsMatrix<double> &A, const Settings &settings, Report &report)
  {
    const FactorOptions             options = {is_symmetric(A) ? FactorKind::ic : FactorKind::ilu};
    const IncompleteFactors<double> factors(permute(A, rcm_partition(A, block_size)), options);
    const Factor                    lower = {name + ": L", factors.lower(), true}, upper = {name + ": U", factors.upper(), false};
    report.say(name + ": " + std::to_string(A.n_rows) + " rows, " + std::to_string(A.n_entries()) + " entries, " + options.name() + " (" +
               std::to_string(lower.T.n_entries()) + " entries in L)" +
               (factors.shift() > 0. ? ", of the matrix with " + cell(factors.shift(), "%g") + " times its diagonal added" : ""));
    for (const Factor &factor : {lower, upper})
      study_factor(factor, "O Figure 8", settings, report);
  }

  void judge_lap(int side, long long n_rows, long long n_entries, Report &report)
  {
    report.decide("O Table 1",
                  "LAP, the lower factor of the Laplacian on 64 x 64 x 64 nodes, has 262,144 rows and 3,560,572 entries",
                  n_rows == 262144 && n_entries == 3560572,
                  std::to_string(n_rows) + " rows, " + std::to_string(n_entries) + " entries",
                  side == 64 ? "" : "the grid has " + std::to_string(side) + " nodes a side; --full or --size 64 takes that of the paper");
  }

  void judge_percent(const std::string                              &factor,
                     const std::string                              &figure,
                     const std::string                              &section,
                     const std::map<int, std::pair<double, double>> &measured,
                     bool                                            on_gpu,
                     Report                                         &report)
  {
    const double without = measured.at(0).first;
    double       fewest = INFINITY, best_other = INFINITY, worst_other = 0.;
    int          fastest = 0;
    for (const auto &[percent, found] : measured)
      {
        if (percent > 0)
          fewest = std::min(fewest, found.first); // what is not a number is left out
        if (found.second < measured.at(fastest).second)
          fastest = percent;
        if (percent != 3)
          best_other = std::min(best_other, found.second);
        if (percent != 50)
          worst_other = larger_or_nan(worst_other, found.second);
      }
    report.decide(figure,
                  factor + ": overlap saves iterations",
                  fewest <= 0.99 * without, // medians of chaotic runs
                  cell(without, "%.1f") + " iterations without, " + cell(fewest, "%.1f") + " at best",
                  without < 3. ? "blocks one after the other in the order of the dependencies need hardly more than one iteration" : "");
    const double of_three = measured.count(3) > 0 ? measured.at(3).second : NAN;
    report.decide_times(figure,
                        factor + ": 3 percent are best in time",
                        {-INFINITY, 1.},
                        {of_three / best_other},
                        std::to_string(fastest) + " percent are; 3 percent take " + cell(of_three / best_other, "%.3f") +
                          " times the best of the others",
                        on_gpu ? "" : "that is a statement on GPUs");
    const double of_fifty = measured.count(50) > 0 ? measured.at(50).second : NAN;
    report.decide_times(section,
                        factor + ": 50 percent are worst in time, as for most problems",
                        {1.},
                        {of_fifty / worst_other},
                        "they take " + cell(of_fifty / worst_other, "%.3f") + " times the worst of the others",
                        on_gpu ? "" : "that is a statement on GPUs");
  }

  void judge_directions(const std::string &factor, const IterationsOfOverlaps &found, Report &report)
  {
    const std::string measured = cell(found.none, "%.1f") + " iterations without, with 25 percent " + cell(found.towards, "%.1f") +
                                 " towards the dependencies, " + cell(found.uniform, "%.1f") + " uniform, " + cell(found.away, "%.1f") +
                                 " the other way";
    const std::string why_not =
      found.none < 3. ? "blocks one after the other in the order of the dependencies need hardly more than one iteration" : "";
    constexpr double alike = 1.05;
    report.decide("",
                  factor + ": 25 percent towards the dependencies are as good as uniform (iterations, to 5 percent)",
                  found.towards <= alike * found.uniform && std::isfinite(found.uniform),
                  measured,
                  why_not);
    report.decide("",
                  factor + ": 25 percent the other way save no iterations (to 5 percent)",
                  alike * found.away >= found.none && std::isfinite(found.none),
                  measured,
                  why_not);
  }
} // namespace leopard::studies
