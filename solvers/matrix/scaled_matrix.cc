// SPDX-License-Identifier: Apache-2.0
#include "scaled_matrix.h"

#include "../base/errors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr int harmless = 40; ///< binary digits on either side of 1

    bool is_harmless(double value)
    {
      return value == 0. || (std::abs(value) <= std::ldexp(1., harmless) && std::abs(value) >= std::ldexp(1., -harmless));
    }
  } // namespace

  SizesOfValues::SizesOfValues(const CrsMatrix<double> &A)
    : is_extreme(!std::all_of(A.values.begin(), A.values.end(), is_harmless))
  {
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == i && A.values[p] != 0.)
          {
            const double size = std::log2(std::abs(A.values[p]));
            largest           = std::max(largest, size);
            smallest          = std::min(smallest, size);
          }
  }

  std::vector<double> scale_of_rows(const CrsMatrix<double> &A)
  {
    std::vector<double> scale(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == i)
          scale[i] = scale_of(A.values[p]);
    return scale;
  }

  /** 2^-e with e half the exponent of a_ii, rounded down. */
  double scale_of(double diagonal)
  {
    int exponent = 0;
    std::frexp(diagonal, &exponent); // |diagonal| is in [1/2, 1) times 2^exponent
    return std::ldexp(1., -static_cast<int>(std::floor(0.5 * exponent)));
  }

  template <typename Number>
  Number rounded_entry(double scaled, double value, int row, int column)
  {
    constexpr auto most = static_cast<double>(std::numeric_limits<Number>::max());
    if (std::abs(scaled) <= most)
      return static_cast<Number>(scaled);
    char text[160];
    std::snprintf(text, sizeof(text), "the entry in row %d, column %d is %g, and %g when the diagonal is scaled to 1", row, column, value, scaled);
    char largest[32];
    std::snprintf(largest, sizeof(largest), "%.3g", most);
    throw InvalidInput(std::string("single precision: ") + text + " (the first row is 0)\n  expected: at most " + largest + ", or double precision");
  }

  template <typename Number>
  ScaledMatrix<Number> scaled_to(const CrsMatrix<double> &A)
  {
    A.validate();
    if constexpr (std::is_same_v<Number, double>)
      return {A, {}};
    return scaled_to<Number>(A, SizesOfValues(A).need_scaling() ? scale_of_rows(A) : std::vector<double>());
  }

  template <typename Number>
  ScaledMatrix<Number> scaled_to(const CrsMatrix<double> &A, const std::vector<double> &scale)
  {
    ScaledMatrix<Number> result;
    result.scale                 = scale;
    const std::vector<double> &s = scale;
    result.matrix                = {A.n_rows, A.n_columns, A.row_offsets, A.columns, std::vector<Number>(A.values.size())};
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        {
          const int j             = A.columns[p];
          result.matrix.values[p] = rounded_entry<Number>(s.empty() ? A.values[p] : s[i] * A.values[p] * s[j], A.values[p], i, j);
        }
    return result;
  }

#define INSTANTIATE(Number)                                                                              \
  template ScaledMatrix<Number> scaled_to(const CrsMatrix<double> &A);                                   \
  template ScaledMatrix<Number> scaled_to(const CrsMatrix<double> &A, const std::vector<double> &scale); \
  template Number               rounded_entry(double scaled, double value, int row, int column);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
