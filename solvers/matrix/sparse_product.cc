// SPDX-License-Identifier: Apache-2.0
#include "sparse_product.h"

#include "../base/errors.h"

#include <algorithm>
#include <string>

namespace leopard
{
  template <typename Number>
  CrsMatrix<Number> product(const CrsMatrix<Number> &A, const CrsMatrix<Number> &B)
  {
    if (B.n_rows < A.n_columns)
      throw InvalidInput("product of sparse matrices: the first has " + std::to_string(A.n_columns) + " columns, the second " +
                         std::to_string(B.n_rows) + " rows\n  expected: as many rows as columns");
    CrsMatrix<Number> result;
    result.n_rows    = A.n_rows;
    result.n_columns = B.n_columns;
    std::vector<Number> sum(B.n_columns, Number(0));
    std::vector<int>    last_row(B.n_columns, -1), columns;
    for (int i = 0; i < A.n_rows; ++i)
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
    return result;
  }

#define INSTANTIATE(Number) template CrsMatrix<Number> product(const CrsMatrix<Number> &A, const CrsMatrix<Number> &B);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
