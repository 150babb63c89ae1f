// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>

namespace leopard
{
  struct RunRequest;

  /**
   * Reads and checks a parameter file and its mesh, and all runs of its sweep, and runs nothing.
   * @return "FILE is valid: ..." with the analysis of the problem and what the program would choose. Collective.
   * @throws Error.
   */
  std::string validate(const RunRequest &request, MPI_Comm comm);
} // namespace leopard
