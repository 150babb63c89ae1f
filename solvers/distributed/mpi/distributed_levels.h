// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../multigrid/aggregation.h"
#include "../../multigrid/hierarchy.h"
#include "distributed_rows.h"

#include <optional>
#include <vector>

namespace leopard
{
  /**
   * A level of multigrid before its unknowns are numbered as MultigridLevel has them; what it does not have is empty.
   */
  struct DistributedLevel
  {
    OwnRange                       own;
    std::vector<int>               ghosts; ///< of the level's vectors: filled by add_ghosts()
    DistributedRows                matrix;
    std::optional<DistributedRows> prolongation, restriction; ///< between it and the next coarser level
    std::optional<DistributedRows> interface, interface_transpose;
  };

  /** What the matrices of all levels, coarsest first, read of other ranks. */
  void add_ghosts(std::vector<DistributedLevel> &levels);

  /**
   * The matrices and the communication of level l, numbered. Collective. @param several_ranks false: it has no
   * communication. @param staged see GhostExchange.
   */
  MultigridLevel numbered_level(const std::vector<DistributedLevel> &levels, std::size_t l, bool several_ranks, MPI_Comm comm, bool staged = false);

  /**
   * The rank's part of make_hierarchy() for a stencil on the grid of all ranks: rows in slabs of consecutive planes, of
   * lines in two dimensions. Collective. Each rank makes the whole and keeps its own: for tests and measurements of
   * stored levels, as grids have DistributedStencilMultigrid. @param staged see GhostExchange.
   */
  MultigridHierarchy make_hierarchy(const Stencil<double> &whole, int n_levels, MPI_Comm comm, bool staged = false);

  /**
   * The rows of smoothed_prolongation() of a matrix that is spread over ranks. Collective. @param tentative of the
   * rank's rows and aggregates. @param fine the matrix' rows. @param ghosts its columns behind the own ones, with
   * communication. @param coarse the columns of the prolongation.
   */
  DistributedRows smoothed_prolongation(const Aggregates            &aggregates,
                                        const TentativeProlongation &tentative,
                                        const OwnRange              &fine,
                                        const std::vector<int>      &ghosts,
                                        const OwnRange              &coarse,
                                        const Communication<double> &communication,
                                        int                          n_threads,
                                        MPI_Comm                     comm);
} // namespace leopard
