// SPDX-License-Identifier: Apache-2.0
#include "../device/cuda_error.cuh"
#include "../device/scratch.cuh"
#include "device_packets.cuh"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace leopard
{
  namespace
  {
    using device::Scratch;

    constexpr int threads = 256; ///< of a thread block, which works on one block of the matrix after the other

    cudaStream_t stream()
    {
      return cudaStreamPerThread;
    }

    template <typename T>
    T to_host(const T *value)
    {
      T result;
      device::copy_to_host(&result, value, sizeof(T));
      return result;
    }

    /** The matrix and its blocks; arrays of the rest, a number a local row unless said otherwise. Device memory. */
    template <typename Number>
    struct SplitView
    {
      device::CrsView<Number> A;
      int                     n_blocks;
      const int              *begin, *end, *owned_begin, *owned_end, *first_local; ///< see Blocks and BlockCrs
      int                    *inner_length, *outer_length;                         ///< entries in and outside the diagonal block
      Number                 *weights, *keeps;                                     ///< keeps: null without l1 weights
    };

    /** Distinct values, by their bits as doubles. */
    struct ValueSet
    {
      static constexpr int                n_slots = 1024;
      static constexpr unsigned long long none    = ~0ull; ///< bits of no number
      unsigned long long                  slots[n_slots];
      int                                 count;

      __device__ void clear()
      {
        for (int i = threadIdx.x; i < n_slots; i += blockDim.x)
          slots[i] = none;
        if (threadIdx.x == 0)
          count = 0;
      }
      /** May give up where there are more than a dictionary holds: count says so. */
      __device__ void add(unsigned long long bits)
      {
        int slot = static_cast<int>((bits * 0x9e3779b97f4a7c15ull) >> 54);
        for (int step = 0; step < n_slots && *static_cast<volatile int *>(&count) <= Dictionary::max_size; ++step, slot = (slot + 1) % n_slots)
          {
            unsigned long long here = *static_cast<volatile unsigned long long *>(slots + slot);
            if (here == none)
              {
                here = atomicCAS(slots + slot, none, bits);
                if (here == none)
                  {
                    atomicAdd(&count, 1);
                    return;
                  }
              }
            if (here == bits)
              return;
          }
        atomicMax(&count, Dictionary::max_size + 1);
      }
      /** By all threads of a block. */
      __device__ void add_all(const ValueSet &other)
      {
        if (other.count > Dictionary::max_size)
          atomicMax(&count, other.count);
        else
          for (int i = threadIdx.x; i < n_slots; i += blockDim.x)
            if (other.slots[i] != none)
              add(other.slots[i]);
      }
    };

    /** What is known of all values. */
    struct ValueFacts
    {
      ValueSet           values, weights;
      int                not_single; ///< 1: some value is no single precision number,
      double             lost;       ///< this one
      int                bad_row;    ///< with a value that is not finite, or a diagonal entry that is zero; INT_MAX: none
      unsigned long long n_outer;
      int                longest_outer;
    };

    __global__ void clear_facts_kernel(ValueFacts *facts)
    {
      facts->values.clear();
      facts->weights.clear();
      __syncthreads();
      if (threadIdx.x == 0)
        {
          facts->values.add(0); // what rows are filled up with
          facts->not_single    = 0;
          facts->lost          = 0.;
          facts->bad_row       = INT_MAX;
          facts->n_outer       = 0;
          facts->longest_outer = 0;
        }
    }

    /** Lengths of rows, weights and facts. @param with_sets whether the distinct values are wanted. */
    template <typename Number>
    __global__ void classify_kernel(SplitView<Number> split, Number omega, bool l1_weights, bool with_sets, ValueFacts *facts)
    {
      __shared__ ValueSet values, weights;
      values.clear();
      weights.clear();
      __syncthreads();
      unsigned long long last_bits = ValueSet::none, n_outer = 0;
      int                longest = 0;
      for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
        {
          const int begin = split.begin[block], end = split.end[block], first = split.first_local[block];
          for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
            {
              int    inner = 0, outer = 0;
              Number diagonal = 0, sum = 0;
              bool   is_good = true;
              for (int p = split.A.row_offsets[i]; p < split.A.row_offsets[i + 1]; ++p)
                {
                  const int    column = split.A.columns[p];
                  const Number value  = split.A.values[p];
                  is_good             = is_good && isfinite(value);
                  if (column == i)
                    {
                      diagonal = value;
                      continue;
                    }
                  const bool is_inner = column >= begin && column < end;
                  inner += is_inner;
                  outer += !is_inner;
                  if (l1_weights && !is_inner)
                    sum += abs(value);
                  const double as_double = value;
                  const auto   bits      = static_cast<unsigned long long>(__double_as_longlong(as_double));
                  if (with_sets && bits != last_bits && isfinite(value))
                    {
                      last_bits = bits;
                      values.add(bits);
                      if (static_cast<double>(static_cast<float>(as_double)) != as_double && facts->not_single == 0)
                        {
                          facts->not_single = 1;
                          facts->lost       = as_double;
                        }
                    }
                }
              const int    l        = first + i - begin;
              const Number weight   = omega / (diagonal + copysign(sum, diagonal));
              split.inner_length[l] = inner;
              split.outer_length[l] = outer;
              split.weights[l]      = weight;
              if (split.keeps != nullptr)
                split.keeps[l] = Number(1) - weight * diagonal;
              n_outer += outer;
              longest = max(longest, outer);
              if (!is_good || diagonal == Number(0))
                atomicMin(&facts->bad_row, i);
              else if (with_sets)
                weights.add(static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(weight))));
            }
        }
      for (int offset = 16; offset > 0; offset /= 2)
        {
          n_outer += __shfl_xor_sync(0xffffffffu, n_outer, offset);
          longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, offset));
        }
      if (threadIdx.x % 32 == 0)
        {
          atomicAdd(&facts->n_outer, n_outer);
          atomicMax(&facts->longest_outer, longest);
        }
      __syncthreads();
      if (with_sets)
        {
          facts->values.add_all(values);
          facts->weights.add_all(weights);
        }
    }

    /** The longest row of each slice of a block, by its warps: function(slice, longest). */
    template <typename Number, typename Function>
    __device__ void for_each_slice(const SplitView<Number> &split, int block, const Function &function)
    {
      const int first = split.first_local[block], rows = split.first_local[block + 1] - first, lane = threadIdx.x % 32;
      for (int slice = threadIdx.x / 32; slice < (rows + 31) / 32; slice += blockDim.x / 32)
        {
          const int r       = 32 * slice + lane;
          int       longest = r < rows ? split.inner_length[first + r] : 0;
          for (int offset = 16; offset > 0; offset /= 2)
            longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, offset));
          if (lane == 0)
            function(slice, longest);
        }
    }

    using BlockScan = cub::BlockScan<int, threads>;

    /** The distances between columns and rows of each block, as BlockDistances has them. */
    template <typename Number>
    __global__ void distances_kernel(SplitView<Number> split, int *n_found, int *found, unsigned long long *padded)
    {
      constexpr int                              most = BlockDistances::max_distances;
      __shared__ unsigned int                    bits[2 * 65536 / 32];
      __shared__ typename BlockScan::TempStorage scan_memory;
      for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
        {
          const int begin = split.begin[block], end = split.end[block], rows = end - begin, words = (2 * rows + 31) / 32;
          for (int w = threadIdx.x; w < words; w += threads)
            bits[w] = 0;
          __syncthreads();
          for (int i = begin + threadIdx.x; i < end; i += threads)
            for (int p = split.A.row_offsets[i]; p < split.A.row_offsets[i + 1]; ++p)
              if (const int column = split.A.columns[p]; column != i && column >= begin && column < end)
                {
                  const int bit = column - i + rows; // 1 to 2 rows - 1
                  if ((bits[bit / 32] >> bit % 32 & 1u) == 0)
                    atomicOr(bits + bit / 32, 1u << bit % 32);
                }
          for_each_slice(
            split, block, [&](int /*slice*/, int longest) { atomicAdd(padded, static_cast<unsigned long long>((longest + 1) / 2 * 64)); });
          __syncthreads();
          const int each = (words + threads - 1) / threads, from = min(words, static_cast<int>(threadIdx.x) * each), to = min(words, from + each);
          int       mine = 0, before = 0, all = 0;
          for (int w = from; w < to; ++w)
            mine += __popc(bits[w]);
          BlockScan(scan_memory).ExclusiveSum(mine, before, all);
          for (int w = from; w < to; ++w)
            for (unsigned int left = bits[w]; left != 0 && before < most; left &= left - 1)
              found[static_cast<long>(block) * most + before++] = 32 * w + __ffs(static_cast<int>(left)) - 1 - rows;
          if (threadIdx.x == 0)
            n_found[block] = min(all, most + 1);
          __syncthreads();
        }
    }

    /** Columns of outer entries with their block before them; rows that have any, by block and number of entries. */
    template <typename Number>
    __global__ void gather_outer_kernel(SplitView<Number> split,
                                        const int        *outer_offsets,
                                        std::uint64_t    *columns,
                                        const int        *boundary_offsets,
                                        std::uint64_t    *boundary,
                                        int              *boundary_rows,
                                        int               longest,
                                        int               bits)
    {
      for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
        {
          const int  begin = split.begin[block], end = split.end[block], first = split.first_local[block];
          const auto number = static_cast<std::uint64_t>(block);
          for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
            {
              const int l = first + i - begin, length = split.outer_length[l];
              if (length == 0)
                continue;
              boundary[boundary_offsets[l]]      = number << bits | static_cast<std::uint64_t>(longest - length);
              boundary_rows[boundary_offsets[l]] = i - begin;
              int to                             = outer_offsets[l];
              for (int p = split.A.row_offsets[i]; p < split.A.row_offsets[i + 1]; ++p)
                if (const int column = split.A.columns[p]; column < begin || column >= end)
                  columns[to++] = number << 32 | static_cast<std::uint64_t>(column);
            }
        }
    }

    __global__ void flag_kernel(int *flags, const int *lengths, int n)
    {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        flags[i] = lengths[i] > 0;
    }

    /** 1 for the first of equal keys. */
    __global__ void first_of_equals_kernel(int *flags, const std::uint64_t *keys, int n)
    {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        flags[i] = i == 0 || keys[i] != keys[i - 1];
    }

    __global__ void distinct_kernel(int *distinct, const int *ranks, const std::uint64_t *keys, int n)
    {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (ranks[i + 1] > ranks[i])
          distinct[ranks[i]] = static_cast<int>(keys[i] & 0xffffffffu);
    }

    /** How packets are to look, and what they are made of beside the matrix. Device memory. */
    struct PacketPlan
    {
      bool                 has_columns, weights_in_table;
      int                  value_bytes, number_bytes;
      const int           *slot_offsets, *slot_distances; ///< of each block; used without columns
      const int           *strides;                       ///< of lattices
      const int           *outer_offsets, *boundary_offsets;
      const int           *boundary_rows;    ///< sorted, of each block from boundary_offsets[first_local] on
      const std::uint64_t *outer_keys;       ///< sorted, of each block from outer_offsets[first_local] on
      const int           *ranks, *distinct; ///< of outer_keys; the distinct columns, of each block from ranks[its first] on
      PacketHeader        *headers;          ///< one a block
      unsigned long long  *sizes;            ///< of packets in units of 16 bytes, then where they begin
      BlockExtent         *extents;
    };

    struct PacketMaxima
    {
      int inner_width, outer_width, outer_bytes, inner_bytes, most_ghosts, too_large;
    };

    template <typename Number>
    __global__ void layout_kernel(SplitView<Number> split, PacketPlan plan, PacketMaxima *maxima)
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
      for (int from = 0; from < n; from += threads)
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
    __global__ void structure_kernel(SplitView<Number> split, PacketPlan plan, char *packets)
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
          for (int s = threadIdx.x; s < n_slots; s += threads)
            words[head.distances + s] = plan.slot_distances[plan.slot_offsets[block] + s];
          auto *boundary_rows = reinterpret_cast<std::uint16_t *>(packet + head.boundary_rows);
          for (int r = threadIdx.x; r < head.n_boundary; r += threads)
            boundary_rows[r] = static_cast<std::uint16_t>(rows_with_outer[r]);
          int *ghosts = reinterpret_cast<int *>(packet + head.ghosts);
          if (head.outer_numbers != 0)
            for (int g = threadIdx.x; g < head.n_ghosts; g += threads)
              ghosts[g] = plan.distinct[plan.ranks[outer_begin] + g];
          auto      *numbers = reinterpret_cast<std::uint16_t *>(packet + head.outer_numbers);
          const auto end     = head.begin + head.rows;
          for (int i = threadIdx.x; i < head.n_boundary && n_outer > 0; i += threads)
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
              for (int r = threadIdx.x; r < 32 * n_slices; r += threads)
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

    /** Distinct values in the order of their bits. */
    struct TableOfBits
    {
      const unsigned long long *bits;
      int                       n;

      __device__ std::uint8_t index_of(double value) const
      {
        const auto wanted = static_cast<unsigned long long>(__double_as_longlong(value));
        int        low = 0, high = n - 1;
        while (low < high)
          {
            const int middle = (low + high) / 2;
            if (__ldg(bits + middle) < wanted)
              low = middle + 1;
            else
              high = middle;
          }
        return static_cast<std::uint8_t>(low);
      }
    };

    template <typename Value, typename Number>
    __device__ Value stored(Number value, const TableOfBits &table)
    {
      if constexpr (std::is_same_v<Value, std::uint8_t>)
        return table.index_of(static_cast<double>(value));
      else
        return static_cast<Value>(value);
    }

    /** Values and weights, in packets that have all else. */
    template <typename Number, typename Value>
    __global__ void values_kernel(SplitView<Number>  split,
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

    template <typename T>
    void exclusive_scan(T *values, std::size_t n)
    {
      device::with_scratch([&](void *memory, std::size_t &n_bytes) {
        return cub::DeviceScan::ExclusiveSum(memory, n_bytes, values, values, static_cast<int>(n), stream());
      });
    }

    int bits_of(std::uint64_t n)
    {
      int bits = 1;
      while (n >> bits != 0)
        ++bits;
      return bits;
    }

    int grid_for(long n)
    {
      return static_cast<int>(std::min((n + threads - 1) / threads, 1l << 20));
    }

    [[noreturn]] void refuse_size()
    {
      throw InvalidInput("the matrix needs more than 32 GiB on the GPU, or a block of it more than 2 GiB\n  expected: a smaller matrix, smaller "
                         "blocks, or more ranks");
    }
  } // namespace

  /** Blocks and rows on the device, while packets are made or get new values. */
  template <typename Number>
  struct DevicePackets<Number>::Maker
  {
    Maker(DevicePackets &packets_, const device::CrsView<Number> &A)
      : packets(packets_)
      , blocks(packets.blocks)
      , begin(blocks.begin)
      , end(blocks.end)
      , owned_begin(blocks.owned_begin)
      , owned_end(blocks.owned_end)
      , first_local(first_local_rows(blocks))
      , inner_length(packets.n_local_rows)
      , outer_length(packets.n_local_rows)
      , weights(packets.n_local_rows)
      , keeps(packets.keeps.size())
      , facts(1)
      , split{A,
              packets.n_blocks,
              begin.data(),
              end.data(),
              owned_begin.data(),
              owned_end.data(),
              first_local.data(),
              inner_length.data(),
              outer_length.data(),
              weights.data(),
              keeps.data()}
      , n_thread_blocks(std::min(packets.n_blocks, 8 * device::n_multiprocessors()))
    {
    }

    static std::vector<int> first_local_rows(const Blocks &blocks)
    {
      std::vector<int> result = {0};
      for (int block = 0; block < blocks.n_blocks(); ++block)
        result.push_back(checked_count(static_cast<double>(result.back()) + blocks.end[block] - blocks.begin[block], "rows of blocks"));
      return result;
    }

    /** Facts, lengths and weights. @throws InvalidInput for values that cannot be relaxed with. */
    ValueFacts classify(double omega, bool with_sets)
    {
      clear_facts_kernel<<<1, threads, 0, stream()>>>(facts.data());
      classify_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, static_cast<Number>(omega), packets.l1_weights, with_sets, facts.data());
      LEOPARD_CHECK(cudaGetLastError());
      const ValueFacts result = to_host(facts.data());
      if (result.bad_row != INT_MAX)
        refuse(result.bad_row);
      return result;
    }

    [[noreturn]] void refuse(int row) const
    {
      const int           first = to_host(split.A.row_offsets + row), n = to_host(split.A.row_offsets + row + 1) - first;
      std::vector<int>    columns(n);
      std::vector<Number> values(n);
      if (n > 0)
        {
          device::copy_to_host(columns.data(), split.A.columns + first, n * sizeof(int));
          device::copy_to_host(values.data(), split.A.values + first, n * sizeof(Number));
        }
      for (int p = 0; p < n; ++p)
        check_new_value(row, static_cast<double>(values[p]), columns[p] == row);
      refuse_new_value(row, 0., true); // it is not stored
    }

    DistanceSlots find_slots(int value_bytes) const
    {
      constexpr int                     most = BlockDistances::max_distances;
      const Scratch<int>                n_found(packets.n_blocks), found(static_cast<std::size_t>(packets.n_blocks) * most);
      const Scratch<unsigned long long> padded(1);
      LEOPARD_CHECK(cudaMemsetAsync(padded.data(), 0, sizeof(unsigned long long), stream()));
      distances_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, n_found.data(), found.data(), padded.data());
      LEOPARD_CHECK(cudaGetLastError());
      std::vector<int> n(packets.n_blocks);
      device::copy_to_host(n.data(), n_found.data(), n.size() * sizeof(int));
      const int widest = *std::max_element(n.begin(), n.end());
      if (widest > most)
        return {};
      std::vector<int> all(static_cast<std::size_t>(packets.n_blocks) * widest);
      if (widest > 0)
        LEOPARD_CHECK(cudaMemcpy2D(
          all.data(), widest * sizeof(int), found.data(), most * sizeof(int), widest * sizeof(int), packets.n_blocks, cudaMemcpyDeviceToHost));
      BlockDistances result;
      result.padded = to_host(padded.data());
      for (int block = 0; block < packets.n_blocks; ++block)
        {
          const auto from = all.begin() + static_cast<std::ptrdiff_t>(block) * widest;
          result.rows.push_back(blocks.end[block] - blocks.begin[block]);
          result.distances.insert(result.distances.end(), from, from + n[block]);
          result.offsets.push_back(static_cast<int>(result.distances.size()));
        }
      return DistanceSlots(result, value_bytes);
    }

    static std::vector<unsigned long long> sorted_bits(const ValueSet &set)
    {
      std::vector<unsigned long long> result;
      for (const unsigned long long bits : set.slots)
        if (bits != ValueSet::none)
          result.push_back(bits);
      std::sort(result.begin(), result.end());
      return result;
    }

    static std::vector<Number> numbers(const std::vector<unsigned long long> &bits)
    {
      std::vector<Number> result;
      for (const unsigned long long b : bits)
        {
          double value;
          std::memcpy(&value, &b, sizeof(value));
          result.push_back(static_cast<Number>(value));
        }
      return result;
    }

    /** Everything but values. */
    void make_structure(const ValueFacts &known, bool weights_in_table, int value_bytes)
    {
      if (known.n_outer > INT_MAX)
        refuse_size();
      const std::size_t  n_local = packets.n_local_rows, n_outer = known.n_outer;
      const Scratch<int> outer_offsets(n_local + 1), boundary_offsets(n_local + 1);
      LEOPARD_CHECK(cudaMemsetAsync(outer_offsets.data() + n_local, 0, sizeof(int), stream()));
      LEOPARD_CHECK(cudaMemsetAsync(boundary_offsets.data() + n_local, 0, sizeof(int), stream()));
      LEOPARD_CHECK(cudaMemcpyAsync(outer_offsets.data(), outer_length.data(), n_local * sizeof(int), cudaMemcpyDeviceToDevice, stream()));
      flag_kernel<<<grid_for(static_cast<long>(n_local)), threads, 0, stream()>>>(
        boundary_offsets.data(), outer_length.data(), static_cast<int>(n_local));
      exclusive_scan(outer_offsets.data(), n_local + 1);
      exclusive_scan(boundary_offsets.data(), n_local + 1);
      const int n_boundary = to_host(boundary_offsets.data() + n_local);

      const Scratch<std::uint64_t> columns(n_outer), other_columns(n_outer), boundary(n_boundary), other_boundary(n_boundary);
      const Scratch<int>           rows(n_boundary), other_rows(n_boundary), ranks(n_outer + 1);
      const int                    length_bits = bits_of(static_cast<std::uint64_t>(known.longest_outer)),
                block_bits                     = bits_of(static_cast<std::uint64_t>(packets.n_blocks));
      gather_outer_kernel<<<n_thread_blocks, threads, 0, stream()>>>(
        split, outer_offsets.data(), columns.data(), boundary_offsets.data(), boundary.data(), rows.data(), known.longest_outer, length_bits);
      LEOPARD_CHECK(cudaGetLastError());
      cub::DoubleBuffer<std::uint64_t> column_buffer(columns.data(), other_columns.data()), boundary_buffer(boundary.data(), other_boundary.data());
      cub::DoubleBuffer<int>           row_buffer(rows.data(), other_rows.data());
      LEOPARD_CHECK(cudaMemsetAsync(ranks.data(), 0, (n_outer + 1) * sizeof(int), stream()));
      if (n_outer > 0)
        {
          device::with_scratch([&](void *memory, std::size_t &n_bytes) {
            return cub::DeviceRadixSort::SortKeys(memory, n_bytes, column_buffer, static_cast<int>(n_outer), 0, 32 + block_bits, stream());
          });
          device::with_scratch([&](void *memory, std::size_t &n_bytes) {
            return cub::DeviceRadixSort::SortPairs(memory, n_bytes, boundary_buffer, row_buffer, n_boundary, 0, length_bits + block_bits, stream());
          });
          first_of_equals_kernel<<<grid_for(static_cast<long>(n_outer)), threads, 0, stream()>>>(
            ranks.data(), column_buffer.Current(), static_cast<int>(n_outer));
          exclusive_scan(ranks.data(), n_outer + 1);
        }
      const Scratch<int> distinct(to_host(ranks.data() + n_outer));
      if (n_outer > 0)
        distinct_kernel<<<grid_for(static_cast<long>(n_outer)), threads, 0, stream()>>>(
          distinct.data(), ranks.data(), column_buffer.Current(), static_cast<int>(n_outer));
      LEOPARD_CHECK(cudaGetLastError());

      const bool       has_columns  = packets.has_columns;
      std::vector<int> slot_offsets = {0}, slot_distances, strides;
      for (int block = 0; block < packets.n_blocks && !has_columns; ++block)
        {
          const std::vector<int> &slots = packets.slots.distances(block);
          slot_distances.insert(slot_distances.end(), slots.begin(), slots.end());
          slot_offsets.push_back(static_cast<int>(slot_distances.size()));
          strides.push_back(packets.slots.stride(block));
        }
      const device::Array<int>          device_offsets(slot_offsets), device_distances(slot_distances), device_strides(strides);
      const Scratch<PacketHeader>       headers(packets.n_blocks);
      const Scratch<unsigned long long> sizes(packets.n_blocks + 1l);
      const Scratch<PacketMaxima>       maxima(1);
      packets.extents       = device::Array<BlockExtent>(static_cast<std::size_t>(packets.n_blocks));
      const PacketPlan plan = {has_columns,
                               weights_in_table,
                               value_bytes,
                               sizeof(Number),
                               device_offsets.data(),
                               device_distances.data(),
                               device_strides.data(),
                               outer_offsets.data(),
                               boundary_offsets.data(),
                               row_buffer.Current(),
                               column_buffer.Current(),
                               ranks.data(),
                               distinct.data(),
                               headers.data(),
                               sizes.data(),
                               packets.extents.data()};
      LEOPARD_CHECK(cudaMemsetAsync(maxima.data(), 0, sizeof(PacketMaxima), stream()));
      LEOPARD_CHECK(cudaMemsetAsync(sizes.data() + packets.n_blocks, 0, sizeof(unsigned long long), stream()));
      layout_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, plan, maxima.data());
      LEOPARD_CHECK(cudaGetLastError());
      exclusive_scan(sizes.data(), packets.n_blocks + 1l);
      extents_kernel<<<grid_for(packets.n_blocks), threads, 0, stream()>>>(packets.extents.data(), sizes.data(), packets.n_blocks);
      const auto        found = to_host(maxima.data());
      const std::size_t size  = to_host(sizes.data() + packets.n_blocks) * 16;
      if (found.too_large != 0 || size / 16 > INT_MAX)
        refuse_size();
      packets.inner_width = found.inner_width;
      packets.outer_width = found.outer_width;
      packets.outer_bytes = found.outer_bytes;
      packets.inner_bytes = found.inner_bytes;
      packets.most_ghosts = found.most_ghosts;
      if (const std::size_t free = device::free_memory(); size > free)
        throw DeviceError("the matrix needs " + std::to_string(size) + " bytes on the GPU, of which " + std::to_string(free) +
                          " are free\n  expected: a smaller problem, a larger GPU, or the backend host");
      packets.bytes = device::Array<char>(size);
      LEOPARD_CHECK(cudaMemsetAsync(packets.bytes.data(), 0, size, stream()));
      structure_kernel<<<n_thread_blocks, threads, 0, stream()>>>(split, plan, packets.bytes.data());
      LEOPARD_CHECK(cudaGetLastError());
    }

    void put_values(bool weights_in_table, const std::vector<unsigned long long> &value_bits, const std::vector<unsigned long long> &weight_bits)
    {
      const device::Array<unsigned long long> values(value_bits), weight_table(weight_bits);
      const auto                              put = [&](auto kernel) {
        kernel<<<n_thread_blocks, threads, 0, stream()>>>(split,
                                                          packets.has_columns,
                                                          weights_in_table,
                                                          {values.data(), static_cast<int>(value_bits.size())},
                                                          {weight_table.data(), static_cast<int>(weight_bits.size())},
                                                          packets.extents.data(),
                                                          packets.bytes.data());
      };
      if (packets.storage == Storage::dictionary)
        put(values_kernel<Number, std::uint8_t>);
      else if (packets.storage == Storage::single_precision)
        put(values_kernel<Number, float>);
      else
        put(values_kernel<Number, Number>);
      LEOPARD_CHECK(cudaGetLastError());
      if (keeps.size() > 0)
        device::copy_on_device(packets.keeps.data(), keeps.data(), keeps.size() * sizeof(Number));
    }

    DevicePackets            &packets;
    const Blocks             &blocks;
    const device::Array<int>  begin, end, owned_begin, owned_end, first_local;
    const Scratch<int>        inner_length, outer_length;
    const Scratch<Number>     weights, keeps;
    const Scratch<ValueFacts> facts;
    const SplitView<Number>   split;
    const int                 n_thread_blocks;
  };

  template <typename Number>
  DevicePackets<Number>::DevicePackets(const device::DeviceCrs<Number> &A, const BlockAsyncOptions &options)
    : n_rows(A.n_rows)
    , n_columns(A.n_columns)
    , blocks(options.blocks(A.n_rows))
    , l1_weights(options.l1_weights)
  {
    n_blocks      = blocks.n_blocks();
    largest_block = blocks.largest();
    n_local_rows  = Maker::first_local_rows(blocks).back();
    if (largest_block > 65536)
      throw InvalidInput("a block has " + std::to_string(largest_block) + " rows\n  expected: at most 65536");
    storage = choose_storage<Number>(options.storage, true, true, 0.); // if there is nothing to store
    if (n_blocks == 0)
      return;
    if (l1_weights)
      keeps = device::Array<Number>(static_cast<std::size_t>(n_local_rows));
    Maker            maker(*this, A.view());
    const ValueFacts facts      = maker.classify(options.omega, options.storage != Storage::double_precision);
    const bool       fits       = facts.values.count <= Dictionary::max_size;
    storage                     = choose_storage<Number>(options.storage, fits, facts.not_single == 0, facts.lost);
    const bool in_dictionary    = storage == Storage::dictionary;
    const bool weights_in_table = in_dictionary && facts.weights.count <= Dictionary::max_size;
    const int  value_bytes      = in_dictionary ? 1 : storage == Storage::single_precision ? 4 : static_cast<int>(sizeof(Number));
    slots                       = maker.find_slots(value_bytes);
    has_columns                 = !slots.is_used();
    const std::vector<unsigned long long> value_bits  = in_dictionary ? Maker::sorted_bits(facts.values) : std::vector<unsigned long long>();
    const std::vector<unsigned long long> weight_bits = weights_in_table ? Maker::sorted_bits(facts.weights) : std::vector<unsigned long long>();
    value_table                                       = device::Array<Number>(Maker::numbers(value_bits));
    weight_table                                      = device::Array<Number>(Maker::numbers(weight_bits));
    maker.make_structure(facts, weights_in_table, value_bytes);
    maker.put_values(weights_in_table, value_bits, weight_bits);
    n_bytes = bytes.size() + extents.size() * sizeof(BlockExtent) + keeps.size() * sizeof(Number);
    if (value_bytes == sizeof(Number))
      {
        matrix = A;
        n_bytes += A.memory();
      }
  }

  template <typename Number>
  void DevicePackets<Number>::update_values(const Number *values, double omega)
  {
    if (n_blocks == 0)
      return;
    const std::size_t     size = matrix.n_entries * sizeof(Number);
    const Scratch<Number> given(matrix.n_entries);
    LEOPARD_CHECK(cudaMemcpyAsync(given.data(), values, size, cudaMemcpyDefault, stream()));
    device::CrsView<Number> with_new_values = matrix.view();
    with_new_values.values                  = given.data();
    Maker maker(*this, with_new_values);
    maker.classify(omega, false);
    maker.put_values(false, {}, {});
    device::copy_on_device(matrix.arrays->values.data(), given.data(), size);
  }

#define INSTANTIATE(Number) template class DevicePackets<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
