// SPDX-License-Identifier: Apache-2.0
#include "colouring.h"

#include <algorithm>
#include <numeric>

namespace leopard
{
  namespace
  {
    /**
     * Of each row i the rows j < i that have an entry in column i: what A^T adds to the neighbours that have a colour
     * already.
     */
    struct EarlierRows
    {
      std::vector<int> offsets, rows;

      template <typename Number>
      explicit EarlierRows(const CrsMatrix<Number> &A)
        : offsets(static_cast<std::size_t>(A.n_rows) + 1, 0)
      {
        for (int j = 0; j < A.n_rows; ++j)
          for (int p = A.row_offsets[j]; p < A.row_offsets[j + 1]; ++p)
            if (A.columns[p] > j && A.columns[p] < A.n_rows)
              ++offsets[A.columns[p] + 1];
        std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
        rows.resize(offsets.back());
        std::vector<int> next(offsets.begin(), offsets.end() - 1);
        for (int j = 0; j < A.n_rows; ++j)
          for (int p = A.row_offsets[j]; p < A.row_offsets[j + 1]; ++p)
            if (A.columns[p] > j && A.columns[p] < A.n_rows)
              rows[next[A.columns[p]]++] = j;
      }
    };
  } // namespace

  int Colouring::smallest() const
  {
    int result = n_colours() > 0 ? offsets[1] : 0;
    for (int c = 0; c < n_colours(); ++c)
      result = std::min(result, offsets[c + 1] - offsets[c]);
    return result;
  }

  int Colouring::largest() const
  {
    int result = 0;
    for (int c = 0; c < n_colours(); ++c)
      result = std::max(result, offsets[c + 1] - offsets[c]);
    return result;
  }

  template <typename Number>
  Colouring greedy_colouring(const CrsMatrix<Number> &A)
  {
    const EarlierRows earlier(A);
    std::vector<int>  colour(A.n_rows), size;
    std::vector<int>  last_seen_by; // per colour, the last row that has a neighbour of that colour
    for (int i = 0; i < A.n_rows; ++i)
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] < i)
            last_seen_by[colour[A.columns[p]]] = i;
        for (int p = earlier.offsets[i]; p < earlier.offsets[i + 1]; ++p)
          last_seen_by[colour[earlier.rows[p]]] = i;
        colour[i] =
          static_cast<int>(std::find_if(last_seen_by.begin(), last_seen_by.end(), [i](int row) { return row != i; }) - last_seen_by.begin());
        if (colour[i] == static_cast<int>(size.size()))
          {
            size.push_back(0);
            last_seen_by.push_back(-1);
          }
        ++size[colour[i]];
      }

    Colouring result;
    result.rows.resize(A.n_rows);
    result.offsets.resize(size.size() + 1, 0);
    std::partial_sum(size.begin(), size.end(), result.offsets.begin() + 1);
    std::vector<int> next(result.offsets.begin(), result.offsets.end() - 1);
    for (int i = 0; i < A.n_rows; ++i)
      result.rows[next[colour[i]]++] = i;
    return result;
  }

#define INSTANTIATE(Number) template Colouring greedy_colouring(const CrsMatrix<Number> &A);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
