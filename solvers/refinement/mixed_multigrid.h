// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../multigrid/multigrid.h"
#include "refinement.h"

namespace leopard
{
  /**
   * A power of four that brings the largest entry of a problem's matrix near 1, where it is not between 2^-40 and 2^40
   * anyway; then 1. What its matrices are multiplied with before they are rounded.
   */
  double weight_for(const Stencil<double> &A);
  double weight_for(const CrsMatrix<double> &A);
  double weight_for(const MultigridHierarchy &hierarchy); ///< collective; the same on all ranks

  /** The diagonal of S with S^2 = weight, as ScaledMatrix has it; empty for 1. */
  std::vector<double> scale_of_weight(double weight, int n_rows);

  /**
   * Of a correction, RefinementOptions::inner_iterations: on a GPU, where a residual in double, and the host that waits
   * for it, cost a third to a half of a cycle, 2, or 3 for stencils in three dimensions, whose cycles gain a digit
   * each; 1 elsewhere, where they cost a small part of one.
   */
  int cycles_a_correction(MemorySpace space, bool is_deep_stencil = false);

  /** The operators multiplied by a weight; transfers stay. */
  Stencil<double>    times(Stencil<double> A, double weight);
  CrsMatrix<double>  times(CrsMatrix<double> A, double weight);
  MultigridHierarchy times(MultigridHierarchy hierarchy, double weight);

  /**
   * Multigrid cycles in the precision of Number as corrections of a solution in double: a cycle moves half the bytes
   * in single precision, the true residual in double decides. RefinementOptions::inner_iterations is the number of
   * cycles of a correction, see cycles_a_correction().
   * @param n_levels as for Multigrid. @throws InvalidInput, DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement(const Stencil<double> &finest, int n_levels, const MultigridOptions &multigrid, const RefinementOptions &options);

  /**
   * Of stored matrices, on one rank. A singular problem, see Multigrid, is one for a b of mean zero: its residual has
   * no other part that cycles reach, and corrections have the mean zero but for rounding. @throws InvalidInput also for
   * adaptive hierarchies.
   */
  template <typename Number>
  std::unique_ptr<Refinement<Number>>
  make_refinement(const MultigridHierarchy &hierarchy, const MultigridOptions &multigrid, const RefinementOptions &options);
} // namespace leopard
