// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "row_levels.h"

#include <memory>
#include <vector>

namespace leopard
{
  /**
   * Solves triangular systems on the host by substitution, in the order of RowLevels. What a row takes is summed in the
   * order of its entries, so that the result does not depend on threads. The entries are copied in the order in which
   * they are read: those of a level lie apart in the matrix.
   */
  template <typename Number>
  class Substitution
  {
  public:
    /** @param values one an entry, host memory. @param levels of these rows. */
    Substitution(const TriangularRows &rows, const Number *values, std::shared_ptr<const RowLevels> levels);

    /** Allocates nothing. @param x, b n_rows values, host memory; they may be the same. */
    void solve(Number *x, const Number *b) const;

    /** Takes other values, in the order in which the first came. Allocates nothing. */
    void update_values(const Number *values);

    const RowLevels &levels() const { return *order; }

  private:
    std::shared_ptr<const RowLevels> order;
    std::vector<int>                 offsets, columns; ///< of each place, without the diagonal
    std::vector<Number>              values, pivots;   ///< pivots: empty for ones
    std::vector<int>                 source, diagonal; ///< of each place: where its values, and its pivot, come from
  };
} // namespace leopard
