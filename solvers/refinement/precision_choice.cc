// SPDX-License-Identifier: Apache-2.0
#include "precision_choice.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../block_async/host_scheduler.h"
#include "../block_async/prediction.h"
#include "../matrix/scaled_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace leopard
{
  namespace
  {
    constexpr double rounding     = 6e-8; ///< of single precision
    constexpr double usual_digits = 6.;   ///< RefinementOptions::digits
    constexpr int    test_every   = 10;   ///< StoppingCriteria::test_every
    constexpr double passes       = 5.;   ///< of a correction beside its iterations: residuals and norms

    struct Work
    {
      double inside = 0., outside = 0., rows = 0.; ///< entries within blocks and outside them, rows

      Work(const CrsMatrix<double> &A, const Blocks &blocks)
        : rows(A.n_rows)
      {
        for (int block = 0; block < blocks.n_blocks(); ++block)
          for (int i = blocks.begin[block]; i < blocks.end[block]; ++i)
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              (A.columns[p] >= blocks.begin[block] && A.columns[p] < blocks.end[block] ? inside : outside) += 1.;
      }

      /** Of an iteration: 16-bit columns inside the blocks, x, b and weights a row. */
      double bytes(double of_value) const { return inside * (of_value + 2.) + outside * (of_value + 4.) + 4. * rows * of_value; }
    };

    /**
     * Seconds of a global iteration, of a residual with its test, of a correction beside its iterations, of the start
     * of a solve.
     */
    struct Cost
    {
      double in_double, in_single, residual, correction, solve = 0.;

      Cost(const Work &work, const BlockAsyncOptions &options)
      {
        if (options.backend == Backend::cuda)
          {
            // Waits are fitted to solves of seventeen matrices on an H200 (2026-11-28_h200_precision_choice.md). Blocks
            // are read once an iteration, and swept over on the chip.
            constexpr double start = 1e-6, bytes_a_second = 3.5e12, test = 7.5e-6, waits = 150e-6;
            in_double  = std::max(start, work.bytes(8.) / bytes_a_second);
            in_single  = std::max(start, work.bytes(4.) / bytes_a_second);
            residual   = test + in_double;
            correction = waits + passes * in_double;
            solve      = 60e-6;
            return;
          }
        // Fitted to solves of seven matrices on two cores of a virtual machine of a server of 2023: sweeps gather
        // values from the cache one by one, floats hardly faster than doubles; what does not fit into the caches comes
        // from memory, in time of its own.
        const int        wanted  = options.backend == Backend::reference ? 1 : shared_thread_pool(options.n_threads)->size();
        const int        blocks  = static_cast<int>(work.rows / options.block_size) + 1;
        const int        threads = HostScheduler::n_at_work(blocks, static_cast<long>(work.rows), wanted);
        constexpr double inside = 0.27e-9, outside = 0.45e-9, row = 1.2e-9, ratio = 0.91, caches = 32e6, bytes_a_second = 15e9;
        const double     start     = threads > 1 ? 5e-6 : 0.5e-6; // waking threads
        const double     entries   = (outside * (work.inside + work.outside) + row * work.rows) / threads;
        const double     sweeps    = (inside * options.local_iterations * work.inside + outside * work.outside + row * work.rows) / threads;
        const auto       transfers = [&](double of_value) { return work.bytes(of_value) > caches ? work.bytes(of_value) / bytes_a_second : 0.; };
        in_double                  = start + sweeps + transfers(8.);
        in_single                  = start + ratio * sweeps + transfers(4.);
        residual                   = start + entries + transfers(8.);
        correction                 = passes * residual;
      }
    };

    std::string number(double value, const char *format = "%.3g")
    {
      char text[40];
      std::snprintf(text, sizeof(text), format, value);
      return text;
    }

    /** Empty if all values fit into single precision. */
    std::string why_not_single(const CrsMatrix<double> &A)
    {
      try
        {
          scaled_to<float>(A);
          return "";
        }
      catch (const InvalidInput &problem)
        {
          const std::string text = problem.what();
          return text.substr(0, text.find('\n'));
        }
    }
  } // namespace

  PredictedPrecision predict_precision(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double tolerance, double max_seconds)
  {
    PredictedPrecision result;
    result.seconds_double = result.seconds_refined = result.seconds_mixed = HUGE_VAL;
    if (!(tolerance > 0.))
      {
        result.reason = "double: without a tolerance there is nothing to correct";
        return result;
      }
    if (const std::string unfit = why_not_single(A); !unfit.empty())
      {
        result.reason = "double: " + unfit;
        return result;
      }
    if (options.momentum > 0.) // whose factor does not tell the condition number
      {
        result.reason = "double: with momentum it is not known how many digits single precision gains";
        return result;
      }
    const PredictedConvergence rate = predicted_convergence(A, options, max_seconds);
    if (!rate.settled)
      {
        result.reason =
          "double: the rate of convergence was not found within " + number(max_seconds) + " s, and with it the digits that single precision gains";
        return result;
      }
    if (!(rate.factor < 1.))
      {
        result.reason = "double: no convergence is predicted (factor " + number(rate.factor, "%.5g") + " an iteration)";
        return result;
      }
    const Work   work(A, options.blocks(A.n_rows));
    const Cost   cost(work, options);
    const double digits = -std::log10(tolerance), n = std::max(1., digits * rate.iterations_a_digit);
    const auto   tests      = std::ceil(n / test_every);
    const double kappa      = 2. * options.local_iterations / (1. - rate.factor);
    const double of_refined = 1. + std::ceil(digits / usual_digits);
    result.seconds_double   = cost.solve + test_every * tests * cost.in_double + (1. + tests) * cost.residual;
    result.seconds_refined  = n * cost.in_double + of_refined * cost.correction;
    result.digits           = std::min(usual_digits, -std::log10(rounding * kappa));
    if (!(result.digits > 1.))
      {
        result.reason = "double: a condition number of about " + number(kappa, "%.1e") + " is too large for single precision";
        return result;
      }
    // the first correction is told 6 digits or what is wanted, whatever it gains; the others what it gained and a
    // little
    result.n_corrections  = 1 + static_cast<int>(std::ceil(std::max(0., digits - result.digits) / result.digits - 1e-6));
    const double wasted   = std::max(0., std::min(usual_digits, digits + 0.3) - result.digits);
    const double n_mixed  = n + rate.iterations_a_digit * (wasted + 0.5 * result.n_corrections);
    result.seconds_mixed  = n_mixed * cost.in_single + (1. + result.n_corrections) * cost.correction;
    const std::string way = number(rate.iterations_a_digit) + " iterations a digit, " + number(100. * cost.in_single / cost.in_double, "%.0f") +
                            " percent of the time for one in single, " + std::to_string(result.n_corrections) + " corrections of " +
                            number(result.digits, "%.2g") + " digits";
    result.reason = std::string(result.is_mixed() ? "mixed: " : "double: ") + way + ": predicted " +
                    number(result.seconds_mixed / result.seconds_double, "%.2f") + " of the time of double";
    return result;
  }
} // namespace leopard
