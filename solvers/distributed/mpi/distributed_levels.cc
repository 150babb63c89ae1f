// SPDX-License-Identifier: Apache-2.0
#include "distributed_levels.h"

#include "ghost_exchange.h"
#include "mpi_transport.h"

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

  MultigridLevel numbered_level(const std::vector<DistributedLevel> &levels, std::size_t l, bool several_ranks, MPI_Comm comm, bool staged)
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
      level.communication = std::make_shared<GhostExchange<double>>(from.own, from.ghosts, comm, std::vector<int>(), staged);
    return level;
  }

  MultigridHierarchy make_hierarchy(const Stencil<double> &finest, int n_levels, MPI_Comm comm, bool staged)
  {
    const std::vector<StencilGrid> grids = stencil_levels(finest, n_levels);
    MultigridHierarchy             whole = make_hierarchy(finest, n_levels), result;
    std::vector<DistributedLevel>  levels(grids.size());
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        const Stencil<double> &stencil  = grids[l].stencil;
        const long             n_planes = stencil.n_rows() / stencil.plane(), r = rank_in(comm), n_ranks = size_of(comm);
        DistributedLevel      &level = levels[l];
        level.own                    = own_range(static_cast<int>(n_planes * (r + 1) / n_ranks - n_planes * r / n_ranks) * stencil.plane(), comm);
        level.matrix                 = own_rows(whole.levels[l].matrix, level.own);
        whole.levels[l].matrix       = {};
        if (l == 0)
          continue;
        level.prolongation           = own_rows(whole.levels[l].prolongation, level.own);
        level.restriction            = own_rows(transpose(whole.levels[l].prolongation), levels[l - 1].own);
        whole.levels[l].prolongation = {};
      }
    add_ghosts(levels);
    for (std::size_t l = 0; l < levels.size(); ++l)
      {
        const MultigridLevel &from  = whole.levels[l];
        MultigridLevel       &level = result.levels.emplace_back(numbered_level(levels, l, true, comm, staged));
        const auto            begin = from.coordinates.begin() + static_cast<std::ptrdiff_t>(levels[l].own.first()) * from.dim;
        level.dim                   = from.dim;
        level.coordinates.assign(begin, begin + static_cast<std::ptrdiff_t>(levels[l].own.n()) * from.dim);
        levels[l].matrix = {};
      }
    return result;
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
