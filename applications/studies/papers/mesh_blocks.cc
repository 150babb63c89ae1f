// SPDX-License-Identifier: Apache-2.0
// Blocks adapted to the mesh (thesis, sections 4.10.6 to 4.10.8, Figures 4.24 to 4.26), and tiles.
#include "sample_statistics.h"
#include "study.h"

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

    /** Mean relative residual over the runs after so many iterations. */
    std::vector<double>
    residuals_after(const Problem &problem, const Settings &settings, int block_size, const std::vector<int> &iterations, int runs)
    {
      const std::unique_ptr<BlockAsync<double>> method =
        make_varying(problem.A, async(settings, block_size, settings.local_iterations_or(5)), settings);
      Experiment          experiment(*method, problem.b);
      std::vector<double> result(iterations.size(), 0.);
      for (int run = 0; run < runs; ++run)
        {
          experiment.start();
          for (std::size_t i = 0; i < iterations.size(); ++i)
            {
              experiment.iterate(iterations[i] - (i > 0 ? iterations[i - 1] : 0));
              result[i] += experiment.relative_residual() / runs;
            }
        }
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
          const std::vector<double> r = residuals_after(problem, settings, std::max(1, size), {100, 200, 1000}, runs);
          after[size]                 = r[1];
          table.add_row({cell(size), cell(static_cast<double>(size) / n, "%.3f"), cell(r[1]), cell(r[2]), cell(std::pow(r[1] / r[0], 0.01), "%.5f")});
        }
      report.add(table);
      bool        smaller_worse = true, larger_worse = true;
      const char *why_not = after[4 * n] > rounding ? "" : at_rounding;
      for (const int size : sizes)
        if (size < 4 * n)
          smaller_worse = smaller_worse && after[size] > after[4 * n];
        else if (size > 4 * n && size <= 4 * n + 4)
          larger_worse = larger_worse && after[size] > after[4 * n];
      report.decide("T Figure 4.24",
                    "blocks of four mesh lines (" + std::to_string(4 * n) + " rows) are better than smaller ones",
                    smaller_worse,
                    "residual after 200 iterations " + cell(after[4 * n]) + ", with " + std::to_string(4 * n - 1) + " rows " +
                      cell(after[4 * n - 1]) + ", with one line " + cell(after[n]),
                    why_not);
      report.decide("T Figure 4.24",
                    "and a local minimum: better than with one to four rows more",
                    larger_worse,
                    cell(after[4 * n]) + ", with " + std::to_string(4 * n + 1) + " rows " + cell(after[4 * n + 1]) + ", with " +
                      std::to_string(4 * n + 4) + " " + cell(after[4 * n + 4]),
                    why_not);
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
      for (const int n : ns)
        {
          const Problem             problem = square(n, delta);
          const std::vector<double> r       = residuals_after(problem, settings, block, {900, 1000}, std::min(runs, 2));
          BlockAsync<double>        method(problem.A, async(settings, block, settings.local_iterations_or(5)));
          Experiment                experiment(method, problem.b);
          const Reached             reached = reach(experiment, 1e-6, 20000);
          seconds[n]                        = reached.seconds;
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
      report.decide("T Figure 4.25",
                    "the residual after 1000 iterations is nearly linear in N (in logarithms), but N = block size is better than the trend: farther "
                    "below the line between its neighbours than any other N",
                    dip(block) > 0. && dip(block) > deepest,
                    "log10 of the residual " + cell(dip(block), "%.4f") + " below that line, of the other N at most " + cell(deepest, "%.4f") +
                      "; they deviate by " + cell(fit_line(x, y).deviation, "%.4f") + " from a line through those within 7",
                    can_decide ? "" : at_rounding);
      bool        sooner = true, one_faster = false, compared = false;
      std::string slower_than;
      for (const int offset : {-7, -6, -5, -3, -2, -1})
        if (const auto other = seconds.find(block + offset * step); other != seconds.end())
          {
            compared = true;
            if (seconds[block] < other->second)
              continue;
            sooner = false;
            slower_than += (slower_than.empty() ? "" : ", ") + std::to_string(other->first);
          }
      const auto four_less = seconds.find(block - 4 * step);
      if (four_less != seconds.end())
        one_faster = four_less->second < seconds[block];
      const std::string measured = cell(1e3 * seconds[block], "%.3f") + " ms for N = " + std::to_string(block) +
                                   (slower_than.empty() ? "" : ", sooner are N = " + slower_than) + "; N = " + std::to_string(block - 4 * step) +
                                   (one_faster ? " is faster" : " is not faster");
      report.decide("T Figure 4.26",
                    "N = 112 reaches 1e-6 sooner than N = 105, 106, 107, 109, 110, 111",
                    sooner,
                    measured,
                    compared ? "" : "no N below the block size was measured");
      report.decide("T Figure 4.26",
                    "N = 108 is faster than N = 112",
                    one_faster,
                    measured,
                    four_less != seconds.end() ? "" : "the block size less four was not measured");
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
          const auto        its   = [&](const char *name) { return cell(iterations[name], "%.0f"); };
          report.finding("T section 4.10.8",
                         which + "blocks of whole mesh lines need fewer iterations than blocks of as many rows and half a line less or one row more",
                         iterations["two lines"] < iterations["one and a half"] && iterations["two lines"] < iterations["two lines and a row"],
                         "two lines " + its("two lines") + ", one and a half " + its("one and a half") + ", two lines and a row " +
                           its("two lines and a row") + "; for comparison tiles 16 x 8 " + its("tiles 16 x 8"));
        }
    }
  } // namespace

  void study_mesh_blocks(const Settings &settings, Report &report)
  {
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
