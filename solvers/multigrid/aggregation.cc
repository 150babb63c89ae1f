// SPDX-License-Identifier: Apache-2.0
#include "aggregation.h"

#include "../base/errors.h"
#include "../base/words.h"
#include "../matrix/rows_in_parts.h"
#include "../matrix/sparse_product.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace leopard
{
  void AggregationOptions::validate() const
  {
    if (!(strength >= 0. && strength < 1.))
      throw InvalidInput("aggregation: strength is " + std::to_string(strength) + "\n  expected: 0 <= strength < 1");
    if (max_coarse < 1 || max_levels < 1)
      throw InvalidInput("aggregation: max_coarse is " + std::to_string(max_coarse) + " and max_levels " + std::to_string(max_levels) +
                         "\n  expected: at least 1");
  }

  namespace
  {
    constexpr int none = -1;

    std::vector<double> diagonal_of(const CrsMatrix<double> &A)
    {
      std::vector<double> result(A.n_rows, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            result[i] = A.values[p];
      return result;
    }

    /** How strong the couplings of the rows are; see AggregationOptions. */
    class Couplings
    {
    public:
      Couplings(const CrsMatrix<double> &A_, int n_threads)
        : A(A_)
        , sign(diagonal_of(A_))
        , root(A_.n_rows, 0.)
      {
        parallel_for(*shared_thread_pool(n_threads), A.n_rows, 4096, [&](long begin, long end) {
          for (int i = static_cast<int>(begin); i < end; ++i)
            {
              sign[i] = sign[i] < 0. ? 1. : -1.;
              if (!(largest(i) > 0.))
                sign[i] = 0.;
              root[i] = std::sqrt(largest(i));
            }
        });
      }

      /** @param p an entry of row i. */
      bool is_strong(int i, int p, double strength) const
      {
        // products of roots neither overflow nor vanish where the entries do not
        return strength == 0. ? A.values[p] != 0. : of(i, p) > strength * (root[i] * root[A.columns[p]]);
      }

    private:
      double of(int i, int p) const { return sign[i] == 0. ? std::abs(A.values[p]) : sign[i] * A.values[p]; }

      double largest(int i) const
      {
        double result = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i)
            result = std::max(result, of(i, p));
        return result;
      }

      const CrsMatrix<double> &A;
      std::vector<double>      sign, root; ///< sign 0: absolute values; sqrt(m_i)
    };

    /**
     * The diagonal and the strong couplings, in A's order; weak ones are added to the diagonal. Without a diagonal
     * entry there is none.
     */
    CrsMatrix<double> strong_part(const CrsMatrix<double> &A, double strength, int n_threads)
    {
      const Couplings couplings(A, n_threads);
      return rows_in_parts<double>(A.n_rows, A.n_columns, n_threads, [&](int begin, int end, CrsMatrix<double> &result) {
        for (int i = begin; i < end; ++i)
          {
            double weak  = 0.;
            long   place = none; // of the diagonal
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int j = A.columns[p];
                if (j != i && !couplings.is_strong(i, p, strength))
                  {
                    weak += A.values[p];
                    continue;
                  }
                if (j == i)
                  place = static_cast<long>(result.values.size());
                result.columns.push_back(j);
                result.values.push_back(A.values[p]);
              }
            const bool coupled = static_cast<long>(result.columns.size()) - result.row_offsets.back() > 1; // if not, it is in no aggregate
            if (place != none && weak != 0. && coupled)
              result.values[place] += weak;
            result.row_offsets.push_back(static_cast<int>(result.columns.size()));
          }
      });
    }

    /** Of D^-1 A, a little more than the power method says. */
    double largest_eigenvalue(const CrsMatrix<double> &A, const std::vector<double> &diagonal, int n_threads)
    {
      const auto          pool = shared_thread_pool(n_threads);
      std::vector<double> v(A.n_rows), next(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i) // rough: all frequencies
        v[i] = std::sin(1. + 1e4 * i);
      for (int iteration = 0;; ++iteration)
        {
          const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.));
          if (iteration == 15 || !(norm > 0.))
            return 1.1 * norm;
          parallel_for(*pool, A.n_rows, 4096, [&](long begin, long end) {
            for (long i = begin; i < end; ++i)
              {
                double sum = 0.;
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  sum += A.values[p] * v[A.columns[p]];
                next[i] = diagonal[i] != 0. ? sum / norm / diagonal[i] : 0.;
              }
          });
          v.swap(next);
        }
    }

    Aggregates aggregates_of(const CrsMatrix<double> &S)
    {
      Aggregates        result;
      std::vector<int> &of_row = result.of_row;
      of_row.assign(S.n_rows, none);
      const auto row     = [&](int i) { return std::pair(S.columns.begin() + S.row_offsets[i], S.columns.begin() + S.row_offsets[i + 1]); };
      const auto coupled = [&](int i) {
        const auto [begin, end] = row(i);
        return std::any_of(begin, end, [&](int j) { return j != i; });
      };
      for (int i = 0; i < S.n_rows; ++i)
        {
          const auto [begin, end] = row(i);
          if (of_row[i] != none || !coupled(i) || !std::all_of(begin, end, [&](int j) { return of_row[j] == none; }))
            continue;
          of_row[i] = result.n;
          std::for_each(begin, end, [&](int j) { of_row[j] = result.n; });
          ++result.n;
        }
      const std::vector<int> first_pass = of_row;
      for (int i = 0; i < S.n_rows; ++i)
        {
          double strongest = 0.;
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && first_pass[i] == none; ++p)
            if (const int j = S.columns[p]; j != i && first_pass[j] != none && std::abs(S.values[p]) > strongest)
              {
                strongest = std::abs(S.values[p]);
                of_row[i] = first_pass[j];
              }
        }
      for (int i = 0; i < S.n_rows; ++i)
        {
          if (of_row[i] != none || !coupled(i))
            continue;
          const auto [begin, end] = row(i);
          of_row[i]               = result.n;
          std::for_each(begin, end, [&](int j) { of_row[j] = of_row[j] == none ? result.n : of_row[j]; });
          ++result.n;
        }
      return result;
    }
  } // namespace

  Aggregates aggregate(const CrsMatrix<double> &A, double strength, int n_threads)
  {
    CrsMatrix<double> strong = strong_part(A, strength, n_threads);
    Aggregates        result = aggregates_of(strong);
    result.strong            = std::move(strong);
    return result;
  }

  CrsMatrix<double> smoothed_prolongation(const Aggregates &aggregates, int n_threads)
  {
    const CrsMatrix<double>  &S        = aggregates.strong;
    const std::vector<double> diagonal = diagonal_of(S);
    const std::vector<int>   &of_row   = aggregates.of_row;
    for (int i = 0; i < S.n_rows; ++i)
      if (of_row[i] != none && !(std::abs(diagonal[i]) > 0.))
        throw InvalidInput("aggregation: row " + std::to_string(i) + " has the diagonal entry " + short_text(diagonal[i]) +
                           " where weak couplings are added to it (the first row is 0)\n  expected: a number that is not zero");
    const double factor = 4. / (3. * largest_eigenvalue(S, diagonal, n_threads));
    return rows_in_parts<double>(S.n_rows, aggregates.n, n_threads, [&](int begin, int end, CrsMatrix<double> &P) {
      std::vector<std::pair<int, double>> row;
      for (int i = begin; i < end; ++i)
        {
          row.clear();
          for (int p = S.row_offsets[i]; p < S.row_offsets[i + 1] && of_row[i] != none; ++p)
            if (const int j = S.columns[p]; of_row[j] != none)
              row.emplace_back(of_row[j], -factor / diagonal[i] * S.values[p] + (j == i ? 1. : 0.));
          std::stable_sort(row.begin(), row.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
          for (std::size_t t = 0; t < row.size(); ++t)
            if (t > 0 && row[t].first == row[t - 1].first)
              P.values.back() += row[t].second;
            else
              {
                P.columns.push_back(row[t].first);
                P.values.push_back(row[t].second);
              }
          P.row_offsets.push_back(static_cast<int>(P.columns.size()));
        }
    });
  }

  void check_for_aggregation(const CrsMatrix<double> &A)
  {
    A.validate();
    if (A.n_columns != A.n_rows)
      throw InvalidInput("aggregation: a matrix with " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) +
                         " columns\n  expected: a square one, without ghosts");
  }

  MultigridHierarchy aggregation_hierarchy(const CrsMatrix<double> &A, const AggregationOptions &options)
  {
    options.validate();
    check_for_aggregation(A);
    MultigridHierarchy result;
    result.levels.resize(1);
    result.levels[0].matrix = A;
    while (static_cast<int>(result.levels.size()) < options.max_levels)
      {
        MultigridLevel  &fine       = result.levels.back();
        const Aggregates aggregates = aggregate(fine.matrix, options.strength, options.n_threads);
        if (fine.matrix.n_rows <= options.max_coarse || aggregates.n == 0 || 2 * aggregates.n > fine.matrix.n_rows)
          break;
        MultigridLevel coarse;
        fine.prolongation = smoothed_prolongation(aggregates, options.n_threads);
        coarse.matrix     = product(transpose(fine.prolongation), product(fine.matrix, fine.prolongation, options.n_threads), options.n_threads);
        result.levels.push_back(std::move(coarse));
      }
    std::reverse(result.levels.begin(), result.levels.end());
    return result;
  }
} // namespace leopard
