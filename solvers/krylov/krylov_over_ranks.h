// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "cg.h"
#include "fgmres.h"

namespace leopard
{
  /**
   * As make_cg() in cg.h for a matrix whose rows several ranks have, on the host. Vectors have a rank's own n_rows
   * entries; residuals, iterations and how a solve ends are those of the whole matrix and the same on all ranks.
   * KrylovSolver::solve() is collective, and so may the preconditioner be.
   * @param A this rank's rows, columns from n_rows on are ghosts; copied. @param preconditioner of this rank's rows, in
   * host memory; null: none. @param communication of vectors with these ghosts. @throws InvalidInput, on this rank
   * alone, also for the backend cuda and a limit of seconds.
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cg(const CrsMatrix<Number>                     &A,
                                                const CgOptions                             &options,
                                                std::shared_ptr<Preconditioner<Number>>      preconditioner,
                                                std::shared_ptr<const Communication<Number>> communication);

  /** The same of make_fgmres() in fgmres.h. */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_fgmres(const CrsMatrix<Number>                     &A,
                                                    const FgmresOptions                         &options,
                                                    std::shared_ptr<Preconditioner<Number>>      preconditioner,
                                                    std::shared_ptr<const Communication<Number>> communication);

  /**
   * As make_preconditioner() in preconditioner.h: n iterations from z = 0, before each of which but the first the
   * ghosts of z are brought up to date. apply() is collective. @param communication of vectors with the relaxation's
   * ghosts.
   * @throws InvalidInput, also for a relaxation on the device if there are ghosts anywhere.
   */
  template <typename Number>
  std::shared_ptr<Preconditioner<Number>>
  make_preconditioner(std::shared_ptr<Relaxation<Number>> relaxation, int n_iterations, std::shared_ptr<const Communication<Number>> communication);
} // namespace leopard
