// SPDX-License-Identifier: Apache-2.0
#include "gathered_coarse_solver.h"

#include "../../base/together.h"
#include "../../device/device.h"
#include "../../multigrid/coarse_solvers.h"
#include "mpi_transport.h"

#include <algorithm>

namespace leopard
{
  namespace
  {
    /** As ghosts of the level. */
    std::unique_ptr<Transport> make_transport_like(const Communication<double> *ghosts, Backend backend, int n, MPI_Comm comm)
    {
      const bool staged = ghosts != nullptr && backend == Backend::cuda && !ghosts->is_queued(MemorySpace::device);
      return make_transport(comm, backend, staged, n);
    }
  } // namespace

  GatheredCoarseSolver::GatheredCoarseSolver(const MultigridLevel &level, const MultigridOptions &options, MPI_Comm comm_)
    : comm(comm_)
    , n(level.matrix.n_rows)
    , on_device(options.backend == Backend::cuda)
    , numbers(level.matrix, level.communication.get(), comm_)
  {
    const CrsMatrix<double> whole = numbers.gathered(level.matrix, comm);
    together(
      [&] { // memory may be missing on one rank alone
        solver = make_coarse_solver<double>(whole, constants_in_null_space(whole, Communication<double>()).has_value(), options);
        b_whole.resize(on_device ? 0 : numbers.n());
        x_whole.resize(b_whole.size());
        if (!on_device)
          return;
        device_b       = device::Array<double>(numbers.n());
        device_x       = device::Array<double>(numbers.n());
        device_numbers = device::Array<int>(numbers.of_column);
      },
      [comm_](const std::string &own) { return first_error_in(comm_, own); });
    transport = make_transport_like(level.communication.get(), options.backend, numbers.n(), comm);
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
      {
        device::copy_entries<double>(device_b.data() + numbers.own.first(), nullptr, b, nullptr, n, false);
        transport->gather(device_b.data(), numbers.own.offsets);
        solver->solve(device_x.data(), device_b.data());
        device::copy_entries<double>(x, nullptr, device_x.data(), device_numbers.data(), static_cast<int>(device_numbers.size()), false);
        return;
      }
    std::copy_n(b, n, b_whole.begin() + numbers.own.first());
    transport->gather(b_whole.data(), numbers.own.offsets);
    solver->solve(x_whole.data(), b_whole.data());
    for (std::size_t i = 0; i < numbers.of_column.size(); ++i)
      x[i] = x_whole[numbers.of_column[i]];
  }
} // namespace leopard
