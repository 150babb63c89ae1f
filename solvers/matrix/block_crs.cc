// SPDX-License-Identifier: Apache-2.0
#include "block_crs.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/words.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace leopard
{
  template <typename Number>
  BlockCrs<Number>::BlockCrs(const CrsMatrix<Number> &A, const Blocks &blocks_, int n_threads)
    : n_rows(A.n_rows)
    , n_columns(A.n_columns)
    , blocks(blocks_)
  {
    if (blocks.n_rows() != n_rows)
      throw InvalidInput("the blocks cover " + std::to_string(blocks.n_rows()) + " rows and the matrix has " + std::to_string(n_rows) +
                         "\n  expected: blocks that cover the matrix");
    if (blocks.largest() > 65536)
      throw InvalidInput("a block has " + std::to_string(blocks.largest()) + " rows\n  expected: at most 65536");
    double rows_in_blocks = 0., entries = 0.; // rows of an overlap are stored once a block
    for (int block = 0; block < n_blocks(); ++block)
      {
        rows_in_blocks += blocks.end[block] - blocks.begin[block];
        entries += A.row_offsets[blocks.end[block]] - A.row_offsets[blocks.begin[block]];
      }
    checked_count(rows_in_blocks, "rows in blocks that overlap");
    checked_count(entries, "entries in blocks that overlap");
    for (int block = 0; block < n_blocks(); ++block)
      first_local.push_back(first_local.back() + blocks.end[block] - blocks.begin[block]);
    const int n = n_local_rows();
    diagonal.resize(n);
    diagonal_source.resize(n);
    inner.offsets.resize(n + 1);
    outer.offsets.resize(n + 1);
    const auto     pool  = shared_thread_pool(n_threads);
    constexpr long grain = 16; // blocks
    parallel_for(*pool, n_blocks(), grain, [&](long first, long last) {
      for (long block = first; block < last; ++block)
        for (int i = blocks.begin[block], l = first_local[block]; i < blocks.end[block]; ++i, ++l)
          {
            int &n_inner = inner.offsets[l + 1], &n_outer = outer.offsets[l + 1];
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (const int column = A.columns[p]; column == i)
                diagonal_source[l] = p;
              else
                ++(column >= blocks.begin[block] && column < blocks.end[block] ? n_inner : n_outer);
          }
    });
    std::partial_sum(inner.offsets.begin(), inner.offsets.end(), inner.offsets.begin());
    std::partial_sum(outer.offsets.begin(), outer.offsets.end(), outer.offsets.begin());
    const auto resize = [](auto &part) {
      part.source.resize(part.offsets.back());
      part.columns.resize(part.offsets.back());
      part.values.resize(part.offsets.back());
    };
    resize(inner);
    resize(outer);
    parallel_for(*pool, n_blocks(), grain, [&](long first, long last) {
      for (long block = first; block < last; ++block)
        for (int begin = blocks.begin[block], end = blocks.end[block], i = begin, l = first_local[block]; i < end; ++i, ++l)
          {
            int n_inner = inner.offsets[l], n_outer = outer.offsets[l];
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int column = A.columns[p];
                check_new_value(i, A.values[p], column == i);
                if (column == i)
                  diagonal[l] = A.values[p];
                else if (column >= begin && column < end)
                  {
                    inner.columns[n_inner]  = static_cast<std::uint16_t>(column - begin);
                    inner.values[n_inner]   = A.values[p];
                    inner.source[n_inner++] = p;
                  }
                else
                  {
                    outer.columns[n_outer]  = column;
                    outer.values[n_outer]   = A.values[p];
                    outer.source[n_outer++] = p;
                  }
              }
          }
    });
  }

  void refuse_new_value(int row, double value, bool is_diagonal)
  {
    if (is_diagonal)
      throw InvalidInput("the diagonal entry of row " + std::to_string(row) + " is " + short_text(value) +
                         " (the first row is 0)\n  expected: a finite number that is not zero");
    throw InvalidInput("an entry of row " + std::to_string(row) + " is " + short_text(value) + " (the first row is 0)\n  expected: finite numbers");
  }

  template <typename Number>
  void BlockCrs<Number>::check_values(const Number *new_values) const
  {
    for (int block = 0; block < n_blocks(); ++block)
      for (int l = first_local[block]; l < first_local[block + 1]; ++l)
        {
          const int row = blocks.begin[block] + l - first_local[block];
          check_new_value(row, new_values[diagonal_source[l]], true);
          for (int p = inner.offsets[l]; p < inner.offsets[l + 1]; ++p)
            check_new_value(row, new_values[inner.source[p]], false);
          for (int p = outer.offsets[l]; p < outer.offsets[l + 1]; ++p)
            check_new_value(row, new_values[outer.source[p]], false);
        }
  }

  template <typename Number>
  void BlockCrs<Number>::update_values(const Number *new_values)
  {
    check_values(new_values);
    for (std::size_t l = 0; l < diagonal.size(); ++l)
      diagonal[l] = new_values[diagonal_source[l]];
    for (std::size_t p = 0; p < inner.values.size(); ++p)
      inner.values[p] = new_values[inner.source[p]];
    for (std::size_t p = 0; p < outer.values.size(); ++p)
      outer.values[p] = new_values[outer.source[p]];
  }

  template <typename Number>
  void BlockCrs<Number>::compute_weights(double omega, bool l1_weights, std::vector<Number> &weights) const
  {
    weights.resize(diagonal.size());
    for (std::size_t l = 0; l < diagonal.size(); ++l)
      {
        Number sum = 0;
        if (l1_weights)
          for (int p = outer.offsets[l]; p < outer.offsets[l + 1]; ++p)
            sum += std::abs(outer.values[p]);
        weights[l] = static_cast<Number>(omega) / (diagonal[l] + std::copysign(sum, diagonal[l]));
      }
  }

#define INSTANTIATE(Number) template struct BlockCrs<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
