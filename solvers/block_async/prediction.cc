// SPDX-License-Identifier: Apache-2.0
#include "prediction.h"

#include "../base/norms.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_entries.h"
#include "../matrix/symmetrized.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    /** Whether no row of |B| sums to more than 1: then no iteration lets the largest error grow. */
    bool is_dominated(const CrsMatrix<double> &A)
    {
      constexpr double rounding = 1e-12;
      for (int i = 0; i < A.n_rows; ++i)
        {
          double diagonal = 0., others = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            (A.columns[p] == i ? diagonal : others) += std::abs(A.values[p]);
          if (!(others <= (1. + rounding) * diagonal))
            return false;
        }
      return true;
    }

    /**
     * Sizes in which errors are measured: of a symmetric A with positive diagonal sqrt(a_ii) x_i, so that D A D, D
     * diagonal, is judged as A is: its iteration has the errors of A divided by D, and where D differs much from row to
     * row the error of one row becomes the 10^8-fold one of the next, which is not growth. Of A = T S T^-1, S symmetric
     * and T diagonal, so that D A is one, too, sqrt(a_ii) x_i / t_i, unless its rows are dominated: convection carries
     * errors through the domain before they fall as those of S do. Of others x_i.
     */
    std::vector<double> sizes_of_errors(const CrsMatrix<double> &A)
    {
      constexpr double most_of_range = 230.; // logarithm of 1e100: beside the sizes of entries, which double has to hold, too
      A.validate();
      std::vector<double> result(A.n_columns, 1.);
      if (A.n_columns != A.n_rows || spectrum::row_without_positive_diagonal(A) >= 0)
        return result;
      const bool symmetric = !spectrum::find_asymmetry(A).found;
      if (!symmetric && is_dominated(A))
        return result;
      const std::vector<double> logarithms = symmetric ? std::vector<double>(A.n_rows, 0.) : spectrum::symmetrizing_logarithms(A);
      const auto [low, high]               = std::minmax_element(logarithms.begin(), logarithms.end());
      if (logarithms.empty() || !(*high - *low <= most_of_range))
        return result;
      const double              middle   = 0.5 * (*low + *high);
      const std::vector<double> diagonal = diagonal_of(A);
      for (int i = 0; i < A.n_rows; ++i)
        result[i] = std::sqrt(diagonal[i]) * std::exp(middle - logarithms[i]);
      return result;
    }

    double norm_of(const std::vector<double> &v, const std::vector<double> &sizes)
    {
      SafeNorm norm;
      for (std::size_t i = 0; i < v.size(); ++i)
        norm.add(sizes[i] * v[i]);
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
    /**
     * The class of the same inner iteration that goes with a schedule; of total in the synchronous one the next best.
     */
    TwoStage with_schedule(TwoStage kind, Schedule schedule)
    {
      if (kind == TwoStage::automatic || kind == TwoStage::synchronous || kind == TwoStage::block)
        return TwoStage::automatic;
      if (schedule == Schedule::synchronous)
        return TwoStage::inner;
      return kind == TwoStage::inner ? TwoStage::outer : kind;
    }

    BlockAsyncOptions on_one_thread(BlockAsyncOptions options, Schedule schedule)
    {
      options.backend   = options.overlap_level > 0 ? Backend::reference : Backend::host;
      options.schedule  = schedule;
      options.two_stage = with_schedule(options.two_stage, schedule);
      options.execution = Execution::automatic;
      options.storage   = Storage::automatic;
      options.n_threads = 1;
      return options;
    }

    /** Own entries between -1 and 1 in these sizes, the same in every call. */
    std::vector<double> random_error(const CrsMatrix<double> &A, const std::vector<double> &sizes)
    {
      std::mt19937_64                        random(1);
      std::uniform_real_distribution<double> value(-1., 1.);
      std::vector<double>                    x(A.n_columns, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        x[i] = value(random) / sizes[i];
      return x;
    }
  } // namespace

  namespace
  {
    using Clock = std::chrono::steady_clock;

    struct MeasuredFactor
    {
      double factor  = 1.;    ///< of the error, an iteration, in the last window
      bool   settled = false; ///< otherwise time was up before
    };

    /**
     * The factor of the error on A x = 0. A random error is smooth to a small part only, so that it falls quickly
     * at first, and later much slower or not at all. Therefore windows of iterations are compared, each twice as long
     * as the one before: what falls like a power of their number has half the rate in each.
     * @param sizes see sizes_of_errors(). @param agreement of the rates (logarithms of the factors) of two windows that
     * have settled, relative.
     */
    MeasuredFactor measure_factor(BlockAsync<double>        &relaxation,
                                  std::vector<double>        x,
                                  const std::vector<double> &sizes,
                                  int                        first_window,
                                  double                     agreement,
                                  Clock::time_point          deadline)
    {
      constexpr int             at_once = 10;
      constexpr double          small = 1e-100, large = 1e6; // of the first error; momentum lets errors grow before they fall, but not so much
      const std::vector<double> zero(x.size(), 0.);
      const double              first = norm_of(x, sizes);
      MeasuredFactor            result;
      if (first == 0.)
        return {0., true};
      double before = first, rate_before = NAN;
      for (int window = first_window;; window *= 2)
        {
          int    done = 0;
          double norm = before;
          while (done < window && norm > small * first && norm < large * first && Clock::now() < deadline)
            {
              const int now = std::min(at_once, window - done);
              relaxation.iterate(x.data(), zero.data(), now);
              done += now;
              norm = norm_of(x, sizes);
            }
          if (done > 0)
            result.factor = std::pow(norm / before, 1. / done);
          const double rate = std::log(result.factor);
          if (!(norm > small * first && norm < large * first))
            return {result.factor, true};
          if (done < window)
            return result;
          if (std::abs(rate - rate_before) <= agreement * std::abs(rate))
            return {result.factor, true};
          before      = norm;
          rate_before = rate;
        }
    }

    Clock::time_point after(double seconds)
    {
      return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e6)));
    }
  } // namespace

  bool converges_in_all_schedules(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double max_seconds)
  {
    const Clock::time_point   deadline = after(max_seconds);
    const std::vector<double> sizes    = sizes_of_errors(A);
    for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic, Schedule::replay})
      {
        BlockAsync<double>   relaxation(A, on_one_thread(options, schedule));
        const MeasuredFactor measured = measure_factor(relaxation, random_error(A, sizes), sizes, 100, 0.2, deadline);
        if (!(measured.settled && measured.factor < 1.))
          return false;
      }
    return true;
  }

  PredictedConvergence predicted_convergence(const CrsMatrix<double> &A, const BlockAsyncOptions &options, double max_seconds)
  {
    BlockAsync<double>        relaxation(A, on_one_thread(options, Schedule::synchronous));
    const std::vector<double> sizes    = sizes_of_errors(A);
    const MeasuredFactor      measured = measure_factor(relaxation, random_error(A, sizes), sizes, 12, 0.05, after(max_seconds));

    PredictedConvergence result;
    result.factor             = measured.factor;
    result.settled            = measured.settled;
    result.iterations_a_digit = result.factor < 1. ? (result.factor > 0. ? -1. / std::log10(result.factor) : 0.) : HUGE_VAL; // NaN diverges, too
    result.sweeps_a_digit     = result.iterations_a_digit * sweeps_of_a_row(options, A.n_rows);
    return result;
  }
} // namespace leopard
