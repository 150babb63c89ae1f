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
    int       any = 0, n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    if (n_ranks == 1) // this is asked in each iteration of a solver
      return mine != 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any != 0)
      stop_signal = any;
    return any != 0;
  }

  void throw_if_stop_requested(MPI_Comm comm)
  {
    if (stop_requested(comm))
      throw Stopped(stop_status());
  }

  StopPoints::StopPoints(unsigned long long n_all, unsigned long long n_own_, MPI_Comm comm_)
    : n_points(1 + n_all / 50000)
    , n_own(n_own_)
    , comm(comm_)
  {
  }

  void StopPoints::one_more()
  {
    for (++n_items; n_looks < n_points && n_looks * n_own < n_items * n_points; ++n_looks)
      throw_if_stop_requested(comm);
  }

  void StopPoints::finish()
  {
    for (; n_looks < n_points; ++n_looks)
      throw_if_stop_requested(comm);
  }

  std::string stop_status()
  {
    return stop_signal == SIGINT ? "stopped: SIGINT" : "stopped: SIGTERM";
  }

  int exit_code(const std::string &status)
  {
    return status == "stopped: SIGINT" ? 128 + SIGINT : status == "stopped: SIGTERM" ? 128 + SIGTERM : 0;
  }
} // namespace leopard
