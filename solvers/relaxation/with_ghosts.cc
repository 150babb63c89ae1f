// SPDX-License-Identifier: Apache-2.0
#include "with_ghosts.h"

namespace leopard
{
  template <typename Number>
  void iterate_with_ghosts(Relaxation<Number>          &relaxation,
                           Number                      *x,
                           const Number                *b,
                           int                          n,
                           const Communication<Number> &communication,
                           bool                         ghosts_are_current,
                           LooseExchange<Number>       *loose)
  {
    if (!communication.has_ghosts())
      {
        relaxation.iterate(x, b, n);
        return;
      }
    if (loose != nullptr)
      loose->begin();
    for (int i = 0; i < n; ++i)
      {
        if (loose != nullptr && i > 0)
          loose->update_ghosts(x, relaxation.memory_space());
        else if (i > 0 || !ghosts_are_current)
          communication.update_ghosts(x, relaxation.memory_space());
        relaxation.iterate(x, b, 1);
      }
  }

#define INSTANTIATE(Number)                                                          \
  template void iterate_with_ghosts(Relaxation<Number>          &relaxation,         \
                                    Number                      *x,                  \
                                    const Number                *b,                  \
                                    int                          n,                  \
                                    const Communication<Number> &communication,      \
                                    bool                         ghosts_are_current, \
                                    LooseExchange<Number>       *loose);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
