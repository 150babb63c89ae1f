// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "blocks.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace leopard
{
  namespace
  {
    /** That each of 0, ..., order.size() - 1 stands in the order once. @param what "row" or "column". */
    void require_permutation(const std::vector<int> &order, const std::string &what)
    {
      const int         n = static_cast<int>(order.size());
      std::vector<char> seen(order.size(), 0);
      for (const int i : order)
        {
          const bool outside = i < 0 || i >= n;
          if (outside || seen[i] != 0)
            {
              std::string text = "a new order of " + std::to_string(n);
              text.append(" ").append(what).append("s has ").append(what).append(" ").append(std::to_string(i)).append(outside ? "" : " twice");
              throw InvalidInput(text + "\n  expected: each from 0 to " + std::to_string(n - 1) + " once");
            }
          seen[i] = 1;
        }
    }

    /** That an order has as many entries as what it is for. */
    void require_length(const std::vector<int> &order, std::size_t n, const std::string &what)
    {
      if (order.size() != n)
        throw InvalidInput("a new order of " + std::to_string(order.size()) + " " + what + "\n  expected: of " + std::to_string(n) +
                           ", as many as there are");
    }
  } // namespace

  template <typename Number>
  CrsMatrix<Number> permute(const CrsMatrix<Number> &A, const Partition &partition)
  {
    require_length(partition.old_row, A.n_rows, "rows");
    return permute(A, partition.old_row, partition.old_row);
  }

  namespace
  {
    /** Sorts a row's entries by column; rows are short and often nearly sorted. */
    template <typename Number>
    void sort_entries(int *columns, Number *values, int n)
    {
      if (n > 64)
        {
          std::vector<std::pair<int, Number>> entries(n);
          for (int e = 0; e < n; ++e)
            entries[e] = {columns[e], values[e]};
          std::sort(entries.begin(), entries.end());
          for (int e = 0; e < n; ++e)
            std::tie(columns[e], values[e]) = entries[e];
          return;
        }
      for (int e = 1; e < n; ++e)
        {
          const int    column = columns[e];
          const Number value  = values[e];
          int          to     = e;
          for (; to > 0 && columns[to - 1] > column; --to)
            {
              columns[to] = columns[to - 1];
              values[to]  = values[to - 1];
            }
          columns[to] = column;
          values[to]  = value;
        }
    }
  } // namespace

  template <typename Number>
  CrsMatrix<Number> permute(const CrsMatrix<Number> &A, const std::vector<int> &old_row, const std::vector<int> &old_column, int n_threads)
  {
    if (!old_row.empty())
      require_length(old_row, A.n_rows, "rows");
    if (static_cast<long>(old_column.size()) > A.n_columns)
      throw InvalidInput("a new order of " + std::to_string(old_column.size()) + " columns\n  expected: of at most " + std::to_string(A.n_columns) +
                         ", as many as there are");
    require_permutation(old_row, "row");
    if (&old_column != &old_row)
      require_permutation(old_column, "column");
    std::vector<int> new_column(A.n_columns);
    std::iota(new_column.begin(), new_column.end(), 0);
    for (std::size_t j = 0; j < old_column.size(); ++j)
      new_column[old_column[j]] = static_cast<int>(j);
    const auto        old = [&](long i) { return old_row.empty() ? static_cast<int>(i) : old_row[i]; };
    CrsMatrix<Number> result;
    result.n_rows    = A.n_rows;
    result.n_columns = A.n_columns;
    result.row_offsets.resize(static_cast<std::size_t>(A.n_rows) + 1);
    for (int i = 0; i < A.n_rows; ++i)
      result.row_offsets[i + 1] = result.row_offsets[i] + A.row_offsets[old(i) + 1] - A.row_offsets[old(i)];
    result.columns.resize(A.columns.size());
    result.values.resize(A.values.size());
    parallel_for(*shared_thread_pool(n_threads), A.n_rows, 4096, [&](long begin, long end) {
      for (long i = begin; i < end; ++i)
        {
          const int first = A.row_offsets[old(i)], n = A.row_offsets[old(i) + 1] - first, to = result.row_offsets[i];
          for (int e = 0; e < n; ++e)
            {
              result.columns[to + e] = new_column[A.columns[first + e]];
              result.values[to + e]  = A.values[first + e];
            }
          sort_entries(result.columns.data() + to, result.values.data() + to, n);
        }
    });
    return result;
  }

  template <typename Number>
  std::vector<int> permuted_entries(const CrsMatrix<Number> &A, const std::vector<int> &old_row, const std::vector<int> &old_column)
  {
    CrsMatrix<double> numbers{A.n_rows, A.n_columns, A.row_offsets, A.columns, std::vector<double>(A.columns.size())};
    std::iota(numbers.values.begin(), numbers.values.end(), 0.);
    numbers = permute(numbers, old_row, old_column);
    return {numbers.values.begin(), numbers.values.end()};
  }

  template <typename Number>
  std::vector<Number> permute(const std::vector<Number> &v, const Partition &partition)
  {
    require_length(partition.old_row, v.size(), "rows");
    require_permutation(partition.old_row, "row");
    std::vector<Number> result(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
      result[i] = v[partition.old_row[i]];
    return result;
  }

  template <typename Number>
  std::vector<Number> permute_back(const std::vector<Number> &new_v, const Partition &partition)
  {
    require_length(partition.old_row, new_v.size(), "rows");
    require_permutation(partition.old_row, "row");
    std::vector<Number> result(new_v.size());
    for (std::size_t i = 0; i < new_v.size(); ++i)
      result[partition.old_row[i]] = new_v[i];
    return result;
  }

#define INSTANTIATE(Number)                                                                                                                       \
  template CrsMatrix<Number> permute(const CrsMatrix<Number> &A, const Partition &partition);                                                     \
  template CrsMatrix<Number> permute(                                                                                                             \
    const CrsMatrix<Number> &A, const std::vector<int> &old_row, const std::vector<int> &old_column, int n_threads);                              \
  template std::vector<int>    permuted_entries(const CrsMatrix<Number> &A, const std::vector<int> &old_row, const std::vector<int> &old_column); \
  template std::vector<Number> permute(const std::vector<Number> &v, const Partition &partition);                                                 \
  template std::vector<Number> permute_back(const std::vector<Number> &new_v, const Partition &partition);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
