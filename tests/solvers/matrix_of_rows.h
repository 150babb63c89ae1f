// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/matrix/crs_matrix.h>

#include <map>
#include <vector>

namespace leopard
{
  /** A square matrix from column and value of the entries of each row. */
  inline CrsMatrix<double> matrix_of_rows(const std::vector<std::map<int, double>> &rows)
  {
    CrsMatrix<double> A;
    A.n_rows = A.n_columns = static_cast<int>(rows.size());
    for (const auto &row : rows)
      {
        for (const auto &[column, value] : row)
          {
            A.columns.push_back(column);
            A.values.push_back(value);
          }
        A.row_offsets.push_back(A.n_entries());
      }
    return A;
  }
} // namespace leopard
