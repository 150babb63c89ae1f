// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "diagonal.h"
#include "relaxation.h"

#include <algorithm>

namespace leopard
{
  /** What the sequential relaxations on the host have in common: a copy of the matrix, its inverted diagonal, norms. */
  template <typename Number>
  class HostRelaxation : public Relaxation<Number>
  {
  public:
    int         n_rows() const override { return A.n_rows; }
    int         n_columns() const override { return A.n_columns; }
    MemorySpace memory_space() const override { return MemorySpace::host; }
    bool        is_fixed_linear_map() const override { return true; }

    double residual_norm_squared(const Number *x, const Number *b) override { return square(residual_norm(A, x, b)); }

    double norm_squared(const Number *b) override
    {
      double sum = 0.;
      for (int i = 0; i < A.n_rows; ++i)
        sum += square(b[i]);
      return sum;
    }

    void update_values(const Number *values) override
    {
      check_new_values(A.row_offsets, diagonal_entry, values);
      std::copy_n(values, A.values.size(), A.values.begin());
      invert_diagonal();
    }

  protected:
    /** @throws InvalidInput for what A.validate() refuses. */
    explicit HostRelaxation(const CrsMatrix<Number> &A_)
      : A((A_.validate(), A_))
      , diagonal_entry(diagonal_entries(A))
      , inverse_diagonal(A.n_rows)
    {
      invert_diagonal();
    }

    /** (b - A x)_i. */
    Number residual_of_row(int i, const Number *x, const Number *b) const
    {
      Number r = b[i];
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        r -= A.values[p] * x[A.columns[p]];
      return r;
    }

    CrsMatrix<Number>   A;
    std::vector<int>    diagonal_entry;
    std::vector<Number> inverse_diagonal;

  private:
    void invert_diagonal()
    {
      for (int i = 0; i < A.n_rows; ++i)
        inverse_diagonal[i] = Number(1) / A.values[diagonal_entry[i]];
    }
  };
} // namespace leopard
