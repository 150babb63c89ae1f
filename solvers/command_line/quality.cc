// SPDX-License-Identifier: Apache-2.0
#include "quality.h"

#include "../base/thread_pool.h"

#include <cmath>
#include <limits>

namespace leopard::command_line
{
  double norm(const std::vector<double> &v)
  {
    SafeNorm result;
    for (const double value : v)
      result.add(value);
    return result.value();
  }

  std::vector<double> residual_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b)
  {
    std::vector<double> r(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      {
        long double sum = b[i];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          sum -= static_cast<long double>(A.values[p]) * x[A.columns[p]];
        r[i] = static_cast<double>(sum);
      }
    return r;
  }

  Quality quality_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b)
  {
    constexpr double    unit = std::numeric_limits<double>::epsilon() / 2.;
    std::vector<double> r(A.n_rows), rounding(A.n_rows), part(A.n_rows);
    parallel_for(*shared_thread_pool(0), A.n_rows, 4096, [&](long begin, long end) {
      for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
        {
          long double sum = b[i], absolute = std::abs(b[i]);
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              const long double term = static_cast<long double>(A.values[p]) * x[A.columns[p]];
              sum -= term;
              absolute += std::abs(term);
            }
          r[i]        = static_cast<double>(sum);
          rounding[i] = static_cast<double>(unit * absolute); // of sums beyond the range of double, too
          part[i]     = absolute > 0.L ? static_cast<double>(std::abs(sum) / absolute) : 0.;
        }
    });
    SafeNorm residual, terms;
    double   of_each_row = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        residual.add(r[i]);
        if (!(part[i] <= of_each_row)) // NaN stays
          of_each_row = part[i];
        terms.add(rounding[i] + std::numeric_limits<double>::denorm_min());
      }
    Quality quality;
    if (const double norm_b = norm(b); norm_b > 0.)
      quality.scale = norm_b;
    quality.residual    = residual.value();
    quality.rounding    = terms.value();
    quality.of_each_row = of_each_row;
    return quality;
  }
} // namespace leopard::command_line
