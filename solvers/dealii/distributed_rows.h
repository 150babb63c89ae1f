// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trilinos_matrix.h"

#include <deal.II/base/mpi.h>

#include <vector>

namespace leopard
{
  /** One entry of a distributed matrix, in the numbering of all ranks. */
  struct DistributedEntry
  {
    dealii::types::global_dof_index row = 0, column = 0;
    double                          value = 0.;

    template <typename Archive>
    void serialize(Archive &archive, unsigned int /*version*/)
    {
      archive &row &column &value;
    }
  };

  /**
   * The rows that a rank owns of a distributed, not necessarily square matrix, before its columns are numbered as the
   * solver library wants it.
   */
  struct DistributedRows
  {
    std::vector<int>                             row_offsets = {0};
    std::vector<dealii::types::global_dof_index> columns; ///< in the numbering of all ranks
    std::vector<double>                          values;

    DistributedRows() = default;

    /** A compressed matrix; the rows named in identity_rows become rows of the identity. */
    explicit DistributedRows(const HostMatrix &matrix, const dealii::IndexSet &identity_rows = dealii::IndexSet());

    /** The same for a matrix whose columns are numbered. */
    DistributedRows(const LocalMatrix &matrix, const dealii::IndexSet &identity_rows);

    /** What number() makes a matrix of. */
    DistributedRows(const CrsMatrix<double> &matrix, const dealii::IndexSet &owned_columns, const dealii::IndexSet &ghosts);

    /**
     * From entries that any rank may know of; those of other ranks' rows are sent to them. Entries given more than once
     * count once. Collective.
     * @param owned_rows contiguous.
     */
    DistributedRows(const std::vector<DistributedEntry> &entries, const dealii::IndexSet &owned_rows, MPI_Comm comm);

    /**
     * The rows of the transpose. Collective. @param owned_rows of this matrix; @param owned_columns those of the
     * transpose.
     */
    DistributedRows transpose(const dealii::IndexSet &owned_rows, const dealii::IndexSet &owned_columns, MPI_Comm comm) const;

    /**
     * The rows that other ranks own and `ghosts` names, in its order. Collective. @param owned_rows of this matrix.
     */
    DistributedRows rows_of_others(const dealii::IndexSet &owned_rows, const dealii::IndexSet &ghosts, MPI_Comm comm) const;

    /** Empties rows. @param owned_rows of this matrix, contiguous. */
    void clear_rows(const dealii::IndexSet &owned_rows, const dealii::IndexSet &rows);

    /** Puts rows behind the last one. */
    void append(const DistributedRows &rows);

    /** Adds the columns that are not owned to a set. @param owned_columns contiguous. */
    void add_ghosts(const dealii::IndexSet &owned_columns, dealii::IndexSet &ghosts) const;

    /** With columns numbered: own ones, which are contiguous, from 0 on, then one for each element of ghosts. */
    CrsMatrix<double> number(const dealii::IndexSet &owned_columns, const dealii::IndexSet &ghosts) const;
  };

  /** The place of a global number among own entries and ghosts. @param owned contiguous. */
  int local_index(dealii::types::global_dof_index global, const dealii::IndexSet &owned, const dealii::IndexSet &ghosts);
} // namespace leopard
