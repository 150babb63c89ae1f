// SPDX-License-Identifier: Apache-2.0
// Plain CRS against block-CRS (thesis, section 4.9, Table 4.8).
#include "plain_crs.h"
#include "published.h"
#include "sample_statistics.h"
#include "study.h"

#include <solvers/matrix/generators.h>

#include <algorithm>
#include <cmath>

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
    /** Largest |x_i| difference after 20 iterations, relative to the largest |x_i|. */
    double largest_difference(const CrsMatrix<double> &A, int block_size, int k, Backend backend)
    {
      const std::vector<double> b(A.n_rows, 1.);
      BlockAsyncOptions         options;
      options.backend                                 = backend;
      options.block_size                              = block_size;
      options.local_iterations                        = k;
      options.n_threads                               = 1;
      const std::unique_ptr<Relaxation<double>> plain = make_plain_crs(A, block_size, k, backend, 1);
      BlockAsync<double>                        block(A, options);
      Experiment                                first(*plain, b), second(block, b);
      first.iterate(20);
      second.iterate(20);
      const std::vector<double> x = first.x(), y = second.x();
      double                    difference = 0., largest = 0.;
      for (std::size_t i = 0; i < x.size(); ++i)
        {
          difference = larger_or_nan(difference, std::abs(x[i] - y[i]));
          largest    = std::max(largest, std::abs(y[i]));
        }
      return difference / largest;
    }

    /** Where nothing is left to chance. */
    struct Difference
    {
      double one_thread, one_block;
    };

    Difference compare_iterates(Backend backend, int k)
    {
      return {largest_difference(seven_point_matrix(24, 24, 24, 0.), 128, k, Backend::host),
              largest_difference(seven_point_matrix(8, 8, 8, 0.), 512, k, backend)};
    }
  } // namespace

  void study_storage(const Settings &settings, Report &report)
  {
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
      "Compared are two storages of one method, whose off-block values are frozen during the local iterations:\n"
      "  plain CRS: values of 64 bits, columns of 32; each local iteration runs over the whole row and finds out for each entry whether it\n"
      "             is in the block, as there is nothing in the storage that says so;\n"
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
      {
        const int         k      = p.local_iterations;
        const std::string method = "async-(" + std::to_string(k) + ")";
        const Timing plain = time_method(problem, n_iterations, runs, [&] { return make_plain_crs(problem.A, rows, k, backend, settings.threads); });
        table.add_row({method,
                       "plain CRS",
                       cell(plain.seconds, "%.6f"),
                       cell(p.crs_seconds, "%.5f"),
                       "-",
                       "-",
                       cell(plain.start, "%.3f"),
                       cell(p.crs_start, "%.3f"),
                       "-",
                       "-",
                       cell(plain.residual)});
        for (const Storage storage : {Storage::double_precision, Storage::automatic})
          {
            if (storage == Storage::automatic && !on_gpu)
              continue;
            BlockAsyncOptions options = async(settings, rows, k);
            options.storage           = storage;
            if (settings.execution == "automatic")
              options.execution = Execution::launch; // as plain CRS
            const Timing block = time_method(problem, n_iterations, runs, [&] { return std::make_unique<BlockAsync<double>>(problem.A, options); });
            const double less = 100. * (1. - block.seconds / plain.seconds), published = 100. * (1. - p.block_crs_seconds / p.crs_seconds);
            const bool   same = storage == Storage::double_precision;
            const double pays = (block.start - plain.start) / (plain.seconds - block.seconds);
            table.add_row({method,
                           same ? "block-CRS, double" : "block-CRS, lossless",
                           cell(block.seconds, "%.6f"),
                           same ? cell(p.block_crs_seconds, "%.5f") : "-",
                           cell(less, "%.1f"),
                           same ? cell(published, "%.1f") : "-",
                           cell(block.start, "%.3f"),
                           same ? cell(p.block_crs_start, "%.3f") : "-",
                           block.seconds < plain.seconds ? cell(std::max(0., pays), "%.1f") : "never",
                           same ? cell((p.block_crs_start - p.crs_start) / (p.crs_seconds - p.block_crs_seconds), "%.1f") : "-",
                           cell(block.residual)});
            if (!same)
              continue;
            report.say("async-(" + std::to_string(k) + ") block-CRS: " + block.description);
            if (k == 1)
              report.finding(
                "T Table 4.8", "block-CRS takes less than half the time of CRS for async-(1)", less > 50., cell(less, "%.1f") + " percent less");
            else
              report.finding("T Table 4.8",
                             "block-CRS takes about 80 percent less time than CRS for async-(5) (printed times: 76.6; 70 at least)",
                             less > 70.,
                             cell(less, "%.1f") + " percent less");
            report.finding("T section 4.9",
                           "the conversion pays after at most " + std::string(k == 1 ? "25" : "4") + " iterations of async-(" + std::to_string(k) +
                             ")",
                           block.seconds < plain.seconds && pays <= (k == 1 ? 25. : 4.),
                           block.seconds < plain.seconds ? cell(std::max(0., pays), "%.1f") + " iterations" : "never");
          }
      }
    report.add(table);
    for (const int k : {1, 5})
      {
        const Difference d = compare_iterates(backend, k);
        report.finding("T section 4.9",
                       "both storages give the same iterates of async-(" + std::to_string(k) + ") up to rounding (where the schedule is the same)",
                       d.one_thread < 1e-12 && d.one_block < 1e-12,
                       "largest difference " + cell(d.one_thread, "%.1e") + " after 20 iterations on one host thread (24^3), " +
                         cell(d.one_block, "%.1e") + " in one block on the backend (8^3)");
      }
  }
} // namespace leopard::studies
