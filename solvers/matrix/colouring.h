// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <vector>

namespace leopard
{
  /**
   * Rows grouped by colour: colour c has the rows rows[k], offsets[c] <= k < offsets[c+1], in increasing order. No two
   * rows of a colour are neighbours in the graph of A + A^T, so that all rows of a colour can be relaxed at once. Host
   * memory.
   */
  struct Colouring
  {
    std::vector<int> rows;          ///< n_rows, each row once
    std::vector<int> offsets = {0}; ///< n_colours + 1

    int n_colours() const { return static_cast<int>(offsets.size()) - 1; }
    /** Number of rows of the colour that has the fewest, and the most; 0 without rows. */
    int smallest() const;
    int largest() const;
  };

  /**
   * Greedy multicolouring: each row, in the order of the rows, gets the smallest colour that none of its neighbours
   * has. Neighbours are what A + A^T stores, ghost columns left out (no relaxation changes them). At most one colour
   * more than the largest number of neighbours; two for the five- and the seven-point stencil (red and black). Cost
   * O(entries). Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 3.6 and section 12.4.
   * @param A a matrix that validate() accepts.
   */
  template <typename Number>
  Colouring greedy_colouring(const CrsMatrix<Number> &A);
} // namespace leopard
