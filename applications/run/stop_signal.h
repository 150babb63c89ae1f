// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>

namespace leopard
{
  /** From now on SIGTERM and SIGINT ask the run to stop with a checkpoint; a second one ends the program at once. */
  void install_stop_signal_handlers();

  /** Whether any rank was asked to stop. Collective. */
  bool stop_requested(MPI_Comm comm);

  /** "SIGTERM" or "SIGINT". */
  std::string stop_signal_name();
} // namespace leopard
