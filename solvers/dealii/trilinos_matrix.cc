// SPDX-License-Identifier: Apache-2.0
#include "trilinos_matrix.h"

#include "../base/errors.h"

#include <Epetra_CrsMatrix.h>
#include <Epetra_Map.h>

namespace leopard
{
  namespace
  {
    struct EpetraArrays
    {
      int    *row_offsets = nullptr;
      int    *columns     = nullptr;
      double *values      = nullptr;
    };

    EpetraArrays arrays_of(const HostMatrix &A)
    {
      EpetraArrays arrays;
      const int    error = A.trilinos_matrix().ExtractCrsDataPointers(arrays.row_offsets, arrays.columns, arrays.values);
      if (error != 0)
        throw InvalidInput("a Trilinos matrix is handed to the solvers before its storage is contiguous: call compress() first");
      return arrays;
    }
  } // namespace

  LocalMatrix local_matrix(const HostMatrix &A)
  {
    const Epetra_CrsMatrix &epetra  = A.trilinos_matrix();
    const EpetraArrays      arrays  = arrays_of(A);
    const Epetra_Map       &columns = epetra.ColMap();

    LocalMatrix result;
    result.owned = A.locally_owned_range_indices();
    if (!result.owned.is_contiguous())
      throw InvalidInput("the rows of a rank must be contiguous to be relaxed");
    const auto first = result.owned.n_elements() > 0 ? result.owned.nth_index_in_set(0) : 0;

    result.ghosts.set_size(result.owned.size());
    for (int c = 0; c < columns.NumMyElements(); ++c)
      {
        const auto global = static_cast<dealii::types::global_dof_index>(columns.GID(c));
        if (!result.owned.is_element(global))
          result.ghosts.add_index(global);
      }
    result.ghosts.compress();

    CrsMatrix<double> &matrix = result.matrix;
    matrix.n_rows             = epetra.NumMyRows();
    matrix.n_columns          = matrix.n_rows + static_cast<int>(result.ghosts.n_elements());

    std::vector<int> local_column(columns.NumMyElements());
    for (int c = 0; c < columns.NumMyElements(); ++c)
      {
        const auto global = static_cast<dealii::types::global_dof_index>(columns.GID(c));
        local_column[c]   = result.owned.is_element(global) ? static_cast<int>(global - first)
                                                            : matrix.n_rows + static_cast<int>(result.ghosts.index_within_set(global));
      }

    const int n_entries = epetra.NumMyNonzeros();
    matrix.row_offsets.assign(arrays.row_offsets, arrays.row_offsets + matrix.n_rows + 1);
    matrix.columns.resize(n_entries);
    for (int p = 0; p < n_entries; ++p)
      matrix.columns[p] = local_column[arrays.columns[p]];
    matrix.values.assign(arrays.values, arrays.values + n_entries);
    return result;
  }

  const double *local_values(const HostMatrix &A)
  {
    return arrays_of(A).values;
  }

  double *local_values(HostMatrix &A)
  {
    return arrays_of(A).values;
  }
} // namespace leopard
