// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/multigrid/multigrid.h>

#include <vector>

namespace leopard
{
  /** What of a level does not depend on the precision of the cycle. */
  struct LevelFacts
  {
    double n = 0., entries = 0.;                      ///< unknowns, and stored entries of the matrix
    double transfers  = 0.;                           ///< entries of the prolongation
    double diagonal   = 0.;                           ///< values of a stencil's diagonal that varies
    bool   few_values = false, few_transfers = false; ///< at most 256 different ones, in the matrix and in the prolongation
  };

  LevelFacts facts_of(const MultigridLevel &level);
  LevelFacts facts_of(const Stencil<double> &stencil);

  /** What a level's part of a cycle has to move, in bytes, if every operand of every step goes through memory once. */
  struct Traffic
  {
    double smoothing = 0., residual_and_transfers = 0.;
    double sum() const { return smoothing + residual_and_transfers; }
  };

  /**
   * Of each level, coarsest first; none of level 0. Values have the bytes of Number, or what the level's line of
   * Multigrid::description() says that they are stored as; columns those that the storage has: 16 bits inside blocks,
   * none where distances are common to a block, 16 bits in products of matrices with few values on a GPU, else 32. The
   * few entries that cross blocks count as the others do. @param facts coarsest first.
   */
  template <typename Number>
  std::vector<Traffic> cycle_traffic(const Multigrid<Number> &multigrid, const std::vector<LevelFacts> &facts);

  /**
   * A table of levels, and a line: megabytes of a cycle, what they take at the bandwidth of a copy, and what the cycle
   * takes.
   * @param what names the precision. @param bandwidth bytes a second.
   */
  template <typename Number>
  void print_roofline(const char *what, Multigrid<Number> &multigrid, const std::vector<LevelFacts> &facts, double cycle_seconds, double bandwidth);
} // namespace leopard
