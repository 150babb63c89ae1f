// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/trilinos_matrix.h>

#include <string>
#include <vector>

namespace leopard
{
  class ImplicitSystem;
  class Newton;
  class Problem;
  struct TimeParameters;

  /** Where a run is when a step fails. */
  struct LastGoodState
  {
    const std::vector<HostVector> &levels; ///< solutions, newest first
    int                            n_levels;
    double                         time, last_step, attempted_step;
  };

  /**
   * Whether the reaction is to blame that steps fail from here on: "the expression 'sqrt(v)' of the entry
   * 'Turing/Reaction u' is nan at (0.5, 0) and t = 0.1, where u = 1, v = -1e-9"; empty if it seems not. It is looked at
   * with its derivatives at the last good state, and at values that the fields come to if they go on as in the last
   * step (before the first one: as the reaction says), by up to a twentieth of their size: a reaction that has no value
   * beyond a boundary makes error-controlled steps shorter and shorter on the way there. Collective. @param work a
   * vector that is overwritten, as `values` is.
   */
  std::string reaction_that_fails(
    Newton &newton, const ImplicitSystem &implicit_system, const Problem &problem, const LastGoodState &state, HostVector &work, HostVector &values);

  /** "\n  to try: ...", after a message on values that an entry does not have. */
  std::string advice_on_values(const TimeParameters &parameters, const Problem &problem);
} // namespace leopard
