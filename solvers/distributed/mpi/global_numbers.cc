// SPDX-License-Identifier: Apache-2.0
#include "global_numbers.h"

namespace leopard
{
  GlobalNumbers::GlobalNumbers(const CrsMatrix<double> &A, const Communication<double> *communication, MPI_Comm comm)
    : own(own_range(A.n_rows, comm))
    , counts(own.counts())
  {
    // the ghosts' numbers come as values do; doubles hold them exactly
    std::vector<double> number(A.n_columns, -1.);
    for (int i = 0; i < A.n_rows; ++i)
      number[i] = own.first() + i;
    if (communication != nullptr)
      communication->update_ghosts(number.data(), MemorySpace::host);
    of_column.assign(number.begin(), number.end());
  }

  CrsMatrix<double> GlobalNumbers::gathered(const CrsMatrix<double> &A, MPI_Comm comm) const
  {
    DistributedRows rows;
    rows.row_offsets = A.row_offsets;
    rows.values      = A.values;
    for (const int column : A.columns)
      rows.columns.push_back(of_column[column]);
    return rows.gathered(n(), comm);
  }
} // namespace leopard
