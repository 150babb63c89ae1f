// SPDX-License-Identifier: Apache-2.0
#include "quality.h"

#include "../base/norms.h"
#include "../base/thread_pool.h"

#include <cmath>
#include <cstdio>
#include <mutex>

namespace leopard::command_line
{
  double norm(const std::vector<double> &v)
  {
    SafeNorm   result;
    std::mutex one_at_a_time;
    parallel_for(static_cast<long>(v.size()), 1 << 16, [&](long begin, long end) {
      SafeNorm mine;
      for (long i = begin; i < end; ++i)
        mine.add(v[i]);
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      result.add(mine);
    });
    return result.value();
  }

  std::string SizeOfSolution::text() const
  {
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.2Lg", least);
    return digits;
  }

  SizeOfSolution least_size_of_solution(const CrsMatrix<double> &A, const std::vector<double> &b)
  {
    SizeOfSolution result;
    std::mutex     one_at_a_time;
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      SizeOfSolution mine;
      for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
        {
          double sum = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            sum += std::abs(A.values[p]);
          const long double least = sum > 0. ? std::abs(static_cast<long double>(b[i])) / sum : 0.L;
          if (least > mine.least)
            mine = {least, i};
        }
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      if (mine.least > result.least || (mine.least == result.least && mine.row < result.row))
        result = mine;
    });
    return result;
  }

  std::vector<double> residual_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b)
  {
    std::vector<double> r(A.n_rows);
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      for (long i = begin; i < end; ++i)
        r[i] = static_cast<double>(row_residual(A, static_cast<int>(i), x.data(), b[i]).residual);
    });
    return r;
  }

  Quality quality_of(const CrsMatrix<double> &A, const std::vector<double> &x, const std::vector<double> &b)
  {
    SafeNorm   residual, terms;
    double     of_each_row = 0.;
    std::mutex one_at_a_time;
    parallel_for(A.n_rows, 4096, [&](long begin, long end) {
      SafeNorm my_residual, my_terms;
      double   of_my_rows = 0.;
      for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
        {
          const RowResidual row = row_residual(A, i, x.data(), b[i]);
          my_residual.add(static_cast<double>(row.residual));
          my_terms.add(row.rounding());
          of_my_rows = larger_or_nan(of_my_rows, row.backward_error());
        }
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      residual.add(my_residual);
      terms.add(my_terms);
      of_each_row = larger_or_nan(of_each_row, of_my_rows);
    });
    Quality quality;
    if (const double norm_b = norm(b); norm_b > 0.)
      quality.scale = norm_b;
    quality.residual    = residual.value();
    quality.rounding    = terms.value();
    quality.of_each_row = of_each_row;
    return quality;
  }
} // namespace leopard::command_line
