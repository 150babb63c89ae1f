// SPDX-License-Identifier: Apache-2.0
// Blocks adapted to the mesh (thesis, sections 4.10.6 to 4.10.8, Figures 4.24 to 4.26), and tiles.
#include "judges.h"
#include "sample_statistics.h"

#include <solvers/matrix/generators.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace leopard::studies
{
  namespace
  {
    constexpr double delta       = 0.01;
    constexpr double rounding    = 1e-13; ///< residuals below say nothing of block sizes
    const char      *at_rounding = "the residuals have come to the level of rounding errors; a larger grid is wanted";

    Problem square(int n, double shift)
    {
      return {std::to_string(n) + " x " + std::to_string(n), five_point_matrix(n, n, shift), std::vector<double>(n * n, 1.)};
    }

    /** The relative residual of each run after so many iterations. */
    std::vector<std::vector<double>>
    residuals_of_runs(const Problem &problem, const Settings &settings, int block_size, const std::vector<int> &iterations, int runs)
    {
      const std::unique_ptr<BlockAsync<double>> method =
        make_varying(problem.A, async(settings, block_size, settings.local_iterations_or(5)), settings);
      Experiment                       experiment(*method, problem.b);
      std::vector<std::vector<double>> result(runs);
      for (std::vector<double> &of_run : result)
        {
          experiment.start();
          for (std::size_t i = 0; i < iterations.size(); ++i)
            {
              experiment.iterate(iterations[i] - (i > 0 ? iterations[i - 1] : 0));
              of_run.push_back(experiment.relative_residual());
            }
        }
      return result;
    }

    /** Of the runs. */
    std::vector<double> mean(const std::vector<std::vector<double>> &of_runs)
    {
      std::vector<double> result(of_runs.front().size(), 0.);
      for (const std::vector<double> &of_run : of_runs)
        for (std::size_t i = 0; i < result.size(); ++i)
          result[i] += of_run[i] / static_cast<double>(of_runs.size());
      return result;
    }

    void block_sizes(const Settings &settings, int runs, Report &report)
    {
      const int     n       = settings.size > 0 ? settings.size : 32;
      const Problem problem = square(n, delta);
      // late enough to see the rate, early enough for rounding not to matter
      std::vector<int> sizes = {n, 2 * n, 3 * n, 4 * n - 4, 4 * n - 1, 4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3, 4 * n + 4, 6 * n, 8 * n};
      for (const int more : {16, 48, 80, 112})
        sizes.push_back(more * n / 32);
      std::sort(sizes.begin(), sizes.end());
      sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
      Table                 table("Block sizes, " + problem.name + " nodes, delta = 0.01 (T Figure 4.24: curve only)",
                  {"block size", "lines", "residual after 200", "after 1000", "factor, 100 to 200"});
      std::map<int, double> after;
      for (const int size : sizes)
        {
          const std::vector<double> r = mean(residuals_of_runs(problem, settings, std::max(1, size), {100, 200, 1000}, runs));
          after[size]                 = r[1];
          table.add_row({cell(size), cell(static_cast<double>(size) / n, "%.3f"), cell(r[1]), cell(r[2]), cell(std::pow(r[1] / r[0], 0.01), "%.5f")});
        }
      report.add(table);
      judge_lines(n, after, report);
    }

    void mesh_widths(const Settings &settings, int runs, Report &report)
    {
      const int              block = settings.block_size_or(112), step = std::max(1, block / 112);
      std::vector<int>       ns;
      const std::vector<int> offsets = {-12, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 8};
      for (const int offset : offsets)
        if (block + offset * step >= 2)
          ns.push_back(block + offset * step);
      Table                 table("Meshes for blocks of " + std::to_string(block) + " rows, delta = 0.01 (T Figures 4.25, 4.26: curves only)",
                  {"N", "unknowns", "residual after 900", "after 1000", "iterations to 1e-6", "time to 1e-6 (ms)"});
      std::vector<double>   x, y;
      std::map<int, double> seconds, logarithms;
      double                scatter = 0.; // of the logarithms, over runs
      for (const int n : ns)
        {
          const Problem             problem = square(n, delta);
          const auto                of_runs = residuals_of_runs(problem, settings, block, {900, 1000}, std::min(runs, 2));
          const std::vector<double> r       = mean(of_runs);
          for (const std::vector<double> &one : of_runs)
            scatter = larger_or_nan(scatter, std::abs(std::log10(one[1] / of_runs.front()[1])));
          BlockAsync<double> method(problem.A, async(settings, block, settings.local_iterations_or(5)));
          Experiment         experiment(method, problem.b);
          const Reached      reached = reach(experiment, 1e-6, 20000);
          seconds[n]                 = reached.seconds;
          table.add_row({cell(n), cell(n * n), cell(r[0]), cell(r[1]), reached.iterations_text(), cell(1e3 * reached.seconds, "%.3f")});
          logarithms[n] = std::log10(r[1]);
          if (n != block && std::abs(n - block) <= 7 * step) // farther away the trend bends
            {
              x.push_back(n);
              y.push_back(logarithms[n]);
            }
        }
      report.add(table);
      // how far below the line between its neighbours
      const auto dip = [&](int n) {
        const auto before = logarithms.find(n - step), after = logarithms.find(n + step);
        return before == logarithms.end() || after == logarithms.end() ? -INFINITY : (before->second + after->second) / 2. - logarithms[n];
      };
      double deepest = -INFINITY;
      for (const int n : ns)
        if (n != block)
          deepest = std::max(deepest, dip(n));
      const bool can_decide = std::all_of(logarithms.begin(), logarithms.end(), [](const auto &of_n) { return of_n.second > std::log10(rounding); });
      judge_dips({dip(block), deepest, scatter},
                 "; they deviate by " + cell(fit_line(x, y).deviation, "%.4f") + " from a line through those within 7",
                 can_decide ? "" : at_rounding,
                 report);
      judge_mesh_times(block, step, seconds, report);
    }

    struct Shape
    {
      std::string name;
      Partition   partition;
    };

    void shapes(const Settings &settings, Report &report)
    {
      const int          n    = settings.size_or(64, 256);
      std::vector<Shape> list = {{"half a line", contiguous_partition(n * n, std::max(1, n / 2))},
                                 {"one line", contiguous_partition(n * n, n)},
                                 {"one and a half", contiguous_partition(n * n, 3 * n / 2)},
                                 {"two lines", contiguous_partition(n * n, 2 * n)},
                                 {"two lines and a row", contiguous_partition(n * n, 2 * n + 1)},
                                 {"four lines", contiguous_partition(n * n, 4 * n)}};
      for (const auto &[t_x, t_y] : std::vector<std::pair<int, int>>{{8, 8}, {16, 8}, {16, 16}, {32, 16}})
        list.push_back(
          {"tiles " + std::to_string(t_x) + " x " + std::to_string(t_y), tile_partition(n, n, 1, std::min(n, t_x), std::min(n, t_y), 1)});
      for (const double shift : {0., delta})
        {
          const Problem                 problem = square(n, shift);
          Table                         table(std::string(shift == 0. ? "Laplace" : "Helmholtz, delta = 0.01") + ", " + problem.name +
                        " nodes, iterations to 1e-6 (shapes beyond lines: not in the papers)",
                      {"block", "rows", "iterations", "factor", "time (ms)"});
          std::map<std::string, double> iterations;
          for (const Shape &shape : list)
            {
              BlockAsyncOptions options = async(settings, 256, settings.local_iterations_or(5));
              options.block_offsets     = shape.partition.block_offsets;
              BlockAsync<double> method(permute(problem.A, shape.partition), options);
              Experiment         experiment(method, permute(problem.b, shape.partition));
              const Reached      r   = reach(experiment, 1e-6, 200000);
              iterations[shape.name] = r.converged ? r.iterations : INFINITY;
              table.add_row({shape.name,
                             cell(blocks_between(shape.partition.block_offsets).largest()),
                             r.iterations_text(),
                             cell(r.factor, "%.5f"),
                             cell(1e3 * r.seconds, "%.3f")});
            }
          report.add(table);
          const std::string which = shift == 0. ? "Laplace: " : "Helmholtz: ";
          judge_shapes(which,
                       {iterations["two lines"], iterations["one and a half"], iterations["two lines and a row"]},
                       "tiles 16 x 8 " + cell(iterations["tiles 16 x 8"], "%.0f"),
                       report);
        }
    }
  } // namespace

  void judge_lines(int n, const std::map<int, double> &after, Report &report)
  {
    bool         smaller_worse = true, larger_worse = true;
    const double four = after.at(4 * n);
    const auto   at   = [&](int rows) { return after.count(rows) > 0 ? after.at(rows) : NAN; };
    for (const auto &[rows, residual] : after)
      if (rows < 4 * n)
        smaller_worse = smaller_worse && residual > four;
      else if (rows > 4 * n && rows <= 4 * n + 4)
        larger_worse = larger_worse && residual > four;
    const std::string why_not = four > rounding ? "" : std::isnan(four) ? "no finite number was measured" : at_rounding;
    report.decide("T Figure 4.24",
                  "blocks of four mesh lines (" + std::to_string(4 * n) + " rows) are better than smaller ones",
                  smaller_worse,
                  "residual after 200 iterations " + cell(four) + ", with " + std::to_string(4 * n - 1) + " rows " + cell(at(4 * n - 1)) +
                    ", with one line " + cell(at(n)),
                  why_not);
    report.decide("T Figure 4.24",
                  "and a local minimum: better than with one to four rows more",
                  larger_worse,
                  cell(four) + ", with " + std::to_string(4 * n + 1) + " rows " + cell(at(4 * n + 1)) + ", with " + std::to_string(4 * n + 4) + " " +
                    cell(at(4 * n + 4)),
                  why_not);
  }

  void judge_shapes(const std::string &which, const OfShapes &iterations, const std::string &other, Report &report)
  {
    const auto its = [](double value) { return cell(value, "%.0f"); };
    report.finding("T section 4.10.8",
                   which + "blocks of whole mesh lines need fewer iterations than blocks of as many rows and half a line less or one row more",
                   iterations.two_lines < iterations.one_and_a_half && iterations.two_lines < iterations.a_row_more,
                   "two lines " + its(iterations.two_lines) + ", one and a half " + its(iterations.one_and_a_half) + ", two lines and a row " +
                     its(iterations.a_row_more) + "; for comparison " + other);
  }

  void judge_dips(const Dips &dips, const std::string &more, const std::string &why_not, Report &report)
  {
    const double      beyond = dips.of_block - larger_or_nan(0., dips.deepest_other);
    const double      within = std::log10(1. + undecided_within), same = larger_or_nan(dips.scatter, within);
    const std::string measured =
      "log10 of the residual " + cell(dips.of_block, "%.4f") + " below that line, of the other N at most " + cell(dips.deepest_other, "%.4f") + more;
    std::string near;
    if (!std::isfinite(beyond) || !std::isfinite(same))
      near = "no finite number was measured";
    else if (std::abs(beyond) < same)
      near = measured + "; runs of one N differ by " + cell(dips.scatter, "%.4f") + ", and 5 percent (" + cell(within, "%.4f") + ") decide nothing";
    report.decide("T Figure 4.25",
                  "the residual after 1000 iterations is nearly linear in N (in logarithms), but N = block size is better than the trend: farther "
                  "below the line between its neighbours than any other N",
                  beyond > 0.,
                  measured,
                  !why_not.empty() ? why_not : near);
  }

  void judge_mesh_times(int block, int step, const std::map<int, double> &seconds, Report &report)
  {
    const auto          at   = [&](int n) { return seconds.count(n) > 0 ? seconds.at(n) : NAN; };
    const int           less = block - 4 * step;
    std::string         slower_than;
    std::vector<double> ratios;
    for (const int offset : {-7, -6, -5, -3, -2, -1})
      if (const int n = block + offset * step; seconds.count(n) > 0)
        {
          ratios.push_back(at(block) / at(n));
          if (!(ratios.back() < 1.))
            slower_than += (slower_than.empty() ? "" : ", ") + std::to_string(n);
        }
    const std::string measured = cell(1e3 * at(block), "%.3f") + " ms for N = " + std::to_string(block) +
                                 (slower_than.empty() ? "" : ", not later are N = " + slower_than) + "; N = " + std::to_string(less) + " takes " +
                                 cell(1e3 * at(less), "%.3f") + " ms";
    report.decide_times("T Figure 4.26",
                        "N = 112 reaches 1e-6 sooner than N = 105, 106, 107, 109, 110, 111",
                        {-INFINITY, 1.},
                        ratios,
                        measured,
                        ratios.empty() ? "no N below the block size was measured" : "");
    report.decide_times("T Figure 4.26",
                        "N = 108 is faster than N = 112",
                        {-INFINITY, 1.},
                        {at(less) / at(block)},
                        measured,
                        seconds.count(less) > 0 ? "" : "the block size less four was not measured");
  }

  void study_mesh_blocks(const Settings &settings, Report &report)
  {
    refuse_unused("mesh-blocks", settings, {may_replay(settings)}, {});
    const int runs = settings.runs_or(5, 20);
    report.say("blocks adapted to the mesh: " + machine(settings) + ", five-point stencil, async-(" +
               std::to_string(settings.local_iterations_or(5)) + "), b = 1 (printed: not), means of " + std::to_string(runs) +
               " runs (of the second table 2 at most)" +
               (settings.full || settings.size > 0 ? "" : "; shapes on 64 x 64 nodes, on 256 x 256 with --full"));
    block_sizes(settings, runs, report);
    mesh_widths(settings, runs, report);
    shapes(settings, report);
  }
} // namespace leopard::studies
