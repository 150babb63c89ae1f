// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "../exchange/ranks.h"
#include "cg.h"
#include "fgmres.h"

namespace leopard
{
  /**
   * As make_cg() in cg.h for a matrix whose rows several ranks have. Vectors have a rank's own n_rows entries, in host
   * memory, or with the backend cuda on the rank's device; residuals, iterations and how a solve ends are those of the
   * whole matrix and the same on all ranks. KrylovSolver::solve() is collective, and so may the preconditioner be on
   * the host. On the device making it and KrylovSolver::update_values() are collective, too, and a solve is one CUDA
   * graph a rank, whose kernels wait for those of the other ranks.
   * @param A this rank's rows, columns from n_rows on are ghosts; copied. @param preconditioner of this rank's rows, in
   * the memory of the backend; null: none. @param communication of vectors with these ghosts. @param ranks of the
   * backend cuda: the same ranks, whose transport is queued and gathers two numbers a rank, for make_fgmres()
   * restart + 1. A limit of seconds is over where it is by the clock of one rank. @throws InvalidInput, on this rank
   * alone, on the device also for no rows.
   */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cg(const CrsMatrix<Number>                     &A,
                                                const CgOptions                             &options,
                                                std::shared_ptr<Preconditioner<Number>>      preconditioner,
                                                std::shared_ptr<const Communication<Number>> communication,
                                                std::shared_ptr<const Ranks>                 ranks = nullptr);

  /** The same of make_fgmres() in fgmres.h. */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_fgmres(const CrsMatrix<Number>                     &A,
                                                    const FgmresOptions                         &options,
                                                    std::shared_ptr<Preconditioner<Number>>      preconditioner,
                                                    std::shared_ptr<const Communication<Number>> communication,
                                                    std::shared_ptr<const Ranks>                 ranks = nullptr);

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
