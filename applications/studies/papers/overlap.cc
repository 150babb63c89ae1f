// SPDX-License-Identifier: Apache-2.0
// Overlap of blocks, of a Laplacian and its triangular factors (overlap paper 2016, Figures 2 to 5; 8, 9:
// overlap_percent.cc).
#include "judges.h"
#include "overlap_percent.h"

#include <solvers/base/norms.h>
#include <solvers/base/words.h>
#include <solvers/matrix/incomplete_factors.h>

#include <algorithm>
#include <array>
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

    OfOverlaps rates(std::map<Overlap, Curve> of)
    {
      return {rate(of[Overlap::none]), rate(of[Overlap::uniform]), rate(of[Overlap::downward]), rate(of[Overlap::upward])};
    }

    /** Never of what is not a number. */
    bool near(double a, double b, double percent)
    {
      return std::abs(a - b) <= percent / 100. * std::abs(b) && std::isfinite(b);
    }

    void study_laplacian(const CrsMatrix<double> &A, const Settings &settings, Report &report)
    {
      const bool as_printed = A.n_rows == 512 && settings.block_size_or(11) == 11;
      judge_work({1., work(A, settings, Overlap::uniform), work(A, settings, Overlap::downward), work(A, settings, Overlap::upward)},
                 as_printed ? "" : "another size of grid or blocks than the paper's",
                 report);
      const OfOverlaps ordered = rates(curves("A, blocks top-down (O Figures 2, 3): relative residual", A, settings, {false, false}, 50, report));
      judge_orders(
        ordered,
        rates(curves("A, blocks in random order (O Figures 2, 4): relative residual, mean of the runs", A, settings, {true, false}, 50, report)),
        report);
    }

    void study_factor(const CrsMatrix<double> &T, bool lower, const Settings &settings, Report &report)
    {
      const std::string name = lower ? "L" : "U";
      const OfOverlaps  random =
        rates(curves(name + " of ILU(0), random order (O Figure 5): relative residual, mean of the runs", T, settings, {true, false}, 20, report));
      curves(name + " of ILU(0), blocks in the order of the dependencies: relative residual", T, settings, {false, !lower}, 10, report);
      judge_triangular(lower, random, report);
    }
  } // namespace

  std::string OfOverlaps::text() const
  {
    std::string                 result = "digits an iteration:";
    const std::array<double, 4> values = {none, uniform, downward, upward};
    for (std::size_t i = 0; i < values.size(); ++i)
      result += std::string(i > 0 ? ", " : " ") + overlap_names[i] + " " + cell(values[i], "%.4f");
    return result;
  }

  void judge_work(const OfOverlaps &work, const std::string &unlike, Report &report)
  {
    report.decide("O Figure 2",
                  "the work of level-1 overlap is 6.68 times that without (to 2 percent; counted in rows)",
                  near(work.uniform / work.none, 6.68, 2.),
                  cell(work.uniform / work.none, "%.3f"),
                  unlike);
    report.decide("O Figure 3",
                  "that of overlap in one direction is 3.34 times (to 2 percent; half of the other, as if the block itself were halved, too)",
                  near(work.upward / work.none, 3.34, 2.),
                  cell(work.upward / work.none, "%.3f") + " bottom-up, " + cell(work.downward / work.none, "%.3f") + " top-down",
                  unlike);
  }

  void judge_orders(const OfOverlaps &ordered, const OfOverlaps &random, Report &report)
  {
    report.finding("O Figure 2",
                   "overlap makes both orders faster, and blocks in the order of Gauss-Seidel are faster than in random order",
                   ordered.uniform > ordered.none && random.uniform > random.none && ordered.none > random.none && ordered.uniform > random.uniform,
                   ordered.text() + "; random: " + random.text());
    report.finding("O Figure 3",
                   "blocks top-down: bottom-up overlap is as good as uniform (to 10 percent)",
                   near(ordered.upward, ordered.uniform, 10.),
                   ordered.text());
    report.finding("O Figure 3",
                   "blocks top-down: top-down overlap gains little (less than half of what uniform gains)",
                   ordered.downward > ordered.none && ordered.downward - ordered.none < 0.5 * (ordered.uniform - ordered.none),
                   ordered.text());
    report.finding("O Figure 4",
                   "random order: overlap in one direction is worse than uniform, and both directions are alike (to 10 percent)",
                   random.upward < random.uniform && random.downward < random.uniform && near(random.upward, random.downward, 10.),
                   random.text());
  }

  void judge_triangular(bool lower, const OfOverlaps &random, Report &report)
  {
    const std::string name = lower ? "L" : "U";
    const double      good = lower ? random.upward : random.downward, useless = lower ? random.downward : random.upward;
    report.finding("O Figure 5",
                   name + ": overlap towards the dependencies is as good as uniform (to 5 percent), the other way as none (to 5 percent)",
                   near(good, random.uniform, 5.) && near(useless, random.none, 5.),
                   random.text());
    report.finding("O Figure 5", name + ": overlap towards the dependencies makes it faster", good > random.none, random.text());
  }

  namespace
  {
    /** Without --matrix: small ones, or as many rows as LAP has at least; fv3 where there is a folder. */
    std::vector<std::string> matrices_in_their_place(const Settings &settings)
    {
      std::vector<std::string> names = settings.full ? std::vector<std::string>{"hanging-320", "q2-512", "jumps-1024", "convection-1024"}
                                                     : std::vector<std::string>{"hanging-24", "q2-40", "jumps-80", "convection-80"};
      if (!settings.folder().empty())
        names.insert(names.begin(), "fv3");
      return settings.matrices_or(names);
    }
  } // namespace

  void study_overlap(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = matrices_in_their_place(settings);
    refuse_unused("overlap", settings, {true}, names);
    report.say(
      "overlap: " + machine(settings) +
      "\nFigures 2 to 5: Laplacian with 27 points, diagonal 26 and else -1, b = 1, on 8 x 8 x 8 nodes; blocks of 11 rows one after the other,"
      "\n2 Jacobi sweeps in a block, overlap of level 1 by graph distance, a block writes its own rows only (backend reference)."
      "\nLarger indices are top-down overlap, smaller ones bottom-up. Of Table 1 LAP alone is here; in the place of the collection's matrices are: " +
      joined(names) + (settings.folder().empty() && settings.matrix.empty() ? " (fv3, too, with --matrices)" : "") + ".");
    const CrsMatrix<double>         A = laplacian(8);
    const IncompleteFactors<double> factors(A);
    study_laplacian(A, settings, report);
    study_factor(factors.lower(), true, settings, report);
    study_factor(factors.upper(), false, settings, report);
    const int side = settings.size_or(24, 64);
    study_lap(side, laplacian(side), settings, report);
    for (const std::string &name : names)
      study_percent(name, load_problem(name, settings).A, settings, report);
  }
} // namespace leopard::studies
