// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/linear_solvers/choose_method.h>

#include <mpi.h>

namespace leopard
{
  struct Parameters;

  /**
   * What the choice of a linear solver depends on, as far as the parameters say it. @param parameters read, but for the
   * choice itself; @param n_nodes_of_file that the mesh file says it has, 0 without one.
   */
  SolverTask solver_task(const Parameters &parameters, double n_nodes_of_file);

  /** Whether on each machine there are as many GPUs as ranks. It takes a tenth of a second. Collective. */
  bool has_gpu_of_its_own(MPI_Comm comm);

  /**
   * An estimate of what the reaction takes from the least eigenvalue of the matrix of a stationary problem, max (r'(u)
   * - delta), less a lower bound of that of diffusion; positive: the matrix may be indefinite. The derivative is taken
   * at the initial values, the exact solution if there is one and a constant steady state, each at some hundred points
   * of the domain, and at values between these; of diffusion, on a hypercube or box with values prescribed on the whole
   * boundary, the bound is
   *
   *   lambda_1 >= min a pi^2 sum_d 1 / L_d^2   for edges L_d,   and 0 elsewhere.
   *
   * A solution may leave these values, and then Newton's method meets other matrices. Infinite where a derivative is
   * not finite.
   */
  double indefiniteness(const Parameters &parameters);
} // namespace leopard
