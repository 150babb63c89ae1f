// SPDX-License-Identifier: Apache-2.0
#include "block_crs.h"

#include "../base/errors.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  BlockCrs::BlockCrs(const CrsMatrix &A, int block_size_)
    : n_rows(A.n_rows)
    , n_columns(A.n_columns)
    , block_size(block_size_)
    , n_blocks(0)
    , diagonal(A.n_rows)
    , inverse_diagonal(A.n_rows)
    , diagonal_source(A.n_rows)
  {
    if (block_size < 1 || block_size > 65536)
      throw InvalidInput("block_size is " + std::to_string(block_size) + "\n  expected: 1 to 65536 rows a block");
    n_blocks = (n_rows + block_size - 1) / block_size;
    for (int i = 0; i < n_rows; ++i)
      {
        const int begin = i / block_size * block_size, end = std::min(begin + block_size, n_rows);
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const int column = A.columns[p];
            if (column == i)
              diagonal_source[i] = p;
            else if (column >= begin && column < end)
              {
                inner.columns.push_back(static_cast<std::uint16_t>(column - begin));
                inner.source.push_back(p);
              }
            else
              {
                outer.columns.push_back(column);
                outer.source.push_back(p);
              }
          }
        inner.offsets.push_back(static_cast<int>(inner.columns.size()));
        outer.offsets.push_back(static_cast<int>(outer.columns.size()));
      }
    inner.values.resize(inner.columns.size());
    outer.values.resize(outer.columns.size());
    update_values(A.values.data());
  }

  void BlockCrs::update_values(const double *new_values)
  {
    for (int i = 0; i < n_rows; ++i)
      {
        const double d = new_values[diagonal_source[i]];
        if (!(std::isfinite(d) && d != 0.))
          throw InvalidInput("the diagonal entry of row " + std::to_string(i) + " is " + std::to_string(d) +
                             "\n  expected: a finite number that is not zero");
        diagonal[i]         = d;
        inverse_diagonal[i] = 1. / d;
      }
    for (std::size_t p = 0; p < inner.values.size(); ++p)
      inner.values[p] = new_values[inner.source[p]];
    for (std::size_t p = 0; p < outer.values.size(); ++p)
      outer.values[p] = new_values[outer.source[p]];
  }
} // namespace leopard
