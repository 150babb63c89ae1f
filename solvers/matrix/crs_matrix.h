// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/number_types.h"

#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /**
   * A sparse matrix in compressed row storage, in host memory: row i holds the entries
   * row_offsets[i] <= p < row_offsets[i+1], entry p stands in column columns[p] and has the value values[p].
   *
   * A matrix is square (n_columns == n_rows), or it is what one rank holds of a distributed square matrix: then the
   * columns 0 .. n_rows-1 are the rank's own unknowns and n_rows .. n_columns-1 are *ghosts*, whose values
   * other ranks own and no relaxation changes. Indices are 32 bits wide; at most 2^31 - 1 entries.
   */
  template <typename Number>
  struct CrsMatrix
  {
    int                 n_rows      = 0;
    int                 n_columns   = 0;
    std::vector<int>    row_offsets = {0}; ///< n_rows + 1 entries, not decreasing
    std::vector<int>    columns;           ///< one an entry, any order within a row, no column twice
    std::vector<Number> values;            ///< one an entry

    /** Number of stored entries. @throws InvalidInput for more than 2^31 - 1. */
    int n_entries() const;

    /**
     * Checks what every relaxation relies on: consistent array lengths, columns in range, no column twice in a row, no
     * empty row, finite values, and a diagonal entry that is stored and not zero.
     * @throws InvalidInput naming the row and column, what was found there and what is expected.
     */
    void validate() const;

    /** The same, but that rows may be empty and the diagonal be zero or missing. @throws InvalidInput. */
    void validate_entries() const;
  };

  /**
   * A number of rows, entries or nodes as an int. @param count computed in double, which holds each below 2^53 exactly
   * and does not wrap beyond.
   * @param of_what "entries in ...", for the message. @throws InvalidInput if it is more than 2^31 - 1.
   */
  int checked_count(double count, const std::string &of_what);

  /** The same matrix in another number type, each value rounded. */
  template <typename Number>
  CrsMatrix<Number> rounded_to(CrsMatrix<double> A)
  {
    return {A.n_rows, A.n_columns, std::move(A.row_offsets), std::move(A.columns), rounded_to<Number>(std::move(A.values))};
  }

  /** A without the zeros that are stored off its diagonal. */
  template <typename Number>
  CrsMatrix<Number> without_zeros(const CrsMatrix<Number> &A);

  /** A^T, rows sorted by column. A may be rectangular (interpolation between grids), as for multiply(). */
  template <typename Number>
  CrsMatrix<Number> transpose(const CrsMatrix<Number> &A);

  /** y = A x on the host, in sequence. @param x n_columns values, @param y n_rows values. */
  template <typename Number>
  void multiply(const CrsMatrix<Number> &A, const Number *x, Number *y);

  /** ||b - A x||_2 on the host, in sequence, own rows only. @param x n_columns values, @param b n_rows values. */
  template <typename Number>
  double residual_norm(const CrsMatrix<Number> &A, const Number *x, const Number *b);
} // namespace leopard
