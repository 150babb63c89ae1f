// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/thread_pool.h"
#include "crs_matrix.h"

#include <map>
#include <mutex>
#include <utility>

namespace leopard
{
  /**
   * A matrix whose rows several threads make: append(begin, end, part) gives `part`, which has no rows, the rows
   * begin <= i < end of the matrix, by columns, values and row_offsets. The same for any number of threads.
   * @param n_threads 0: as many as this process may use. @throws InvalidInput for more than 2^31 - 1 entries.
   */
  template <typename Number, typename Function>
  CrsMatrix<Number> rows_in_parts(int n_rows, int n_columns, int n_threads, const Function &append)
  {
    std::map<long, CrsMatrix<Number>> parts; // by their first rows
    std::mutex                        one_at_a_time;
    parallel_for(*shared_thread_pool(n_threads), n_rows, 4096, [&](long begin, long end) {
      CrsMatrix<Number> part;
      append(static_cast<int>(begin), static_cast<int>(end), part);
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      parts.emplace(begin, std::move(part));
    });
    double n_entries = 0.;
    for (const auto &part : parts)
      n_entries += static_cast<double>(part.second.columns.size());
    checked_count(n_entries, "entries of a matrix");
    CrsMatrix<Number> result = std::move(parts.begin()->second);
    result.n_rows            = n_rows;
    result.n_columns         = n_columns;
    parts.erase(parts.begin());
    result.row_offsets.reserve(static_cast<std::size_t>(n_rows) + 1);
    result.columns.reserve(static_cast<std::size_t>(n_entries));
    result.values.reserve(static_cast<std::size_t>(n_entries));
    for (auto &[begin, part] : parts)
      {
        const int before = result.row_offsets.back();
        for (std::size_t i = 1; i < part.row_offsets.size(); ++i)
          result.row_offsets.push_back(before + part.row_offsets[i]);
        result.columns.insert(result.columns.end(), part.columns.begin(), part.columns.end());
        result.values.insert(result.values.end(), part.values.begin(), part.values.end());
        part = CrsMatrix<Number>(); // gives its memory back
      }
    return result;
  }
} // namespace leopard
