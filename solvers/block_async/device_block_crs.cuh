// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../matrix/block_crs.h"
#include "../matrix/storage.h"
#include "distance_slots.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
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
  //   distance from the row (DistanceSlots). Values are Numbers, floats or 8-bit numbers of a dictionary.

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

  /** The tables that packets refer to. Device memory. */
  template <typename Number>
  struct TableView
  {
    const Number *weights; ///< null: weights are stored as they are
    const Number *values;  ///< dictionary
  };

  /** Columns that are not stored. */
  struct NoColumns
  {
  };

  /**
   * How inner entries are stored: columns as std::uint16_t or NoColumns, values as Number, float or std::uint8_t.
   * Arithmetic is in Number.
   */
  template <typename Number_, typename Column_, typename Value_>
  struct PacketFormat
  {
    using Number                      = Number_;
    using Column                      = Column_;
    using Value                       = Value_; ///< of the outer entries too
    static constexpr bool has_columns = !std::is_same_v<Column, NoColumns>;

    static __device__ Number value_of(Value stored, const TableView<Number> &tables)
    {
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return __ldg(tables.values + stored);
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

    __device__ Number weight(int i, const TableView<Number> &tables) const
    {
      const char *weights = inner + header.weights;
      return tables.weights != nullptr ? __ldg(tables.weights + reinterpret_cast<const std::uint8_t *>(weights)[i])
                                       : reinterpret_cast<const Number *>(weights)[i];
    }
    __device__ int boundary_row(int r) const { return reinterpret_cast<const std::uint16_t *>(base + header.boundary_rows)[r]; }
    __device__ int ghost(int g) const { return reinterpret_cast<const int *>(base + header.ghosts)[g]; }
    __device__ int outer_number(int p) const
    {
      const int at = header.outer_numbers;
      return at == 0 ? p : reinterpret_cast<const std::uint16_t *>(base + at)[p];
    }
    __device__ int    outer_column(int p) const { return ghost(outer_number(p)); }
    __device__ Number outer_value(int p, const TableView<Number> &tables) const
    {
      return Format::value_of(reinterpret_cast<const Value *>(base + header.outer_values)[p], tables);
    }

    __device__ int n_pairs(int i) const { return (slice(i / 32 + 1) - slice(i / 32)) / 32; }
    __device__ int distance(int slot) const { return word(header.distances + slot); }
    /** The number of the e-th pair of entries of row i. */
    __device__ int  pair(int i, int e) const { return slice(i / 32) + 32 * e + i % 32; }
    __device__ void inner_values(int pair, const TableView<Number> &tables, Number *value) const
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

  /** All packets in host memory. */
  template <typename Format>
  struct Packets
  {
    using Number = typename Format::Number;
    using Column = typename Format::Column;
    using Value  = typename Format::Value;
    std::vector<char>        bytes;
    std::vector<BlockExtent> extents;
    // values stored as Numbers only: where in the bytes (counted in Numbers) which entry of the CrsMatrix stands, and
    // the weight of each local row; see max_bytes
    std::vector<unsigned int> value_positions, weight_positions;
    std::vector<int>          value_sources;
    int                       inner_width = 0, outer_width = 0, outer_bytes = 0, inner_bytes = 0, most_ghosts = 0; ///< the largest of a block

    /** @param n_threads that make them; 0: as many as the machine has. */
    Packets(const BlockCrs<Number>    &A,
            const std::vector<Number> &weights,
            const Dictionary          *weight_table,
            const Dictionary          &values_,
            const DistanceSlots       &slots_,
            int                        n_threads = 1)
      : values(values_)
      , slots(slots_)
    {
      std::map<long, Packets> parts; // by their first blocks
      std::mutex              one_at_a_time;
      parallel_for(*shared_thread_pool(n_threads), A.n_blocks(), 64, [&](long begin, long end) {
        Packets part(values, slots);
        for (long block = begin; block < end; ++block)
          part.add_block(A, static_cast<int>(block), weights, weight_table);
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        parts.emplace(begin, std::move(part));
      });
      for (auto &part : parts)
        append(std::move(part.second));
    }

  private:
    Packets(const Dictionary &values_, const DistanceSlots &slots_)
      : values(values_)
      , slots(slots_)
    {
    }

    /** What another one has goes behind what this one has. */
    void append(Packets &&other)
    {
      const std::size_t base = bytes.size();
      if (base + other.bytes.size() >= max_bytes)
        refuse_size();
      const auto add = [](auto &to, const auto &from, unsigned int shift) {
        to.reserve(to.size() + from.size());
        for (const auto &value : from)
          to.push_back(value + shift);
      };
      bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end());
      for (BlockExtent &extent : other.extents)
        extent.packet += static_cast<int>(base / 16);
      extents.insert(extents.end(), other.extents.begin(), other.extents.end());
      add(value_positions, other.value_positions, static_cast<unsigned int>(base / sizeof(Number)));
      add(weight_positions, other.weight_positions, static_cast<unsigned int>(base / sizeof(Number)));
      value_sources.insert(value_sources.end(), other.value_sources.begin(), other.value_sources.end());
      inner_width = std::max(inner_width, other.inner_width);
      outer_width = std::max(outer_width, other.outer_width);
      outer_bytes = std::max(outer_bytes, other.outer_bytes);
      inner_bytes = std::max(inner_bytes, other.inner_bytes);
      most_ghosts = std::max(most_ghosts, other.most_ghosts);
      std::vector<char>().swap(other.bytes); // gives its memory back
    }

    Value stored(Number value) const
    {
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return values.index_of(value);
      else
        return static_cast<Value>(value);
    }

    /** The off-block columns of a block. */
    struct Ghosts
    {
      std::vector<int> columns; ///< sorted, each once, if entries share them; else as many as there are entries
      bool             shared;

      Ghosts(const typename BlockCrs<Number>::template Part<int> &outer, int first, int rows)
        : columns(outer.columns.begin() + outer.offsets[first], outer.columns.begin() + outer.offsets[first + rows])
      {
        std::vector<int> distinct = columns;
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        shared = distinct.size() < columns.size() && distinct.size() <= 65536;
        if (shared)
          columns = distinct;
      }
      std::uint16_t number_of(int column) const
      {
        return static_cast<std::uint16_t>(std::lower_bound(columns.begin(), columns.end(), column) - columns.begin());
      }
    };

    /** A packet before it is filled. */
    struct Layout
    {
      const BlockCrs<Number> &A;
      const int               block, first, rows;
      const Ghosts            ghosts;
      PacketHeader            head        = {};
      std::vector<int>        slices      = {0}, distances, order; ///< order: the rows with outer entries, the longest first
      int                     n_outer     = 0;
      std::size_t             outer_bytes = 0, inner_bytes = 0;
      std::size_t             begin = 0; ///< in the bytes of all packets

      Layout(const BlockCrs<Number> &A_, int block_)
        : A(A_)
        , block(block_)
        , first(A.first_local[block])
        , rows(A.first_local[block + 1] - first)
        , ghosts(A.outer, first, rows)
      {
        for (int r = 0; r < rows; ++r)
          if (outer_length(r) > 0)
            order.push_back(r);
        std::stable_sort(order.begin(), order.end(), [&](int r, int s) { return outer_length(r) > outer_length(s); });
        n_outer = A.outer.offsets[first + rows] - A.outer.offsets[first];
      }

      int inner_length(int r) const { return A.inner.offsets[first + r + 1] - A.inner.offsets[first + r]; }
      int outer_length(int r) const { return A.outer.offsets[first + r + 1] - A.outer.offsets[first + r]; }
    };

    /** 2^31 times 16 bytes, see BlockExtent, and where values can change 2^32 Numbers. */
    static constexpr std::size_t max_bytes = (std::size_t(1) << 32) * (std::is_same_v<Value, Number> ? sizeof(Number) : 8);

    [[noreturn]] static void refuse_size()
    {
      throw InvalidInput("the matrix needs more than " + std::to_string(max_bytes >> 30) +
                         " GiB on the GPU, or a block of it more than 2 GiB\n  expected: a smaller matrix, smaller blocks, or more ranks");
    }

    void add_block(const BlockCrs<Number> &A, int block, const std::vector<Number> &weights, const Dictionary *weight_table)
    {
      Layout l(A, block);
      if (!Format::has_columns)
        l.distances = slots.distances(block);
      for (int slice = 0; slice < (l.rows + 31) / 32; ++slice)
        {
          int width = static_cast<int>(l.distances.size());
          for (int r = 32 * slice; Format::has_columns && r < std::min(l.rows, 32 * slice + 32); ++r)
            width = std::max(width, l.inner_length(r));
          const long end = l.slices.back() + (width + 1l) / 2 * 32;
          if (end >= 1 << 30) // 2^31 entries, padding included
            refuse_size();
          l.slices.push_back(static_cast<int>(end));
          inner_width = std::max(inner_width, width);
        }
      lay_out(l, weight_table != nullptr);

      l.begin                = bytes.size();
      const std::size_t size = l.outer_bytes + l.inner_bytes;
      if (l.begin + size >= max_bytes || size > 2147483647u)
        refuse_size();
      bytes.resize(l.begin + size);
      extents.push_back({l.head.begin,
                         l.rows,
                         slots.stride(block),
                         static_cast<int>(l.begin / 16),
                         static_cast<int>(l.outer_bytes),
                         static_cast<int>(l.inner_bytes),
                         {0, 0}});
      outer_width = std::max(outer_width, l.head.n_jags);
      outer_bytes = std::max(outer_bytes, extents.back().outer_bytes);
      inner_bytes = std::max(inner_bytes, extents.back().inner_bytes);
      most_ghosts = std::max(most_ghosts, l.head.n_ghosts);
      put_weights(l, weights, weight_table);
      put_inner(l);
      put_outer(l);
    }

    /** Where everything stands. */
    static void lay_out(Layout &l, bool weights_in_table)
    {
      PacketHeader &head    = l.head;
      std::size_t   size    = 0;
      const auto    section = [&](std::size_t n_bytes) {
        const std::size_t at = size;
        size += (n_bytes + 15) / 16 * 16;
        return static_cast<int>(at);
      };
      const BlockCrs<Number> &A = l.A;
      head.begin                = A.blocks.begin[l.block];
      head.rows                 = l.rows;
      head.owned_begin          = A.blocks.owned_begin[l.block] - A.blocks.begin[l.block];
      head.owned_rows           = A.blocks.owned_end[l.block] - A.blocks.owned_begin[l.block];
      head.first_local          = l.first;
      head.n_boundary           = static_cast<int>(l.order.size());
      head.n_jags               = l.order.empty() ? 0 : l.outer_length(l.order.front());
      head.jags                 = header_ints + static_cast<int>(l.slices.size());
      head.distances            = head.jags + head.n_jags + 1;
      head.n_ghosts             = static_cast<int>(l.ghosts.columns.size());
      section((head.distances + l.distances.size()) * sizeof(int));
      head.ghosts        = section(head.n_ghosts * sizeof(int));
      head.outer_numbers = l.ghosts.shared ? section(l.n_outer * sizeof(std::uint16_t)) : 0;
      head.outer_values  = section(l.n_outer * sizeof(Value));
      head.boundary_rows = section(l.order.size() * sizeof(std::uint16_t));
      l.outer_bytes      = size;
      size               = 0;
      head.weights       = section(l.rows * (weights_in_table ? 1 : sizeof(Number)));
      head.columns       = section(Format::has_columns ? 2 * l.slices.back() * sizeof(Column) : 0);
      head.values        = section(2 * l.slices.back() * sizeof(Value));
      l.inner_bytes      = size;
    }

    char *outer_part(const Layout &l) { return bytes.data() + l.begin; }
    char *inner_part(const Layout &l) { return bytes.data() + l.begin + l.outer_bytes; }

    /** Remembers where in the bytes a value of the matrix stands, if it can change. */
    void remember(std::size_t position, int source)
    {
      if constexpr (std::is_same_v<Value, Number>)
        {
          value_positions.push_back(static_cast<unsigned int>(position));
          value_sources.push_back(source);
        }
    }

    void put_weights(const Layout &l, const std::vector<Number> &weights, const Dictionary *weight_table)
    {
      char *place = inner_part(l) + l.head.weights;
      for (int r = 0; r < l.rows; ++r)
        if (weight_table != nullptr)
          place[r] = static_cast<char>(weight_table->index_of(weights[l.first + r]));
        else
          {
            std::memcpy(place + sizeof(Number) * r, &weights[l.first + r], sizeof(Number));
            if constexpr (std::is_same_v<Value, Number>)
              weight_positions.push_back(static_cast<unsigned int>((l.begin + l.outer_bytes + l.head.weights) / sizeof(Number) + r));
          }
    }

    void put_inner(const Layout &l)
    {
      const BlockCrs<Number> &A             = l.A;
      const std::size_t       values_begin  = (l.begin + l.outer_bytes + l.head.values) / sizeof(Number);
      auto                   *columns       = reinterpret_cast<Column *>(inner_part(l) + l.head.columns);
      auto                   *stored_values = reinterpret_cast<Value *>(inner_part(l) + l.head.values);
      for (int r = 0; r < static_cast<int>(l.slices.size() - 1) * 32; ++r)
        {
          const int  slice = l.slices[r / 32], width = (l.slices[r / 32 + 1] - slice) / 16;
          const auto place = [&](int e) { return 2 * (slice + e / 2 * 32 + r % 32) + e % 2; };
          for (int e = 0; e < width; ++e) // padding: the row itself, times zero
            {
              stored_values[place(e)] = stored(Number(0));
              if constexpr (Format::has_columns)
                columns[place(e)] = static_cast<Column>(r < l.rows ? r : 0);
            }
          for (int e = 0, n = r < l.rows ? l.inner_length(r) : 0; e < n; ++e)
            {
              const int p = A.inner.offsets[l.first + r] + e, column = A.inner.columns[p];
              const int at = place(Format::has_columns ? e : slots.slot_of(l.block, column - r));
              if constexpr (Format::has_columns)
                columns[at] = static_cast<Column>(column);
              stored_values[at] = stored(A.inner.values[p]);
              remember(values_begin + at, A.inner.source[p]);
            }
        }
    }

    void put_outer(const Layout &l)
    {
      const BlockCrs<Number> &A      = l.A;
      char                   *packet = outer_part(l);
      std::memcpy(packet, &l.head, sizeof(l.head));
      std::copy(l.slices.begin(), l.slices.end(), reinterpret_cast<int *>(packet) + header_ints);
      std::copy(l.distances.begin(), l.distances.end(), reinterpret_cast<int *>(packet) + l.head.distances);
      std::copy(l.order.begin(), l.order.end(), reinterpret_cast<std::uint16_t *>(packet + l.head.boundary_rows));
      auto *jags          = reinterpret_cast<int *>(packet) + l.head.jags;
      auto *ghost_columns = reinterpret_cast<int *>(packet + l.head.ghosts);
      auto *outer_numbers = reinterpret_cast<std::uint16_t *>(packet + l.head.outer_numbers);
      auto *outer_values  = reinterpret_cast<Value *>(packet + l.head.outer_values);
      if (l.ghosts.shared)
        std::copy(l.ghosts.columns.begin(), l.ghosts.columns.end(), ghost_columns);
      int slot = 0;
      for (int e = 0; e < l.head.n_jags; ++e)
        {
          jags[e] = slot;
          for (std::size_t i = 0; i < l.order.size() && l.outer_length(l.order[i]) > e; ++i, ++slot)
            {
              const int p = A.outer.offsets[l.first + l.order[i]] + e;
              if (l.ghosts.shared)
                outer_numbers[slot] = l.ghosts.number_of(A.outer.columns[p]);
              else
                ghost_columns[slot] = A.outer.columns[p];
              outer_values[slot] = stored(A.outer.values[p]);
              remember((l.begin + l.head.outer_values) / sizeof(Number) + slot, A.outer.source[p]);
            }
        }
      jags[l.head.n_jags] = slot;
    }

    const Dictionary    &values;
    const DistanceSlots &slots;
  };
} // namespace leopard
