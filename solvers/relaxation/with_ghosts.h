// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
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
} // namespace leopard
