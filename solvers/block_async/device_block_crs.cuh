// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../matrix/block_crs.h"
#include "../matrix/storage.h"
#include "distance_slots.h"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace leopard
{
  // How a block-CRS matrix lies in device memory: one packet of bytes a block, which bulk copies bring to shared
  // memory. In a packet stand, each from a multiple of 16 bytes on, first what is needed of the outer entries, and
  // until these are added up:
  //
  // - the header, the offsets of the slices, the offsets of the jags, the distances of slots;
  // - the ghosts: off-block columns that the block reads, sorted, each once, so that neighbours in memory are read
  //   together;
  // - the outer entries: the rows that have any are sorted by their number of entries and stored as jagged diagonals,
  //   without padding: entry e of the r-th such row is number jag[e] + r; first 16-bit numbers of ghosts, then values,
  //   then the rows' numbers. Where each entry has a ghost of its own, that is the ghost of the same number, and
  //   numbers are not stored;
  //
  // then the inner part, what threads hold in registers; in shared memory it stands elsewhere:
  //
  // - the weights omega / d_i, as Numbers or as 8-bit numbers of a table;
  // - the inner entries: 32 consecutive rows are a slice, padded to its longest row and to an even width and stored
  //   column-wise in pairs (sliced ELLPACK with the width of a warp): the pair e of the slice's row r is number
  //   slice_offset + 32 e + r. Columns are 16-bit indices into the block, or not stored: then an entry's slot says its
  //   distance from the row (DistanceSlots). Values are Numbers, floats, the upper halves of floats or 8-bit numbers of
  //   a dictionary.

  /**
   * What stands where in a packet: offsets of sections in bytes from its begin, of the last three from that of the
   * inner part.
   */
  struct alignas(16) PacketHeader
  {
    int begin, rows; ///< first row and number of rows, overlap included
    int owned_begin; ///< first row that the block writes, counted from begin
    int owned_rows;  ///< and their number
    int first_local; ///< first local row
    int n_boundary;  ///< rows with outer entries
    int n_jags;      ///< entries of the longest of them
    int jags;        ///< number of the int where the offsets of the jags begin
    int distances;   ///< and where the slots' distances begin
    int n_ghosts;
    int ghosts;
    int outer_numbers; ///< of ghosts; 0: they are not stored
    int outer_values;
    int boundary_rows;
    int weights, columns, values;
    int unused[3];
  };
  constexpr int header_ints = sizeof(PacketHeader) / sizeof(int);

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

  /** The tables that packets refer to, of most_distinct_values numbers. Device memory. */
  template <typename Number>
  struct TableView
  {
    const Number *weights; ///< null: weights are stored as they are
    const Number *values;  ///< dictionary

    __device__ bool   has_weights() const { return weights != nullptr; }
    __device__ Number weight(unsigned int i) const { return __ldg(weights + i); }
    __device__ Number value(unsigned int i) const { return __ldg(values + i); }
  };

  /** Copies of them in shared memory, where a look takes fewer instructions. */
  template <typename Number>
  struct SharedTables
  {
    const Number *weights, *values;
    bool          weights_are_there;

    __device__ bool   has_weights() const { return weights_are_there; }
    __device__ Number weight(unsigned int i) const { return weights[i]; }
    __device__ Number value(unsigned int i) const { return values[i]; }
  };

  /** Columns that are not stored. */
  struct NoColumns
  {
  };

  /**
   * How inner entries are stored: columns as std::uint16_t or NoColumns, values as Number, float, std::uint16_t (the
   * upper half of a float) or std::uint8_t (a number of a dictionary). Arithmetic is in Number.
   */
  template <typename Number_, typename Column_, typename Value_>
  struct PacketFormat
  {
    using Number                      = Number_;
    using Column                      = Column_;
    using Value                       = Value_; ///< of the outer entries too
    static constexpr bool has_columns = !std::is_same_v<Column, NoColumns>;

    static constexpr bool has_dictionary = std::is_same_v<Value, std::uint8_t>;

    template <typename Tables>
    static __device__ Number value_of(Value stored, const Tables &tables)
    {
      if constexpr (has_dictionary)
        return tables.value(stored);
      else if constexpr (std::is_same_v<Value, std::uint16_t>)
        return __uint_as_float(static_cast<unsigned int>(stored) << 16);
      else
        return stored;
    }
  };

  /** A packet, in global or in shared memory. */
  template <typename Format>
  struct BlockView
  {
    using Number = typename Format::Number;
    using Value  = typename Format::Value;
    const char        *base, *inner;
    const PacketHeader header;

    __device__ BlockView(const char *base_, const char *inner_)
      : base(base_)
      , inner(inner_)
      , header(*reinterpret_cast<const PacketHeader *>(base_))
    {
    }
    __device__ int word(int i) const { return reinterpret_cast<const int *>(base)[i]; }
    __device__ int slice(int s) const { return word(header_ints + s); }
    __device__ int jag(int e) const { return word(header.jags + e); }
    /** Whether the r-th row with outer entries has more than e of them. */
    __device__ bool has_outer(int r, int e) const { return e < header.n_jags && r < jag(e + 1) - jag(e); }

    template <typename Tables>
    __device__ Number weight(int i, const Tables &tables) const
    {
      const char *weights = inner + header.weights;
      if constexpr (Format::has_dictionary)
        if (tables.has_weights())
          return tables.weight(reinterpret_cast<const std::uint8_t *>(weights)[i]);
      return reinterpret_cast<const Number *>(weights)[i];
    }
    __device__ int boundary_row(int r) const { return reinterpret_cast<const std::uint16_t *>(base + header.boundary_rows)[r]; }
    __device__ int ghost(int g) const { return reinterpret_cast<const int *>(base + header.ghosts)[g]; }
    __device__ int outer_number(int p) const
    {
      const int at = header.outer_numbers;
      return at == 0 ? p : reinterpret_cast<const std::uint16_t *>(base + at)[p];
    }
    __device__ int outer_column(int p) const { return ghost(outer_number(p)); }
    template <typename Tables>
    __device__ Number outer_value(int p, const Tables &tables) const
    {
      return Format::value_of(reinterpret_cast<const Value *>(base + header.outer_values)[p], tables);
    }

    __device__ int n_pairs(int i) const { return (slice(i / 32 + 1) - slice(i / 32)) / 32; }
    __device__ int distance(int slot) const { return word(header.distances + slot); }
    /** The number of the e-th pair of entries of row i. */
    __device__ int pair(int i, int e) const { return slice(i / 32) + 32 * e + i % 32; }
    template <typename Tables>
    __device__ void inner_values(int pair, const Tables &tables, Number *value) const
    {
      const auto stored = reinterpret_cast<const typename PairOf<Value>::Type *>(inner + header.values)[pair];
#pragma unroll
      for (int q = 0; q < 2; ++q)
        value[q] = Format::value_of(static_cast<Value>(PairOf<Value>::get(stored, q)), tables);
    }
    __device__ void inner_columns(int i, int e, int *column) const
    {
      if constexpr (Format::has_columns)
        {
          const auto stored = reinterpret_cast<const typename PairOf<typename Format::Column>::Type *>(inner + header.columns)[pair(i, e)];
          column[0]         = PairOf<typename Format::Column>::get(stored, 0);
          column[1]         = PairOf<typename Format::Column>::get(stored, 1);
        }
      else
        for (int q = 0; q < 2; ++q)
          {
            const int j = i + distance(2 * e + q);
            column[q]   = j >= 0 && j < header.rows ? j : i; // an entry that the row lacks may point anywhere
          }
    }
  };

  /** What is known of a block before its packet comes. */
  struct alignas(16) BlockExtent
  {
    int begin, rows;              ///< overlap included
    int stride;                   ///< S of a lattice
    int packet;                   ///< in units of 16 bytes from the first
    int outer_bytes, inner_bytes; ///< the two parts of the packet
    int unused[2];
  };

  template <typename Format_>
  struct MatrixView
  {
    using Format = Format_;
    using Number = typename Format::Number;
    const char        *packets;
    const BlockExtent *extents;
    int                n_blocks;
    int                outer_bytes, inner_bytes; ///< the largest of the two parts of packets
    TableView<Number>  tables;
    const Number      *keeps; ///< 1 - omega a_ii / d_i, one a local row, or null:
    Number             keep;  ///< then the same for all rows, 1 - omega

    __device__ BlockView<Format> block(int j) const
    {
      const char *packet = packets + static_cast<std::size_t>(extents[j].packet) * 16;
      return BlockView<Format>(packet, packet + extents[j].outer_bytes);
    }
  };
} // namespace leopard
