// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace leopard
{
  struct Parameters;

  /**
   * What the problem can say of its domain before the run, see Problem::analyze(). Collective. @param run_json gets the same at "analysis", if there is one.
   * @return lines for the log, each after a line break; nothing if there is nothing to say. @throws Error, also for a mesh file that cannot be
   * used.
   */
  std::string analyze_problem(const Parameters &parameters, MPI_Comm comm, nlohmann::json *run_json = nullptr);
} // namespace leopard
