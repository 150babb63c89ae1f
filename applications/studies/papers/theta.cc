// SPDX-License-Identifier: Apache-2.0
// Local iterations that depend on theta (thesis, sections 4.10.4 and 4.10.5, Table 4.9, Figures 4.21, 4.22).
#include "judges.h"
#include "published.h"
#include "sample_statistics.h"

#include <solvers/matrix/analysis.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace leopard::studies
{
  namespace
  {
    /** Local iterations of a row in a global iteration, in the mean. */
    double updates_a_row(const std::vector<int> &ks, const Blocks &blocks)
    {
      double rows = 0.;
      for (int block = 0; block < blocks.n_blocks(); ++block)
        rows += static_cast<double>(ks[block]) * (blocks.end[block] - blocks.begin[block]);
      return rows / blocks.n_rows();
    }

    OfTheta measure(const Problem &problem, const Settings &settings, int block_size, int k, Table &updates, Table &convergence)
    {
      OfTheta                row{block_size, 0., 0, {}, {}, {}, {}, {}};
      const Blocks           blocks   = contiguous_blocks(problem.A.n_rows, block_size);
      const Theta            t        = theta(problem.A, blocks);
      const std::vector<int> adapted  = theta_dependent_local_iterations(t, blocks, k);
      std::vector<int>       opposite = adapted;
      for (int &k_of_block : opposite)
        k_of_block = 2 * k - 1 - k_of_block;
      // as printed: without the last block
      const int    sum        = std::accumulate(adapted.begin(), adapted.end() - 1, 0);
      const double of_adapted = updates_a_row(adapted, blocks);
      row.saving              = 100. * (1. - of_adapted / k);

      const auto p     = std::find_if(published::theta_updates.begin(), published::theta_updates.end(), [&](const auto &u) {
        return problem.name == "trefethen" && k == 5 && u.block_size == block_size;
      });
      const bool known = p != published::theta_updates.end();
      row.difference   = known ? std::abs(sum - p->theta_dependent) : -1;
      updates.add_row({cell(block_size),
                       cell(blocks.n_blocks()),
                       cell(sum),
                       known ? cell(p->theta_dependent) : "-",
                       cell(k * (blocks.n_blocks() - 1)),
                       known ? cell(p->uniform) : "-",
                       cell(row.saving, "%.1f"),
                       known ? cell(100. * (1. - static_cast<double>(p->theta_dependent) / p->uniform), "%.1f") : "-",
                       cell(t.minimum, "%.4f"),
                       cell(*std::min_element(t.block_ratios.begin(), t.block_ratios.end()), "%.4f"),
                       cell(t.ratio, "%.4f"),
                       cell(*std::max_element(t.block_ratios.begin(), t.block_ratios.end()), "%.4f")});

      const auto run = [&](const std::vector<int> &per_block, int local_iterations, bool l1) {
        BlockAsyncOptions options          = async(settings, block_size, local_iterations);
        options.local_iterations_per_block = per_block;
        options.l1_weights                 = l1;
        BlockAsync<double> method(problem.A, options);
        Experiment         experiment(method, problem.b);
        return reach(experiment, 1e-12, 5000);
      };
      row.adapted                     = run(adapted, k, false);
      row.reversed                    = run(opposite, k, false);
      row.uniform                     = run({}, k, false);
      row.lower                       = run({}, k - 1, false);
      row.l1                          = run({}, k, true);
      std::vector<std::string> result = {cell(block_size)};
      for (const Reached *r : {&row.adapted, &row.reversed, &row.uniform, &row.lower, &row.l1})
        result.insert(result.end(), {r->iterations_text(), cell(r->factor, "%.4f")});
      const auto updates_of = [](const Reached &r, double of_row) { return r.converged ? cell(r.iterations * of_row, "%.1f") : "-"; };
      result.insert(result.end(),
                    {updates_of(row.adapted, of_adapted),
                     updates_of(row.reversed, 2 * k - 1 - of_adapted),
                     updates_of(row.uniform, k),
                     updates_of(row.lower, k - 1),
                     cell(1e3 * row.adapted.seconds, "%.3f"),
                     cell(1e3 * row.uniform.seconds, "%.3f"),
                     cell(1e3 * row.l1.seconds, "%.3f")});
      convergence.add_row(result);
      return row;
    }

    /**
     * By how many percent the residual's logarithm falls faster than with k everywhere, in the mean over the block
     * sizes.
     */
    double gain(const std::vector<OfTheta> &rows, Reached OfTheta::*which)
    {
      double sum = 0.;
      for (const OfTheta &row : rows)
        sum += 100. * (std::log((row.*which).factor) / std::log(row.uniform.factor) - 1.);
      return sum / static_cast<double>(rows.size());
    }
  } // namespace

  void judge_theta(const std::vector<OfTheta> &rows, Report &report)
  {
    const bool        all_sizes = rows.size() > 1;
    const std::string trefethen = "Trefethen_2000: ";
    double            saving = 0., least = INFINITY, most = 0.;
    int               difference = -1;
    for (const OfTheta &row : rows)
      {
        saving += row.saving / static_cast<double>(rows.size());
        least      = std::min(least, row.adapted.iterations_needed());
        most       = larger_or_nan(most, row.adapted.iterations_needed());
        difference = std::max(difference, row.difference);
      }
    if (all_sizes)
      report.decide("reconstruction of T Table 4.9",
                    trefethen + "k local iterations in blocks of more than average weight inside, k - 1 in the others give the printed sums (to 2)",
                    difference <= 2,
                    "largest difference " + std::to_string(difference),
                    difference >= 0 ? "" : "nothing is printed for these local iterations or this matrix");
    report.finding("T section 4.10.5",
                   trefethen + "theta-dependent local iterations save more than 13 percent of the updates (printed table: 7.5 to 20)",
                   saving > 13.,
                   cell(saving, "%.1f") + " percent in the mean over the block sizes");
    report.finding("T Figure 4.22",
                   trefethen + "theta-dependent local iterations converge about 30 percent faster than async-(5) (20 at least)",
                   gain(rows, &OfTheta::adapted) > 20.,
                   cell(gain(rows, &OfTheta::adapted), "%.1f") +
                     " percent in the logarithm of the factor, in the mean over the block sizes; with k and k - 1 exchanged " +
                     cell(gain(rows, &OfTheta::reversed), "%.1f") + ", with k - 1 everywhere " + cell(gain(rows, &OfTheta::lower), "%.1f"));
    report.decide("T Figure 4.21",
                  trefethen + "with theta-dependent local iterations the block size matters little (to 10 percent)",
                  std::isfinite(most) && most < 1.1 * least,
                  cell(least, "%.1f") + " to " + cell(most, "%.1f") + " iterations",
                  rows.size() < 2 ? "there is one block size only" : "");
    const OfTheta &small = rows.front(), &large = rows.back();
    if (all_sizes)
      report.finding(
        "T Figure 4.22",
        trefethen + "l1-async-(5) is faster than theta-dependent iterations in large blocks and slower in small ones",
        large.l1.iterations_needed() < large.adapted.iterations_needed() && small.l1.iterations_needed() > small.adapted.iterations_needed(),
        "blocks of " + std::to_string(small.block_size) + ": " + small.l1.iterations_text() + " and " + small.adapted.iterations_text() +
          " iterations; of " + std::to_string(large.block_size) + ": " + large.l1.iterations_text() + " and " + large.adapted.iterations_text());
  }

  void study_theta(const Settings &settings, Report &report)
  {
    const std::vector<std::string> names = settings.matrices_or({"trefethen"});
    refuse_unused("theta", settings, {}, names);
    const int k = settings.local_iterations_or(5);
    report.say(
      "theta-dependent local iterations: " + machine(settings) +
      "\ntheta of a matrix: the smallest |diagonal entry| / sum of |off-block entries| of its rows (equation 4.4)."
      "\nThe thesis prints which blocks have more local iterations and which fewer (section 4.10.4), not how many. Here k where the entries within"
      "\nthe block weigh at least as much against those outside as in the whole matrix, k - 1 in the others, which comes closest to the printed sums."
      "\nCaption of Table 4.9: Trefethen_20000; its text and numbers of blocks say Trefethen_2000. Its async-(5) column counts one block fewer"
      "\nthan there are, so the last one is left out of the sums here too.");
    std::vector<int> sizes = {28, 56, 112, 224, 448};
    if (settings.block_size > 0)
      sizes = {settings.block_size};
    for (const std::string &name : names)
      {
        const Problem     problem = load_problem(name, settings);
        const std::string of_k    = "async-(" + std::to_string(k) + ")";
        const std::string of_less = "async-(" + std::to_string(k - 1) + ")";
        Table             updates("Local iterations of a global one, summed over the blocks, " + name + " (T Table 4.9)",
                      {"block size",
                                   "blocks",
                                   "k or k - 1",
                                   "published",
                                   of_k,
                                   "published",
                                   "saving (%)",
                                   "published",
                                   "theta",
                                   "least ratio",
                                   "of all",
                                   "largest"});
        Table convergence("Iterations to 1e-12, factor; updates a row until then; time in ms, " + name + " (T Figures 4.21, 4.22: curves only)",
                          {"block size",
                           "k or k - 1 its",
                           "factor",
                           "exchanged its",
                           "factor",
                           of_k + " its",
                           "factor",
                           of_less + " its",
                           "factor",
                           "l1 its",
                           "factor",
                           "k or k - 1 updates",
                           "exchanged",
                           of_k,
                           of_less,
                           "k or k - 1 ms",
                           of_k + " ms",
                           "l1 ms"});
        std::vector<OfTheta> rows;
        rows.reserve(sizes.size());
        for (const int size : sizes)
          rows.push_back(measure(problem, settings, size, k, updates, convergence));
        report.add(updates);
        report.add(convergence);
        if (name == "trefethen")
          judge_theta(rows, report);
      }
  }
} // namespace leopard::studies
