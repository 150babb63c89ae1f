// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../matrix/crs_matrix.h"

#include <cmath>
#include <string>
#include <vector>

namespace leopard
{
  /** Of each row the number of its diagonal entry among A's entries. @param A a matrix that validate() accepts. */
  inline std::vector<int> diagonal_entries(const CrsMatrix &A)
  {
    std::vector<int> entries(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == i)
          entries[i] = p;
    return entries;
  }

  /** @param values one an entry of the matrix, host memory. @throws InvalidInput naming the row whose diagonal entry is zero or not finite. */
  inline void check_diagonal(const std::vector<int> &entries, const double *values)
  {
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (const double d = values[entries[i]]; !(std::isfinite(d) && d != 0.))
        throw InvalidInput("the diagonal entry of row " + std::to_string(i) + " is " + std::to_string(d) +
                           "\n  expected: a finite number that is not zero");
  }
} // namespace leopard
