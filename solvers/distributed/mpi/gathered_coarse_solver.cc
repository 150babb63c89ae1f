// SPDX-License-Identifier: Apache-2.0
#include "gathered_coarse_solver.h"

#include "../../device/device.h"
#include "../../multigrid/coarse_solvers.h"

namespace leopard
{
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
    const CrsMatrix<double> whole = numbers.gathered(level.matrix, comm);
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
    const CrsMatrix<double> whole = numbers.gathered(A, comm);
    solver->update(whole, constants_in_null_space(whole, Communication<double>()).has_value()); // as when it was made
  }

  void GatheredCoarseSolver::solve(double *x, const double *b)
  {
    if (on_device)
      device::copy_to_host(b_own.data(), b, n * sizeof(double));
    MPI_Allgatherv(on_device ? b_own.data() : b, n, MPI_DOUBLE, b_whole.data(), numbers.counts.data(), numbers.own.offsets.data(), MPI_DOUBLE, comm);
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
