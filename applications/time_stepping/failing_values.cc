// SPDX-License-Identifier: Apache-2.0
#include "failing_values.h"
#include "time_parameters.h"

#include <applications/nonlinear/implicit_system.h>
#include <applications/nonlinear/newton.h>
#include <applications/problems/problem.h>

namespace leopard
{
  std::string reaction_that_fails(
    Newton &newton, const ImplicitSystem &implicit_system, const Problem &problem, const LastGoodState &state, HostVector &work, HostVector &values)
  {
    if (!problem.has_reaction())
      return "";
    if (const std::string here = newton.complaint_of_reaction(state.levels[0], state.time, true); !here.empty())
      return here;
    if (problem.reaction_depends_on_place()) // or on the time alone
      for (const double part : {1., 0.5})    // where steps evaluate it
        if (const std::string later = newton.complaint_of_reaction(state.levels[0], state.time + part * state.attempted_step, true); !later.empty())
          return later;
    const double unit = state.n_levels < 2 ? state.attempted_step : state.last_step;
    if (state.n_levels < 2)
      {
        implicit_system.reaction(state.levels[0], work, state.time);
        work *= unit;
      }
    else
      {
        work = state.levels[0];
        work.add(-1., state.levels[1]);
      }
    const double change = work.linfty_norm(), most = 0.05 * state.levels[0].linfty_norm();
    for (double part = state.attempted_step / unit; part * change > 0. && part * change <= most; part *= 4.)
      {
        values = state.levels[0];
        values.add(part, work);
        if (const std::string there = newton.complaint_of_reaction(values, state.time + part * unit, true); !there.empty())
          return there;
      }
    return "";
  }

  std::string advice_on_values(const TimeParameters &parameters, const Problem &problem)
  {
    const bool can_be_controlled = !parameters.adaptive() && !problem.has_noise();
    return std::string("\n  to try: an expression that has a finite value there (max(..., 0), if(...)), other constants or initial values") +
           (parameters.adaptive() ? ", or a smaller 'Time stepping/Error tolerance'" : ", or a smaller step") +
           (can_be_controlled ? " or 'Time stepping/Step control = error-controlled'" : "") + ", if the true solution keeps away from there";
  }
} // namespace leopard
