// SPDX-License-Identifier: Apache-2.0
#include "stop_signal.h"

#include <solvers/base/whole_file.h>

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    volatile std::sig_atomic_t stop_signal = 0;

    volatile std::sig_atomic_t is_set_up = 0; ///< under way

    /** What the end of a set-up is to write; whole before is_set_up is true. */
    struct Record
    {
      std::string path, temporary, after_sigterm, after_sigint;
    };
    Record record;

    /** In a signal handler. @return whether all was written. */
    bool write_all(int file, const char *text, std::size_t n)
    {
      for (ssize_t done = 0; n > 0 && (done = ::write(file, text, n)) > 0; n -= done)
        text += done;
      return n == 0;
    }

    /** A second after a signal: calls only what a signal handler may call. */
    void end_set_up(int /*alarm*/)
    {
      if (is_set_up == 0)
        return;
      const bool         is_sigint = stop_signal == SIGINT;
      const std::string &text      = is_sigint ? record.after_sigint : record.after_sigterm;
      if (!record.path.empty())
        if (const int file = ::open(record.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666); file >= 0)
          {
            const bool is_whole = write_all(file, text.data(), text.size());
            if (::close(file) == 0 && is_whole)
              ::rename(record.temporary.c_str(), record.path.c_str());
            else // no room: what was there stays
              ::unlink(record.temporary.c_str());
          }
      constexpr char sigint[] = "stopped: SIGINT", sigterm[] = "stopped: SIGTERM", where[] = " while mesh and matrices were made\n";
      write_all(STDOUT_FILENO, is_sigint ? sigint : sigterm, (is_sigint ? sizeof(sigint) : sizeof(sigterm)) - 1);
      write_all(STDOUT_FILENO, where, sizeof(where) - 1);
      ::_exit(128 + stop_signal);
    }

    void handle(int signal)
    {
      stop_signal = signal;
      std::signal(signal, SIG_DFL);
      if (is_set_up != 0)
        ::alarm(1);
    }
  } // namespace

  void install_stop_signal_handlers()
  {
    std::signal(SIGTERM, handle);
    std::signal(SIGINT, handle);
    std::signal(SIGALRM, end_set_up);
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

  bool stop_requested_here()
  {
    return stop_signal != 0;
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

  SetUp::SetUp(const std::string &path, const std::string &after_sigterm, const std::string &after_sigint)
  {
    record    = {path, NewFile::temporary_name(path), after_sigterm, after_sigint};
    is_set_up = 1;
    if (stop_signal != 0)
      ::alarm(1);
  }

  SetUp::~SetUp()
  {
    is_set_up = 0;
    ::alarm(0);
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
