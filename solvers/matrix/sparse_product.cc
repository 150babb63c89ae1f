// SPDX-License-Identifier: Apache-2.0
#include "sparse_product.h"

#include "../base/errors.h"
#include "rows_in_parts.h"

#include <algorithm>
#include <string>

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

#define INSTANTIATE(Number) template CrsMatrix<Number> product(const CrsMatrix<Number> &A, const CrsMatrix<Number> &B, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
