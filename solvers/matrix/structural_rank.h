// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <vector>

namespace leopard
{
  /**
   * How many rows of a matrix can have a pivot, whatever its values are: entries that are not zero, no two of them in
   * one row or column. Where these are fewer than its rows it is singular, and some of its rows, or columns, show why.
   */
  struct StructuralRank
  {
    int              n_rows   = 0;
    int              rank     = 0;     ///< at most n_rows
    bool             is_known = true;  ///< else the search was given up, and rank is how many were found until then
    bool             has_rows = false; ///< whether those that follow are rows, which have entries in few columns, or the other way round
    std::vector<int> lines;            ///< rows or columns, sorted from 0; empty: the matrix is not known to be singular
    std::vector<int> crossings;        ///< columns or rows, one less than these: lines have entries there only

    bool is_singular() const { return is_known && rank < n_rows; }
  };

  /**
   * A maximum transversal, from the diagonal on: rows without a diagonal entry take the first column that is free. Ways
   * by rows that have to take another column are searched for those that find none, of all of them by turns, which have
   * no row in common, and with a look for free columns first. Of a singular matrix the fewest lines are told that
   * some of its rows and columns without a pivot show.
   * @param A square, host memory; entries that are zero do not count. One thread; one look at each row where the
   * diagonal has no zeros.
   * Source: Duff, On algorithms for obtaining a maximum transversal, 1981 (cheap assignment, looking ahead); Pothen,
   * Fan, Computing the block triangular form of a sparse matrix, 1990 (turns).
   */
  StructuralRank structural_rank(const CrsMatrix<double> &A);

  /** @param most_work entries that searches may look at, after which they are given up. */
  StructuralRank structural_rank(const CrsMatrix<double> &A, double most_work);
} // namespace leopard
