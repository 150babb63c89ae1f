// SPDX-License-Identifier: Apache-2.0
#include "stop_signal.h"

#include <csignal>

namespace leopard
{
  namespace
  {
    volatile std::sig_atomic_t stop_signal = 0;

    void handle(int signal)
    {
      stop_signal = signal;
      std::signal(signal, SIG_DFL);
    }
  } // namespace

  void install_stop_signal_handlers()
  {
    std::signal(SIGTERM, handle);
    std::signal(SIGINT, handle);
  }

  bool stop_requested(MPI_Comm comm)
  {
    const int mine = stop_signal;
    int       any  = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any != 0)
      stop_signal = any;
    return any != 0;
  }

  std::string stop_signal_name()
  {
    return stop_signal == SIGINT ? "SIGINT" : "SIGTERM";
  }
} // namespace leopard
