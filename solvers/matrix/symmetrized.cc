// SPDX-License-Identifier: Apache-2.0
#include "symmetrized.h"

#include "own_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace leopard::spectrum
{
  namespace
  {
    /** Whether all entries have finite logarithms. */
    bool has_numbers(const CrsMatrix<double> &A)
    {
      return std::all_of(A.values.begin(), A.values.end(), [](double value) { return std::abs(value) > 0. && std::isfinite(value); });
    }

    /** log |a_ij / a_ji| / 2 in the place of each entry; empty if an entry has no mirror image of the same sign. */
    std::vector<double> half_log_ratios(const CrsMatrix<double> &A, const CrsMatrix<double> &transposed)
    {
      std::vector<double> result(A.values.size());
      if (A.row_offsets != transposed.row_offsets || A.columns != transposed.columns)
        return {};
      for (std::size_t p = 0; p < result.size(); ++p)
        {
          if (std::signbit(A.values[p]) != std::signbit(transposed.values[p]))
            return {};
          result[p] = 0.5 * (std::log(std::abs(A.values[p])) - std::log(std::abs(transposed.values[p])));
        }
      return result;
    }

    /**
     * The logarithms of T, from row to row along the entries, zero in the first row of each part. @param ratios
     * half_log_ratios(). @return empty if not all entries agree with them.
     */
    std::vector<double> find_scaling(const CrsMatrix<double> &A, const std::vector<double> &ratios)
    {
      constexpr double    rounding = 1e-9, unknown = std::numeric_limits<double>::infinity();
      std::vector<double> logs(A.n_rows, unknown);
      std::vector<int>    rows;
      for (int first = 0; first < A.n_rows; ++first)
        {
          if (logs[first] != unknown)
            continue;
          logs[first] = 0.;
          rows.assign(1, first);
          for (std::size_t next = 0; next < rows.size(); ++next)
            for (int i = rows[next], p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const double wanted = logs[i] - ratios[p];
                double      &log_j  = logs[A.columns[p]];
                if (log_j == unknown)
                  {
                    log_j = wanted;
                    rows.push_back(A.columns[p]);
                  }
                else if (!(std::abs(log_j - wanted) <= rounding * (1. + std::abs(wanted))))
                  return {};
              }
        }
      return logs;
    }

    /** A = T S T^-1, S symmetric, with entries in order. */
    struct Similarity
    {
      CrsMatrix<double>   matrix, transposed;
      std::vector<double> logarithms; ///< of T; empty if there is none
    };

    Similarity similarity_of(const CrsMatrix<double> &A)
    {
      Similarity result;
      result.transposed = transpose(without_zeros(A.n_columns > A.n_rows ? own_columns(A) : A));
      result.matrix     = transpose(result.transposed);
      if (!has_numbers(result.matrix))
        return result;
      const std::vector<double> ratios = half_log_ratios(result.matrix, result.transposed);
      if (!ratios.empty())
        result.logarithms = find_scaling(result.matrix, ratios);
      return result;
    }
  } // namespace

  std::optional<CrsMatrix<double>> symmetrized(const CrsMatrix<double> &A)
  {
    auto [result, transposed, logarithms] = similarity_of(A);
    if (logarithms.empty())
      return std::nullopt;
    for (std::size_t p = 0; p < result.values.size(); ++p)
      result.values[p] = std::copysign(std::sqrt(std::abs(result.values[p])) * std::sqrt(std::abs(transposed.values[p])), result.values[p]);
    return result;
  }

  std::vector<double> symmetrizing_logarithms(const CrsMatrix<double> &A)
  {
    return similarity_of(A).logarithms;
  }
} // namespace leopard::spectrum
