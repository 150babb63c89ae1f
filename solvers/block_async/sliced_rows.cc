// SPDX-License-Identifier: Apache-2.0
#include "sliced_rows.h"

#include "../base/errors.h"
#include "../base/vector_clones.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr int height = SlicedRows<double>::height; // the same for all

    /** @param weights null: next is what the rows leave of frozen. */
    template <typename Number>
    LEOPARD_VECTOR_CLONES void sweep_slices(const int *__restrict offsets,
                                            const Number *__restrict values,
                                            const std::uint16_t *__restrict columns,
                                            const Number *__restrict weights,
                                            Number keep,
                                            const Number *__restrict y,
                                            const Number *__restrict frozen,
                                            int n_slices,
                                            Number *__restrict next)
    {
      for (int s = 0; s < n_slices; ++s)
        {
          Number sum[height];
          for (int r = 0; r < height; ++r)
            sum[r] = frozen[s * height + r];
          for (int p = offsets[s]; p < offsets[s + 1]; p += height)
            for (int r = 0; r < height; ++r)
              sum[r] -= values[p + r] * y[columns[p + r]];
          if (weights == nullptr)
            for (int r = 0; r < height; ++r)
              next[s * height + r] = sum[r];
          else
            for (int r = 0; r < height; ++r)
              next[s * height + r] = keep * y[s * height + r] + weights[s * height + r] * sum[r];
        }
    }

    /** function(slice, first row in the block, first local row, number of rows). */
    template <typename Number, typename Function>
    void for_each_slice(const BlockCrs<Number> &matrix, const Function &function)
    {
      int slice = 0;
      for (int block = 0; block < matrix.n_blocks(); ++block)
        {
          const int first = matrix.first_local[block], n = matrix.first_local[block + 1] - first;
          for (int i = 0; i < n; i += height)
            function(slice++, i, first + i, std::min(height, n - i));
        }
    }
  } // namespace

  template <typename Number>
  SlicedRows<Number>::SlicedRows(const BlockCrs<Number> &matrix)
  {
    for (int block = 0; block < matrix.n_blocks(); ++block)
      first_slice.push_back(first_slice.back() + rounded_up(matrix.first_local[block + 1] - matrix.first_local[block]) / height);
    offsets.resize(static_cast<std::size_t>(first_slice.back()) + 1);
    const std::vector<int> &rows = matrix.inner.offsets;
    std::size_t             sum  = 0;
    for_each_slice(matrix, [&](int slice, int /*in_block*/, int local, int n) {
      int longest = 0;
      for (int r = 0; r < n; ++r)
        longest = std::max(longest, rows[local + r + 1] - rows[local + r]);
      sum += static_cast<std::size_t>(height) * longest;
      if (sum > std::numeric_limits<int>::max())
        throw InvalidInput("the diagonal blocks have more than 2^31 - 1 entries, when rows are filled up to the longest of eight\n"
                           "  expected: a smaller matrix, or smaller blocks");
      offsets[slice + 1] = static_cast<int>(sum);
    });
    columns.resize(sum);
    values.assign(sum, Number(0));
    weights.assign(static_cast<std::size_t>(first_slice.back()) * height, Number(0));
    for_each_slice(matrix, [&](int slice, int in_block, int local, int n) {
      for (int p = offsets[slice]; p < offsets[slice + 1]; ++p)
        {
          const int row = (p - offsets[slice]) % height, entry = (p - offsets[slice]) / height;
          const int from = rows[local + std::min(row, n - 1)] + entry;
          // what is filled up refers to the row itself, whose value is at hand
          columns[p] =
            row < n && from < rows[local + row + 1] ? matrix.inner.columns[from] : static_cast<std::uint16_t>(in_block + std::min(row, n - 1));
        }
    });
  }

  template <typename Number>
  void SlicedRows<Number>::update(const BlockCrs<Number> &matrix, const std::vector<Number> &new_weights)
  {
    const std::vector<int> &rows = matrix.inner.offsets;
    for_each_slice(matrix, [&](int slice, int /*in_block*/, int local, int n) {
      for (int r = 0; r < n; ++r)
        {
          weights[static_cast<std::size_t>(slice) * height + r] = new_weights[local + r];
          for (int e = 0; e < rows[local + r + 1] - rows[local + r]; ++e)
            values[offsets[slice] + static_cast<std::size_t>(e) * height + r] = matrix.inner.values[rows[local + r] + e];
        }
    });
  }

  template <typename Number>
  void SlicedRows<Number>::sweep_with(const Number *some_weights, int block, Number keep, const Number *y, const Number *frozen, Number *next) const
  {
    const int first = first_slice[block];
    sweep_slices(offsets.data() + first, values.data(), columns.data(), some_weights, keep, y, frozen, first_slice[block + 1] - first, next);
  }

  template <typename Number>
  void SlicedRows<Number>::sweep(int block, Number keep, const Number *y, const Number *frozen, Number *next) const
  {
    sweep_with(weights.data() + static_cast<std::size_t>(first_slice[block]) * height, block, keep, y, frozen, next);
  }

  template <typename Number>
  void SlicedRows<Number>::subtract(int block, const Number *y, const Number *frozen, Number *result) const
  {
    sweep_with(nullptr, block, Number(0), y, frozen, result);
  }

#define INSTANTIATE(Number) template class SlicedRows<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
