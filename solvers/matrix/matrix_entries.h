// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/thread_pool.h"
#include "crs_matrix.h"

#include <vector>

namespace leopard
{
  /** Where a_ij stands among the values of A; -1: it is not stored. Looks through row i. */
  template <typename Number>
  int find_entry(const CrsMatrix<Number> &A, int i, int j)
  {
    for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
      if (A.columns[p] == j)
        return p;
    return -1;
  }

  /** a_ij; zero where it is not stored. */
  template <typename Number>
  Number entry(const CrsMatrix<Number> &A, int i, int j)
  {
    const int p = find_entry(A, i, j);
    return p < 0 ? Number() : A.values[p];
  }

  /** a_ii of all rows, host memory. @param n_threads 0: as many as this process may use. */
  template <typename Number>
  std::vector<Number> diagonal_of(const CrsMatrix<Number> &A, int n_threads = 1)
  {
    std::vector<Number> diagonal(A.n_rows);
    parallel_for(
      A.n_rows,
      4096,
      [&](long begin, long end) {
        for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
          diagonal[i] = entry(A, i, i);
      },
      n_threads);
    return diagonal;
  }
} // namespace leopard
