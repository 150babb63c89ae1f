// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_split.cuh"
#include "device_block_crs.cuh"

#include <type_traits>

namespace leopard
{
  // The last steps from a CRS matrix on the device to packets (device_packets.cuh): how large they are, what stands in
  // them beside values, and the values.

  /** How packets are to look, and what they are made of beside the matrix. Device memory. */
  struct PacketPlan
  {
    bool                has_columns, weights_in_table;
    int                 value_bytes, number_bytes;
    const int          *slot_offsets, *slot_distances; ///< of each block; used without columns
    const int          *strides;                       ///< of lattices
    const int          *outer_offsets, *boundary_offsets;
    const int          *boundary_rows;    ///< sorted, of each block from boundary_offsets[first_local] on
    const int          *ranks, *distinct; ///< of outer entries, sorted; the distinct columns, of each block from ranks[its first] on
    PacketHeader       *headers;          ///< one a block
    unsigned long long *sizes;            ///< of packets in units of 16 bytes, then where they begin
    BlockExtent        *extents;
  };

  struct PacketMaxima
  {
    int inner_width, outer_width, outer_bytes, inner_bytes, most_ghosts, too_large;
  };

  template <typename Number>
  __global__ void layout_kernel(BlockSplit<Number> split, PacketPlan plan, PacketMaxima *maxima)
  {
    __shared__ unsigned long long n_pairs;
    for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
      {
        const int first = split.first_local[block], rows = split.first_local[block + 1] - first;
        const int n_slots = plan.has_columns ? 0 : plan.slot_offsets[block + 1] - plan.slot_offsets[block];
        if (threadIdx.x == 0)
          n_pairs = 0;
        __syncthreads();
        for_each_slice(split, block, [&](int /*slice*/, int longest) {
          const int width = plan.has_columns ? longest : n_slots;
          atomicAdd(&n_pairs, static_cast<unsigned long long>((width + 1) / 2 * 32));
          atomicMax(&maxima->inner_width, width);
        });
        __syncthreads();
        if (threadIdx.x == 0)
          {
            const int          outer_begin = plan.outer_offsets[first], outer_end = plan.outer_offsets[first + rows];
            const int          boundary_begin = plan.boundary_offsets[first], n_boundary = plan.boundary_offsets[first + rows] - boundary_begin;
            const int          n_distinct = plan.ranks[outer_end] - plan.ranks[outer_begin], n_outer = outer_end - outer_begin;
            const bool         is_shared = n_distinct < n_outer && n_distinct <= 65536;
            unsigned long long size      = 0;
            const auto         section   = [&](unsigned long long n_bytes) {
              const unsigned long long at = size;
              size += (n_bytes + 15) / 16 * 16;
              return static_cast<int>(at);
            };
            PacketHeader head = {};
            head.begin        = split.begin[block];
            head.rows         = rows;
            head.owned_begin  = split.owned_begin[block] - head.begin;
            head.owned_rows   = split.owned_end[block] - split.owned_begin[block];
            head.first_local  = first;
            head.n_boundary   = n_boundary;
            head.n_jags       = n_boundary == 0 ? 0 : split.outer_length[first + plan.boundary_rows[boundary_begin]];
            head.jags         = header_ints + (rows + 31) / 32 + 1;
            head.distances    = head.jags + head.n_jags + 1;
            head.n_ghosts     = is_shared ? n_distinct : n_outer;
            section((static_cast<unsigned long long>(head.distances) + n_slots) * sizeof(int));
            head.ghosts                          = section(head.n_ghosts * 4ull);
            head.outer_numbers                   = is_shared ? section(n_outer * 2ull) : 0;
            head.outer_values                    = section(static_cast<unsigned long long>(n_outer) * plan.value_bytes);
            head.boundary_rows                   = section(n_boundary * 2ull);
            const unsigned long long outer_bytes = size;
            size                                 = 0;
            head.weights                         = section(static_cast<unsigned long long>(rows) * (plan.weights_in_table ? 1 : plan.number_bytes));
            head.columns                         = section(plan.has_columns ? 4ull * n_pairs : 0);
            head.values                          = section(2ull * n_pairs * plan.value_bytes);
            const unsigned long long inner_bytes = size;
            if (outer_bytes + inner_bytes > INT_MAX || n_pairs >= 1ull << 30)
              maxima->too_large = 1;
            plan.headers[block] = head;
            plan.sizes[block]   = (outer_bytes + inner_bytes) / 16;
            plan.extents[block] = {head.begin,
                                   rows,
                                   plan.strides == nullptr ? 0 : plan.strides[block],
                                   0,
                                   static_cast<int>(outer_bytes),
                                   static_cast<int>(inner_bytes),
                                   {0, 0}};
            atomicMax(&maxima->outer_width, head.n_jags);
            atomicMax(&maxima->outer_bytes, static_cast<int>(outer_bytes));
            atomicMax(&maxima->inner_bytes, static_cast<int>(inner_bytes));
            atomicMax(&maxima->most_ghosts, head.n_ghosts);
          }
        __syncthreads();
      }
  }

  __global__ void extents_kernel(BlockExtent *extents, const unsigned long long *begins, int n_blocks)
  {
    for (int block = blockIdx.x * blockDim.x + threadIdx.x; block < n_blocks; block += gridDim.x * blockDim.x)
      extents[block].packet = static_cast<int>(begins[block]);
  }

  /** offsets[i] = sum_{j < i} value(j) for i <= n, by all threads of a block. */
  template <typename Function>
  __device__ void scan_over_block(int *offsets, int n, const Function &value, typename BlockScan::TempStorage &memory)
  {
    int sum = 0;
    for (int from = 0; from < n; from += device::threads)
      {
        const int i    = from + threadIdx.x;
        int       mine = i < n ? value(i) : 0, before = 0, all = 0;
        BlockScan(memory).ExclusiveSum(mine, before, all);
        if (i < n)
          offsets[i] = sum + before;
        sum += all;
        __syncthreads();
      }
    if (threadIdx.x == 0)
      offsets[n] = sum;
    __syncthreads();
  }

  /** The place of entry e of row r of a block, in Values. */
  __device__ int place_of(const int *slices, int r, int e)
  {
    return 2 * (slices[r / 32] + e / 2 * 32 + r % 32) + e % 2;
  }

  /** All but values and weights. */
  template <typename Number>
  __global__ void structure_kernel(BlockSplit<Number> split, PacketPlan plan, char *packets)
  {
    __shared__ typename BlockScan::TempStorage scan_memory;
    __shared__ int                             slice_width[65536 / 32];
    for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
      {
        const PacketHeader head     = plan.headers[block];
        char              *packet   = packets + plan.sizes[block] * 16;
        int               *words    = reinterpret_cast<int *>(packet);
        const int          n_slices = (head.rows + 31) / 32, first = head.first_local;
        const int          n_slots     = plan.has_columns ? 0 : plan.slot_offsets[block + 1] - plan.slot_offsets[block];
        const int          outer_begin = plan.outer_offsets[first], n_outer = plan.outer_offsets[first + head.rows] - outer_begin;
        const int         *rows_with_outer = plan.boundary_rows + plan.boundary_offsets[first];
        if (threadIdx.x == 0)
          *reinterpret_cast<PacketHeader *>(packet) = head;
        for_each_slice(split, block, [&](int slice, int longest) { slice_width[slice] = plan.has_columns ? longest : n_slots; });
        __syncthreads();
        int *slices = words + header_ints, *jags = words + head.jags;
        scan_over_block(
          slices, n_slices, [&](int s) { return (slice_width[s] + 1) / 2 * 32; }, scan_memory);
        // rows with more than e entries come first
        scan_over_block(
          jags,
          head.n_jags,
          [&](int e) {
            int low = 0, high = head.n_boundary;
            while (low < high)
              {
                const int middle = (low + high) / 2;
                if (split.outer_length[first + rows_with_outer[middle]] > e)
                  low = middle + 1;
                else
                  high = middle;
              }
            return low;
          },
          scan_memory);
        for (int s = threadIdx.x; s < n_slots; s += device::threads)
          words[head.distances + s] = plan.slot_distances[plan.slot_offsets[block] + s];
        auto *boundary_rows = reinterpret_cast<std::uint16_t *>(packet + head.boundary_rows);
        for (int r = threadIdx.x; r < head.n_boundary; r += device::threads)
          boundary_rows[r] = static_cast<std::uint16_t>(rows_with_outer[r]);
        int *ghosts = reinterpret_cast<int *>(packet + head.ghosts);
        if (head.outer_numbers != 0)
          for (int g = threadIdx.x; g < head.n_ghosts; g += device::threads)
            ghosts[g] = plan.distinct[plan.ranks[outer_begin] + g];
        auto      *numbers = reinterpret_cast<std::uint16_t *>(packet + head.outer_numbers);
        const auto end     = head.begin + head.rows;
        for (int i = threadIdx.x; i < head.n_boundary && n_outer > 0; i += device::threads)
          {
            const int row = head.begin + rows_with_outer[i];
            for (int p = split.A.row_offsets[row], e = 0; p < split.A.row_offsets[row + 1]; ++p)
              if (const int column = split.A.columns[p]; column < head.begin || column >= end)
                {
                  const int slot = jags[e++] + i;
                  if (head.outer_numbers == 0)
                    {
                      ghosts[slot] = column;
                      continue;
                    }
                  const int *distinct = plan.distinct + plan.ranks[outer_begin];
                  int        low = 0, high = head.n_ghosts - 1;
                  while (low < high)
                    {
                      const int middle = (low + high) / 2;
                      if (distinct[middle] < column)
                        low = middle + 1;
                      else
                        high = middle;
                    }
                  numbers[slot] = static_cast<std::uint16_t>(low);
                }
          }
        if (plan.has_columns)
          {
            auto *columns = reinterpret_cast<std::uint16_t *>(packet + plan.extents[block].outer_bytes + head.columns);
            for (int r = threadIdx.x; r < 32 * n_slices; r += device::threads)
              {
                const int width = (slices[r / 32 + 1] - slices[r / 32]) / 16, row = head.begin + r;
                int       e = 0;
                if (r < head.rows)
                  for (int p = split.A.row_offsets[row]; p < split.A.row_offsets[row + 1]; ++p)
                    if (const int column = split.A.columns[p]; column != row && column >= head.begin && column < end)
                      columns[place_of(slices, r, e++)] = static_cast<std::uint16_t>(column - head.begin);
                for (; e < width; ++e) // filled up with the row itself, times zero
                  columns[place_of(slices, r, e)] = static_cast<std::uint16_t>(r < head.rows ? r : 0);
              }
          }
        __syncthreads();
      }
  }

  template <typename Value, typename Number>
  __device__ Value stored(Number value, const TableOfBits &table)
  {
    if constexpr (std::is_same_v<Value, std::uint8_t>)
      return table.index_of(static_cast<double>(value));
    else if constexpr (std::is_same_v<Value, std::uint16_t>)
      return static_cast<std::uint16_t>(__float_as_uint(static_cast<float>(value)) >> 16);
    else
      return static_cast<Value>(value);
  }

  /** Values and weights, in packets that have all else. */
  template <typename Number, typename Value>
  __global__ void values_kernel(BlockSplit<Number> split,
                                bool               has_columns,
                                bool               weights_in_table,
                                TableOfBits        values_table,
                                TableOfBits        weights_table,
                                const BlockExtent *extents,
                                char              *packets)
  {
    for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
      {
        char              *packet = packets + static_cast<std::size_t>(static_cast<unsigned int>(extents[block].packet)) * 16;
        char              *inner  = packet + extents[block].outer_bytes;
        const PacketHeader head   = *reinterpret_cast<const PacketHeader *>(packet);
        const int         *words = reinterpret_cast<const int *>(packet), *slices = words + header_ints, *jags = words + head.jags;
        const int         *distances = words + head.distances;
        auto              *values    = reinterpret_cast<Value *>(inner + head.values);
        const Value        zero      = stored<Value>(Number(0), values_table);
        for (int r = threadIdx.x; r < (head.rows + 31) / 32 * 32; r += blockDim.x)
          {
            const int width = (slices[r / 32 + 1] - slices[r / 32]) / 16, row = head.begin + r;
            for (int e = 0; e < width; ++e)
              values[place_of(slices, r, e)] = zero;
            if (r >= head.rows)
              continue;
            int e = 0;
            for (int p = split.A.row_offsets[row]; p < split.A.row_offsets[row + 1]; ++p)
              if (const int column = split.A.columns[p]; column != row && column >= head.begin && column < head.begin + head.rows)
                {
                  int slot = e++;
                  if (!has_columns)
                    for (slot = 0; distances[slot] != column - row;)
                      ++slot;
                  values[place_of(slices, r, slot)] = stored<Value>(split.A.values[p], values_table);
                }
            const Number weight = split.weights[head.first_local + r];
            if (weights_in_table)
              inner[head.weights + r] = static_cast<char>(weights_table.index_of(static_cast<double>(weight)));
            else
              reinterpret_cast<Number *>(inner + head.weights)[r] = weight;
          }
        auto       *outer_values  = reinterpret_cast<Value *>(packet + head.outer_values);
        const auto *boundary_rows = reinterpret_cast<const std::uint16_t *>(packet + head.boundary_rows);
        for (int i = threadIdx.x; i < head.n_boundary; i += blockDim.x)
          {
            const int row = head.begin + boundary_rows[i];
            for (int p = split.A.row_offsets[row], e = 0; p < split.A.row_offsets[row + 1]; ++p)
              if (const int column = split.A.columns[p]; column < head.begin || column >= head.begin + head.rows)
                outer_values[jags[e++] + i] = stored<Value>(split.A.values[p], values_table);
          }
      }
  }

  /**
   * Ghosts of blocks that are own rows stay; the first n_before others go before the rows, the rest right behind them.
   */
  __global__ void place_ghosts_kernel(const BlockExtent *extents, char *packets, int n_blocks, int n_rows, int n_before)
  {
    for (int block = blockIdx.x; block < n_blocks; block += gridDim.x)
      {
        char               *packet = packets + static_cast<std::size_t>(static_cast<unsigned int>(extents[block].packet)) * 16;
        const PacketHeader &head   = *reinterpret_cast<const PacketHeader *>(packet);
        int                *ghosts = reinterpret_cast<int *>(packet + head.ghosts);
        for (int g = threadIdx.x; g < head.n_ghosts; g += blockDim.x)
          if (const int number = ghosts[g] - n_rows; number >= 0)
            ghosts[g] = number < n_before ? number - n_before : ghosts[g] - n_before;
      }
  }
} // namespace leopard
