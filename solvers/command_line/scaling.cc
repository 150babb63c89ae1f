// SPDX-License-Identifier: Apache-2.0
#include "scaling.h"

#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/scaled_matrix.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace leopard::command_line
{
  namespace
  {
    /** Of a diagonal S near |D|^-1/2. */
    Scaling symmetric_scaling(const CrsMatrix<double> &A)
    {
      Scaling result;
      result.rows = result.columns = scale_of_rows(A);
      result.text                  = "S A S y = S b with a diagonal near 1, x = S y";
      return result;
    }

    /** largest = max(largest, value), where several threads do so. */
    void grow_together(std::atomic<double> &largest, double value)
    {
      for (double before = largest.load(std::memory_order_relaxed);
           before < value && !largest.compare_exchange_weak(before, value, std::memory_order_relaxed);)
        ;
    }

    /** Divides rows and columns by the square roots of their largest entries again and again (Ruiz 2001). */
    Scaling general_scaling(const CrsMatrix<double> &A)
    {
      constexpr int n_times = 20;
      Scaling       result;
      result.rows = result.columns = std::vector<double>(A.n_rows, 1.);
      result.text                  = "R A C y = R b, whose rows and columns have largest entries near 1, x = C y";
      std::vector<double>              of_rows(A.n_rows);
      std::vector<std::atomic<double>> of_columns(A.n_rows);
      for (int time = 0, n_changed = A.n_rows; time < n_times && n_changed > 0; ++time)
        {
          n_changed = 0;
          std::fill(of_rows.begin(), of_rows.end(), 0.);
          for (std::atomic<double> &of_column : of_columns)
            of_column.store(0., std::memory_order_relaxed);
          parallel_for(A.n_rows, 4096, [&](long begin, long end) {
            for (long i = begin; i < end; ++i)
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                {
                  const double size = std::abs(result.rows[i] * A.values[p] * result.columns[A.columns[p]]);
                  of_rows[i]        = std::max(of_rows[i], size);
                  grow_together(of_columns[A.columns[p]], size);
                }
          });
          const auto take = [&](double &factor, double largest) {
            const double more = largest > 0. && std::isfinite(largest) ? scale_of(largest) : 1.;
            n_changed += more != 1. ? 1 : 0;
            factor *= more;
          };
          for (int i = 0; i < A.n_rows; ++i)
            {
              take(result.rows[i], of_rows[i]);
              take(result.columns[i], of_columns[i].load(std::memory_order_relaxed));
            }
        }
      return result;
    }
  } // namespace

  Scaling equilibration(const CrsMatrix<double> &A, const MatrixTraits &traits)
  {
    constexpr double harmless = 1e6;
    const bool       is_even  = traits.diagonal_range <= harmless;
    if ((is_even && traits.is_symmetric) || !traits.has_whole_diagonal || traits.is_singular || A.n_rows == 0)
      return {};
    Scaling result = traits.is_symmetric ? symmetric_scaling(A) : general_scaling(A);
    result.why     = "entries of the diagonal differ by the factor " + range_text(traits);
    if (is_even)
      {
        const auto range = [](const std::vector<double> &factors) {
          const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
          return *most / *least;
        };
        const double largest = std::max(range(result.rows), range(result.columns));
        if (largest <= harmless)
          return {};
        result.why = "rows and columns differ in size by the factor " + short_text(largest, 2);
      }
    return result;
  }

  CrsMatrix<double> scaled(CrsMatrix<double> A, const Scaling &scaling)
  {
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      for (long i = begin; i < end; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= scaling.rows[i] * scaling.columns[A.columns[p]];
    });
    A.validate(); // entries that overflow, or a diagonal that underflows
    return A;
  }
} // namespace leopard::command_line
