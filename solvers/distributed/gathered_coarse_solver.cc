// SPDX-License-Identifier: Apache-2.0
#include "gathered_coarse_solver.h"

#include "../device/device.h"
#include "../multigrid/coarse_solvers.h"

namespace leopard
{
  namespace
  {
    /** Everybody's values, rank after rank. */
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

    /** The rows of all ranks. */
    CrsMatrix<double> gather(const CrsMatrix<double> &A, const GlobalNumbers &numbers, MPI_Comm comm)
    {
      std::vector<int> lengths, columns;
      for (int i = 0; i < A.n_rows; ++i)
        lengths.push_back(A.row_offsets[i + 1] - A.row_offsets[i]);
      for (const int column : A.columns)
        columns.push_back(numbers.of_column[column]);
      CrsMatrix<double> whole;
      whole.n_rows = whole.n_columns = numbers.n();
      for (const int length : all_gather(lengths, MPI_INT, comm))
        whole.row_offsets.push_back(whole.row_offsets.back() + length);
      whole.columns = all_gather(columns, MPI_INT, comm);
      whole.values  = all_gather(A.values, MPI_DOUBLE, comm);
      return whole;
    }
  } // namespace

  GatheredCoarseSolver::GatheredCoarseSolver(const MultigridLevel &level, const MultigridOptions &options, MPI_Comm comm_)
    : comm(comm_)
    , n(level.matrix.n_rows)
    , on_device(options.backend == Backend::cuda)
    , numbers(level.matrix, level.communication.get(), comm_)
    , b_own(n)
    , b_whole(numbers.n())
    , x_whole(numbers.n())
    , x_own(level.matrix.n_columns)
  {
    const CrsMatrix<double> whole = gather(level.matrix, numbers, comm);
    solver                        = make_coarse_solver<double>(whole, constants_in_null_space(whole, Communication<double>()).has_value(), options);
    if (on_device)
      {
        device_b.reinit(b_whole.size());
        device_x.reinit(x_whole.size());
      }
  }

  std::string GatheredCoarseSolver::name() const
  {
    return solver->name() + ", the whole level on each rank";
  }

  void GatheredCoarseSolver::update(const CrsMatrix<double> &A, bool /*singular*/)
  {
    const CrsMatrix<double> whole = gather(A, numbers, comm);
    solver->update(whole, constants_in_null_space(whole, Communication<double>()).has_value()); // as when it was made
  }

  void GatheredCoarseSolver::solve(double *x, const double *b)
  {
    if (on_device)
      device::copy_to_host(b_own.data(), b, n * sizeof(double));
    MPI_Allgatherv(on_device ? b_own.data() : b, n, MPI_DOUBLE, b_whole.data(), numbers.counts.data(), numbers.offsets.data(), MPI_DOUBLE, comm);
    if (on_device)
      {
        device_b.copy_from_host(b_whole.data());
        solver->solve(device_x.data(), device_b.data());
        device_x.copy_to_host(x_whole.data());
      }
    else
      solver->solve(x_whole.data(), b_whole.data());
    double *own = on_device ? x_own.data() : x;
    for (std::size_t i = 0; i < x_own.size(); ++i)
      own[i] = x_whole[numbers.of_column[i]];
    if (on_device)
      device::copy_to_device(x, x_own.data(), x_own.size() * sizeof(double));
  }
} // namespace leopard
