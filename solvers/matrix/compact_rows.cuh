// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "device_crs.h"
#include "value_set.cuh"

#include <climits>
#include <cstdint>

namespace leopard::device
{
  // A CRS matrix in fewer bytes, for products that read it once: 3 bytes an entry and 1.5 a row instead of 12 (8 in
  // single precision) and 4. Values are 8-bit numbers of a dictionary. 32 consecutive rows are a slice, which a warp
  // multiplies, a row a lane: first the first entries of all rows, then the second ones of those that have two, and so
  // on, without padding (jagged diagonals of a slice; Saad 1989, Monakov, Lokhmotov, Avetisyan 2010), so that lanes
  // read neighbours in memory. Columns are 16-bit distances from the smallest one of the slice, or whole where it
  // reaches farther. Five points on 4096 x 4096 in double precision: 0.28 GB instead of 1.07.

  struct CompactSlice
  {
    int          first_column; ///< -1: columns are whole
    int          longest;      ///< row
    int          entries;      ///< number of the first entry
    unsigned int columns;      ///< where its column stands, counted in 16 bits; even
  };

  /** Device memory. */
  template <typename Number>
  struct CompactView
  {
    int                  n_rows;
    const CompactSlice  *slices;
    const std::uint8_t  *lengths; ///< of rows
    const std::uint16_t *columns;
    const std::uint8_t  *values;
    const Number        *table;

    /**
     * sum_j a_ij x_j for the row i = 32 slice + lane of each lane of a warp, all of which call it; zero beyond the last
     * row. Nothing branches within a row, so that loads do not wait for one another: a lane whose row has ended reads
     * the slice's first entry, for nothing.
     */
    __device__ Number product(int slice, int lane, const Number *__restrict__ x) const
    {
      constexpr int        n      = 4; // entries of a row at once
      const CompactSlice   here   = slices[slice];
      const unsigned int   row    = 32u * slice + lane;
      const int            length = row < static_cast<unsigned int>(n_rows) ? lengths[row] : 0;
      const std::uint16_t *stored = columns + here.columns;
      const std::uint8_t  *number = values + here.entries;
      Number               sum    = 0;
      int                  first  = 0; // of the entries e of all rows
      for (int e = 0; e < here.longest; e += n)
        {
          int          column[n];
          unsigned int value[n];
#pragma unroll
          for (int q = 0; q < n; ++q)
            {
              const unsigned int present = __ballot_sync(0xffffffffu, length > e + q);
              const int          p       = length > e + q ? first + __popc(present & ((1u << lane) - 1u)) : 0;
              first += __popc(present);
              column[q] = here.first_column < 0 ? __ldcs(reinterpret_cast<const int *>(stored) + p) : here.first_column + __ldcs(stored + p);
              value[q]  = __ldcs(number + p);
            }
#pragma unroll
          for (int q = 0; q < n; ++q)
            {
              const Number term = __ldg(table + value[q]) * __ldg(x + column[q]);
              sum += length > e + q ? term : Number(0);
            }
        }
      return sum;
    }
  };

  struct CompactFacts
  {
    ValueSet values;
    int      longest;
  };

  static __global__ void clear_compact_facts_kernel(CompactFacts *facts)
  {
    facts->values.clear();
    if (threadIdx.x == 0)
      facts->longest = 0;
  }

  template <typename Number>
  __global__ void compact_values_kernel(const Number *values, int n, CompactFacts *facts)
  {
    __shared__ ValueSet set;
    set.clear();
    __syncthreads();
    unsigned long long last_bits = ValueSet::none;
    for (unsigned int p = first_index<unsigned int>(); p < n; p += stride<unsigned int>())
      {
        const double value = values[p];
        const auto   bits  = static_cast<unsigned long long>(__double_as_longlong(value));
        if (!isfinite(value))
          atomicMax(&set.count, most_distinct_values + 1);
        else if (bits != last_bits)
          set.add(bits);
        last_bits = bits;
        if (*static_cast<volatile int *>(&set.count) > most_distinct_values)
          break;
      }
    __syncthreads();
    facts->values.add_all(set);
  }

  /** What does not depend on those before it, of each slice: `entries` and `columns` are numbers of them. */
  template <typename Number>
  __global__ void compact_slices_kernel(CrsView<Number> A, CompactSlice *slices, int *n_entries, int *n_columns, CompactFacts *facts)
  {
    const int n_slices = static_cast<int>((A.n_rows + 31l) / 32), lane = threadIdx.x % 32;
    for (int slice = first_index<int>() / 32; slice < n_slices; slice += stride<int>() / 32)
      {
        const unsigned int row = 32u * slice + lane, n_rows = A.n_rows;
        const int          begin = A.row_offsets[min(row, n_rows)], end = A.row_offsets[min(row + 1, n_rows)];
        int                smallest = INT_MAX, largest = 0;
        for (int p = begin; p < end; ++p)
          {
            smallest = min(smallest, A.columns[p]);
            largest  = max(largest, A.columns[p]);
          }
        const int first = __reduce_min_sync(0xffffffffu, smallest), last = __reduce_max_sync(0xffffffffu, largest);
        const int longest = __reduce_max_sync(0xffffffffu, end - begin), n = __reduce_add_sync(0xffffffffu, end - begin);
        if (lane != 0)
          continue;
        const bool whole = n > 0 && last - first > 65535;
        slices[slice]    = {n == 0 ? 0 : whole ? -1 : first, longest, 0, 0};
        n_entries[slice] = n;
        n_columns[slice] = whole ? n : (n + 1) / 2; // in 32 bits
        if (longest > facts->longest)
          atomicMax(&facts->longest, longest);
      }
  }

  template <typename Number>
  __global__ void compact_entries_kernel(CrsView<Number> A,
                                         TableOfBits     table,
                                         const int      *entries,
                                         const int      *columns,
                                         CompactSlice   *slices,
                                         std::uint8_t   *lengths,
                                         std::uint16_t  *stored_columns,
                                         std::uint8_t   *stored_values)
  {
    const int n_slices = static_cast<int>((A.n_rows + 31l) / 32), lane = threadIdx.x % 32;
    for (int slice = first_index<int>() / 32; slice < n_slices; slice += stride<int>() / 32)
      {
        CompactSlice here = slices[slice];
        const int    from = here.longest > 0 ? slice : n_slices; // an entry for slices without any stands behind the others
        here.entries      = entries[from];
        here.columns      = 2u * static_cast<unsigned int>(columns[from]);
        if (lane == 0)
          slices[slice] = here;
        const unsigned int row = 32u * slice + lane, n_rows = A.n_rows;
        const int          begin = A.row_offsets[min(row, n_rows)], length = A.row_offsets[min(row + 1, n_rows)] - begin;
        if (row < n_rows)
          lengths[row] = static_cast<std::uint8_t>(length);
        std::uint16_t *narrow = stored_columns + here.columns;
        int           *whole  = reinterpret_cast<int *>(narrow);
        int            first  = 0;
        for (int e = 0; e < here.longest; ++e)
          {
            const unsigned int present = __ballot_sync(0xffffffffu, length > e);
            const int          p       = first + __popc(present & ((1u << lane) - 1u));
            first += __popc(present);
            if (length <= e)
              continue;
            const int column = A.columns[begin + e];
            if (here.first_column < 0)
              whole[p] = column;
            else
              narrow[p] = static_cast<std::uint16_t>(column - here.first_column);
            stored_values[here.entries + p] = table.index_of(static_cast<double>(A.values[begin + e]));
          }
      }
  }

  /** Such rows of a matrix, made on the device. */
  template <typename Number>
  class CompactRows
  {
  public:
    /** Empty where the values are too many, or not finite, or a row is too long: then the matrix has to serve. */
    explicit CompactRows(const DeviceCrs<Number> &A)
      : n_rows(A.n_rows)
    {
      if (A.n_entries == 0)
        return;
      const CrsView<Number>       view     = A.view();
      const std::size_t           n_slices = (A.n_rows + 31l) / 32;
      const Scratch<CompactFacts> facts(1);
      const Scratch<int>          n_entries(n_slices + 1), n_columns(n_slices + 1);
      set_zero(facts.data(), sizeof(CompactFacts)); // what lies between its members comes to the host as well
      clear_compact_facts_kernel<<<1, threads, 0, stream()>>>(facts.data());
      const int n_blocks = std::min(blocks_for(A.n_entries), 8 * n_multiprocessors());
      compact_values_kernel<<<n_blocks, threads, 0, stream()>>>(view.values, A.n_entries, facts.data());
      LEOPARD_CHECK(cudaGetLastError());
      const CompactFacts of_values = to_host(facts.data());
      if (of_values.values.count > most_distinct_values)
        return;
      slices = Array<CompactSlice>(n_slices);
      set_zero(n_entries.data() + n_slices, sizeof(int));
      set_zero(n_columns.data() + n_slices, sizeof(int));
      compact_slices_kernel<<<blocks_for(32 * n_slices), threads, 0, stream()>>>(
        view, slices.data(), n_entries.data(), n_columns.data(), facts.data());
      LEOPARD_CHECK(cudaGetLastError());
      exclusive_scan(n_entries.data(), n_slices + 1);
      exclusive_scan(n_columns.data(), n_slices + 1); // no more than entries and half of the slices
      const std::size_t in_all = to_host(n_columns.data() + n_slices);
      if (to_host(&facts.data()->longest) > 255)
        {
          slices = {};
          return;
        }
      const auto                      bits = sorted_bits(of_values.values);
      const Array<unsigned long long> bits_on_device(bits);
      table   = Array<Number>(numbers<Number>(bits));
      lengths = Array<std::uint8_t>(static_cast<std::size_t>(n_rows));
      columns = Array<std::uint16_t>(2 * in_all + 2);
      values  = Array<std::uint8_t>(static_cast<std::size_t>(A.n_entries) + 1);
      set_zero(columns.data() + 2 * in_all, 2 * sizeof(std::uint16_t));
      set_zero(values.data() + A.n_entries, 1);
      compact_entries_kernel<<<blocks_for(32 * n_slices), threads, 0, stream()>>>(view,
                                                                                  {bits_on_device.data(), static_cast<int>(bits.size())},
                                                                                  n_entries.data(),
                                                                                  n_columns.data(),
                                                                                  slices.data(),
                                                                                  lengths.data(),
                                                                                  columns.data(),
                                                                                  values.data());
      LEOPARD_CHECK(cudaGetLastError());
    }

    bool                is_empty() const { return values.size() == 0; }
    CompactView<Number> view() const { return {n_rows, slices.data(), lengths.data(), columns.data(), values.data(), table.data()}; }

  private:
    int                  n_rows;
    Array<CompactSlice>  slices;
    Array<std::uint8_t>  lengths;
    Array<std::uint16_t> columns;
    Array<std::uint8_t>  values;
    Array<Number>        table;
  };
} // namespace leopard::device
