// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/grid_stride.cuh"
#include "../matrix/device_crs.h"
#include "../matrix/value_set.cuh"
#include "distance_slots.h"

#include <cub/block/block_scan.cuh>

#include <climits>
#include <cstdint>

namespace leopard
{
  // The first steps from a CRS matrix on the device to packets (device_packets.cuh): which entries are inside the
  // diagonal blocks, what values there are, and the columns outside. One thread block works on one block of the matrix
  // after the other.

  /** The matrix and its blocks; arrays of the rest, a number a local row unless said otherwise. Device memory. */
  template <typename Number>
  struct BlockSplit
  {
    device::CrsView<Number> A;
    int                     n_blocks;
    const int              *begin, *end, *owned_begin, *owned_end, *first_local; ///< see Blocks and BlockCrs
    int                    *inner_length, *outer_length;                         ///< entries in and outside the diagonal block
    Number                 *weights, *keeps;                                     ///< keeps: null without l1 weights
  };

  /** What is known of all values. */
  struct ValueFacts
  {
    ValueSet           values, weights;
    int                not_bfloat; ///< 1: some value, as a float, has more than 8 significant bits
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
        facts->not_bfloat    = 0;
        facts->not_single    = 0;
        facts->lost          = 0.;
        facts->bad_row       = INT_MAX;
        facts->n_outer       = 0;
        facts->longest_outer = 0;
      }
  }

  /** Lengths of rows, weights and facts. @param with_sets whether the distinct values are wanted. */
  template <typename Number>
  __global__ void classify_kernel(BlockSplit<Number> split, Number omega, bool l1_weights, bool with_sets, ValueFacts *facts)
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
                    if (facts->not_bfloat == 0 && (__float_as_uint(static_cast<float>(value)) & 0xffffu) != 0)
                      facts->not_bfloat = 1;
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
  __device__ void for_each_slice(const BlockSplit<Number> &split, int block, const Function &function)
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

  using BlockScan = cub::BlockScan<int, device::threads>;

  /** The distances between columns and rows of each block, as BlockDistances has them. */
  template <typename Number>
  __global__ void distances_kernel(BlockSplit<Number> split, int *n_found, int *found, unsigned long long *padded)
  {
    constexpr int                              most = BlockDistances::max_distances;
    __shared__ unsigned int                    bits[2 * 65536 / 32];
    __shared__ typename BlockScan::TempStorage scan_memory;
    for (int block = blockIdx.x; block < split.n_blocks; block += gridDim.x)
      {
        const int begin = split.begin[block], end = split.end[block], rows = end - begin, words = (2 * rows + 31) / 32;
        for (int w = threadIdx.x; w < words; w += device::threads)
          bits[w] = 0;
        __syncthreads();
        for (int i = begin + threadIdx.x; i < end; i += device::threads)
          for (int p = split.A.row_offsets[i]; p < split.A.row_offsets[i + 1]; ++p)
            if (const int column = split.A.columns[p]; column != i && column >= begin && column < end)
              {
                const int bit = column - i + rows; // 1 to 2 rows - 1
                if ((bits[bit / 32] >> bit % 32 & 1u) == 0)
                  atomicOr(bits + bit / 32, 1u << bit % 32);
              }
        for_each_slice(split, block, [&](int /*slice*/, int longest) { atomicAdd(padded, static_cast<unsigned long long>((longest + 1) / 2 * 64)); });
        __syncthreads();
        const int each = (words + device::threads - 1) / device::threads, from = min(words, static_cast<int>(threadIdx.x) * each),
                  to = min(words, from + each);
        int mine = 0, before = 0, all = 0;
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
  __global__ void gather_outer_kernel(BlockSplit<Number> split,
                                      const int         *outer_offsets,
                                      std::uint64_t     *columns,
                                      const int         *boundary_offsets,
                                      std::uint64_t     *boundary,
                                      int               *boundary_rows,
                                      int                longest,
                                      int                bits)
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
} // namespace leopard
