// SPDX-License-Identifier: Apache-2.0
#include "algebraic_preconditioner.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

namespace leopard
{
  using namespace dealii;

  AlgebraicPreconditioner::AlgebraicPreconditioner(const LinearSolverParameters &parameters_,
                                                   const HostMatrix             &A_,
                                                   unsigned int                  n_components,
                                                   MPI_Comm                      comm_)
    : parameters(parameters_)
    , A(A_)
    , n_fields(static_cast<int>(n_components))
    , comm(comm_)
  {
  }

  void AlgebraicPreconditioner::update_values()
  {
    Timer timer;
    try
      {
        if (parameters.has_factors() && is_made)
          factors.update_values(A);
        else if (parameters.has_factors())
          factors.initialize(A, parameters.incomplete_options());
        else if (is_made)
          levels.update_values(A);
        else
          {
            PreconditionAggregation::AdditionalData data;
            data.multigrid             = parameters.multigrid.of_aggregation();
            data.arithmetic            = parameters.multigrid.arithmetic;
            data.n_fields              = n_fields;
            data.aggregation.n_threads = parameters.backend == "reference" ? 1 : parameters.block_async.n_threads;
            data.multigrid.backend     = parameters.block_async.backend;
            data.multigrid.n_threads   = parameters.block_async.n_threads;
            levels.initialize(A, data);
          }
      }
    catch (const InvalidInput &error)
      {
        throw Error("'Linear solver/Preconditioner' is " + parameters.preconditioner + ": " + error.what());
      }
    is_made               = true;
    const bool of_factors = parameters.has_factors();
    const auto on_all     = [this](bool here) { return Utilities::MPI::min(here ? 1 : 0, comm) == 1; };
    symmetric             = on_all(of_factors ? factors.is_symmetric_map() : levels.is_symmetric_map());
    fixed                 = on_all(of_factors ? factors.is_fixed_linear_map() : levels.is_fixed_linear_map());
    seconds               = timer.wall_time();
  }

  std::string AlgebraicPreconditioner::description() const
  {
    const unsigned int n_ranks = Utilities::MPI::n_mpi_processes(comm);
    if (!parameters.has_factors())
      return levels.description();
    return factors.description() + (n_ranks > 1 ? " (of the first rank's rows; each rank has its own)" : "");
  }

  std::string AlgebraicPreconditioner::details() const
  {
    return "preconditioner " + parameters.preconditioner + " set up in " + format("%.2g", seconds) + " s" +
           (parameters.has_async_factors_at_first()
              ? "; triangular solves (automatic): " + parameters.chosen_triangular().text + "; should they fail, exact ones"
              : "");
  }
} // namespace leopard
