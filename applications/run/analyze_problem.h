// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace leopard
{
  struct Parameters;

  /**
   * What can be said of problem, mesh and initial values before the run: Problem::analyze() and start_warnings().
   * Collective.
   * @param run_json gets the same at "analysis" and "warnings", if there is one
   * @param starts_anew whether the run begins with the initial values
   * @return lines for the log, each after a line break; nothing if there is nothing to say. @throws Error, also for a
   * mesh file that cannot be used.
   */
  std::string analyze_problem(const Parameters &parameters, MPI_Comm comm, nlohmann::json *run_json = nullptr, bool starts_anew = true);
} // namespace leopard
