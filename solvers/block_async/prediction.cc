// SPDX-License-Identifier: Apache-2.0
#include "prediction.h"

#include "../base/norms.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    double norm_of(const std::vector<double> &v)
    {
      SafeNorm norm;
      for (const double value : v)
        norm.add(value);
      return norm.value();
    }

    double sweeps_of_a_row(const BlockAsyncOptions &options, int n_rows)
    {
      if (options.local_iterations_per_block.empty() || n_rows == 0)
        return options.local_iterations;
      const Blocks blocks = options.blocks(n_rows);
      double       sum    = 0.;
      for (int block = 0; block < blocks.n_blocks(); ++block)
        sum += static_cast<double>(options.local_iterations_per_block[block]) * (blocks.end[block] - blocks.begin[block]);
      return sum / n_rows;
    }
  } // namespace

  namespace
  {
    BlockAsyncOptions on_one_thread(BlockAsyncOptions options, Schedule schedule)
    {
      options.backend   = Backend::host;
      options.schedule  = schedule;
      options.execution = Execution::automatic;
      options.storage   = Storage::automatic;
      options.n_threads = 1;
      return options;
    }

    /** Own entries between -1 and 1, the same in every call. */
    std::vector<double> random_error(const CrsMatrix<double> &A)
    {
      std::mt19937_64                        random(1);
      std::uniform_real_distribution<double> value(-1., 1.);
      std::vector<double>                    x(A.n_columns, 0.);
      std::generate_n(x.begin(), A.n_rows, [&] { return value(random); });
      return x;
    }
  } // namespace

  bool converges_in_all_schedules(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double max_seconds)
  {
    using Clock                 = std::chrono::steady_clock;
    constexpr int             n = 300, n_compared = 100; // what grows by a percent an iteration has grown threefold since the comparison
    const Clock::time_point   start = Clock::now();
    const std::vector<double> zero(A.n_rows, 0.);
    for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic, Schedule::replay})
      {
        BlockAsync<double>  relaxation(A, on_one_thread(options, schedule));
        std::vector<double> x        = random_error(A);
        double              compared = norm_of(x);
        const double        far_off  = 1000. * std::max(compared, 1.); // momentum may let an error grow before it falls, but not so much
        for (int i = 0; i < n; i += 10)
          {
            if (i == n_compared)
              compared = norm_of(x);
            relaxation.iterate(x.data(), zero.data(), 10);
            if (!(norm_of(x) < far_off) || !(std::chrono::duration<double>(Clock::now() - start).count() < max_seconds))
              return false;
          }
        if (!(norm_of(x) < compared || compared == 0.))
          return false;
      }
    return true;
  }

  PredictedConvergence predicted_convergence(const CrsMatrix<double> &A, const BlockAsyncOptions &options)
  {
    constexpr int             n_before = 12, n_measured = 24; // the fast parts of the error go first
    BlockAsync<double>        relaxation(A, on_one_thread(options, Schedule::synchronous));
    std::vector<double>       x = random_error(A);
    const std::vector<double> zero(A.n_rows, 0.);
    relaxation.iterate(x.data(), zero.data(), n_before);
    const double first = norm_of(x);
    relaxation.iterate(x.data(), zero.data(), n_measured);
    const double last = norm_of(x);

    PredictedConvergence result;
    result.factor             = first == 0. ? 0. : std::pow(last / first, 1. / n_measured);
    result.iterations_a_digit = result.factor < 1. ? (result.factor > 0. ? -1. / std::log10(result.factor) : 0.) : INFINITY; // NaN diverges, too
    result.sweeps_a_digit     = result.iterations_a_digit * sweeps_of_a_row(options, A.n_rows);
    return result;
  }
} // namespace leopard
