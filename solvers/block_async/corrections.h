// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../matrix/block_crs.h"
#include "../matrix/scaled_matrix.h"
#include "block_async.h"

#include <cmath>
#include <type_traits>
#include <vector>

namespace leopard
{
  /**
   * What residuals of a block are multiplied with before they are rounded to Low: a power of two that brings the
   * largest near one (to_about_one()); 1 for Low = Number.
   */
  template <typename Low, typename Number>
  Number unit_of(Number largest)
  {
    if constexpr (std::is_same_v<Number, Low>)
      return Number(1);
    else
      return static_cast<Number>(to_about_one(static_cast<double>(largest)));
  }

  /**
   * The diagonal blocks in the precision of corrections, fl(S A_JJ S) with S as ScaledMatrix has it, without overlap.
   * For Low = Number S = I.
   */
  template <typename Number, typename Low>
  struct LowBlocks
  {
    BlockCrs<Low>       matrix;  ///< nothing outside the blocks
    std::vector<Low>    weights; ///< omega / (s_i d_i s_i)
    std::vector<Number> scale;   ///< s_i

    /** @throws InvalidInput naming the entry that is too large for Low even so. */
    LowBlocks(const BlockCrs<Number> &A, double omega, bool l1_weights)
      : matrix(A, typename BlockCrs<Low>::DiagonalBlocks())
      , scale(A.diagonal.size(), Number(1))
    {
      update(A, omega, l1_weights);
    }

    /** Other values for the same pattern, which check() has seen. */
    void update(const BlockCrs<Number> &A, double omega, bool l1_weights)
    {
      A.compute_weights(omega, l1_weights, high_weights);
      weights.resize(high_weights.size());
      if constexpr (!std::is_same_v<Number, Low>)
        for (std::size_t l = 0; l < scale.size(); ++l)
          scale[l] = scale_of(A.diagonal[l]);
      for (std::size_t l = 0; l < scale.size(); ++l)
        {
          matrix.diagonal[l] = static_cast<Low>(scale[l] * A.diagonal[l] * scale[l]);
          weights[l]         = static_cast<Low>(high_weights[l] / scale[l] / scale[l]);
        }
      for_each_entry(A, [&](int p, int i, int j) { matrix.inner.values[p] = in_low(A.inner.values[p], scale[i], scale[j], i, j); });
    }

    /** @throws InvalidInput as the constructor, for values that update() is to take, in the order of the CrsMatrix. */
    static void check(const BlockCrs<Number> &A, const Number *values)
    {
      if constexpr (!std::is_same_v<Number, Low>)
        for_each_entry(A, [&](int p, int i, int j) {
          in_low(values[A.inner.source[p]], scale_of(values[A.diagonal_source[i]]), scale_of(values[A.diagonal_source[j]]), i, j);
        });
    }

  private:
    static Low in_low(Number value, Number s_i, Number s_j, int i, int j)
    {
      if constexpr (std::is_same_v<Number, Low>)
        return value;
      else
        return rounded_entry<Low>(s_i * value * s_j, value, i, j);
    }

    /** f(number, row, column) of all inner entries; rows are local rows, as nothing overlaps. */
    template <typename F>
    static void for_each_entry(const BlockCrs<Number> &A, const F &f)
    {
      for (int block = 0; block < A.n_blocks(); ++block)
        for (int l = A.first_local[block]; l < A.first_local[block + 1]; ++l)
          for (int p = A.inner.offsets[l]; p < A.inner.offsets[l + 1]; ++p)
            f(p, l, A.blocks.begin[block] + A.inner.columns[p]);
    }

    std::vector<Number> high_weights;
  };
} // namespace leopard
