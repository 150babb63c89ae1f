// SPDX-License-Identifier: Apache-2.0
#include "index_sets.h"

#include "../base/errors.h"
#include "../distributed/mpi/mpi_transport.h"

#include <Epetra_CrsMatrix.h>
#include <Epetra_Map.h>

#include <string>

namespace leopard
{
  using namespace dealii;

  OwnRange own_range(const IndexSet &owned, MPI_Comm comm)
  {
    checked_count(static_cast<double>(owned.size()), "unknowns of all ranks");
    const OwnRange   result = own_range(static_cast<int>(owned.n_elements()), comm);
    const int        first  = owned.n_elements() > 0 ? static_cast<int>(owned.nth_index_in_set(0)) : result.first();
    std::vector<int> firsts(result.n_ranks());
    MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm);
    for (int r = 0; r < result.n_ranks(); ++r)
      if (firsts[r] != result.offsets[r])
        throw InvalidInput("the unknowns of rank " + std::to_string(r) + " begin with number " + std::to_string(firsts[r]) + "\n  expected: with " +
                           std::to_string(result.offsets[r]) + ", behind those of the ranks before");
    return result;
  }

  std::vector<int> numbers_of(const IndexSet &set)
  {
    std::vector<int> result;
    result.reserve(set.n_elements());
    for (const types::global_dof_index i : set)
      result.push_back(static_cast<int>(i));
    return result;
  }

  DistributedRows rows_of(const HostMatrix &matrix, const IndexSet &identity_rows)
  {
    DistributedRows         result;
    const Epetra_CrsMatrix &epetra = matrix.trilinos_matrix();
    result.columns.reserve(epetra.NumMyNonzeros());
    result.values.reserve(epetra.NumMyNonzeros());
    for (int row = 0; row < epetra.NumMyRows(); ++row)
      {
        const int number = epetra.GRID(row);
        if (identity_rows.size() > 0 && identity_rows.is_element(number))
          {
            result.columns.push_back(number);
            result.values.push_back(1.);
          }
        else
          {
            int     n           = 0;
            int    *row_columns = nullptr;
            double *row_values  = nullptr;
            epetra.ExtractMyRowView(row, n, row_values, row_columns);
            for (int p = 0; p < n; ++p)
              {
                result.columns.push_back(epetra.GCID(row_columns[p]));
                result.values.push_back(row_values[p]);
              }
          }
        result.row_offsets.push_back(static_cast<int>(result.columns.size()));
      }
    return result;
  }

  DistributedRows rows_of(const LocalMatrix &local, const IndexSet &identity_rows)
  {
    DistributedRows          result;
    const CrsMatrix<double> &A      = local.matrix;
    std::vector<int>         number = numbers_of(local.owned);
    for (const int ghost : numbers_of(local.ghosts))
      number.push_back(ghost);
    result.columns.reserve(A.columns.size());
    result.values.reserve(A.columns.size());
    for (int row = 0; row < A.n_rows; ++row)
      {
        if (identity_rows.is_element(number[row]))
          {
            result.columns.push_back(number[row]);
            result.values.push_back(1.);
          }
        else
          for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
            {
              result.columns.push_back(number[A.columns[p]]);
              result.values.push_back(A.values[p]);
            }
        result.row_offsets.push_back(static_cast<int>(result.columns.size()));
      }
    return result;
  }
} // namespace leopard
