// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/block_crs.h"

#include <cstdint>
#include <vector>

namespace leopard
{
  /**
   * The entries within the diagonal blocks, without the diagonal, in slices of eight rows of a block, so that vector
   * instructions relax eight rows at once (Monakov, Lokhmotov, Avetisyan 2010: sliced ELLPACK). Entry e of the slice's
   * row r is number offsets[s] + 8 e + r; shorter rows are filled up with zeros. Host memory.
   */
  template <typename Number>
  class SlicedRows
  {
  public:
    static constexpr int height = 8;
    static int           rounded_up(int n) { return (n + height - 1) / height * height; }

    /** Empty, until built. */
    SlicedRows() = default;
    explicit SlicedRows(const BlockCrs<Number> &matrix);

    /** Values and weights anew. @param weights one a local row, see BlockCrs::compute_weights(). */
    void update(const BlockCrs<Number> &matrix, const std::vector<Number> &weights);

    /**
     * One Jacobi sweep inside a block: next_i = keep y_i + weight_i (frozen_i - sum over j != i of a_ij y_j). @param y,
     * frozen, next rounded_up(n) values for a block of n rows, whose last ones mean nothing but are numbers.
     */
    void sweep(int block, Number keep, const Number *y, const Number *frozen, Number *next) const;

    /** result_i = frozen_i - sum over j != i of a_ij y_j, arrays likewise. */
    void subtract(int block, const Number *y, const Number *frozen, Number *result) const;

  private:
    void sweep_with(const Number *some_weights, int block, Number keep, const Number *y, const Number *frozen, Number *next) const;

    std::vector<int>           first_slice = {0}; ///< of each block
    std::vector<int>           offsets     = {0}; ///< of each slice
    std::vector<std::uint16_t> columns;           ///< from the block's first row
    std::vector<Number>        values, weights;   ///< of the slices' rows
  };
} // namespace leopard
