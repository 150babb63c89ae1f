// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multigrid.h"

#include <memory>
#include <optional>
#include <vector>

namespace leopard
{
  /**
   * The coarse solver that the options name, for A_0 of one rank. @param singular whether the constants are in A_0's
   * null space: then the result is the solution of mean zero for b without its mean; rows with nothing beside the
   * diagonal keep theirs.
   * @throws InvalidInput if A_0 is too large for it, has ghosts, or cannot be factorized.
   */
  template <typename Number>
  std::unique_ptr<CoarseSolver<Number>> make_coarse_solver(const CrsMatrix<double> &A, bool singular, const MultigridOptions &options);

  /**
   * The vector that A maps to zero if it is the operator of a problem of pure Neumann type: one in the rows whose
   * entries add up to zero, zero in rows with nothing beside the diagonal (constrained unknowns). Nothing, on all ranks
   * alike, if there are others.
   */
  std::optional<std::vector<double>> constants_in_null_space(const CrsMatrix<double> &A, const RankSums &over_ranks);
} // namespace leopard
