// SPDX-License-Identifier: Apache-2.0
// Overlap of blocks, of a Laplacian and its triangular factors (overlap paper 2016, Figures 2 to 5, 8, 9, Table 1).
#include "sample_statistics.h"
#include "study.h"

#include <solvers/base/norms.h>
#include <solvers/matrix/incomplete_factors.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace leopard::studies
{
  namespace
  {
    constexpr Overlap     overlaps[]      = {Overlap::none, Overlap::uniform, Overlap::downward, Overlap::upward};
    constexpr const char *overlap_names[] = {"none", "uniform", "top-down", "bottom-up"};

    /** Row sums 0 but for those at the boundary. The paper says nothing of the entries. */
    CrsMatrix<double> laplacian(int n)
    {
      Stencil<double> stencil = twenty_seven_point_stencil(n, n, n, 0.);
      stencil.coefficients.fill(-1.);
      stencil.coefficient(0, 0, 0) = 26.;
      return stencil.to_crs();
    }

    /** The mean relative residual over the runs after 0, 1, ... global iterations of blocks one after the other. */
    using Curve = std::vector<double>;

    struct Order
    {
      bool random, last_first;
    };

    Curve curve(const CrsMatrix<double> &A, const Settings &settings, Overlap overlap, Order order, int n_iterations)
    {
      BlockAsyncOptions options;
      options.backend          = Backend::reference; // the figures are of blocks one after the other, with newest values
      options.schedule         = order.random ? Schedule::replay : Schedule::chaotic;
      options.last_block_first = order.last_first;
      options.staleness        = 0;
      options.seed             = settings.seed;
      options.block_size       = settings.block_size_or(11);
      options.local_iterations = settings.local_iterations_or(2);
      options.overlap          = overlap;
      options.overlap_level    = overlap == Overlap::none ? 0 : 1;
      BlockAsync<double>        method(A, options);
      const std::vector<double> b(A.n_rows, 1.);
      Experiment                experiment(method, b);
      const int                 runs = order.random ? settings.runs_or(100, 100) : 1;
      Curve                     mean(n_iterations + 1, 0.);
      for (int run = 0; run < runs; ++run)
        {
          experiment.start();
          for (int n = 0; n <= n_iterations; ++n)
            {
              if (n > 0)
                experiment.iterate(1);
              mean[n] += experiment.relative_residual() / runs;
            }
        }
      return mean;
    }

    /** Rows that are relaxed in a global iteration, against those without overlap: what the printed 6.68 is. */
    double work(const CrsMatrix<double> &A, const Settings &settings, Overlap overlap)
    {
      double relaxed = 0.;
      for (const std::vector<int> &rows : rows_with_overlap(A, contiguous_blocks(A.n_rows, settings.block_size_or(11)), overlap, 1))
        relaxed += static_cast<double>(rows.size());
      return relaxed / A.n_rows;
    }

    /** The curves of a matrix, all overlaps; and a table of them. */
    std::map<Overlap, Curve>
    curves(const std::string &title, const CrsMatrix<double> &A, const Settings &settings, Order order, int n_iterations, Report &report)
    {
      std::map<Overlap, Curve> result;
      std::vector<std::string> columns = {"iteration"};
      for (std::size_t i = 0; i < std::size(overlaps); ++i)
        {
          result[overlaps[i]] = curve(A, settings, overlaps[i], order, n_iterations);
          columns.emplace_back(overlap_names[i]);
        }
      Table table(title, columns);
      for (int n = 0; n <= n_iterations; n += std::max(1, n_iterations / 10))
        {
          std::vector<std::string> row = {cell(n)};
          for (const Overlap overlap : overlaps)
            row.push_back(cell(result[overlap][n]));
          table.add_row(row);
        }
      report.add(table);
      return result;
    }

    /**
     * log10 of the factor by which an iteration reduces the residual, in the mean; of triangular matrices while it is
     * no rounding error.
     */
    double rate(const Curve &curve)
    {
      std::size_t last = 0;
      while (last + 1 < curve.size() && !reached(curve[last + 1], 1e-13))
        ++last;
      return last == 0 ? INFINITY : -std::log10(curve[last] / curve[0]) / static_cast<double>(last);
    }

    std::string rates_text(std::map<Overlap, Curve> &of)
    {
      std::string text = "digits an iteration:";
      for (std::size_t i = 0; i < std::size(overlaps); ++i)
        text += std::string(i > 0 ? ", " : " ") + overlap_names[i] + " " + cell(rate(of[overlaps[i]]), "%.4f");
      return text;
    }

    bool near(double a, double b, double percent)
    {
      return std::abs(a - b) <= percent / 100. * std::abs(b);
    }

    void judge_laplacian(const CrsMatrix<double> &A, const Settings &settings, Report &report)
    {
      const bool   as_printed = A.n_rows == 512 && settings.block_size_or(11) == 11;
      const auto   unlike     = as_printed ? "" : "another size of grid or blocks than the paper's";
      const double both = work(A, settings, Overlap::uniform), up = work(A, settings, Overlap::upward), down = work(A, settings, Overlap::downward);
      report.decide("O Figure 2",
                    "the work of level-1 overlap is 6.68 times that without (to 2 percent; counted in rows)",
                    near(both, 6.68, 2.),
                    cell(both, "%.3f"),
                    unlike);
      report.decide("O Figure 3",
                    "that of overlap in one direction is 3.34 times (to 2 percent; half of the other, as if the block itself were halved, too)",
                    near(up, 3.34, 2.),
                    cell(up, "%.3f") + " bottom-up, " + cell(down, "%.3f") + " top-down",
                    unlike);
      auto ordered = curves("A, blocks top-down (O Figures 2, 3): relative residual", A, settings, {false, false}, 50, report);
      auto random = curves("A, blocks in random order (O Figures 2, 4): relative residual, mean of the runs", A, settings, {true, false}, 50, report);
      const auto   of              = [](std::map<Overlap, Curve> &from, Overlap overlap) { return rate(from[overlap]); };
      const double ordered_uniform = of(ordered, Overlap::uniform), ordered_none = of(ordered, Overlap::none);
      const double random_uniform = of(random, Overlap::uniform), random_none = of(random, Overlap::none);
      report.finding("O Figure 2",
                     "overlap makes both orders faster, and blocks in the order of Gauss-Seidel are faster than in random order",
                     ordered_uniform > ordered_none && random_uniform > random_none && ordered_none > random_none && ordered_uniform > random_uniform,
                     rates_text(ordered) + "; random: " + rates_text(random));
      report.finding("O Figure 3",
                     "blocks top-down: bottom-up overlap is as good as uniform (to 10 percent)",
                     near(of(ordered, Overlap::upward), ordered_uniform, 10.),
                     rates_text(ordered));
      report.finding("O Figure 3",
                     "blocks top-down: top-down overlap gains little (less than half of what uniform gains)",
                     of(ordered, Overlap::downward) > ordered_none &&
                       of(ordered, Overlap::downward) - ordered_none < 0.5 * (ordered_uniform - ordered_none),
                     rates_text(ordered));
      report.finding("O Figure 4",
                     "random order: overlap in one direction is worse than uniform, and both directions are alike (to 10 percent)",
                     of(random, Overlap::upward) < random_uniform && of(random, Overlap::downward) < random_uniform &&
                       near(of(random, Overlap::upward), of(random, Overlap::downward), 10.),
                     rates_text(random));
    }

    void judge_factor(const CrsMatrix<double> &T, bool lower, const Settings &settings, Report &report)
    {
      const std::string name         = lower ? "L" : "U";
      const int         n_iterations = 20;
      auto              random =
        curves(name + " of ILU(0), random order (O Figure 5): relative residual, mean of the runs", T, settings, {true, false}, n_iterations, report);
      curves(name + " of ILU(0), blocks in the order of the dependencies: relative residual", T, settings, {false, !lower}, 10, report);
      const Overlap good = lower ? Overlap::upward : Overlap::downward, useless = lower ? Overlap::downward : Overlap::upward;
      report.finding("O Figure 5",
                     name + ": overlap towards the dependencies is as good as uniform (to 5 percent), the other way as none (to 5 percent)",
                     near(rate(random[good]), rate(random[Overlap::uniform]), 5.) && near(rate(random[useless]), rate(random[Overlap::none]), 5.),
                     rates_text(random));
      report.finding("O Figure 5",
                     name + ": overlap towards the dependencies makes it faster",
                     rate(random[good]) > rate(random[Overlap::none]),
                     rates_text(random));
    }

    /** Overlap in percent of blocks of 256 rows, as on a GPU; L of a larger Laplacian. */
    void study_percent(const Settings &settings, Report &report)
    {
      const int               n = settings.size_or(24, 64);
      const CrsMatrix<double> A = laplacian(n), L = IncompleteFactors<double>(permute(A, rcm_partition(A, 256))).lower();
      report.decide("O Table 1",
                    "LAP, the lower factor of the Laplacian on 64 x 64 x 64 nodes, has 262,144 rows and 3,560,572 entries",
                    L.n_rows == 262144 && L.n_entries() == 3560572,
                    std::to_string(L.n_rows) + " rows, " + std::to_string(L.n_entries()) + " entries",
                    n == 64 ? "" : "the grid has " + std::to_string(n) + " nodes a side; --full or --size 64 takes that of the paper");
      Table                                    table("LAP on " + std::to_string(n) + "^3 nodes, reverse Cuthill-McKee order, blocks of 256, async-(" +
                    std::to_string(settings.local_iterations_or(2)) +
                    "): bottom-up overlap, to 1e-10, median of the runs (O Figures 8, 9: curves only)",
                  {"overlap (%)", "blocks", "iterations", "ms"});
      std::map<int, std::pair<double, double>> measured; // percent: iterations and seconds
      for (const int percent : {0, 3, 13, 25, 50})
        {
          BlockAsyncOptions options = async(settings, 256, settings.local_iterations_or(2));
          options.overlap           = percent > 0 ? Overlap::upward : Overlap::none;
          options.overlap_percent   = percent;
          BlockAsync<double>        method(L, options);
          const std::vector<double> b(L.n_rows, 1.);
          Experiment                experiment(method, b);
          std::vector<double>       iterations, seconds;
          for (int run = 0; run < settings.runs_or(5, 100); ++run)
            {
              const Reached r = reach(experiment, 1e-10, 5000);
              iterations.push_back(r.iterations_needed());
              seconds.push_back(r.converged ? r.seconds : INFINITY);
            }
          measured[percent] = {median(iterations), median(seconds)};
          table.add_row({cell(percent),
                         cell(options.blocks(L.n_rows).n_blocks()),
                         cell(measured[percent].first, "%.1f"),
                         cell(1e3 * measured[percent].second, "%.3f")});
        }
      report.add(table);
      const auto fastest =
        std::min_element(measured.begin(), measured.end(), [](const auto &a, const auto &b) { return a.second.second < b.second.second; });
      const double      fewest = std::min({measured[3].first, measured[13].first, measured[25].first, measured[50].first});
      const std::string on_gpu = settings.resolved_backend() == Backend::cuda ? "" : "that is a statement on GPUs";
      report.decide("O Figure 9",
                    "LAP: overlap saves iterations",
                    fewest < measured[0].first,
                    cell(measured[0].first, "%.1f") + " iterations without, " + cell(fewest, "%.1f") + " at best",
                    measured[0].first < 3. ? "blocks one after the other in the order of the dependencies need hardly more than one iteration" : "");
      report.decide("O Figure 9", "LAP: 3 percent are best in time", fastest->first == 3, std::to_string(fastest->first) + " percent are", on_gpu);
    }
  } // namespace

  void study_overlap(const Settings &settings, Report &report)
  {
    report.say(
      "overlap: " + machine(settings) +
      "\nFigures 2 to 5: Laplacian with 27 points, diagonal 26 and else -1, b = 1, on 8 x 8 x 8 nodes; blocks of 11 rows one after the other,"
      "\n2 Jacobi sweeps in a block, overlap of level 1 by graph distance, a block writes its own rows only (backend reference)."
      "\nLarger indices are top-down overlap, smaller ones bottom-up. The matrices of the collection are not here: LAP alone of Table 1.");
    const CrsMatrix<double>         A = laplacian(8);
    const IncompleteFactors<double> factors(A);
    judge_laplacian(A, settings, report);
    judge_factor(factors.lower(), true, settings, report);
    judge_factor(factors.upper(), false, settings, report);
    study_percent(settings, report);
  }
} // namespace leopard::studies
