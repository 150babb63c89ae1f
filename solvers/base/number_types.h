// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <vector>

/**
 * The number types of vectors and matrices. What holds them or computes with them is a template on Number, whose
 * definition stands in a source file; that ends with
 *
 *   #define INSTANTIATE(Number) template class BlockAsync<Number>;
 *     LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
 *   #undef INSTANTIATE
 *
 * so that this is the one list of number types. Options (relaxation factors, tolerances) and what is measured (norms of
 * residuals, eigenvalues) are double whatever Number is. Where Number is float, arithmetic on entries of vectors and
 * matrices is in float, and sums over vectors are in double.
 */
#define LEOPARD_NUMBERS double, float
#define LEOPARD_FOR_EACH_NUMBER(instantiate) instantiate(double) instantiate(float)

namespace leopard
{
  /** The same values in another number type, each rounded; doubles are handed on. */
  template <typename Number>
  std::vector<Number> rounded_to(std::vector<double> values)
  {
    if constexpr (std::is_same_v<Number, double>)
      return values;
    else
      return std::vector<Number>(values.begin(), values.end());
  }
} // namespace leopard
