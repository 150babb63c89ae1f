// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <vector>

namespace leopard
{
  /**
   * A without its ghost columns, which leaves a square matrix; host memory.
   * @param entries receives which entry of A each of its entries is; null: nobody asks.
   */
  template <typename Number>
  CrsMatrix<Number> own_columns(const CrsMatrix<Number> &A, std::vector<int> *entries = nullptr)
  {
    CrsMatrix<Number> own;
    own.n_rows = own.n_columns = A.n_rows;
    for (int i = 0; i < A.n_rows; ++i)
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] < A.n_rows)
            {
              own.columns.push_back(A.columns[p]);
              own.values.push_back(A.values[p]);
              if (entries != nullptr)
                entries->push_back(p);
            }
        own.row_offsets.push_back(own.n_entries());
      }
    return own;
  }
} // namespace leopard
