// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../matrix/block_crs.h"
#include "../matrix/storage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace leopard
{
  // How a block-CRS matrix lies in device memory: one packet of bytes a block, which a single bulk copy brings to shared memory. In a packet
  // stand, each from a multiple of 16 bytes on:
  //
  // - the header (HeaderEntry), the offsets of the slices, the offsets of the jags;
  // - the weights omega / d_i, as doubles or as 8-bit numbers of a table;
  // - the inner entries: 32 consecutive rows are a slice, padded to its longest row and to an even width and stored column-wise in pairs (sliced
  //   ELLPACK with the width of a warp): the pair e of the slice's row r is number slice_offset + 32 e + r. Two formats: JointFormat, where
  //   the matrix has at most 256 distinct pairs of a value and a distance between column and row: the number of the pair, 8 bits an entry.
  //   SeparateFormat: columns as 16-bit indices into the block, or as 8-bit numbers of at most 256 distances; values as doubles, floats or
  //   8-bit numbers of a dictionary;
  // - the outer entries: the rows that have any are sorted by their number of entries and stored as jagged diagonals, without padding: entry e of
  //   the r-th such row is number jag[e] + r; first columns, then values, then the rows' numbers.

  /** What stands where in a packet's header. Offsets of sections in bytes from the packet's begin. */
  enum HeaderEntry
  {
    header_begin,       ///< first row, overlap included
    header_rows,        ///< number of rows, overlap included
    header_owned_begin, ///< first row that the block writes, counted from begin
    header_owned_rows,  ///< and their number
    header_first_local, ///< first local row
    header_n_boundary,  ///< rows with outer entries
    header_n_jags,      ///< entries of the longest of them
    header_jags,        ///< number of the int where the offsets of the jags begin
    header_weights,
    header_columns, ///< JointFormat: the codes
    header_values,
    header_outer_columns,
    header_outer_values,
    header_boundary_rows,
    header_size = 16
  };

  /** Two neighbours as they are stored. */
  template <typename T>
  struct PairOf;
  template <>
  struct PairOf<double>
  {
    using Type = double2;
    static __device__ double get(Type pair, int q) { return q == 0 ? pair.x : pair.y; }
  };
  template <>
  struct PairOf<float>
  {
    using Type = float2;
    static __device__ float get(Type pair, int q) { return q == 0 ? pair.x : pair.y; }
  };
  template <>
  struct PairOf<std::uint8_t>
  {
    using Type = unsigned short;
    static __device__ unsigned int get(Type pair, int q) { return q == 0 ? pair & 0xffu : pair >> 8; }
  };
  template <>
  struct PairOf<std::uint16_t>
  {
    using Type = unsigned int;
    static __device__ unsigned int get(Type pair, int q) { return q == 0 ? pair & 0xffffu : pair >> 16; }
  };

  /** A distance between column and row, and a value. */
  struct alignas(16) JointEntry
  {
    double value;
    int    distance;
    int    unused;
  };

  /** The tables that packets refer to. Device memory. */
  struct TableView
  {
    const double     *weights;   ///< null: weights are stored as doubles
    const double     *values;    ///< dictionary
    const int        *distances; ///< 8-bit columns
    const JointEntry *joint;
  };

  /** Columns and values apart. */
  template <typename Column_, typename Value_>
  struct SeparateFormat
  {
    using Column                     = Column_;
    using Value                      = Value_; ///< of the outer entries too
    static constexpr bool has_values = true;

    static __device__ void
    decode_pair(const char *columns, const char *values, int pair, int row, const TableView &tables, int *column, double *value)
    {
      const auto stored_columns = reinterpret_cast<const typename PairOf<Column>::Type *>(columns)[pair];
      const auto stored_values  = reinterpret_cast<const typename PairOf<Value>::Type *>(values)[pair];
#pragma unroll
      for (int q = 0; q < 2; ++q)
        {
          column[q] = PairOf<Column>::get(stored_columns, q);
          if constexpr (std::is_same_v<Column, std::uint8_t>)
            column[q] = row + __ldg(tables.distances + column[q]);
          if constexpr (std::is_same_v<Value, std::uint8_t>)
            value[q] = __ldg(tables.values + PairOf<Value>::get(stored_values, q));
          else
            value[q] = PairOf<Value>::get(stored_values, q);
        }
    }
  };

  /** Numbers of pairs of a distance and a value. */
  struct JointFormat
  {
    using Column                     = std::uint8_t;
    using Value                      = std::uint8_t; ///< of the outer entries
    static constexpr bool has_values = false;

    static __device__ void
    decode_pair(const char *codes, const char * /*values*/, int pair, int row, const TableView &tables, int *column, double *value)
    {
      const unsigned short stored = reinterpret_cast<const unsigned short *>(codes)[pair];
#pragma unroll
      for (int q = 0; q < 2; ++q)
        {
          const int4 entry = __ldg(reinterpret_cast<const int4 *>(tables.joint + PairOf<std::uint8_t>::get(stored, q)));
          value[q]         = __hiloint2double(entry.y, entry.x);
          column[q]        = row + entry.z;
        }
    }
  };

  /** A packet, in global or in shared memory. */
  template <typename Format>
  struct BlockView
  {
    using Value = typename Format::Value;
    const char *base;
    const int  *header;

    __device__ explicit BlockView(const char *base_)
      : base(base_)
      , header(reinterpret_cast<const int *>(base_))
    {
    }
    __device__ int operator[](HeaderEntry entry) const { return header[entry]; }
    __device__ int slice(int s) const { return header[header_size + s]; }
    __device__ int jag(int e) const { return header[header[header_jags] + e]; }
    /** Whether the r-th row with outer entries has more than e of them. */
    __device__ bool has_outer(int r, int e) const { return e < header[header_n_jags] && r < jag(e + 1) - jag(e); }

    __device__ double weight(int i, const TableView &tables) const
    {
      const char *weights = base + header[header_weights];
      return tables.weights != nullptr ? __ldg(tables.weights + reinterpret_cast<const std::uint8_t *>(weights)[i])
                                       : reinterpret_cast<const double *>(weights)[i];
    }
    __device__ int    boundary_row(int r) const { return reinterpret_cast<const std::uint16_t *>(base + header[header_boundary_rows])[r]; }
    __device__ int    outer_column(int p) const { return reinterpret_cast<const int *>(base + header[header_outer_columns])[p]; }
    __device__ double outer_value(int p, const TableView &tables) const
    {
      const Value stored = reinterpret_cast<const Value *>(base + header[header_outer_values])[p];
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return __ldg(tables.values + stored);
      else
        return stored;
    }
    __device__ void inner_pair(int pair, int row, const TableView &tables, int *column, double *value) const
    {
      Format::decode_pair(base + header[header_columns], base + header[header_values], pair, row, tables, column, value);
    }
  };

  template <typename Format_>
  struct MatrixView
  {
    using Format = Format_;
    const char   *packets;
    const int    *packet_offsets;        ///< n_blocks + 1, in units of 16 bytes
    const int2   *extents;               ///< first row and number of rows, overlap included
    int           n_blocks, stage_bytes; ///< the largest packet
    TableView     tables;
    const double *keeps; ///< 1 - omega a_ii / d_i, one a local row, or null:
    double        keep;  ///< then the same for all rows, 1 - omega

    __device__ BlockView<Format> block(int j) const { return BlockView<Format>(packets + static_cast<std::size_t>(packet_offsets[j]) * 16); }
  };

  /** Distances between column and row of the inner entries (0 for padding among them), and their pairs with values. */
  struct JointDictionary
  {
    std::vector<int>        distances; ///< empty if there are more than 256
    std::vector<JointEntry> entries;   ///< empty if there are more than 256, or none were asked for
    std::vector<int>        number;    ///< of distance + 65536
    std::vector<int>        joint;     ///< of number * 256 + number of the value

    JointDictionary(const BlockCrs &A, const Dictionary *values)
      : number(2 * 65536 + 1, -1)
    {
      add_distance(0);
      for_each_inner(A, [&](int distance, double) { add_distance(distance); });
      if (distances.size() > 256)
        distances.clear();
      if (distances.empty() || values == nullptr)
        return;
      joint.resize(256 * Dictionary::max_size, -1);
      bool       fits = true;
      const auto add  = [&](int distance, double value) {
        int &code = joint[number[65536 + distance] * Dictionary::max_size + values->index_of(value)];
        if (code >= 0)
          return;
        code = static_cast<int>(entries.size());
        fits = fits && code < 256;
        if (fits)
          entries.push_back({value, distance, 0});
      };
      add(0, 0.);
      for_each_inner(A, add);
      if (!fits)
        entries.clear();
    }

    std::uint8_t code(int distance, std::uint8_t value_number) const
    {
      return static_cast<std::uint8_t>(joint[number[65536 + distance] * Dictionary::max_size + value_number]);
    }

  private:
    template <typename Function>
    static void for_each_inner(const BlockCrs &A, const Function &function)
    {
      for (int block = 0; block < A.n_blocks(); ++block)
        for (int l = A.first_local[block]; l < A.first_local[block + 1]; ++l)
          for (int p = A.inner.offsets[l]; p < A.inner.offsets[l + 1]; ++p)
            function(A.inner.columns[p] - (l - A.first_local[block]), A.inner.values[p]);
    }

    void add_distance(int distance)
    {
      if (int &d = number[65536 + distance]; d < 0)
        {
          d = static_cast<int>(distances.size());
          distances.push_back(distance);
        }
    }
  };

  /** All packets in host memory. */
  template <typename Format>
  struct Packets
  {
    using Column = typename Format::Column;
    using Value  = typename Format::Value;
    std::vector<char> bytes;
    std::vector<int>  offsets = {0};
    std::vector<int2> extents;
    std::vector<int>  value_positions, value_sources; ///< doubles only: where in the bytes (in doubles) which entry of the CrsMatrix stands
    std::vector<int>  weight_positions;               ///< the same for the weight of each local row
    int               inner_width = 0, outer_width = 0, largest_packet = 0, most_outer = 0; ///< outer entries of a block

    Packets(
      const BlockCrs &A, const std::vector<double> &weights, const Dictionary *weight_table, const Dictionary &values_, const JointDictionary &joint_)
      : values(values_)
      , joint(joint_)
    {
      for (int block = 0; block < A.n_blocks(); ++block)
        add_block(A, block, weights, weight_table);
    }

  private:
    static std::size_t rounded(std::size_t n) { return (n + 15) / 16 * 16; }

    Value stored(double value) const
    {
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return values.index_of(value);
      else
        return static_cast<Value>(value);
    }

    void add_block(const BlockCrs &A, int block, const std::vector<double> &weights, const Dictionary *weight_table)
    {
      const int        first = A.first_local[block], rows = A.first_local[block + 1] - first, n_slices = (rows + 31) / 32;
      const auto       inner_length = [&](int r) { return A.inner.offsets[first + r + 1] - A.inner.offsets[first + r]; };
      const auto       outer_length = [&](int r) { return A.outer.offsets[first + r + 1] - A.outer.offsets[first + r]; };
      std::vector<int> slices(n_slices + 1, 0), order;
      for (int slice = 0; slice < n_slices; ++slice)
        {
          int width = 0;
          for (int r = 32 * slice; r < std::min(rows, 32 * slice + 32); ++r)
            width = std::max(width, inner_length(r));
          slices[slice + 1] = slices[slice] + (width + 1) / 2 * 32;
          inner_width       = std::max(inner_width, width);
        }
      for (int r = 0; r < rows; ++r)
        if (outer_length(r) > 0)
          order.push_back(r);
      std::stable_sort(order.begin(), order.end(), [&](int r, int s) { return outer_length(r) > outer_length(s); });
      const int n_jags = order.empty() ? 0 : outer_length(order.front()), n_outer = A.outer.offsets[first + rows] - A.outer.offsets[first];
      outer_width = std::max(outer_width, n_jags);
      most_outer  = std::max(most_outer, n_outer);

      // where everything stands
      int         head[header_size] = {};
      std::size_t size              = 0;
      const auto  section           = [&](std::size_t n_bytes) {
        const std::size_t at = size;
        size += rounded(n_bytes);
        return static_cast<int>(at);
      };
      section((header_size + n_slices + 1 + n_jags + 1) * sizeof(int));
      head[header_begin]         = A.blocks.begin[block];
      head[header_rows]          = rows;
      head[header_owned_begin]   = A.blocks.owned_begin[block] - A.blocks.begin[block];
      head[header_owned_rows]    = A.blocks.owned_begin[block + 1] - A.blocks.owned_begin[block];
      head[header_first_local]   = first;
      head[header_n_boundary]    = static_cast<int>(order.size());
      head[header_n_jags]        = n_jags;
      head[header_jags]          = header_size + n_slices + 1;
      head[header_weights]       = section(rows * (weight_table != nullptr ? 1 : sizeof(double)));
      head[header_columns]       = section(2 * slices.back() * sizeof(Column));
      head[header_values]        = section(Format::has_values ? 2 * slices.back() * sizeof(Value) : 0);
      head[header_outer_columns] = section(n_outer * sizeof(int));
      head[header_outer_values]  = section(n_outer * sizeof(Value));
      head[header_boundary_rows] = section(order.size() * sizeof(std::uint16_t));
      const std::size_t begin    = bytes.size();
      if ((begin + size) / 16 > 2147483647u || size > 2147483647u)
        throw InvalidInput("the matrix needs more than 32 GiB on the GPU\n  expected: a smaller matrix, or more ranks");
      bytes.resize(begin + size);
      char *packet = bytes.data() + begin;
      std::memcpy(packet, head, sizeof(head));
      std::memcpy(packet + sizeof(head), slices.data(), slices.size() * sizeof(int));
      offsets.push_back(static_cast<int>((begin + size) / 16));
      extents.push_back({head[header_begin], rows});
      largest_packet = std::max(largest_packet, static_cast<int>(size));

      for (int r = 0; r < rows; ++r)
        if (weight_table != nullptr)
          packet[head[header_weights] + r] = static_cast<char>(weight_table->index_of(weights[first + r]));
        else
          {
            std::memcpy(packet + head[header_weights] + 8 * r, &weights[first + r], 8);
            weight_positions.push_back(static_cast<int>((begin + head[header_weights]) / 8 + r));
          }
      auto *columns      = reinterpret_cast<Column *>(packet + head[header_columns]);
      auto *inner_values = reinterpret_cast<Value *>(packet + head[header_values]);
      for (int slice = 0; slice < n_slices; ++slice)
        for (int e = 0; e < (slices[slice + 1] - slices[slice]) / 16; ++e)
          for (int lane = 0; lane < 32; ++lane)
            {
              const int    slot = 2 * (slices[slice] + e / 2 * 32 + lane) + e % 2, r = 32 * slice + lane;
              const bool   exists = r < rows && e < inner_length(r);
              const int    p      = exists ? A.inner.offsets[first + r] + e : 0;
              const double value  = exists ? A.inner.values[p] : 0.; // padding: the row itself, times zero
              const int    column = exists ? A.inner.columns[p] : r;
              if constexpr (!Format::has_values)
                columns[slot] = joint.code(column - r, values.index_of(value));
              else
                {
                  columns[slot]      = static_cast<Column>(std::is_same_v<Column, std::uint8_t> ? joint.number[65536 + column - r] : column);
                  inner_values[slot] = stored(value);
                  if constexpr (std::is_same_v<Value, double>)
                    if (exists)
                      {
                        value_positions.push_back(static_cast<int>((begin + head[header_values]) / 8 + slot));
                        value_sources.push_back(A.inner.source[p]);
                      }
                }
            }
      auto *jags          = reinterpret_cast<int *>(packet) + head[header_jags];
      auto *outer_columns = reinterpret_cast<int *>(packet + head[header_outer_columns]);
      auto *outer_values  = reinterpret_cast<Value *>(packet + head[header_outer_values]);
      auto *boundary_rows = reinterpret_cast<std::uint16_t *>(packet + head[header_boundary_rows]);
      for (std::size_t i = 0; i < order.size(); ++i)
        boundary_rows[i] = static_cast<std::uint16_t>(order[i]);
      int slot = 0;
      for (int e = 0; e < n_jags; ++e)
        {
          jags[e] = slot;
          for (std::size_t i = 0; i < order.size() && outer_length(order[i]) > e; ++i, ++slot)
            {
              const int p         = A.outer.offsets[first + order[i]] + e;
              outer_columns[slot] = A.outer.columns[p];
              outer_values[slot]  = stored(A.outer.values[p]);
              if constexpr (std::is_same_v<Value, double>)
                {
                  value_positions.push_back(static_cast<int>((begin + head[header_outer_values]) / 8 + slot));
                  value_sources.push_back(A.outer.source[p]);
                }
            }
        }
      jags[n_jags] = slot;
    }

    const Dictionary      &values;
    const JointDictionary &joint;
  };
} // namespace leopard
