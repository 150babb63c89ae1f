// SPDX-License-Identifier: Apache-2.0
#include "global_numbers.h"

namespace leopard
{
  namespace
  {
    template <typename T>
    std::vector<T> all_gather(const std::vector<T> &own, MPI_Datatype type, MPI_Comm comm)
    {
      int n_ranks = 1;
      MPI_Comm_size(comm, &n_ranks);
      const int        n = static_cast<int>(own.size());
      std::vector<int> counts(n_ranks), offsets(n_ranks + 1, 0);
      MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
      for (int r = 0; r < n_ranks; ++r)
        offsets[r + 1] = offsets[r] + counts[r];
      std::vector<T> all(offsets.back());
      MPI_Allgatherv(own.data(), n, type, all.data(), counts.data(), offsets.data(), type, comm);
      return all;
    }
  } // namespace

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

  CrsMatrix<double> GlobalNumbers::gathered(const CrsMatrix<double> &A, MPI_Comm comm) const
  {
    std::vector<int> lengths, columns;
    for (int i = 0; i < A.n_rows; ++i)
      lengths.push_back(A.row_offsets[i + 1] - A.row_offsets[i]);
    for (const int column : A.columns)
      columns.push_back(of_column[column]);
    CrsMatrix<double> whole;
    whole.n_rows = whole.n_columns = n();
    for (const int length : leopard::gathered(lengths, comm))
      whole.row_offsets.push_back(whole.row_offsets.back() + length);
    whole.columns = leopard::gathered(columns, comm);
    whole.values  = leopard::gathered(A.values, comm);
    return whole;
  }

  std::vector<double> gathered(const std::vector<double> &own, MPI_Comm comm)
  {
    return all_gather(own, MPI_DOUBLE, comm);
  }

  std::vector<int> gathered(const std::vector<int> &own, MPI_Comm comm)
  {
    return all_gather(own, MPI_INT, comm);
  }
} // namespace leopard
