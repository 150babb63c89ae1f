// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/multigrid.h"

#include <memory>

namespace leopard
{
  /**
   * Conjugate gradients (deal.II's SolverCG, no preconditioner, from zero) on the coarsest level, as in the multigrid of the thesis, section 4.11. For
   * symmetric positive definite A on one rank.
   * @param A host memory; copied. @param backend where the vectors of the multigrid are: host, or cuda. @param tolerance of ||b - A x|| against ||b||,
   * dimensionless. What is returned of a right-hand side is not exactly linear in it, unless the tolerance is near rounding.
   *
   * solve() throws ConvergenceFailure if 10 n + 1000 iterations do not reach the tolerance.
   * @throws InvalidInput, DeviceError.
   */
  std::unique_ptr<CoarseSolver> make_cg_coarse_solver(const CrsMatrix &A, Backend backend, double tolerance);
} // namespace leopard
