// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"

#include <string>
#include <vector>

namespace leopard::command_line
{
  /** The first row whose diagonal entry is missing or zero; -1: none. By all threads. */
  int row_without_diagonal(const CrsMatrix<double> &A);

  /**
   * "the matrix is structurally singular: at most 499 of its 500 rows can have a pivot, as columns 1, 2 and 3 have
   * entries in rows 1 and 2 only", rows and columns counted from 1; empty where each row can have one. See
   * structural_rank().
   */
  std::string why_structurally_singular(const CrsMatrix<double> &A);

  /** Rows and columns without an entry that is not zero. */
  struct ZeroRows
  {
    int n            = 0;  ///< zero rows, which have got a_ii = 1, or are one of n_paired
    int n_paired     = 0;  ///< those of them that have got an entry in a zero column, whose x is free
    int n_alone      = 0;  ///< of the others those whose columns are not zero: states of a Markov chain that absorb
    int first_column = -1; ///< that is zero, whose row is not, and that no zero row has got; -1: none

    bool had_whole_diagonal = false; ///< nothing was zero, and nothing else was looked for
  };

  /**
   * A row i that is zero, with b_i = 0, says nothing. If its column is zero, too, it gets a_ii = 1, so that x_i = 0.
   * Otherwise it gets a_ij = 1 with a zero column j, so that x_j = 0, which may be any number; and where no such column
   * is left a_ii = 1, so that of the solutions one with x_i = 0 is looked for.
   * @param b_is_product whether b is A 1: then it is made A x with ones, but zeros for rows with a_ii = 1.
   * @throws InvalidInput for a zero row with another b_i.
   */
  ZeroRows complete_zero_rows(CrsMatrix<double> &A, std::vector<double> &b, bool b_is_product);

  /**
   * Looks at the parts of a matrix that are coupled to nothing else. Where the rows of one sum to zero, constants on it
   * are in the null space; where its columns do, no x has an A x that does not sum to zero on it.
   * @param is_symmetric what is known of A. @param tolerance of the residual, relative. @param is_given whether b was
   * given, and is not A 1.
   * @throws InvalidInput if A x = b has no solution for that reason, or b = A 1 is zero.
   */
  void check_range(const CrsMatrix<double> &A, bool is_symmetric, const std::vector<double> &b, double tolerance, bool is_given);
} // namespace leopard::command_line
