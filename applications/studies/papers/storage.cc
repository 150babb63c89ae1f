// SPDX-License-Identifier: Apache-2.0
// Plain CRS against block-CRS (thesis, section 4.9, Table 4.8).
#include "plain_crs.h"
#include "published.h"
#include "sample_statistics.h"
#include "storage_judge.h"
#include "study.h"

#include <solvers/base/stopwatch.h>
#include <solvers/matrix/generators.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard::studies
{
  namespace
  {
    struct Timing
    {
      double      seconds = 0., start = 0.; ///< of a global iteration, and of conversion and upload
      double      residual = 0.;            ///< after the iterations, to see that it is the same method
      std::string description;
    };

    template <typename Make>
    Timing time_method(const Problem &problem, int n_iterations, int runs, const Make &make)
    {
      Timing                                    result;
      const double                              start  = now();
      const std::unique_ptr<Relaxation<double>> method = make();
      Experiment                                experiment(*method, problem.b);
      result.start = now() - start;
      std::vector<double> times;
      for (int run = -1; run < runs; ++run) // the first warms up
        {
          experiment.start();
          const double begin = now();
          experiment.iterate(n_iterations);
          if (run >= 0)
            times.push_back((now() - begin) / n_iterations);
        }
      result.seconds     = median(times);
      result.residual    = experiment.relative_residual();
      result.description = method->description();
      return result;
    }

    constexpr int n_compared = 20; ///< global iterations, after which iterates are compared

    /** Largest |x_i - y_i|, relative to the largest |y_i|. */
    double difference(const std::vector<double> &x, const std::vector<double> &y)
    {
      double difference = 0., largest = 0.;
      for (std::size_t i = 0; i < x.size(); ++i)
        {
          difference = larger_or_nan(difference, std::abs(x[i] - y[i]));
          largest    = std::max(largest, std::abs(y[i]));
        }
      return difference / largest;
    }

    std::vector<double> iterates(Relaxation<double> &method, int n_rows)
    {
      Experiment experiment(method, std::vector<double>(n_rows, 1.));
      experiment.iterate(n_compared);
      return experiment.x();
    }

    std::vector<double> of_block_async(const CrsMatrix<double> &A, int block_size, int k, Backend backend, TwoStage two_stage = TwoStage::automatic)
    {
      BlockAsyncOptions options;
      options.backend          = backend;
      options.block_size       = block_size;
      options.local_iterations = k;
      options.n_threads        = 1;
      options.two_stage        = two_stage;
      BlockAsync<double> method(A, options);
      return iterates(method, A.n_rows);
    }

    double between_storages(const CrsMatrix<double> &A, int block_size, int k, Backend backend)
    {
      return difference(iterates(*make_plain_crs(A, block_size, k, backend, 1), A.n_rows), of_block_async(A, block_size, k, backend));
    }

    /** Where nothing is left to chance. */
    void compare_iterates(Backend backend, int k, Report &report)
    {
      const double one_thread = between_storages(seven_point_matrix(24, 24, 24, 0.), 128, k, Backend::host),
                   one_block  = between_storages(seven_point_matrix(8, 8, 8, 0.), 512, k, backend);
      judge_iterates(k, one_thread, one_block, report);
    }

    /** What the listings do as printed, on one host thread: the number of their sweeps, and whether they agree. */
    void compare_printed(Report &report)
    {
      constexpr int             k = 5, block_size = 128;
      const CrsMatrix<double>   A = seven_point_matrix(24, 24, 24, 0.);
      const std::vector<double> b(A.n_rows, 1.);
      std::vector<double>       of_18(A.n_rows, 0.);
      for (int n = 0; n < n_compared; ++n)
        iterate_algorithm_18(A, block_size, k, of_18, b);
      const std::vector<double> of_16 = iterates(*make_printed_crs(A, block_size, k, FindsDiagonal::by_branch, Backend::host, 1), A.n_rows),
                                of_17 = iterates(*make_printed_crs(A, block_size, k, FindsDiagonal::by_product, Backend::host, 1), A.n_rows);
      const auto differences          = [&](const std::vector<double> &x, TwoStage kind) {
        return SweepDifferences{difference(x, of_block_async(A, block_size, k, Backend::host, kind)),
                                difference(x, of_block_async(A, block_size, k + 1, Backend::host, kind))};
      };
      judge_sweeps("Algorithm 16", k, differences(of_16, TwoStage::total), report);
      judge_sweeps("Algorithm 17", k, differences(of_17, TwoStage::total), report);
      judge_sweeps("Algorithm 18", k, differences(of_18, TwoStage::automatic), report);
      judge_printed_iterates(difference(of_16, of_18), report);
    }

    /** What all methods of the table are given. */
    struct SetUp
    {
      const Problem  &problem;
      const Settings &settings;
      int             block_size, n_iterations, runs;
      bool            on_gpu;

      template <typename Make>
      Timing time(const Make &make) const
      {
        return time_method(problem, n_iterations, runs, make);
      }

      Timing block_crs(int k, Storage storage) const
      {
        BlockAsyncOptions options = async(settings, block_size, k);
        options.storage           = storage;
        if (settings.execution == "automatic")
          options.execution = Execution::launch; // as plain CRS
        return time([&] { return std::make_unique<BlockAsync<double>>(problem.A, options); });
      }
    };

    void add_crs(Table &table, const published::Storage &p, const std::string &storage, const Timing &t, bool published)
    {
      table.add_row({"async-(" + std::to_string(p.local_iterations) + ")",
                     storage,
                     cell(t.seconds, "%.6f"),
                     published ? cell(p.crs_seconds, "%.5f") : "-",
                     "-",
                     "-",
                     cell(t.start, "%.3f"),
                     published ? cell(p.crs_start, "%.4f") : "-",
                     "-",
                     "-",
                     cell(t.residual)});
    }

    void add_block_crs(Table &table, const published::Storage &p, const std::string &storage, const Timing &t, const Timing &crs, bool published)
    {
      const double pays = (t.start - crs.start) / (crs.seconds - t.seconds);
      table.add_row({"async-(" + std::to_string(p.local_iterations) + ")",
                     storage,
                     cell(t.seconds, "%.6f"),
                     published ? cell(p.block_crs_seconds, "%.5f") : "-",
                     cell(100. * (1. - t.seconds / crs.seconds), "%.1f"),
                     published ? cell(100. * (1. - p.block_crs_seconds / p.crs_seconds), "%.1f") : "-",
                     cell(t.start, "%.3f"),
                     published ? cell(p.block_crs_start, "%.4f") : "-",
                     t.seconds < crs.seconds ? cell(std::max(0., pays), "%.1f") : "never",
                     published ? cell((p.block_crs_start - p.crs_start) / (p.crs_seconds - p.block_crs_seconds), "%.1f") : "-",
                     cell(t.residual)});
    }

    /** The rows of an async-(k), and what they decide. */
    void compare_times(const SetUp &set_up, const published::Storage &p, Table &table, Report &report)
    {
      const int                k = p.local_iterations;
      const CrsMatrix<double> &A = set_up.problem.A;
      const Timing             frozen =
        set_up.time([&] { return make_plain_crs(A, set_up.block_size, k, set_up.settings.resolved_backend(), set_up.settings.threads); });
      add_crs(table, p, "plain CRS, frozen", frozen, false);
      const auto printed = [&](FindsDiagonal finds) {
        return set_up.time(
          [&] { return make_printed_crs(A, set_up.block_size, k - 1, finds, set_up.settings.resolved_backend(), set_up.settings.threads); });
      };
      const Timing crs = printed(FindsDiagonal::by_branch), by_product = printed(FindsDiagonal::by_product);
      add_crs(table, p, "plain CRS, Algorithm 16", crs, true);
      add_crs(table, p, "plain CRS, Algorithm 17", by_product, false);
      judge_diagonal(k, set_up.on_gpu, crs.seconds, by_product.seconds, report);
      const Timing block = set_up.block_crs(k, Storage::double_precision);
      report.say("async-(" + std::to_string(k) + ") block-CRS: " + block.description);
      add_block_crs(table, p, "block-CRS, double", block, crs, true);
      if (set_up.on_gpu)
        add_block_crs(table, p, "block-CRS, lossless", set_up.block_crs(k, Storage::automatic), crs, false);
      judge_storage(k, {crs.seconds, block.seconds, crs.start, block.start}, report);
    }
  } // namespace

  void judge_storage(int k, const StorageTimes &times, Report &report)
  {
    const double      ratio  = times.block_crs / times.crs;
    const std::string text   = cell(100. * (1. - ratio), "%.1f") + " percent less than Algorithm 16";
    const auto        decide = [&](const char *source, const std::string &claim, double limit, double found, const std::string &measured) {
      report.decide_times(source, claim, {-INFINITY, limit}, {found}, measured);
    };
    if (k == 1)
      decide("T Table 4.8", "block-CRS takes less than half the time of CRS for async-(1)", 0.5, ratio, text);
    else
      decide("T Table 4.8", "block-CRS takes about 80 percent less time than CRS for async-(5) (printed times: 76.6; 70 at least)", 0.3, ratio, text);
    const double pays = (times.block_crs_start - times.crs_start) / (times.crs - times.block_crs), limit = k == 1 ? 25. : 4.;
    const bool   never = times.block_crs >= times.crs;
    decide("T section 4.9",
           "the conversion pays after at most " + cell(limit, "%g") + " iterations of async-(" + std::to_string(k) + ")",
           limit,
           never ? std::numeric_limits<double>::max() : pays,
           never ? "never" : cell(std::max(0., pays), "%.1f") + " iterations");
  }

  void judge_diagonal(int k, bool on_gpu, double by_branch, double by_product, Report &report)
  {
    const double      ratio = by_product / by_branch;
    const std::string text  = "Algorithm 17 takes " + cell(ratio, "%.2f") + " times as long";
    report.decide_times("T section 4.8.2",
                        "async-(" + std::to_string(k) + "): Algorithms 16 and 17 take about the same time (to 10 percent)",
                        {1. / 1.1, 1.1},
                        {ratio},
                        text,
                        on_gpu ? "" : "a statement on GPUs; on host threads " + text);
  }

  void judge_iterates(int k, double one_thread, double one_block, Report &report)
  {
    report.finding("T section 4.9",
                   "both storages give the same iterates of async-(" + std::to_string(k) + ") up to rounding (where the schedule is the same)",
                   one_thread < 1e-12 && one_block < 1e-12,
                   "largest difference " + cell(one_thread, "%.1e") + " after 20 iterations on one host thread (24^3), " + cell(one_block, "%.1e") +
                     " in one block on the backend (8^3)");
  }

  void judge_printed_iterates(double apart, Report &report)
  {
    report.finding("T section 4.9, Algorithms 16, 18",
                   "Algorithms 16 and 18 as printed give the same iterates up to rounding (rows and blocks in their order)",
                   apart < 1e-12,
                   "largest difference " + cell(apart, "%.1e") + " after 20 iterations of 1 + 5 sweeps on one host thread (24^3)");
  }

  void judge_sweeps(const std::string &printed, int k, const SweepDifferences &differences, Report &report)
  {
    report.finding("T " + printed,
                   "as printed async-(" + std::to_string(k) + ") makes 1 + " + std::to_string(k) + " sweeps (its iterates are those of async-(" +
                     std::to_string(k + 1) + ") to rounding, not those of async-(" + std::to_string(k) + "))",
                   differences.of_one_more < 1e-12 && differences.of_k > 1e-6,
                   "largest difference " + cell(differences.of_one_more, "%.1e") + " from async-(" + std::to_string(k + 1) + "), " +
                     cell(differences.of_k, "%.1e") + " from async-(" + std::to_string(k) + "), after 20 iterations on one host thread");
  }

  void study_storage(const Settings &settings, Report &report)
  {
    refuse_unused("storage", settings, {}, {});
    const int side = settings.size_or(96, 318), rows = settings.block_size_or(512), runs = settings.runs_or(3, 7),
              n_iterations = settings.full ? 20 : 10;
    const Backend backend  = settings.resolved_backend();
    const bool    on_gpu   = backend == Backend::cuda;
    const Problem problem{
      std::string("A").append(std::to_string(side)), seven_point_matrix(side, side, side, 0.), std::vector<double>(side * side * side, 1.)};
    const std::string size = std::to_string(problem.A.n_rows) + " rows, " + std::to_string(problem.A.n_entries()) + " entries";
    report.say("plain CRS against block-CRS: " + machine(settings) + ", seven-point Laplace " + std::to_string(side) + "^3 (printed: 318^3), " +
               size + ", blocks of " + std::to_string(rows) + " consecutive rows (printed: not), medians of " + std::to_string(runs) + " times " +
               std::to_string(n_iterations) + " global iterations" + (side < 318 ? "; smaller than printed, all of it with --full" : ""));
    report.say(
      "All methods make k sweeps in a block:\n"
      "  plain CRS, frozen: values of 64 bits, columns of 32; off-block values are frozen during the local iterations; each of them runs over\n"
      "             the whole row and finds out for each entry whether it is in the block, as nothing in the storage says so;\n"
      "  plain CRS, Algorithms 16 and 17 as printed, with k - 1 for their local iterations: all values are read from memory in each\n"
      "             sweep, and written at once; the diagonal entry is found by an if (16) or by a product (17);\n"
      "  block-CRS, double: as in the thesis the diagonal blocks apart from the rest; the library's has columns of 16 bits (or, on a GPU, of 8)\n"
      "             in the blocks, keeps a row in registers on a GPU and reads the matrix once a global iteration, whatever k is;\n"
      "  block-CRS, lossless (GPU only): the same with values as numbers in a dictionary, which for a stencil is one byte a value.");
    Table table("Plain CRS and block-CRS, seven-point " + std::to_string(side) + "^3 (T Table 4.8)",
                {"method",
                 "storage",
                 "s an iteration",
                 "published",
                 "less time (%)",
                 "published",
                 "start-up (s)",
                 "published",
                 "pays after its",
                 "from published",
                 "residual after"});
    for (const published::Storage &p : published::storage)
      compare_times({problem, settings, rows, n_iterations, runs, on_gpu}, p, table, report);
    report.add(table);
    for (const int k : {1, 5})
      compare_iterates(backend, k, report);
    compare_printed(report);
  }
} // namespace leopard::studies
