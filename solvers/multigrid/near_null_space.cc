// SPDX-License-Identifier: Apache-2.0
#include "near_null_space.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/words.h"
#include "../matrix/row_sums.h"
#include "../matrix/rows_in_parts.h"

#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    const RankSums alone;

    /** Columns of a dense matrix stored row after row, of which each rank may have some rows. */
    class Columns
    {
    public:
      Columns(double *values_, int n_rows_, int n_columns_, const RankSums &ranks_ = alone)
        : values(values_)
        , n_rows(n_rows_)
        , n_columns(n_columns_)
        , ranks(ranks_)
      {
      }

      double &operator()(int i, int k) { return values[static_cast<std::size_t>(i) * n_columns + k]; }

      double norm(int k) { return std::sqrt(dot(k, k)); }

      double dot(int k, int l)
      {
        double result = 0.;
        for (int i = 0; i < n_rows; ++i)
          result += (*this)(i, k) * (*this)(i, l);
        return ranks.sum(result);
      }

      /**
       * Makes column k a unit vector that is orthogonal to the unit vectors in columns 0 to n - 1, and puts it in
       * column n <= k. @param r receives n + 1 coefficients: column k was the sum of r[l] times column l. Twice, as
       * once loses orthogonality to rounding. @return false where it is a combination of those, and nothing is put.
       */
      bool orthonormalize(int k, int n, double *r)
      {
        double largest = 0.;
        for (int i = 0; i < n_rows; ++i)
          largest = std::max(largest, std::abs((*this)(i, k)));
        const double unit = to_about_one(ranks.max(largest)); // so that neither sums nor squares overflow or vanish
        for (int i = 0; i < n_rows; ++i)
          (*this)(i, k) *= unit;
        const double before = norm(k);
        std::fill(r, r + n, 0.);
        for (int time = 0; time < 2; ++time)
          for (int l = 0; l < n; ++l)
            {
              const double part = dot(k, l);
              r[l] += part / unit;
              for (int i = 0; i < n_rows; ++i)
                (*this)(i, k) -= part * (*this)(i, l);
            }
        const double left = norm(k);
        r[n]              = left / unit;
        if (!(left > dependent_part * before) || !(r[n] > 0.))
          return false;
        for (int i = 0; i < n_rows; ++i)
          (*this)(i, n) = (*this)(i, k) / left;
        return true;
      }

    private:
      double         *values;
      const int       n_rows, n_columns;
      const RankSums &ranks;
    };

    /** For each aggregate its rows, in their order. */
    struct RowsOfAggregates
    {
      std::vector<int> first, rows; ///< those of aggregate a: rows[first[a]] to rows[first[a + 1] - 1]

      RowsOfAggregates(const std::vector<int> &of_row, int n)
        : first(static_cast<std::size_t>(n) + 1, 0)
      {
        for (const int a : of_row)
          if (a >= 0)
            ++first[a + 1];
        for (int a = 0; a < n; ++a)
          first[a + 1] += first[a];
        rows.resize(first[n]);
        std::vector<int> next(first.begin(), first.end() - 1);
        for (std::size_t i = 0; i < of_row.size(); ++i)
          if (of_row[i] >= 0)
            rows[next[of_row[i]]++] = static_cast<int>(i);
      }
    };

    TentativeProlongation of_constants(const std::vector<int> &of_row, int n, const NearNullSpace &space, int n_threads)
    {
      TentativeProlongation  result;
      const std::vector<int> node_of   = nodes_of_rows(space);
      const int              n_rows    = static_cast<int>(of_row.size());
      const int              each      = space.first_row.empty() ? 1 : space.first_row[1];
      const int              n_columns = checked_count(static_cast<double>(n) * each, "unknowns of a coarse level");
      if (!space.first_row.empty())
        for (int a = 0; a <= n; ++a)
          result.coarse.first_row.push_back(a * each);
      result.prolongation = rows_in_parts<double>(n_rows, n_columns, n_threads, [&](int begin, int end, CrsMatrix<double> &P) {
        for (int i = begin; i < end; ++i)
          {
            if (of_row[i] >= 0)
              {
                P.columns.push_back(of_row[i] * each + (node_of.empty() ? 0 : i - space.first_row[node_of[i]]));
                P.values.push_back(1.);
              }
            P.row_offsets.push_back(static_cast<int>(P.columns.size()));
          }
      });
      return result;
    }
  } // namespace

  void check_near_null_space(int n_rows, int block_unknowns, const std::vector<std::vector<double>> &vectors)
  {
    if (block_unknowns < 1 || n_rows % block_unknowns != 0)
      throw InvalidInput("aggregation: block_unknowns is " + std::to_string(block_unknowns) + ", and the matrix has " + std::to_string(n_rows) +
                         " rows\n  expected: a number >= 1 that divides them, the unknowns of a node in consecutive rows");
    for (std::size_t k = 0; k < vectors.size(); ++k)
      {
        const std::string which = "aggregation: vector " + std::to_string(k) + " of the near null space (the first is 0) has ";
        if (vectors[k].size() != static_cast<std::size_t>(n_rows))
          throw InvalidInput(which + std::to_string(vectors[k].size()) + " entries\n  expected: " + std::to_string(n_rows) +
                             ", as many as the matrix has rows");
        const auto bad = std::find_if(vectors[k].begin(), vectors[k].end(), [](double v) { return !std::isfinite(v); });
        if (bad != vectors[k].end())
          throw InvalidInput(which + "the entry " + short_text(*bad) + " in row " + std::to_string(bad - vectors[k].begin()) +
                             " (the first is 0)\n  expected: finite numbers");
      }
  }

  NearNullSpace make_near_null_space(int n_rows, int block_unknowns, const std::vector<std::vector<double>> &vectors, const RankSums &ranks)
  {
    check_near_null_space(n_rows, block_unknowns, vectors);
    NearNullSpace result;
    for (int i = 0; block_unknowns > 1 && i <= n_rows; i += block_unknowns)
      result.first_row.push_back(i);
    if (vectors.empty())
      return result;
    const int           n_given = static_cast<int>(vectors.size());
    std::vector<double> B(static_cast<std::size_t>(n_rows) * n_given), r(n_given + 1);
    for (int k = 0; k < n_given; ++k)
      for (int i = 0; i < n_rows; ++i)
        B[static_cast<std::size_t>(i) * n_given + k] = vectors[k][i];
    Columns columns(B.data(), n_rows, n_given, ranks);
    for (int k = 0; k < n_given; ++k)
      result.n_vectors += columns.orthonormalize(k, result.n_vectors, r.data()) ? 1 : 0;
    if (result.n_vectors == 0 && ranks.max(n_rows) > 0.)
      throw InvalidInput("aggregation: the vectors of the near null space are zero\n  expected: at least one that is not");
    for (int i = 0; i < n_rows; ++i)
      for (int k = 0; k < result.n_vectors; ++k)
        result.values.push_back(columns(i, k));
    return result;
  }

  std::vector<int> nodes_of_rows(const NearNullSpace &space)
  {
    std::vector<int> result;
    for (std::size_t node = 0; node + 1 < space.first_row.size(); ++node)
      result.insert(result.end(), space.first_row[node + 1] - space.first_row[node], static_cast<int>(node));
    return result;
  }

  CrsMatrix<double> couplings_of_nodes(const CrsMatrix<double> &A, const NearNullSpace &space, int n_threads)
  {
    const std::vector<int> node_of   = nodes_of_rows(space);
    const auto            &first_row = space.first_row;
    const int              n_columns = space.n_nodes(A.n_columns), m = space.n_vectors;
    const int  n = node_of.empty() ? A.n_rows : static_cast<int>(std::lower_bound(first_row.begin(), first_row.end(), A.n_rows) - first_row.begin());
    const auto weight = [&](int i, int j, int component) { // of the entry a_ij, j in a node whose first row is j - component
      if (m == 0)
        return node_of.empty() || i - space.first_row[node_of[i]] == component ? 1. : 0.;
      double sum = 0.;
      for (int k = 0; k < m; ++k)
        sum += space.values[static_cast<std::size_t>(i) * m + k] * space.values[static_cast<std::size_t>(j) * m + k];
      return sum;
    };
    return rows_in_parts<double>(n, n_columns, n_threads, [&](int begin, int end, CrsMatrix<double> &result) {
      std::vector<int> place(n_columns, -1); // of the entry in the row that is made
      for (int node = begin; node < end; ++node)
        {
          const int start = static_cast<int>(result.columns.size());
          for (int i = space.first_of(node); i < space.first_of(node + 1); ++i)
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int j = A.columns[p], other = node_of.empty() ? j : node_of[j];
                if (place[other] < start)
                  {
                    place[other] = static_cast<int>(result.columns.size());
                    result.columns.push_back(other);
                    result.values.push_back(0.);
                  }
                result.values[place[other]] += weight(i, j, j - space.first_of(other)) * A.values[p];
              }
          result.row_offsets.push_back(static_cast<int>(result.columns.size()));
        }
    });
  }

  TentativeProlongation tentative_prolongation(const std::vector<int> &of_row, int n, const NearNullSpace &space, int n_threads)
  {
    if (space.n_vectors == 0)
      return of_constants(of_row, n, space, n_threads);
    const int              m = space.n_vectors, n_rows = static_cast<int>(of_row.size());
    const RowsOfAggregates aggregates(of_row, n);
    std::vector<double>    Q(aggregates.rows.size() * m), R(static_cast<std::size_t>(n) * m * m, 0.);
    std::vector<int>       rank(n, 0);
    parallel_for(*shared_thread_pool(n_threads), n, 64, [&](long begin, long end) {
      std::vector<double> r(m + 1);
      for (int a = static_cast<int>(begin); a < end; ++a)
        {
          const int first = aggregates.first[a];
          double   *rows  = Q.data() + static_cast<std::size_t>(first) * m;
          for (int i = first; i < aggregates.first[a + 1]; ++i)
            std::copy_n(space.values.data() + static_cast<std::size_t>(aggregates.rows[i]) * m, m, Q.data() + static_cast<std::size_t>(i) * m);
          Columns columns(rows, aggregates.first[a + 1] - first, m);
          for (int k = 0; k < m; ++k)
            {
              const int before = rank[a];
              rank[a] += columns.orthonormalize(k, before, r.data()) ? 1 : 0;
              for (int l = 0; l < rank[a]; ++l)
                R[(static_cast<std::size_t>(a) * m + l) * m + k] = r[l];
            }
        }
    });
    TentativeProlongation result;
    NearNullSpace        &coarse = result.coarse;
    coarse.n_vectors             = m;
    coarse.first_row             = {0};
    for (int a = 0; a < n; ++a)
      {
        coarse.first_row.push_back(checked_count(static_cast<double>(coarse.first_row.back()) + rank[a], "unknowns of a coarse level"));
        const auto begin = R.begin() + static_cast<std::ptrdiff_t>(a) * m * m;
        coarse.values.insert(coarse.values.end(), begin, begin + static_cast<std::ptrdiff_t>(rank[a]) * m);
      }
    std::vector<int> place(n_rows, -1);
    for (std::size_t t = 0; t < aggregates.rows.size(); ++t)
      place[aggregates.rows[t]] = static_cast<int>(t);
    result.prolongation = rows_in_parts<double>(n_rows, coarse.first_row.back(), n_threads, [&](int begin, int end, CrsMatrix<double> &P) {
      for (int i = begin; i < end; ++i)
        {
          for (int k = 0; of_row[i] >= 0 && k < rank[of_row[i]]; ++k)
            {
              P.columns.push_back(coarse.first_row[of_row[i]] + k);
              P.values.push_back(Q[static_cast<std::size_t>(place[i]) * m + k]);
            }
          P.row_offsets.push_back(static_cast<int>(P.columns.size()));
        }
    });
    return result;
  }

  std::vector<std::vector<double>> free_motions(const CrsMatrix<double> &A, const NearNullSpace &space)
  {
    if (A.n_rows == 0)
      return {};
    const int       each = space.first_row.size() < 2 ? 1 : space.first_row[1];
    const int       n = A.n_rows, m  = space.n_vectors > 0 ? space.n_vectors : each;
    Eigen::MatrixXd B(n, m), product = Eigen::MatrixXd::Zero(n, m), absolute = product;
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < m; ++k)
        B(i, k) = space.n_vectors == 0 ? (i % each == k ? 1. : 0.) : space.values[static_cast<std::size_t>(i) * m + k];
    for (int i = 0; i < n; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        {
          product.row(i) += A.values[p] * B.row(A.columns[p]);
          absolute.row(i) += std::abs(A.values[p]) * B.row(A.columns[p]).cwiseAbs();
        }
    const double                     unit = to_about_one(absolute.size() > 0 ? absolute.maxCoeff() : 0.);
    const auto                       svd  = Eigen::JacobiSVD<Eigen::MatrixXd>(unit * product, Eigen::ComputeFullV);
    std::vector<std::vector<double>> result;
    for (int k = 0; k < m; ++k)
      {
        const double          size   = k < svd.singularValues().size() ? svd.singularValues()[k] : 0.;
        const Eigen::VectorXd motion = B * svd.matrixV().col(k);
        if (size <= row_sum_rounding * (unit * absolute).norm() && motion.norm() > dependent_part * B.norm())
          result.emplace_back(motion.data(), motion.data() + n);
      }
    const int           n_found = static_cast<int>(result.size());
    std::vector<double> rows(static_cast<std::size_t>(n) * n_found), r(n_found + 1);
    Columns             columns(rows.data(), n, n_found);
    for (int k = 0; k < n_found; ++k)
      for (int i = 0; i < n; ++i)
        columns(i, k) = result[k][i];
    int rank = 0;
    for (int k = 0; k < n_found; ++k)
      rank += columns.orthonormalize(k, rank, r.data()) ? 1 : 0;
    result.resize(rank);
    for (int k = 0; k < rank; ++k)
      for (int i = 0; i < n; ++i)
        result[k][i] = columns(i, k);
    return result;
  }

  CrsMatrix<double> with_held_motions(const CrsMatrix<double> &A, const std::vector<std::vector<double>> &motions)
  {
    const int           n     = A.n_rows;
    double              trace = 0.;
    CrsMatrix<double>   result;
    std::vector<double> row(n);
    result.n_rows = result.n_columns = n;
    for (int i = 0; i < n; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        trace += A.columns[p] == i ? A.values[p] / n : 0.;
    for (int i = 0; i < n; ++i)
      {
        std::fill(row.begin(), row.end(), 0.);
        for (const std::vector<double> &v : motions)
          for (int j = 0; j < n; ++j)
            row[j] += trace * v[i] * v[j];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          row[A.columns[p]] += A.values[p];
        for (int j = 0; j < n; ++j)
          if (row[j] != 0. || i == j)
            {
              result.columns.push_back(j);
              result.values.push_back(row[j]);
            }
        result.row_offsets.push_back(checked_count(static_cast<double>(result.columns.size()), "entries of a coarse matrix"));
      }
    return result;
  }
} // namespace leopard
