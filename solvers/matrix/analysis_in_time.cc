// SPDX-License-Identifier: Apache-2.0
// What an analysis can tell of a large matrix in a second: bounds and estimates, called so.
#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "crs_matrix.h"
#include "eigenvalues.h"
#include "symmetrized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <vector>

namespace leopard::spectrum
{
  namespace
  {
    /**
     * Growth of a vector in steps with B = I - D^-1 A, or with |B| + I from ones, from which bounds of rho(|B|) come.
     */
    class PowerSteps
    {
    public:
      PowerSteps(const CrsMatrix<double> &A_, bool absolute_)
        : A(A_)
        , absolute(absolute_)
        , pool(shared_thread_pool(0))
        , v(A_.n_rows, 1.)
        , next(A_.n_rows)
      {
        std::mt19937_64 random(1);
        for (double &value : v)
          value = absolute ? 1. : std::uniform_real_distribution<double>(-1., 1.)(random);
      }

      /**
       * As many as the time allows, three at least. @return the growth of the norm a step, in the mean of the second
       * half.
       */
      double take(double seconds)
      {
        constexpr int       fewest = 3, most = 1000;
        const Stopwatch     stopwatch;
        std::vector<double> logs = {0.};
        for (n = 1; n <= most && (n <= fewest || stopwatch.seconds() < seconds); ++n)
          {
            const double norm = step();
            if (!(norm > 0.) || !std::isfinite(norm))
              return norm == 0. ? 0. : std::numeric_limits<double>::infinity(); // what is no number does not converge
            logs.push_back(logs.back() + std::log(norm));
          }
        n              = static_cast<int>(logs.size()) - 1;
        const int half = n / 2;
        return std::exp((logs[n] - logs[half]) / (n - half));
      }

      double lower = 0., upper = std::numeric_limits<double>::infinity(); ///< of rho(|B|) (Collatz 1942, Wielandt 1950)
      int    n = 0;                                                       ///< steps that were taken

    private:
      /** @return the norm of the image of v, which has the norm 1 but for the first. */
      double step()
      {
        struct Found
        {
          double smallest = std::numeric_limits<double>::infinity(), largest = 0., squares = 0.;
        } found;
        std::mutex one_at_a_time;
        parallel_for(*pool, A.n_rows, 4096, [&](long begin, long end) {
          Found mine;
          for (long i = begin; i < end; ++i)
            {
              double sum = 0., diagonal = 0.;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                if (A.columns[p] == i)
                  diagonal = A.values[p];
                else
                  sum += (absolute ? std::abs(A.values[p]) : -A.values[p]) * v[A.columns[p]];
              sum /= absolute ? std::abs(diagonal) : diagonal;
              if (absolute && v[i] > 0.)
                {
                  mine.smallest = std::min(mine.smallest, sum / v[i]);
                  mine.largest  = std::max(mine.largest, sum / v[i]);
                }
              next[i] = sum + (absolute ? v[i] : 0.);
              mine.squares += next[i] * next[i];
            }
          const std::lock_guard<std::mutex> lock(one_at_a_time);
          found.smallest = std::min(found.smallest, mine.smallest);
          found.largest  = std::max(found.largest, mine.largest);
          found.squares += mine.squares;
        });
        lower             = std::max(lower, found.smallest);
        upper             = std::min(upper, found.largest);
        const double norm = std::sqrt(found.squares);
        parallel_for(*pool, A.n_rows, 16384, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            v[i] = next[i] / norm;
        });
        return norm;
      }

      const CrsMatrix<double>          &A;
      const bool                        absolute;
      const std::shared_ptr<ThreadPool> pool;
      std::vector<double>               v, next;
    };

    /**
     * The same matrix with -|a_ij| off the diagonal, of which rho(|B|) = 1 - lambda_1 where the diagonal is positive.
     */
    CrsMatrix<double> comparison_matrix(CrsMatrix<double> A)
    {
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i)
            A.values[p] = -std::abs(A.values[p]);
      return A;
    }

    /** Of a symmetric A, or of one whose `symmetrized` form A is. */
    void estimate_of_symmetric(const CrsMatrix<double> &A, double seconds, MatrixAnalysis &result)
    {
      constexpr double tolerance = 1e-2;
      const Estimate   found     = estimate_extreme(A, tolerance, 0.6 * seconds);
      result.smallest_eigenvalue = found.eigenvalues.smallest;
      result.largest_eigenvalue  = found.eigenvalues.largest;
      result.spectral_radius     = std::max(1. - found.eigenvalues.smallest, found.eigenvalues.largest - 1.);
      result.spectral_radius_abs = result.spectral_radius;
      if (!is_nonnegative_iteration(A))
        result.spectral_radius_abs = std::max(result.spectral_radius, 1. - estimate_smallest(comparison_matrix(A), tolerance, 0.4 * seconds).value);
      result.estimated = "rho(B) and rho(|B|) are lower bounds; of the eigenvalues of D^-1 A " + found.what_is_known();
    }

    void estimate_of_others(const CrsMatrix<double> &A, double seconds, MatrixAnalysis &result)
    {
      if (row_without_positive_diagonal(A) < 0)
        if (const auto similar = symmetrized(A))
          {
            estimate_of_symmetric(*similar, seconds, result);
            return;
          }
      PowerSteps   of_absolute(A, true);
      const double growth = of_absolute.take(0.5 * seconds) - 1.; // of |B| + I
      const double lower = of_absolute.lower, upper = of_absolute.upper;
      // what is certain counts: whether it is below 1
      result.is_open             = !(upper < 1.) && !(lower >= 1.);
      result.spectral_radius_abs = upper < 1. ? upper : lower >= 1. ? lower : std::clamp(growth, lower, upper);
      std::string of_radius      = "the same";
      result.spectral_radius     = result.spectral_radius_abs;
      if (!is_nonnegative_iteration(A))
        {
          PowerSteps of_B(A, false);
          result.spectral_radius = std::min(of_B.take(0.5 * seconds), upper);
          of_radius              = "estimated from " + std::to_string(of_B.n) + " steps of the power method";
        }
      result.estimated = "rho(|B|) is from " + short_text(lower, 6) + " to " + short_text(upper, 6) + ", rho(B) " + of_radius;
    }
  } // namespace

  MatrixAnalysis analyze_in_time(const CrsMatrix<double> &A, const Blocks &blocks, double seconds)
  {
    constexpr int many_rows = 200000; // with which nothing is found in that time
    const double  half      = 0.5 * seconds;
    if (A.n_rows <= many_rows)
      try
        {
          return analyze_within(A, blocks, half);
        }
      catch (const ConvergenceFailure &) // which only takes longer
        {
        }
    MatrixAnalysis result = analysis_without_eigenvalues(A, blocks);
    if (result.has_eigenvalues)
      estimate_of_symmetric(A, half, result);
    else
      estimate_of_others(A, half, result);
    return result;
  }

  std::string Estimate::what_is_known() const
  {
    constexpr double  close      = 0.2;
    const double      change     = std::max(0.03, 5. * smallest_change);
    const std::string of_largest = "the largest is found to about a percent";
    if (settled)
      return of_largest + ", and so is the smallest";
    return of_largest + ", the smallest is an upper bound, " +
           (change <= close ? "about " + short_text(100. * change, 1) + " percent too large, more where coefficients jump from row to row"
                            : std::string("perhaps by far"));
  }
} // namespace leopard::spectrum
