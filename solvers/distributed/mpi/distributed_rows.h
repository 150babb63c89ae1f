// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../matrix/crs_matrix.h"
#include "own_range.h"

#include <mpi.h>

#include <vector>

namespace leopard
{
  /** One entry of a distributed matrix, in the numbering of all ranks. */
  struct DistributedEntry
  {
    int    row = 0, column = 0;
    double value = 0.;
  };

  /**
   * The rows that a rank owns of a distributed, not necessarily square matrix, before its columns are numbered as the
   * rest of the library wants it. Host memory. Sets of numbers ("ghosts") are sorted, with each number once.
   */
  struct DistributedRows
  {
    std::vector<int>    row_offsets = {0};
    std::vector<int>    columns; ///< in the numbering of all ranks
    std::vector<double> values;

    DistributedRows() = default;

    /** What number() makes a matrix of. */
    DistributedRows(const CrsMatrix<double> &matrix, const OwnRange &own_columns, const std::vector<int> &ghosts = {});

    /**
     * From entries that any rank may know of; those of other ranks' rows are sent to them. Entries given more than once
     * count once. Collective.
     */
    DistributedRows(const std::vector<DistributedEntry> &entries, const OwnRange &rows, MPI_Comm comm);

    /** The rows of the transpose. Collective. @param rows of this matrix; @param own_columns those of the transpose. */
    DistributedRows transpose(const OwnRange &rows, const OwnRange &own_columns, MPI_Comm comm) const;

    /** The rows that other ranks own and `ghosts` names, in its order. Collective. @param rows of this matrix. */
    DistributedRows rows_of_others(const OwnRange &rows, const std::vector<int> &ghosts, MPI_Comm comm) const;

    /** Empties rows. @param rows of this matrix. @param empty those to empty; others' are left out. */
    void clear_rows(const OwnRange &rows, const std::vector<int> &empty);

    /** Puts rows behind the last one. */
    void append(const DistributedRows &rows);

    /** The columns that are not own ones. */
    std::vector<int> ghosts(const OwnRange &own_columns) const;

    /** With columns numbered: own ones from 0 on, then one for each of ghosts. */
    CrsMatrix<double> number(const OwnRange &own_columns, const std::vector<int> &ghosts) const;

    /**
     * The rows of all ranks. Collective. @param n_columns of all. @throws InvalidInput for more than 2^31 - 1 entries.
     */
    CrsMatrix<double> gathered(int n_columns, MPI_Comm comm) const;
  };

  /** Own rows of a matrix that each rank has as a whole. @param rows of it. */
  DistributedRows own_rows(const CrsMatrix<double> &whole, const OwnRange &rows);

  /** The place of a number among own entries and the ghosts behind them, among which it is. */
  int local_index(int number, const OwnRange &own, const std::vector<int> &ghosts);

  /**
   * A B. Collective. @param inner the rows of B; @param columns of B. @param n_threads 0: as many as this process may
   * use.
   * @throws InvalidInput as product().
   */
  DistributedRows
  product(const DistributedRows &A, const OwnRange &inner, const DistributedRows &B, const OwnRange &columns, MPI_Comm comm, int n_threads);

  /** Everybody's values, rank after rank. Collective. */
  std::vector<double> gathered(const std::vector<double> &own, MPI_Comm comm);
  std::vector<int>    gathered(const std::vector<int> &own, MPI_Comm comm);
} // namespace leopard
