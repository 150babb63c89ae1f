// SPDX-License-Identifier: Apache-2.0
#include "global_numbers.h"

namespace leopard
{
  GlobalNumbers::GlobalNumbers(const CrsMatrix<double> &A, const Communication<double> *communication, MPI_Comm comm)
    : offsets(1, 0)
  {
    int n_ranks = 1, rank = 0;
    MPI_Comm_size(comm, &n_ranks);
    MPI_Comm_rank(comm, &rank);
    counts.resize(n_ranks);
    MPI_Allgather(&A.n_rows, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    for (const int count : counts)
      offsets.push_back(offsets.back() + count);
    first = offsets[rank];

    // the ghosts' numbers come as values do; doubles hold them exactly
    std::vector<double> number(A.n_columns, -1.);
    for (int i = 0; i < A.n_rows; ++i)
      number[i] = first + i;
    if (communication != nullptr)
      communication->update_ghosts(number.data(), MemorySpace::host);
    of_column.assign(number.begin(), number.end());
  }
} // namespace leopard
