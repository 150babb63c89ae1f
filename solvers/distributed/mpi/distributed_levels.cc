// SPDX-License-Identifier: Apache-2.0
#include "distributed_levels.h"

#include "ghost_exchange.h"

namespace leopard
{
  void add_ghosts(std::vector<DistributedLevel> &levels)
  {
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        DistributedLevel &level = levels[l];
        level.ghosts            = level.matrix.ghosts(level.own);
        for (const auto *rows : {&level.restriction, &level.interface, &level.interface_transpose})
          if (*rows)
            add_numbers(level.ghosts, (*rows)->ghosts(level.own));
        if (l + 1 < levels.size())
          add_numbers(level.ghosts, levels[l + 1].prolongation->ghosts(level.own));
      }
  }

  MultigridLevel numbered_level(const std::vector<DistributedLevel> &levels, std::size_t l, bool several_ranks, MPI_Comm comm)
  {
    const DistributedLevel &from   = levels[l];
    const auto              number = [&](const std::optional<DistributedRows> &rows, const DistributedLevel &of_columns) {
      return rows ? rows->number(of_columns.own, of_columns.ghosts) : CrsMatrix<double>();
    };
    MultigridLevel level;
    level.matrix = from.matrix.number(from.own, from.ghosts);
    if (l > 0)
      {
        level.prolongation        = number(from.prolongation, levels[l - 1]);
        level.restriction         = number(from.restriction, from);
        level.interface           = number(from.interface, from);
        level.interface_transpose = number(from.interface_transpose, from);
      }
    if (several_ranks)
      level.communication = std::make_shared<GhostExchange<double>>(from.own, from.ghosts, comm);
    return level;
  }

  DistributedRows smoothed_prolongation(const Aggregates            &aggregates,
                                        const TentativeProlongation &tentative,
                                        const OwnRange              &fine,
                                        const std::vector<int>      &ghosts,
                                        const OwnRange              &coarse,
                                        const Communication<double> &communication,
                                        int                          n_threads,
                                        MPI_Comm                     comm)
  {
    const DistributedRows own(tentative.prolongation, coarse);
    DistributedRows       P_0 = own;
    P_0.append(own.rows_of_others(fine, ghosts, comm));
    const std::vector<int> read = P_0.ghosts(coarse);
    return DistributedRows(smoothed_prolongation(aggregates, {P_0.number(coarse, read), tentative.coarse}, n_threads, communication), coarse, read);
  }
} // namespace leopard
