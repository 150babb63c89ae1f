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
   * The solver direct of a regular matrix of any size by itself: Cholesky factors where they may be and are cheap, see
   * cheap_cholesky, else LU. Its name() says which. @throws InvalidInput if it cannot be factorized.
   */
  std::unique_ptr<CoarseSolver<double>> make_sparse_factors(const CrsMatrix<double> &A);

  /**
   * Multiplications that Cholesky factors of a matrix with a symmetric pattern take, for each of its entries, by an
   * analysis of the pattern. Some hundred where few entries come into them, as in two dimensions, in shells, and in
   * graphs that a few nodes cut into parts; an iteration with incomplete factors takes about as long as six.
   */
  double cholesky_operations(const CrsMatrix<double> &A);

  /**
   * Up to so many, make_sparse_factors() takes them where A is positive definite; with more, LU factors by blocks of
   * columns are faster.
   */
  constexpr double cheap_cholesky = 5000.;

  /**
   * The vector that A maps to zero if it is the operator of a problem of pure Neumann type: one in the rows whose
   * entries add up to zero, zero in rows with nothing beside the diagonal (constrained unknowns). Nothing, on all ranks
   * alike, if there are others.
   */
  std::optional<std::vector<double>> constants_in_null_space(const CrsMatrix<double> &A, const RankSums &over_ranks);
} // namespace leopard
