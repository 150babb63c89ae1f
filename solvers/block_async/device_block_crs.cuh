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
  // - Each block has a header of a fixed number of ints, so that all addresses are known after one read (HeaderEntry).
  // - Inner entries: 32 consecutive rows of a block are a slice, padded to its longest row and to an even width and stored column-wise in
  //   pairs (sliced ELLPACK with the width of a warp): the pair e of the slice's row r is number slice_offset + 32 e + r. A column is a
  //   16-bit index into the block, or, where the matrix has at most 256 distances between an entry's column and row, the number
  //   of the distance, 8 bits.
  // - Outer entries: the rows of a block that have any are sorted by their number of entries and stored as jagged diagonals: entry e of
  //   the r-th such row is number jag[e] + r. Nothing is padded.
  // - Values: doubles, floats, or 8-bit numbers of a dictionary, for the diagonal, the inner and the outer entries alike.

  /** What stands where in a block's header; the slice offsets and then the jags follow. */
  enum HeaderEntry
  {
    header_begin,          ///< first row, overlap included
    header_rows,           ///< number of rows, overlap included
    header_owned_begin,    ///< first row that the block writes, counted from begin
    header_owned_rows,     ///< and their number
    header_first_local,    ///< first local row
    header_first_boundary, ///< first of the rows with outer entries
    header_n_boundary,     ///< and their number
    header_n_jags,         ///< entries of the longest of them
    header_size
  };

  template <typename T>
  struct PairOf;
  template <>
  struct PairOf<double>
  {
    using Type = double2;
  };
  template <>
  struct PairOf<float>
  {
    using Type = float2;
  };
  template <>
  struct PairOf<std::uint8_t>
  {
    using Type = uchar2;
  };
  template <>
  struct PairOf<std::uint16_t>
  {
    using Type = ushort2;
  };
  template <typename T>
  using Pair = typename PairOf<T>::Type;

  /** Stored values; decode() makes doubles of them. */
  template <typename Value>
  struct ValueView
  {
    const Value  *values;
    const double *table; ///< dictionary only

    __device__ double decode(Value value) const
    {
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return __ldg(table + value);
      else
        return value;
    }
    __device__ double operator()(int i) const { return decode(__ldg(values + i)); }
    __device__ Pair<Value> pair(int i) const { return __ldg(reinterpret_cast<const Pair<Value> *>(values) + i); }
  };

  /** Stored block-local columns; decode() makes indices of those of the block's row `row`. */
  template <typename Column>
  struct ColumnView
  {
    const Column *columns;
    const int    *distances; ///< 8-bit columns only

    __device__ int decode(Column column, int row) const
    {
      if constexpr (std::is_same_v<Column, std::uint8_t>)
        return row + __ldg(distances + column);
      else
        return column;
    }
    __device__ Pair<Column> pair(int i) const { return __ldg(reinterpret_cast<const Pair<Column> *>(columns) + i); }
  };

  template <typename Column, typename Value>
  struct MatrixView
  {
    const int           *headers;
    int                  header_stride, first_jag; ///< ints a header; where in it the jags begin
    ColumnView<Column>   inner_columns;
    ValueView<Value>     inner_values, outer_values, diagonal;
    const int           *outer_columns;
    const std::uint16_t *boundary_rows; ///< numbers within the block

    __device__ const int *header(int block) const { return headers + static_cast<std::size_t>(block) * header_stride; }
  };

  /** The layout described above, first in host memory. */
  struct SlicedBlockCrs
  {
    std::vector<int>           headers, outer_columns;
    std::vector<std::uint16_t> boundary_rows, inner_columns;
    std::vector<double>        inner_values, outer_values;
    std::vector<int>           inner_source, outer_source; ///< entry of the CrsMatrix, or -1 for padding
    std::vector<int>           distances;                  ///< empty if there are too many: 16-bit columns then
    int                        n_blocks, header_stride, first_jag;
    int                        inner_width = 0, outer_width = 0, largest_block;

    explicit SlicedBlockCrs(const BlockCrs &A);

    int *header(int block) { return headers.data() + static_cast<std::size_t>(block) * header_stride; }
    /** Calls function(element of inner_columns, row in the block) for all inner entries, padding included. */
    template <typename Function>
    void for_each_inner(const Function &function) const
    {
      for (int block = 0; block < n_blocks; ++block)
        {
          const int *head = headers.data() + static_cast<std::size_t>(block) * header_stride;
          for (int slice = 0; slice < (head[header_rows] + 31) / 32; ++slice)
            for (int pair = head[header_size + slice]; pair < head[header_size + slice + 1]; ++pair)
              for (int q = 0; q < 2; ++q)
                function(2 * static_cast<std::size_t>(pair) + q, 32 * slice + (pair - head[header_size + slice]) % 32);
        }
    }

  private:
    void add_inner(const BlockCrs &A, int block);
    void add_outer(const BlockCrs &A, int block);
  };

  inline void SlicedBlockCrs::add_inner(const BlockCrs &A, int block)
  {
    const int first = A.first_local[block], rows = A.first_local[block + 1] - first;
    int      *slice_offsets = header(block) + header_size;
    for (int r0 = 0, slice = 0; r0 < rows; r0 += 32, ++slice)
      {
        const int slice_rows = std::min(32, rows - r0);
        int       width      = 0;
        for (int r = r0; r < r0 + slice_rows; ++r)
          width = std::max(width, A.inner.offsets[first + r + 1] - A.inner.offsets[first + r]);
        const std::size_t begin = inner_columns.size(), end = begin + static_cast<std::size_t>((width + 1) / 2) * 64;
        if (end > 2147483647u)
          throw InvalidInput("the matrix needs more than 2^31 - 1 entries when its rows are padded for the GPU\n  expected: a smaller matrix, or "
                             "rows of more equal length");
        inner_columns.resize(end);
        inner_values.resize(end, 0.);
        inner_source.resize(end, -1);
        for (int lane = 0; lane < 32; ++lane)
          for (int e = 0; e < (width + 1) / 2 * 2; ++e)
            {
              const std::size_t slot = begin + static_cast<std::size_t>(e / 2) * 64 + 2 * lane + e % 2;
              const int         l    = first + r0 + lane;
              if (lane < slice_rows && A.inner.offsets[l] + e < A.inner.offsets[l + 1])
                {
                  const int p         = A.inner.offsets[l] + e;
                  inner_columns[slot] = A.inner.columns[p];
                  inner_values[slot]  = A.inner.values[p];
                  inner_source[slot]  = A.inner.source[p];
                }
              else
                inner_columns[slot] = static_cast<std::uint16_t>(r0 + lane); // the row itself, times zero
            }
        inner_width              = std::max(inner_width, width);
        slice_offsets[slice]     = static_cast<int>(begin / 2);
        slice_offsets[slice + 1] = static_cast<int>(end / 2);
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

    int *head                   = header(block);
    head[header_first_boundary] = static_cast<int>(boundary_rows.size());
    head[header_n_boundary]     = static_cast<int>(order.size());
    head[header_n_jags]         = order.empty() ? 0 : length(order.front());
    boundary_rows.insert(boundary_rows.end(), order.begin(), order.end());
    for (int e = 0; e <= outer_width; ++e)
      {
        head[first_jag + e] = static_cast<int>(outer_columns.size());
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
  }

  inline SlicedBlockCrs::SlicedBlockCrs(const BlockCrs &A)
    : n_blocks(A.n_blocks())
    , largest_block(A.blocks.largest())
  {
    for (int l = 0; l < A.n_local_rows(); ++l)
      outer_width = std::max(outer_width, A.outer.offsets[l + 1] - A.outer.offsets[l]);
    first_jag     = header_size + (largest_block + 31) / 32 + 1;
    header_stride = first_jag + outer_width + 1;
    headers.resize(static_cast<std::size_t>(n_blocks) * header_stride);
    inner_columns.reserve(A.inner.columns.size() + A.inner.columns.size() / 8);
    inner_values.reserve(A.inner.columns.size() + A.inner.columns.size() / 8);
    inner_source.reserve(A.inner.columns.size() + A.inner.columns.size() / 8);
    for (int block = 0; block < n_blocks; ++block)
      {
        int *head                = header(block);
        head[header_begin]       = A.blocks.begin[block];
        head[header_rows]        = A.blocks.end[block] - A.blocks.begin[block];
        head[header_owned_begin] = A.blocks.owned_begin[block] - A.blocks.begin[block];
        head[header_owned_rows]  = A.blocks.owned_begin[block + 1] - A.blocks.owned_begin[block];
        head[header_first_local] = A.first_local[block];
        add_inner(A, block);
        add_outer(A, block);
      }

    std::vector<char> seen(2 * 65536 + 1, 0);
    for_each_inner([&](std::size_t slot, int row) { seen[65536 + inner_columns[slot] - row] = 1; });
    for (int distance = -65536; distance <= 65536; ++distance)
      if (seen[65536 + distance])
        distances.push_back(distance);
    if (distances.size() > 256)
      distances.clear();
  }
} // namespace leopard
