// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "../exchange/free_exchange.h"
#include "relaxation.h"

namespace leopard
{
  /**
   * n global iterations on several ranks: before each the ghosts of x are brought up to date. Without ghosts anywhere
   * all n are one call. Collective.
   * @param ghosts_are_current not before the first. @param loose null, or a visit: between two iterations nobody waits,
   * ghosts are those that have arrived.
   */
  template <typename Number>
  void iterate_with_ghosts(Relaxation<Number>          &relaxation,
                           Number                      *x,
                           const Number                *b,
                           int                          n,
                           const Communication<Number> &communication,
                           bool                         ghosts_are_current = false,
                           LooseExchange<Number>       *loose              = nullptr);

  /** What iterate_freely() has done, the same on all ranks. */
  struct FreeIterations
  {
    int    minimum = 0, maximum = 0; ///< of the rank that did the fewest, and the most
    double mean = 0.;                ///< over ranks
  };

  /**
   * At least n global iterations on each rank, between which nobody waits: ghosts are those that have arrived, and a
   * rank that is faster goes on until all ranks have done n, so that it may do up to (1 + most_more) n. Then it does no
   * more but send and take values, so that the processor is free for others. A visit of the exchange has begun and
   * ghosts are current. Collective. @throws Error on all ranks, with the text of the first one on which there is an
   * exception.
   */
  template <typename Number>
  FreeIterations iterate_freely(
    Relaxation<Number> &relaxation, Number *x, const Number *b, int n, const Communication<Number> &communication, FreeExchange<Number> &exchange);
  constexpr int most_more = 4;

  /**
   * As solve() in relaxation.h, but between two tests of the residual ranks do not wait for one another. For a test all
   * have the newest values, so that its residuals are true ones, and all ranks end with the same test: that after which
   * the slowest one has done max_iterations, if there is no reason to end before. Collective.
   */
  template <typename Number>
  SolveResult solve(Relaxation<Number>          &relaxation,
                    Number                      *x,
                    const Number                *b,
                    const StoppingCriteria      &criteria,
                    const Communication<Number> &communication,
                    FreeExchange<Number>        &exchange);
} // namespace leopard
