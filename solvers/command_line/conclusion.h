// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/energy_meter.h"
#include "arguments.h"
#include "method.h"
#include "quality.h"

#include <vector>

namespace leopard::command_line
{
  /** What one method has done. */
  struct Solution
  {
    Iteration           iteration;
    SolveResult         result;
    std::vector<double> x;                                            ///< in the numbering of the file
    Quality             quality;                                      ///< of x in the system of the file
    Quality             solved;                                       ///< in the system that was solved; the same if that is the file's
    double              seconds_reading = 0., seconds_preparing = 0.; ///< before the solution itself
    device::EnergyUse   energy;                                       ///< of the solution, without what is before
    bool                is_scaled = false;                            ///< what was solved is the system scaled
  };

  /**
   * Calls stagnated what the solver calls converged and is not, as the residual computed anew shows, because of
   * rounding. @throws ConvergenceFailure if there is another reason: then the solver is wrong.
   */
  void judge(Solution &found, double tolerance);

  /**
   * Calls converged what meets the tolerance, the residual of the file's system computed anew, whatever ended the
   * solver: rounding errors of a scaled system, the last iteration allowed.
   */
  void acknowledge(Solution &found, double tolerance);

  /** The log of a solution, its files, and advice where there is none. @return the exit code. @throws Error. */
  int conclude(const Arguments &arguments, const CrsMatrix<double> &A, const std::vector<double> &b, const Solution &found);
} // namespace leopard::command_line
