// SPDX-License-Identifier: Apache-2.0
#include "step_report.h"

#include "provenance.h"
#include "simulation.h"

#include <applications/base/log.h>
#include <applications/time_stepping/time_loop.h>

#include <nlohmann/json.hpp>

namespace leopard
{
  void report_steps(const RunContext &context, const TimeLoopResult &result, unsigned int steps_in_all)
  {
    nlohmann::json    &report   = context.provenance.json()["time_loop"];
    const unsigned int before   = steps_in_all - result.n_steps;
    report["steps"]             = result.n_steps;
    report["steps_in_all"]      = steps_in_all; // all other counts are those since the resume, too
    report["newton_steps"]      = result.newton_steps;
    report["linear_iterations"] = result.linear_iterations;
    if (result.corrections > 0)
      report["corrections"] = result.corrections;
    report["rejected_steps"]     = result.rejected.total();
    report["rejected_for"]       = {{"error", result.rejected.error},
                                    {"linear solver", result.rejected.linear_solver},
                                    {"Newton", result.rejected.newton},
                                    {"not finite", result.rejected.not_finite}};
    report["steps_by_gmres"]     = result.alternative_steps;
    report["steps_by_multigrid"] = result.multigrid_steps;
    report["clipped_values"]     = result.clipped;
    context.log.line((before > 0 ? format("%u steps in all; since step %u: ", steps_in_all, before) : "") +
                     format("%u steps, %ld Newton steps, %ld linear iterations%s, %ld steps rejected",
                            result.n_steps,
                            result.newton_steps,
                            result.linear_iterations,
                            result.corrections > 0 ? format(" in %ld corrections", result.corrections).c_str() : "",
                            result.rejected.total()) +
                     (result.rejected.total() > 0 ? " (" + reasons_of(result.rejected) + ")" : "") +
                     (result.alternative_steps > 0 ? format(", %ld beyond the asynchronous bound solved by gmres", result.alternative_steps) : "") +
                     (result.multigrid_steps > 0 ? format(", %ld solved by multigrid", result.multigrid_steps) : "") +
                     (result.clipped > 0 ? format(", %ld negative values set to zero", result.clipped) : ""));
  }
} // namespace leopard
