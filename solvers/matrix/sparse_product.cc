// SPDX-License-Identifier: Apache-2.0
#include "sparse_product.h"

#include "../base/errors.h"
#include "rows_in_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  template <typename Number>
  CrsMatrix<Number> product(const CrsMatrix<Number> &A, const CrsMatrix<Number> &B, int n_threads)
  {
    if (B.n_rows < A.n_columns)
      throw InvalidInput("product of sparse matrices: the first has " + std::to_string(A.n_columns) + " columns, the second " +
                         std::to_string(B.n_rows) + " rows\n  expected: as many rows as columns");
    return rows_in_parts<Number>(A.n_rows, B.n_columns, n_threads, [&](int begin, int end, CrsMatrix<Number> &result) {
      std::vector<Number> sum(B.n_columns, Number(0));
      std::vector<int>    last_row(B.n_columns, -1), columns;
      for (int i = begin; i < end; ++i)
        {
          columns.clear();
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            for (int q = B.row_offsets[A.columns[p]]; q < B.row_offsets[A.columns[p] + 1]; ++q)
              {
                const int j = B.columns[q];
                if (last_row[j] != i)
                  {
                    last_row[j] = i;
                    sum[j]      = 0;
                    columns.push_back(j);
                  }
                sum[j] += A.values[p] * B.values[q];
              }
          std::sort(columns.begin(), columns.end());
          for (const int j : columns)
            {
              result.columns.push_back(j);
              result.values.push_back(sum[j]);
            }
          result.row_offsets.push_back(result.n_entries());
        }
    });
  }

  // Each thread takes rows of A, and counts first what it will put into each row of the result; so that the entries of
  // a row come in the order of the rows of A.
  template <typename Number>
  CrsMatrix<Number> transpose(const CrsMatrix<Number> &A, int n_threads)
  {
    constexpr long    rows_of_part = 4096;
    CrsMatrix<Number> result;
    result.n_rows    = A.n_columns;
    result.n_columns = A.n_rows;
    result.row_offsets.resize(static_cast<std::size_t>(A.n_columns) + 1);
    result.columns.resize(A.columns.size());
    result.values.resize(A.values.size());
    const auto pool = shared_thread_pool(A.n_rows < 2 * rows_of_part ? 1 : n_threads);
    // with more parts, numbers of each of them for each column would be more than entries
    const int n_parts = static_cast<int>(std::clamp<long>(A.n_entries() / std::max(1, A.n_columns), 1, pool->size()));

    std::vector<std::vector<int>> next(n_parts); ///< of each part and column, from where on it puts entries
    const auto                    rows = [&](int part) {
      return std::pair(static_cast<int>(static_cast<long>(A.n_rows) * part / n_parts),
                       static_cast<int>(static_cast<long>(A.n_rows) * (part + 1) / n_parts));
    };
    pool->run(
      [&](int part) {
        next[part].assign(A.n_columns, 0);
        const auto [begin, end] = rows(part);
        for (int p = A.row_offsets[begin]; p < A.row_offsets[end]; ++p)
          ++next[part][A.columns[p]];
      },
      n_parts);
    parallel_for(*pool, A.n_columns, rows_of_part, [&](long begin, long end) {
      for (long j = begin; j < end; ++j)
        {
          int sum = 0;
          for (std::vector<int> &of_part : next)
            sum += std::exchange(of_part[j], sum);
          result.row_offsets[j + 1] = sum;
        }
    });
    for (int j = 0; j < A.n_columns; ++j)
      result.row_offsets[j + 1] += result.row_offsets[j];
    parallel_for(*pool, A.n_columns, rows_of_part, [&](long begin, long end) {
      for (std::vector<int> &of_part : next)
        for (long j = begin; j < end; ++j)
          of_part[j] += result.row_offsets[j];
    });
    pool->run(
      [&](int part) {
        const auto [begin, end] = rows(part);
        for (int i = begin; i < end; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              const int q       = next[part][A.columns[p]]++;
              result.columns[q] = i;
              result.values[q]  = A.values[p];
            }
      },
      n_parts);
    return result;
  }

#define INSTANTIATE(Number)                                                                                  \
  template CrsMatrix<Number> product(const CrsMatrix<Number> &A, const CrsMatrix<Number> &B, int n_threads); \
  template CrsMatrix<Number> transpose(const CrsMatrix<Number> &A, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
