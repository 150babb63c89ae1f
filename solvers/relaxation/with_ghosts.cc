// SPDX-License-Identifier: Apache-2.0
#include "with_ghosts.h"

namespace leopard
{
  void iterate_with_ghosts(
    Relaxation &relaxation, double *x, const double *b, int n, const Communication &communication, bool ghosts_are_current, LooseExchange *loose)
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
} // namespace leopard
