// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/communication.h"
#include "../matrix/scaled_matrix.h"
#include "outer_system.h"

#include <memory>
#include <vector>

namespace leopard
{
  // Iterative refinement of a matrix whose rows several ranks have: of what each rank has of its own, norms and largest
  // values are those of all ranks, and so the same on each. What computes is collective then.

  /** @param own vectors of this rank's rows. */
  template <typename Number>
  std::unique_ptr<MixedVectors<Number>> over_ranks(std::unique_ptr<MixedVectors<Number>> own, std::shared_ptr<const RankSums> ranks);

  /**
   * @param own of this rank's rows, whose columns from n_rows on are ghosts, and on which it is told `scale` with
   * n_columns entries. @param n_columns of its matrix. @param communication of vectors with these ghosts, in the memory
   * that own's are in. @return own itself where there is one rank.
   */
  template <typename Number>
  std::unique_ptr<OuterSystem<Number>>
  over_ranks(std::unique_ptr<OuterSystem<Number>> own, int n_columns, std::shared_ptr<const Communication<double>> communication);

  /**
   * The S that scaled_to<float>() takes for the whole matrix, of this rank's rows and ghosts; empty: all ones.
   * Collective. @param A with a diagonal that is not zero.
   */
  std::vector<double> scale_over_ranks(const CrsMatrix<double> &A, const Communication<double> &communication);
} // namespace leopard
