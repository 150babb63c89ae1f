// SPDX-License-Identifier: Apache-2.0
#include "substitution.h"

#include "../base/number_types.h"

#include <utility>

namespace leopard
{
  template <typename Number>
  Substitution<Number>::Substitution(const TriangularRows &rows, const Number *values_, std::shared_ptr<const RowLevels> levels)
    : order(std::move(levels))
    , offsets(rows.n_rows + 1, 0)
    , source(rows.n_rows)
  {
    if (rows.diagonal != nullptr)
      {
        pivots.resize(rows.n_rows);
        diagonal.resize(rows.n_rows);
      }
    order->for_rows([&](int place, int i) {
      source[place]      = rows.begin[i];
      offsets[place + 1] = rows.end[i] - rows.begin[i] - (rows.diagonal != nullptr ? 1 : 0);
      if (rows.diagonal != nullptr)
        diagonal[place] = rows.diagonal[i];
    });
    for (int place = 0; place < rows.n_rows; ++place)
      offsets[place + 1] += offsets[place];
    columns.resize(offsets.back());
    values.resize(offsets.back());
    order->for_rows([&](int place, int i) {
      for (int p = rows.begin[i], q = offsets[place]; p < rows.end[i]; ++p)
        if (rows.diagonal == nullptr || p != rows.diagonal[i])
          columns[q++] = rows.columns[p];
    });
    update_values(values_);
  }

  template <typename Number>
  void Substitution<Number>::solve(Number *x, const Number *b) const
  {
    const auto rest_of_row = [&](int place, int i) {
      Number sum = b[i];
      for (int q = offsets[place]; q < offsets[place + 1]; ++q)
        sum -= values[q] * x[columns[q]];
      return sum;
    };
    if (pivots.empty())
      order->for_rows([&](int place, int i) { x[i] = rest_of_row(place, i); });
    else
      order->for_rows([&](int place, int i) { x[i] = rest_of_row(place, i) / pivots[place]; });
  }

  template <typename Number>
  void Substitution<Number>::update_values(const Number *from)
  {
    order->for_rows([&](int place, int /*i*/) {
      const int skipped = diagonal.empty() ? -1 : diagonal[place];
      for (int p = source[place], q = offsets[place]; q < offsets[place + 1]; ++p)
        if (p != skipped)
          values[q++] = from[p];
      if (skipped >= 0)
        pivots[place] = from[skipped];
    });
  }

#define INSTANTIATE(Number) template class Substitution<Number>;
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
