// SPDX-License-Identifier: Apache-2.0
#include "crs_matrix.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "sparse_product.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace leopard
{
  namespace
  {
    [[noreturn]] void fail(const std::string &what, const std::string &expected)
    {
      throw InvalidInput("sparse matrix: " + what + "\n  expected: " + expected);
    }

    /** Where what names a row. */
    [[noreturn]] void fail_in_row(const std::string &what, const std::string &expected)
    {
      fail(what + " (the first row is 0)", expected);
    }

    template <typename Number>
    void check_arrays(const CrsMatrix<Number> &A)
    {
      if (A.n_rows < 0 || A.n_columns < A.n_rows)
        fail("it has " + std::to_string(A.n_rows) + " rows and " + std::to_string(A.n_columns) + " columns",
             "a square matrix, or further columns for ghosts");
      if (A.row_offsets.size() != static_cast<std::size_t>(A.n_rows) + 1)
        fail("row_offsets has " + std::to_string(A.row_offsets.size()) + " entries",
             std::to_string(static_cast<std::size_t>(A.n_rows) + 1) + ", one more than rows");
      if (A.columns.size() != A.values.size())
        fail("it has " + std::to_string(A.columns.size()) + " column indices and " + std::to_string(A.values.size()) + " values",
             "as many of one as of the other");
      if (A.row_offsets.front() != 0 || A.row_offsets.back() != A.n_entries())
        fail("row_offsets runs from " + std::to_string(A.row_offsets.front()) + " to " + std::to_string(A.row_offsets.back()),
             "from 0 to the number of entries, " + std::to_string(A.n_entries()));
      for (int i = 0; i < A.n_rows; ++i) // all of them before any is followed
        if (A.row_offsets[i] > A.row_offsets[i + 1])
          fail_in_row("row_offsets decreases after row " + std::to_string(i), "offsets that do not decrease");
    }

    template <typename Number>
    void check_entries(const CrsMatrix<Number> &A, bool with_diagonal)
    {
      check_arrays(A);
      const auto       row_text = [](int i) { return "row " + std::to_string(i); };
      std::vector<int> last_row_with(A.n_columns, -1);
      for (int i = 0; i < A.n_rows; ++i)
        {
          if (with_diagonal && A.row_offsets[i] == A.row_offsets[i + 1])
            fail_in_row(row_text(i) + " is empty", "at least a diagonal entry in each row");
          bool diagonal_found = false;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              const int  column  = A.columns[p];
              const auto at_text = [&] { return "the entry at " + row_text(i) + ", column " + std::to_string(column); };
              if (column < 0 || column >= A.n_columns)
                fail_in_row("the column index at " + row_text(i) + ", column " + std::to_string(column) + " is out of range",
                            "0 to " + std::to_string(A.n_columns - 1));
              if (last_row_with[column] == i)
                fail_in_row(at_text() + " is stored twice", "each entry once");
              last_row_with[column] = i;
              if (!std::isfinite(A.values[p]))
                fail_in_row(at_text() + " is " + std::to_string(A.values[p]), "finite numbers");
              if (column == i)
                {
                  diagonal_found = true;
                  if (with_diagonal && A.values[p] == Number(0))
                    fail_in_row("the diagonal entry of " + row_text(i) + " is zero", "a nonzero diagonal; relaxation divides by it");
                }
            }
          if (with_diagonal && !diagonal_found)
            fail_in_row("the diagonal entry of " + row_text(i) + " is missing", "a stored nonzero diagonal; relaxation divides by it");
        }
    }
  } // namespace

  int checked_count(double count, const std::string &of_what)
  {
    if (!(count <= 2147483647.))
      {
        char text[32];
        std::snprintf(text, sizeof(text), "%.0f", count);
        throw InvalidInput("there are " + std::string(text) + " " + of_what + "\n  expected: at most 2^31 - 1; indices have 32 bits");
      }
    return static_cast<int>(count);
  }

  template <typename Number>
  int CrsMatrix<Number>::n_entries() const
  {
    constexpr std::size_t most = std::numeric_limits<int>::max(); // asked for often: no text is made where none is needed
    return values.size() <= most ? static_cast<int>(values.size()) : checked_count(static_cast<double>(values.size()), "entries in a sparse matrix");
  }

  template <typename Number>
  void CrsMatrix<Number>::validate() const
  {
    check_entries(*this, true);
  }

  template <typename Number>
  void CrsMatrix<Number>::validate_entries() const
  {
    check_entries(*this, false);
  }

  template <typename Number>
  CrsMatrix<Number> without_zeros(const CrsMatrix<Number> &A)
  {
    CrsMatrix<Number> result;
    result.n_rows    = A.n_rows;
    result.n_columns = A.n_columns;
    result.row_offsets.reserve(A.row_offsets.size());
    for (int i = 0; i < A.n_rows; ++i)
      {
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i || A.values[p] != Number(0))
            {
              result.columns.push_back(A.columns[p]);
              result.values.push_back(A.values[p]);
            }
        result.row_offsets.push_back(result.n_entries());
      }
    return result;
  }

  template <typename Number>
  CrsMatrix<Number> transpose(const CrsMatrix<Number> &A)
  {
    return transpose(A, 1);
  }

  template <typename Number>
  void multiply(const CrsMatrix<Number> &A, const Number *x, Number *y)
  {
    for (int i = 0; i < A.n_rows; ++i)
      {
        Number sum = 0;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          sum += A.values[p] * x[A.columns[p]];
        y[i] = sum;
      }
  }

  template <typename Number>
  double residual_norm(const CrsMatrix<Number> &A, const Number *x, const Number *b)
  {
    SafeNorm norm;
    for (int i = 0; i < A.n_rows; ++i)
      {
        Number r = b[i];
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          r -= A.values[p] * x[A.columns[p]];
        norm.add(r);
      }
    return norm.value();
  }

#define INSTANTIATE(Number)                                                                    \
  template struct CrsMatrix<Number>;                                                           \
  template CrsMatrix<Number> without_zeros(const CrsMatrix<Number> &A);                        \
  template CrsMatrix<Number> transpose(const CrsMatrix<Number> &A);                            \
  template void              multiply(const CrsMatrix<Number> &A, const Number *x, Number *y); \
  template double            residual_norm(const CrsMatrix<Number> &A, const Number *x, const Number *b);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
