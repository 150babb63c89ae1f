// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/host_device.h"
#include "factor_sweeps.h"

#include <vector>

namespace leopard
{
  /** A FactorPattern by rows and by columns. The arrays are in the memory where the sweeps are done. */
  struct SweepView
  {
    const int *offsets, *columns, *rows, *diagonal;         ///< rows: of each entry
    const int *column_offsets, *column_rows, *column_entry; ///< of each column, from above: in which row, and which entry
    int        n_entries;
    bool       symmetric; ///< ic
  };

  /** What FactorPattern lacks for that; host memory. */
  struct ColumnsOfPattern
  {
    std::vector<int> rows, offsets, column_rows, entry;

    explicit ColumnsOfPattern(const FactorPattern &pattern);
  };

  /** The new value of entry p. @param read how values are read: old_values + entry to a Number. */
  template <typename Number, typename Read>
  LEOPARD_HOST_DEVICE inline Number swept_entry(const SweepView &view, int p, const Number *A, const Number *values, const Read &read)
  {
    const int i = view.rows[p], j = view.columns[p], end = i < j ? i : j;
    Number    sum = A[p];
    if (view.symmetric && j < i) // U alone
      return read(values + p);
    if (view.symmetric)
      {
        // columns i and j have entries in row i: a diagonal one, and itself
        for (int c = view.column_offsets[i], d = view.column_offsets[j]; view.column_rows[c] < i && view.column_rows[d] < i;)
          {
            const int first = view.column_rows[c], second = view.column_rows[d];
            if (first == second)
              sum -= read(values + view.column_entry[c]) * read(values + view.column_entry[d]) / read(values + view.diagonal[first]);
            c += first <= second ? 1 : 0;
            d += second <= first ? 1 : 0;
          }
        return sum;
      }
    // row i has an entry in column `end`, and column j one in row `end`: itself, or a diagonal one
    for (int q = view.offsets[i], c = view.column_offsets[j]; view.columns[q] < end && view.column_rows[c] < end;)
      {
        const int in_row = view.columns[q], in_column = view.column_rows[c];
        if (in_row == in_column)
          sum -= read(values + q) * read(values + view.column_entry[c]);
        q += in_row <= in_column ? 1 : 0;
        c += in_column <= in_row ? 1 : 0;
      }
    return j < i ? sum / read(values + view.diagonal[j]) : sum;
  }

  /** On a GPU; values: what to begin with, then the result. */
  template <typename Number>
  void sweep_on_cuda(const FactorPattern &pattern, const std::vector<Number> &A, std::vector<Number> &values, const FactorSweepOptions &options);
} // namespace leopard
