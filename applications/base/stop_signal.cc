// SPDX-License-Identifier: Apache-2.0
#include "stop_signal.h"

#include <solvers/base/whole_file.h>

#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    volatile std::sig_atomic_t stop_signal = 0;

    struct Named
    {
      int         number;
      const char *status;
    };
    constexpr Named stop_signals[] = {
      {SIGTERM, "stopped: SIGTERM"}, {SIGINT, "stopped: SIGINT"}, {SIGUSR1, "stopped: SIGUSR1"}, {SIGHUP, "stopped: SIGHUP"}};

    bool is_ignored(int number)
    {
      struct sigaction action = {};
      return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    }

    /** Looked at before main(), as MPI_Init() forgets that SIGHUP is ignored: the run is to outlive its terminal. */
    const bool under_nohup = is_ignored(SIGHUP);

    /** @return the index of the signal that came; of the first, if none has. */
    int which()
    {
      for (int i = 0; i < static_cast<int>(std::size(stop_signals)); ++i)
        if (stop_signals[i].number == stop_signal)
          return i;
      return 0;
    }

    volatile std::sig_atomic_t is_set_up = 0; ///< under way

    /** What the end of a set-up is to write; whole before is_set_up is true. */
    struct Record
    {
      std::string              path, temporary;
      std::vector<std::string> texts; ///< for each of stop_signals
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
      const int i = which();
      if (!record.path.empty())
        if (const int file = ::open(record.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666); file >= 0)
          {
            const bool is_whole = write_all(file, record.texts[i].data(), record.texts[i].size());
            if (::close(file) == 0 && is_whole)
              ::rename(record.temporary.c_str(), record.path.c_str());
            else // no room: what was there stays
              ::unlink(record.temporary.c_str());
          }
      constexpr char where[] = " while mesh and matrices were made\n";
      write_all(STDOUT_FILENO, stop_signals[i].status, std::strlen(stop_signals[i].status));
      write_all(STDOUT_FILENO, where, sizeof(where) - 1);
      ::_exit(128 + stop_signal);
    }

    void handle(int signal)
    {
      stop_signal = signal;
      std::signal(signal, signal == SIGHUP ? SIG_IGN : SIG_DFL); // a shell and the kernel both send SIGHUP
      if (is_set_up != 0)
        ::alarm(1);
    }
  } // namespace

  void install_stop_signal_handlers()
  {
    for (const Named &stop : stop_signals)
      std::signal(stop.number, stop.number == SIGHUP && under_nohup ? SIG_IGN : handle);
    std::signal(SIGALRM, end_set_up);
    std::signal(SIGPIPE, SIG_IGN); // Ctrl-C ends what the log is piped into, too, and the line of the log comes before the checkpoint
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

  SetUp::SetUp(const std::string &path, std::vector<std::string> texts)
  {
    record    = {path, NewFile::temporary_name(path), std::move(texts)};
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
    return stop_signals[which()].status;
  }

  std::vector<std::string> stop_statuses()
  {
    std::vector<std::string> all;
    for (const Named &stop : stop_signals)
      all.emplace_back(stop.status);
    return all;
  }

  int exit_code(const std::string &status)
  {
    for (const Named &stop : stop_signals)
      if (status == stop.status)
        return 128 + stop.number;
    return 0;
  }
} // namespace leopard
