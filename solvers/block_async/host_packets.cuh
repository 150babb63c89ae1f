// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_block_crs.cuh"

#include <algorithm>
#include <cstring>

namespace leopard
{
  /**
   * The packets of a block-CRS matrix in host memory, with columns and with values as they are: for corrections, whose
   * matrix in single precision is made there. Those of a matrix that is on the device are made there (DevicePackets).
   */
  template <typename Number>
  struct HostPackets
  {
    std::vector<char>        bytes;
    std::vector<BlockExtent> extents;
    // where in the bytes (counted in Numbers) which entry of the CrsMatrix stands, and the weight of each local row
    std::vector<unsigned int> value_positions, weight_positions;
    std::vector<int>          value_sources;
    int                       inner_width = 0, outer_bytes = 0, inner_bytes = 0; ///< the largest of a block

    HostPackets(const BlockCrs<Number> &A, const std::vector<Number> &weights)
    {
      for (int block = 0; block < A.n_blocks(); ++block)
        add_block(A, block, weights);
    }

  private:
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
      std::vector<int>        slices      = {0}, order; ///< order: the rows with outer entries, the longest first
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

    /** 2^31 times 16 bytes, see BlockExtent, and 2^32 Numbers, see value_positions. */
    static constexpr std::size_t max_bytes = (std::size_t(1) << 32) * sizeof(Number);

    [[noreturn]] static void refuse_size()
    {
      throw InvalidInput("the matrix needs more than " + std::to_string(max_bytes >> 30) +
                         " GiB on the GPU, or a block of it more than 2 GiB\n  expected: a smaller matrix, smaller blocks, or more ranks");
    }

    void add_block(const BlockCrs<Number> &A, int block, const std::vector<Number> &weights)
    {
      Layout l(A, block);
      for (int slice = 0; slice < (l.rows + 31) / 32; ++slice)
        {
          int width = 0;
          for (int r = 32 * slice; r < std::min(l.rows, 32 * slice + 32); ++r)
            width = std::max(width, l.inner_length(r));
          const long end = l.slices.back() + (width + 1l) / 2 * 32;
          if (end >= 1 << 30) // 2^31 entries, padding included
            refuse_size();
          l.slices.push_back(static_cast<int>(end));
          inner_width = std::max(inner_width, width);
        }
      lay_out(l);

      l.begin                = bytes.size();
      const std::size_t size = l.outer_bytes + l.inner_bytes;
      if (l.begin + size >= max_bytes || size > 2147483647u)
        refuse_size();
      bytes.resize(l.begin + size);
      extents.push_back(
        {l.head.begin, l.rows, 0, static_cast<int>(l.begin / 16), static_cast<int>(l.outer_bytes), static_cast<int>(l.inner_bytes), {0, 0}});
      outer_bytes = std::max(outer_bytes, extents.back().outer_bytes);
      inner_bytes = std::max(inner_bytes, extents.back().inner_bytes);
      put_weights(l, weights);
      put_inner(l);
      put_outer(l);
    }

    /** Where everything stands. */
    static void lay_out(Layout &l)
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
      section(head.distances * sizeof(int));
      head.ghosts        = section(head.n_ghosts * sizeof(int));
      head.outer_numbers = l.ghosts.shared ? section(l.n_outer * sizeof(std::uint16_t)) : 0;
      head.outer_values  = section(l.n_outer * sizeof(Number));
      head.boundary_rows = section(l.order.size() * sizeof(std::uint16_t));
      l.outer_bytes      = size;
      size               = 0;
      head.weights       = section(l.rows * sizeof(Number));
      head.columns       = section(2 * l.slices.back() * sizeof(std::uint16_t));
      head.values        = section(2 * l.slices.back() * sizeof(Number));
      l.inner_bytes      = size;
    }

    char *outer_part(const Layout &l) { return bytes.data() + l.begin; }
    char *inner_part(const Layout &l) { return bytes.data() + l.begin + l.outer_bytes; }

    /** Remembers where in the bytes a value of the matrix stands. */
    void remember(std::size_t position, int source)
    {
      value_positions.push_back(static_cast<unsigned int>(position));
      value_sources.push_back(source);
    }

    void put_weights(const Layout &l, const std::vector<Number> &weights)
    {
      char *place = inner_part(l) + l.head.weights;
      std::memcpy(place, &weights[l.first], sizeof(Number) * l.rows);
      for (int r = 0; r < l.rows; ++r)
        weight_positions.push_back(static_cast<unsigned int>((l.begin + l.outer_bytes + l.head.weights) / sizeof(Number) + r));
    }

    void put_inner(const Layout &l)
    {
      const BlockCrs<Number> &A             = l.A;
      const std::size_t       values_begin  = (l.begin + l.outer_bytes + l.head.values) / sizeof(Number);
      auto                   *columns       = reinterpret_cast<std::uint16_t *>(inner_part(l) + l.head.columns);
      auto                   *stored_values = reinterpret_cast<Number *>(inner_part(l) + l.head.values);
      for (int r = 0; r < static_cast<int>(l.slices.size() - 1) * 32; ++r)
        {
          const int  slice = l.slices[r / 32], width = (l.slices[r / 32 + 1] - slice) / 16;
          const auto place = [&](int e) { return 2 * (slice + e / 2 * 32 + r % 32) + e % 2; };
          for (int e = 0; e < width; ++e) // padding: the row itself, times zero
            {
              stored_values[place(e)] = Number(0);
              columns[place(e)]       = static_cast<std::uint16_t>(r < l.rows ? r : 0);
            }
          for (int e = 0, n = r < l.rows ? l.inner_length(r) : 0; e < n; ++e)
            {
              const int p = A.inner.offsets[l.first + r] + e, column = A.inner.columns[p];
              const int at      = place(e);
              columns[at]       = static_cast<std::uint16_t>(column);
              stored_values[at] = A.inner.values[p];
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
      std::copy(l.order.begin(), l.order.end(), reinterpret_cast<std::uint16_t *>(packet + l.head.boundary_rows));
      auto *jags          = reinterpret_cast<int *>(packet) + l.head.jags;
      auto *ghost_columns = reinterpret_cast<int *>(packet + l.head.ghosts);
      auto *outer_numbers = reinterpret_cast<std::uint16_t *>(packet + l.head.outer_numbers);
      auto *outer_values  = reinterpret_cast<Number *>(packet + l.head.outer_values);
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
              outer_values[slot] = A.outer.values[p];
              remember((l.begin + l.head.outer_values) / sizeof(Number) + slot, A.outer.source[p]);
            }
        }
      jags[l.head.n_jags] = slot;
    }
  };
} // namespace leopard
