// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device_array.h"
#include "../matrix/block_crs.h"
#include "../matrix/storage.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace leopard
{
  // How a block-CRS matrix lies in device memory, so that neighbouring threads read neighbouring values and few bytes are read:
  //
  // - Inner entries: 32 consecutive rows of a block are a slice, padded to its longest row and stored column-wise (sliced ELLPACK with the
  //   width of a warp): entry e of the slice's row r is slot slice_offsets[slice] + 32 e + r. A column is a 16-bit index into the block,
  //   or, where the matrix has at most 256 distances between an entry's column and row, the number of the distance, 8 bits.
  // - Outer entries: the rows of a block that have any are sorted by their number of entries and stored as jagged diagonals: entry e of
  //   the r-th such row is slot jags[first_jag + e] + r. Nothing is padded.
  // - Values: doubles, floats, or 8-bit numbers of a dictionary, for the diagonal, the inner and the outer entries alike.

  /** What a thread block needs to know of its matrix block. */
  struct DeviceBlock
  {
    int begin, rows;             ///< first row and number of rows, overlap included
    int owned_begin, owned_rows; ///< the rows that it writes, counted from begin
    int first_local, first_slice;
    int first_boundary, n_boundary; ///< rows with outer entries
    int first_jag, n_jags;
  };

  /** Reads value number i. */
  template <typename Value>
  struct ValueView
  {
    const Value      *values;
    const double     *table; ///< dictionary only
    __device__ double operator()(int i) const
    {
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return __ldg(table + __ldg(values + i));
      else
        return __ldg(values + i);
    }
  };

  /** Reads the block-local column of slot i, which belongs to the block's row `row`. */
  template <typename Column>
  struct ColumnView
  {
    const Column  *columns;
    const int     *distances; ///< 8-bit columns only
    __device__ int operator()(int i, int row) const
    {
      if constexpr (std::is_same_v<Column, std::uint8_t>)
        return row + __ldg(distances + __ldg(columns + i));
      else
        return __ldg(columns + i);
    }
  };

  template <typename Column, typename Value>
  struct MatrixView
  {
    const DeviceBlock   *blocks;
    const int           *slice_offsets;
    ColumnView<Column>   inner_columns;
    ValueView<Value>     inner_values, outer_values, diagonal;
    const int           *outer_columns, *jags;
    const std::uint16_t *boundary_rows; ///< numbers within the block
  };

  /** The layout described above, first in host memory. */
  struct SlicedBlockCrs
  {
    std::vector<DeviceBlock>   blocks;
    std::vector<int>           slice_offsets = {0}, jags, outer_columns;
    std::vector<std::uint16_t> boundary_rows, inner_columns;
    std::vector<double>        inner_values, outer_values;
    std::vector<int>           inner_source, outer_source; ///< entry of the CrsMatrix, or -1 for padding
    std::vector<int>           distances;                  ///< empty if there are too many: 16-bit columns then
    int                        inner_width = 0, outer_width = 0, largest_block = 0;

    explicit SlicedBlockCrs(const BlockCrs &A);

  private:
    void add_inner(const BlockCrs &A, int block);
    void add_outer(const BlockCrs &A, int block);
  };

  inline void SlicedBlockCrs::add_inner(const BlockCrs &A, int block)
  {
    const int first = A.first_local[block], rows = A.first_local[block + 1] - first;
    for (int r0 = 0; r0 < rows; r0 += 32)
      {
        const int slice_rows = std::min(32, rows - r0);
        int       width      = 0;
        for (int r = r0; r < r0 + slice_rows; ++r)
          width = std::max(width, A.inner.offsets[first + r + 1] - A.inner.offsets[first + r]);
        const std::size_t begin = inner_columns.size(), end = begin + static_cast<std::size_t>(width) * 32;
        if (end > 2147483647u)
          throw InvalidInput("the matrix needs more than 2^31 - 1 entries when its rows are padded for the GPU\n  expected: a smaller matrix, or "
                             "rows of more equal length");
        inner_columns.resize(end);
        inner_values.resize(end, 0.);
        inner_source.resize(end, -1);
        for (int lane = 0; lane < 32; ++lane)
          for (int e = 0; e < width; ++e)
            {
              const std::size_t slot = begin + static_cast<std::size_t>(e) * 32 + lane;
              const int         l = first + r0 + lane, p = lane < slice_rows ? A.inner.offsets[l] + e : 0;
              if (lane < slice_rows && p < A.inner.offsets[l + 1])
                {
                  inner_columns[slot] = A.inner.columns[p];
                  inner_values[slot]  = A.inner.values[p];
                  inner_source[slot]  = A.inner.source[p];
                }
              else
                inner_columns[slot] = static_cast<std::uint16_t>(r0 + lane); // the row itself, times zero
            }
        inner_width = std::max(inner_width, width);
        slice_offsets.push_back(static_cast<int>(end));
      }
  }

  inline void SlicedBlockCrs::add_outer(const BlockCrs &A, int block)
  {
    const int        first = A.first_local[block], rows = A.first_local[block + 1] - first;
    const auto       length = [&](int r) { return A.outer.offsets[first + r + 1] - A.outer.offsets[first + r]; };
    std::vector<int> order;
    for (int r = 0; r < rows; ++r)
      if (length(r) > 0)
        order.push_back(r);
    std::stable_sort(order.begin(), order.end(), [&](int r, int s) { return length(r) > length(s); });

    DeviceBlock &info   = blocks[block];
    info.first_boundary = static_cast<int>(boundary_rows.size());
    info.n_boundary     = static_cast<int>(order.size());
    info.first_jag      = static_cast<int>(jags.size());
    info.n_jags         = order.empty() ? 0 : length(order.front());
    boundary_rows.insert(boundary_rows.end(), order.begin(), order.end());
    for (int e = 0; e < info.n_jags; ++e)
      {
        jags.push_back(static_cast<int>(outer_columns.size()));
        for (const int r : order)
          {
            if (length(r) <= e)
              break;
            const int p = A.outer.offsets[first + r] + e;
            outer_columns.push_back(A.outer.columns[p]);
            outer_values.push_back(A.outer.values[p]);
            outer_source.push_back(A.outer.source[p]);
          }
      }
    jags.push_back(static_cast<int>(outer_columns.size())); // where the last one ends
    outer_width = std::max(outer_width, info.n_jags);
  }

  inline SlicedBlockCrs::SlicedBlockCrs(const BlockCrs &A)
    : blocks(A.n_blocks())
    , largest_block(A.blocks.largest())
  {
    inner_columns.reserve(A.inner.columns.size() + A.inner.columns.size() / 8);
    inner_values.reserve(A.inner.columns.size() + A.inner.columns.size() / 8);
    inner_source.reserve(A.inner.columns.size() + A.inner.columns.size() / 8);
    for (int block = 0; block < A.n_blocks(); ++block)
      {
        DeviceBlock &info = blocks[block];
        info.begin        = A.blocks.begin[block];
        info.rows         = A.blocks.end[block] - info.begin;
        info.owned_begin  = A.blocks.owned_begin[block] - info.begin;
        info.owned_rows   = A.blocks.owned_begin[block + 1] - A.blocks.owned_begin[block];
        info.first_local  = A.first_local[block];
        info.first_slice  = static_cast<int>(slice_offsets.size()) - 1;
        add_inner(A, block);
        add_outer(A, block);
      }

    std::vector<char> seen(2 * 65536 + 1, 0);
    for (const DeviceBlock &info : blocks)
      for (int slice = info.first_slice; slice < info.first_slice + (info.rows + 31) / 32; ++slice)
        for (int slot = slice_offsets[slice]; slot < slice_offsets[slice + 1]; ++slot)
          seen[65536 + inner_columns[slot] - (slot % 32 + 32 * (slice - info.first_slice))] = 1;
    for (int distance = -65536; distance <= 65536; ++distance)
      if (seen[65536 + distance])
        distances.push_back(distance);
    if (distances.size() > 256)
      distances.clear();
  }
} // namespace leopard
