// SPDX-License-Identifier: Apache-2.0
#include "distributed_levels.h"

#include "../distributed/ghost_exchange.h"

namespace leopard
{
  void add_ghosts(std::vector<DistributedLevel> &levels)
  {
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        DistributedLevel &level = levels[l];
        level.ghosts.set_size(level.owned.size());
        level.matrix.add_ghosts(level.owned, level.ghosts);
        for (const auto *rows : {&level.restriction, &level.interface, &level.interface_transpose})
          if (*rows)
            (*rows)->add_ghosts(level.owned, level.ghosts);
        if (l + 1 < levels.size())
          levels[l + 1].prolongation->add_ghosts(level.owned, level.ghosts);
        level.ghosts.compress();
      }
  }

  MultigridLevel numbered_level(const std::vector<DistributedLevel> &levels, std::size_t l, bool several_ranks, MPI_Comm comm)
  {
    const DistributedLevel &from   = levels[l];
    const auto              number = [&](const std::optional<DistributedRows> &rows, const DistributedLevel &of_columns) {
      return rows ? rows->number(of_columns.owned, of_columns.ghosts) : CrsMatrix<double>();
    };
    MultigridLevel level;
    level.matrix = from.matrix.number(from.owned, from.ghosts);
    if (l > 0)
      {
        level.prolongation        = number(from.prolongation, levels[l - 1]);
        level.restriction         = number(from.restriction, from);
        level.interface           = number(from.interface, from);
        level.interface_transpose = number(from.interface_transpose, from);
      }
    if (several_ranks)
      level.communication = std::make_shared<GhostExchange<double>>(from.owned, from.ghosts, comm);
    return level;
  }
} // namespace leopard
