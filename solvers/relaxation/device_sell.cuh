// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../device/exclusive_scan.cuh"
#include "../device/grid_stride.cuh"
#include "../device/partial_sums.cuh"
#include "../matrix/crs_matrix.h"
#include "../matrix/device_crs.h"
#include "diagonal.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace leopard
{
  // A sparse matrix in device memory as sliced ELLPACK with the width of a warp, so that neighbouring threads read
  // neighbouring values: the rows lie in the order that a kernel takes them, in groups (colours) that begin with a
  // slice of their own. A slice is 32 slots for rows, padded to its longest row and stored column-wise: entry e of the
  // slice's r-th row is at slice_offsets[slice] + 32 e + r. The diagonal stands apart, one value a slot. Columns are
  // row numbers of the user: x and b are not permuted.

  constexpr int sell_threads          = 256;
  constexpr int sell_reduction_blocks = 2048; ///< at most; they share out the slots

  /** What a kernel needs of the matrix. All arrays in device memory. */
  template <typename Number>
  struct SellView
  {
    const int    *rows; ///< the row of each slot, or -1; null: slot i is row i
    const int    *slice_offsets, *columns;
    const Number *values, *diagonal;
    int           n_rows, n_slots;

    /** The row of a slot < n_slots, or -1 for one that only fills up a slice. */
    __device__ int row(int slot) const { return rows != nullptr ? __ldg(rows + slot) : (slot < n_rows ? slot : -1); }

    /** b_row - (A x)_row. Reads x by ordinary loads: others may write to rows that are not among this row's columns. */
    __device__ Number residual(int slot, int row, const Number *x, Number b_row) const
    {
      Number    r   = b_row - __ldg(diagonal + slot) * x[row];
      const int end = __ldg(slice_offsets + slot / 32 + 1);
#pragma unroll 4
      for (int p = __ldg(slice_offsets + slot / 32) + slot % 32; p < end; p += 32)
        r -= __ldg(values + p) * x[__ldg(columns + p)];
      return r;
    }
  };

  /** @throws InvalidInput for more slots than an int counts. */
  inline void check_sell_size(std::size_t n)
  {
    // 2^31 - 1, less what an index runs beyond the end before a loop or a launch sees it
    constexpr std::size_t limit = 2147483647u - 1024u;
    if (n > limit)
      throw InvalidInput("the matrix needs more than 2^31 - 1 entries when its rows are padded for the GPU\n  expected: a smaller matrix, or "
                         "rows of more equal length");
  }

  /** The layout described above, first in host memory. */
  template <typename Number>
  struct SlicedEllpack
  {
    std::vector<int>    first_slot; ///< of each group, and the number of slots
    std::vector<int>    rows, slice_offsets = {0}, columns;
    std::vector<Number> values, diagonal;
    std::vector<int>    source, diagonal_source; ///< entry of the CrsMatrix, or -1 for padding

    /**
     * @param order all rows, group after group; group g is order[k], group_offsets[g] <= k < group_offsets[g+1].
     * @throws InvalidInput if the padding takes it beyond 2^31 entries.
     */
    SlicedEllpack(const CrsMatrix<Number> &A, const std::vector<int> &order, const std::vector<int> &group_offsets);

  private:
    void fill(const CrsMatrix<Number> &A, const std::vector<int> &diagonal_entry);
  };

  template <typename Number>
  inline SlicedEllpack<Number>::SlicedEllpack(const CrsMatrix<Number> &A, const std::vector<int> &order, const std::vector<int> &group_offsets)
  {
    for (std::size_t g = 0; g + 1 < group_offsets.size(); ++g)
      {
        first_slot.push_back(static_cast<int>(rows.size()));
        rows.insert(rows.end(), order.begin() + group_offsets[g], order.begin() + group_offsets[g + 1]);
        rows.resize((rows.size() + 31) / 32 * 32, -1);
        check_sell_size(rows.size());
      }
    first_slot.push_back(static_cast<int>(rows.size()));
    std::size_t end = 0;
    for (std::size_t slot = 0; slot < rows.size(); slot += 32)
      {
        int width = 0;
        for (std::size_t s = slot; s < slot + 32; ++s)
          if (rows[s] >= 0)
            width = std::max(width, A.row_offsets[rows[s] + 1] - A.row_offsets[rows[s]] - 1);
        check_sell_size(end += static_cast<std::size_t>(width) * 32);
        slice_offsets.push_back(static_cast<int>(end));
      }
    fill(A, diagonal_entries(A));
  }

  template <typename Number>
  inline void SlicedEllpack<Number>::fill(const CrsMatrix<Number> &A, const std::vector<int> &diagonal_entry)
  {
    columns.resize(slice_offsets.back(), 0);
    values.resize(slice_offsets.back(), Number(0));
    source.resize(slice_offsets.back(), -1);
    diagonal.resize(rows.size(), Number(1));
    diagonal_source.resize(rows.size(), -1);
    for (std::size_t slot = 0; slot < rows.size(); ++slot)
      if (const int row = rows[slot]; row >= 0)
        {
          diagonal_source[slot] = diagonal_entry[row];
          diagonal[slot]        = A.values[diagonal_entry[row]];
          std::size_t to        = static_cast<std::size_t>(slice_offsets[slot / 32]) + slot % 32;
          for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
            if (p != diagonal_entry[row])
              {
                columns[to] = A.columns[p];
                values[to]  = A.values[p];
                source[to]  = p;
                to += 32;
              }
          for (; to < static_cast<std::size_t>(slice_offsets[slot / 32 + 1]); to += 32)
            columns[to] = row; // the row itself, times zero
        }
  }

  template <typename Number>
  __global__ void sell_residual_kernel(SellView<Number> A, const Number *x, const Number *b, double *parts)
  {
    __shared__ double shared[32];
    double            sum = 0.;
    for (int slot = blockIdx.x * blockDim.x + threadIdx.x; slot < A.n_slots; slot += gridDim.x * blockDim.x)
      if (const int row = A.row(slot); row >= 0)
        {
          const Number r = A.residual(slot, row, x, __ldg(b + row));
          sum += square(r);
        }
    sum = sum_over_block(sum, shared);
    if (threadIdx.x == 0)
      parts[blockIdx.x] = sum;
  }

  template <typename Number>
  __global__ void sell_replace_kernel(Number *values, const int *source, const Number *new_values, int n)
  {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n && source[p] >= 0)
      values[p] = new_values[source[p]];
  }

  /** widths[slice]: 32 times the entries beside the diagonal of its longest row; 0 behind the last slice. */
  inline __global__ void sell_widths_kernel(long *widths, const int *row_offsets, int n_rows, int n_slices)
  {
    for (int slice = device::first_index<int>(); slice <= n_slices; slice += device::stride<int>())
      {
        int width = 0;
        for (int row = 32 * slice; row < min(32 * slice + 32, n_rows); ++row)
          width = max(width, row_offsets[row + 1] - row_offsets[row] - 1);
        widths[slice] = 32l * width;
      }
  }

  inline __global__ void sell_offsets_kernel(int *offsets, const long *sums, int n)
  {
    for (int i = device::first_index<int>(); i < n; i += device::stride<int>())
      offsets[i] = static_cast<int>(sums[i]);
  }

  /** Rows of A in their order. @param columns null: they are there. */
  template <typename Number>
  __global__ void sell_fill_kernel(int *columns, Number *values, Number *diagonal, const int *slice_offsets, device::CrsView<Number> A, int n_slots)
  {
    for (int slot = device::first_index<int>(); slot < n_slots; slot += device::stride<int>())
      {
        int       to      = slice_offsets[slot / 32] + slot % 32;
        const int p_begin = slot < A.n_rows ? A.row_offsets[slot] : 0, p_end = slot < A.n_rows ? A.row_offsets[slot + 1] : 0;
        Number    own = Number(1);
        for (int p = p_begin; p < p_end; ++p)
          {
            const int column = A.columns[p];
            if (column == slot)
              {
                own = A.values[p];
                continue;
              }
            if (columns != nullptr)
              columns[to] = column;
            values[to] = A.values[p];
            to += 32;
          }
        diagonal[slot] = own;
        for (; to < slice_offsets[slot / 32 + 1]; to += 32)
          {
            if (columns != nullptr)
              columns[to] = min(slot, A.n_rows - 1); // the row itself, times zero
            values[to] = Number(0);
          }
      }
  }

  /** The matrix in device memory, with what every relaxation has to know of it: norms, and new values. */
  template <typename Number>
  class DeviceSell
  {
  public:
    /**
     * @param A a matrix that validate() accepts. @param order, group_offsets as for SlicedEllpack. @throws
     * InvalidInput, DeviceError.
     */
    DeviceSell(const CrsMatrix<Number> &A, const std::vector<int> &order, const std::vector<int> &group_offsets)
      : DeviceSell(A, SlicedEllpack<Number>(A, order, group_offsets))
    {
    }

    /**
     * Rows in their order, in one group. @param A on the device, each row with a diagonal entry. @throws InvalidInput,
     * DeviceError.
     */
    explicit DeviceSell(const device::DeviceCrs<Number> &A)
      : n_rows(A.n_rows)
      , n_entries(A.n_entries)
      , n_parts(std::max(1, std::min(blocks_for(n_slots_of(A)), sell_reduction_blocks)))
      , first_slot({0, n_slots_of(A)})
      , sums(n_parts)
    {
      const int                   n_slots = n_slots_of(A), n_slices = n_slots / 32;
      const device::Scratch<long> widths(n_slices + 1l);
      sell_widths_kernel<<<device::blocks_for(n_slices + 1l), device::threads, 0, device::stream()>>>(
        widths.data(), A.view().row_offsets, n_rows, n_slices);
      device::exclusive_scan(widths.data(), n_slices + 1l);
      const long n_padded = device::to_host(widths.data() + n_slices);
      check_sell_size(static_cast<std::size_t>(n_padded));
      slice_offsets = device::Array<int>(n_slices + 1l);
      sell_offsets_kernel<<<device::blocks_for(n_slices + 1l), device::threads, 0, device::stream()>>>(
        slice_offsets.data(), widths.data(), n_slices + 1);
      LEOPARD_CHECK(cudaGetLastError());
      columns  = device::Array<int>(static_cast<std::size_t>(n_padded));
      values   = device::Array<Number>(static_cast<std::size_t>(n_padded));
      diagonal = device::Array<Number>(static_cast<std::size_t>(n_slots));
      fill(A.view(), columns.data());
    }

    /** @param A of the same pattern, on the device. Queued. */
    void update_values(const device::CrsView<Number> &A) { fill(A, nullptr); }

    SellView<Number> view() const
    {
      return {rows.data(), slice_offsets.data(), columns.data(), values.data(), diagonal.data(), n_rows, first_slot.back()};
    }

    /** The slots of group g are first(g) <= slot < first(g + 1), multiples of 32. */
    int first(int group) const { return first_slot[group]; }

    static int blocks_for(int n) { return (n + sell_threads - 1) / sell_threads; }

    /** "sliced ELLPACK with 3 % padding, 12 MB". */
    std::string description() const
    {
      const double      n_off_diagonal = n_entries - n_rows;
      const double      padding        = values.size() > 0 ? 100. * (1. - n_off_diagonal / static_cast<double>(values.size())) : 0.;
      const std::size_t n_bytes =
        (rows.size() + slice_offsets.size() + columns.size()) * sizeof(int) + (values.size() + diagonal.size()) * sizeof(Number);
      return "sliced ELLPACK with " + std::to_string(static_cast<int>(padding + 0.5)) + " % padding, " + std::to_string(n_bytes / 1000000) + " MB";
    }

    /** Waits for the result. */
    double residual_norm_squared(const Number *x, const Number *b) const
    {
      if (n_rows == 0)
        return 0.;
      sell_residual_kernel<<<n_parts, sell_threads>>>(view(), x, b, sums.parts());
      LEOPARD_CHECK(cudaGetLastError());
      return sums.sum_of_parts();
    }

    double norm_squared(const Number *b) const { return sums.norm_squared(b, n_rows); }

    /**
     * @param new_values host memory, order of the CrsMatrix. Allocates at the first call only. @throws InvalidInput.
     */
    void update_values(const Number *new_values)
    {
      check_new_values(row_offsets, diagonal_entry, new_values);
      if (n_rows == 0)
        return;
      if (staging.size() == 0)
        {
          source               = device::Array<int>(host_source);
          diagonal_source      = device::Array<int>(host_diagonal_source);
          staging              = device::Array<Number>(static_cast<std::size_t>(n_entries));
          host_source          = std::vector<int>();
          host_diagonal_source = std::vector<int>();
        }
      device::copy_to_device(staging.data(), new_values, staging.size() * sizeof(Number));
      replace(values, source);
      replace(diagonal, diagonal_source);
    }

  private:
    static int n_slots_of(const device::DeviceCrs<Number> &A) { return static_cast<int>((A.n_rows + 31l) / 32 * 32); }

    void fill(const device::CrsView<Number> &A, int *to_columns)
    {
      const int n_slots = first_slot.back();
      if (n_slots == 0)
        return;
      sell_fill_kernel<<<device::blocks_for(n_slots), device::threads, 0, device::stream()>>>(
        to_columns, values.data(), diagonal.data(), slice_offsets.data(), A, n_slots);
      LEOPARD_CHECK(cudaGetLastError());
    }

    DeviceSell(const CrsMatrix<Number> &A, SlicedEllpack<Number> &&host)
      : n_rows(A.n_rows)
      , n_entries(A.n_entries())
      , n_parts(std::min(blocks_for(host.first_slot.back()), sell_reduction_blocks))
      , first_slot(host.first_slot)
      , row_offsets(A.row_offsets)
      , diagonal_entry(diagonal_entries(A))
      , rows(in_order(host.rows) ? std::vector<int>() : host.rows)
      , slice_offsets(host.slice_offsets)
      , columns(host.columns)
      , values(host.values)
      , diagonal(host.diagonal)
      , host_source(std::move(host.source))
      , host_diagonal_source(std::move(host.diagonal_source))
      , sums(n_parts)
    {
    }

    /** Whether slot i is row i, so that the row numbers need not be read. */
    bool in_order(const std::vector<int> &slot_rows) const
    {
      for (int i = 0; i < n_rows; ++i)
        if (slot_rows[i] != i)
          return false;
      return true;
    }

    void replace(const device::Array<Number> &array, const device::Array<int> &from) const
    {
      const int n = static_cast<int>(array.size());
      if (n > 0)
        sell_replace_kernel<<<blocks_for(n), sell_threads>>>(array.data(), from.data(), staging.data(), n);
      LEOPARD_CHECK(cudaGetLastError());
    }

    const int              n_rows, n_entries, n_parts;
    const std::vector<int> first_slot, row_offsets, diagonal_entry; ///< the last two of the CrsMatrix
    device::Array<int>     rows;                                    ///< empty: slot i is row i
    device::Array<int>     slice_offsets, columns;
    device::Array<Number>  values, diagonal;
    std::vector<int>       host_source, host_diagonal_source; ///< until the first update_values()
    device::Array<int>     source, diagonal_source;           ///< from then on
    device::Array<Number>  staging;                           ///< likewise: values as they came
    device::PartialSums    sums;
  };
} // namespace leopard
