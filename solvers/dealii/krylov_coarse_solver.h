// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/multigrid.h"

#include <mpi.h>

#include <memory>
#include <string>

namespace leopard
{
  /** When a Krylov coarse solver stops. */
  struct KrylovCoarseOptions
  {
    double relative_tolerance = 1e-10; ///< of the residual against the right-hand side, dimensionless
    int    max_iterations     = 10000;
  };

  /**
   * deal.II's SolverCG on the coarsest level, on one rank or several: "cg" without preconditioner, on the device with
   * the backend cuda; "amg" with Trilinos ML, on the host in any case. For symmetric positive (semi)definite problems;
   * right-hand sides of semidefinite ones are of mean zero, as Multigrid hands them over. Collective, and solve() as
   * well, which throws ConvergenceFailure where the tolerance is missed.
   * @param name "cg" or "amg". @throws InvalidInput for another name.
   */
  std::unique_ptr<CoarseSolver<double>> make_krylov_coarse_solver(
    const std::string &name, const MultigridLevel &level, Backend backend, MPI_Comm comm, const KrylovCoarseOptions &options = {});
} // namespace leopard
