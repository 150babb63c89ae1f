// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/block_crs.h"
#include "../matrix/crs_matrix.h"

#include <vector>

namespace leopard
{
  /** Of each row the number of its diagonal entry among A's entries. @param A a matrix that validate() accepts. */
  template <typename Number>
  inline std::vector<int> diagonal_entries(const CrsMatrix<Number> &A)
  {
    std::vector<int> entries(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == i)
          entries[i] = p;
    return entries;
  }

  /**
   * What update_values() demands of new values, before any is taken.
   * @param row_offsets of the matrix, @param diagonal diagonal_entries() of it, @param values one an entry, host
   * memory.
   * @throws InvalidInput naming the row where a value is not finite, or that on the diagonal is zero.
   */
  template <typename Number>
  inline void check_new_values(const std::vector<int> &row_offsets, const std::vector<int> &diagonal, const Number *values)
  {
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      for (int p = row_offsets[i]; p < row_offsets[i + 1]; ++p)
        check_new_value(static_cast<int>(i), values[p], p == diagonal[i]);
  }
} // namespace leopard
