// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parameters.h"
#include "run.h"

namespace leopard
{
  /** The command line of one run of the sweep. */
  RunRequest request_for(const RunRequest &request, const Parameters &parameters, const SweepRun &run);

  /** Does something for a run; its errors name the run. */
  template <typename Action>
  auto naming(const SweepRun &run, const Action &action)
  {
    try
      {
        return action();
      }
    catch (const Error &error)
      {
        throw Error("the run " + run.name + " of the sweep: " + error.what());
      }
  }

  /** Reads the parameters of one run, SweepParameters::is_one_run. @throws Error that names it. */
  Parameters parameters_for(const RunRequest &single, const SweepRun &run, MPI_Comm comm);

  /**
   * Whether at most one of the sweep's entries has another value than in the first run: each value stands in one such
   * run at least.
   */
  bool is_one_off(const SweepRun &first, const SweepRun &run);
} // namespace leopard
