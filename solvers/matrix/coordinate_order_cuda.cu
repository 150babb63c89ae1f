// SPDX-License-Identifier: Apache-2.0
#include "../device/grid_stride.cuh"
#include "../device/scratch.cuh"
#include "device_crs.h"
#include "shifted_tiles.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <array>
#include <cstdint>

namespace leopard::device
{
  namespace
  {
    __device__ std::uint64_t ordered_bits(double value)
    {
      const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value + 0.)); // -0. is 0.
      return bits >> 63 != 0 ? ~bits : bits | 0x8000000000000000ull;
    }

    __global__ void coordinate_keys_kernel(std::uint64_t *keys, int *rows, const double *coordinates, int dim, int d, int n, int *wrong)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          const double x = coordinates[static_cast<long>(dim) * i + d];
          if (!isfinite(x))
            *wrong = 1;
          keys[i] = ordered_bits(x);
          rows[i] = i;
        }
    }

    /** ranks[rows[i]] = i. */
    __global__ void ranks_kernel(int *ranks, const int *rows, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        ranks[rows[i]] = i;
    }

    __global__ void gather_kernel(int *to, const int *from, const int *places, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        to[i] = from[places[i]];
    }

    __device__ int part_of(int position, const int *begins, int n_parts)
    {
      int low = 0, high = n_parts; // begins[low] <= position < begins[high]
      while (high - low > 1)
        {
          const int middle                          = (low + high) / 2;
          (begins[middle] <= position ? low : high) = middle;
        }
      return low;
    }

    /** The smallest and the largest coordinate of each part, as ordered bits, 2 dim numbers a part. */
    __global__ void
    boxes_kernel(unsigned long long *boxes, const double *coordinates, int dim, const int *rows, const int *begins, int n_parts, int n)
    {
      constexpr int a_thread = 16;
      // a warp has 32 a_thread rows, nearly always of one part
      const long warp = first_index<long>() / 32;
      const int  lane = threadIdx.x % 32;
      for (long from = warp * 32 * a_thread; from < n; from += stride<long>() / 32 * 32 * a_thread)
        {
          const int  last     = static_cast<int>(min(from + 32 * a_thread, static_cast<long>(n))) - 1;
          const int  part     = part_of(static_cast<int>(from), begins, n_parts);
          const bool one_part = last < begins[part + 1];
          for (int d = 0; d < dim; ++d)
            {
              unsigned long long low = ~0ull, high = 0;
              for (long i = from + lane; i <= last; i += 32)
                {
                  const unsigned long long key = ordered_bits(coordinates[static_cast<long>(dim) * rows[i] + d]);
                  if (one_part)
                    {
                      low  = min(low, key);
                      high = max(high, key);
                    }
                  else
                    {
                      const int mine = part_of(static_cast<int>(i), begins, n_parts);
                      atomicMin(boxes + (static_cast<long>(mine) * dim + d) * 2, key);
                      atomicMax(boxes + (static_cast<long>(mine) * dim + d) * 2 + 1, key);
                    }
                }
              if (!one_part)
                continue;
              for (int offset = 16; offset > 0; offset /= 2)
                {
                  low  = min(low, __shfl_xor_sync(0xffffffffu, low, offset));
                  high = max(high, __shfl_xor_sync(0xffffffffu, high, offset));
                }
              if (lane == 0)
                {
                  atomicMin(boxes + (static_cast<long>(part) * dim + d) * 2, low);
                  atomicMax(boxes + (static_cast<long>(part) * dim + d) * 2 + 1, high);
                }
            }
        }
    }

    __device__ double from_ordered_bits(unsigned long long key)
    {
      return __longlong_as_double(static_cast<long long>(key >> 63 != 0 ? key & 0x7fffffffffffffffull : ~key));
    }

    __global__ void empty_boxes_kernel(unsigned long long *boxes, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        boxes[i] = i % 2 == 0 ? ~0ull : 0ull;
    }

    __global__ void longest_side_kernel(int *longest, const unsigned long long *boxes, int dim, int n_parts)
    {
      for (int part = first_index<int>(); part < n_parts; part += stride<int>())
        {
          int    best   = 0;
          double length = 0.;
          for (int d = 0; d < dim; ++d)
            {
              const unsigned long long *box = boxes + (static_cast<long>(part) * dim + d) * 2;
              const double              l   = from_ordered_bits(box[1]) - from_ordered_bits(box[0]);
              if (d == 0 || is_longer_side(l, length))
                {
                  best   = d;
                  length = l;
                }
            }
          longest[part] = best;
        }
    }

    /** By part, and in it by the rank along its longest side, or, with longest null, by row. */
    __global__ void
    part_keys_kernel(std::uint64_t *keys, const int *rows, const int *ranks, const int *longest, const int *begins, int n_parts, int bits, int n)
    {
      for (int i = first_index<int>(); i < n; i += stride<int>())
        {
          const int part = part_of(i, begins, n_parts), row = rows[i];
          const int rank = longest == nullptr ? row : ranks[static_cast<long>(longest[part]) * n + row];
          keys[i]        = static_cast<std::uint64_t>(part) << bits | static_cast<std::uint64_t>(rank);
        }
    }
  } // namespace

  Array<int> coordinate_order(const std::vector<double> &coordinates, int dim, int block_size, std::vector<int> &block_offsets, bool shifted)
  {
    const int n   = static_cast<int>(coordinates.size() / dim);
    block_offsets = {0};
    if (n == 0)
      return {};
    const Scratch<double>        points(coordinates.size());
    const Scratch<std::uint64_t> keys(n), other_keys(n);
    const Scratch<int>           other_rows(n), ranks(static_cast<std::size_t>(dim) * n), wrong(1);
    Array<int>                   rows(static_cast<std::size_t>(n));
    LEOPARD_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(int), stream()));
    copy_to_device(points.data(), coordinates.data(), coordinates.size() * sizeof(double));
    const auto sort = [&](int end_bit) { // of keys and rows, which both come back
      cub::DoubleBuffer<std::uint64_t> key_buffer(keys.data(), other_keys.data());
      cub::DoubleBuffer<int>           row_buffer(rows.data(), other_rows.data());
      with_scratch([&](void *memory, std::size_t &n_bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, n_bytes, key_buffer, row_buffer, n, 0, end_bit, stream());
      });
      if (row_buffer.Current() != rows.data())
        LEOPARD_CHECK(cudaMemcpyAsync(rows.data(), row_buffer.Current(), n * sizeof(int), cudaMemcpyDeviceToDevice, stream()));
    };
    std::array<double, 3> extents{};
    for (int d = 0; d < dim; ++d)
      {
        coordinate_keys_kernel<<<blocks_for(n), threads, 0, stream()>>>(keys.data(), rows.data(), points.data(), dim, d, n, wrong.data());
        sort(64);
        ranks_kernel<<<blocks_for(n), threads, 0, stream()>>>(ranks.data() + static_cast<std::size_t>(d) * n, rows.data(), n);
        if (shifted)
          extents[d] = coordinates[static_cast<std::size_t>(dim) * to_host(rows.data() + n - 1) + d] -
                       coordinates[static_cast<std::size_t>(dim) * to_host(rows.data()) + d];
      }
    if (to_host(wrong.data()) != 0)
      return {};

    // where parts begin does not depend on the coordinates, but for the shape of the whole; finished ones stay
    std::vector<int>          begins = {0, n};
    std::vector<ShiftedTiles> tiles; // shifted: of each part
    if (shifted)
      tiles = {ShiftedTiles::whole(n, dim, extents, block_size)};
    const int bits = bits_for(n - 1);
    while (true)
      {
        const int                 n_parts = static_cast<int>(begins.size()) - 1;
        std::vector<int>          next    = {0}, directions;
        std::vector<ShiftedTiles> next_tiles;
        for (int part = 0; part < n_parts; ++part)
          if (shifted)
            {
              directions.push_back(std::max(0, tiles[part].direction()));
              if (tiles[part].direction() < 0)
                next_tiles.push_back(tiles[part]);
              else
                for (const ShiftedTiles &half : tiles[part].halves(block_size))
                  next_tiles.push_back(half);
              for (std::size_t i = next.size() - 1; i < next_tiles.size(); ++i)
                next.push_back(next.back() + static_cast<int>(next_tiles[i].n));
            }
          else
            {
              const long size = begins[part + 1] - begins[part], n_blocks = (size - 1) / block_size + 1;
              if (n_blocks > 1)
                next.push_back(begins[part] + static_cast<int>(size * (n_blocks / 2) / n_blocks));
              next.push_back(begins[part + 1]);
            }
        const bool         done = next.size() == begins.size();
        const Scratch<int> begins_here(begins.size()), longest(n_parts);
        copy_to_device(begins_here.data(), begins.data(), begins.size() * sizeof(int));
        if (shifted)
          copy_to_device(longest.data(), directions.data(), directions.size() * sizeof(int));
        else if (!done)
          {
            const Scratch<unsigned long long> boxes(static_cast<std::size_t>(n_parts) * dim * 2);
            empty_boxes_kernel<<<blocks_for(boxes.size()), threads, 0, stream()>>>(boxes.data(), static_cast<int>(boxes.size()));
            boxes_kernel<<<blocks_for(n / 16 + 1), threads, 0, stream()>>>(
              boxes.data(), points.data(), dim, rows.data(), begins_here.data(), n_parts, n);
            longest_side_kernel<<<blocks_for(n_parts), threads, 0, stream()>>>(longest.data(), boxes.data(), dim, n_parts);
          }
        part_keys_kernel<<<blocks_for(n), threads, 0, stream()>>>(
          keys.data(), rows.data(), ranks.data(), done ? nullptr : longest.data(), begins_here.data(), n_parts, bits, n);
        LEOPARD_CHECK(cudaGetLastError());
        sort(bits + bits_for(n_parts - 1));
        if (done)
          break;
        begins = std::move(next);
        tiles  = std::move(next_tiles);
      }
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end()); // shifted tiles may have no rows
    block_offsets = begins;
    return rows;
  }

  Array<int> places_in(const Array<int> &base, const Array<int> &order)
  {
    const int          n = static_cast<int>(order.size());
    Array<int>         result(order.size());
    const Scratch<int> place(n);
    if (n == 0)
      return result;
    ranks_kernel<<<blocks_for(n), threads, 0, stream()>>>(place.data(), base.data(), n);
    gather_kernel<<<blocks_for(n), threads, 0, stream()>>>(result.data(), place.data(), order.data(), n);
    LEOPARD_CHECK(cudaGetLastError());
    return result;
  }
} // namespace leopard::device
