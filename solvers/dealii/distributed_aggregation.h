// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/aggregation.h"
#include "trilinos_matrix.h"

namespace leopard
{
  /**
   * The levels that aggregation_hierarchy() makes, for a matrix that is spread over ranks: aggregates have rows of one
   * rank each, prolongations are smoothed and Galerkin's products are made over all of them, so that the number of
   * cycles hardly depends on how many there are. A rank has the coarse unknowns of its own aggregates, until a matrix
   * has at most max_coarse rows of all ranks; GatheredCoarseSolver is for that one.
   *
   * Collective. Where aggregation.near_null_space is given, each rank gives the entries in its own rows; their basis is
   * one of all ranks. What of it A maps to zero is held on the coarsest level, whose rows then are dense.
   * @param A rows of a rank follow those of the rank before it; all unknowns of a node are of one rank.
   * @throws InvalidInput as aggregation_hierarchy(), the same on all ranks.
   */
  MultigridHierarchy aggregation_hierarchy(const LocalMatrix &A, const AggregationOptions &options, MPI_Comm comm);
} // namespace leopard
