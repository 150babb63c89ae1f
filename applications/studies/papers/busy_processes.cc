// SPDX-License-Identifier: Apache-2.0
#include "busy_processes.h"

#include "study.h"

#include <solvers/base/errors.h>
#include <solvers/base/stopwatch.h>

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace leopard::studies
{
  namespace
  {
    /** What a busy process does. After fork() in a process with threads it may call little else. */
    [[noreturn]] void be_busy(pid_t parent)
    {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) // it has ended before
        _exit(0);
      for (volatile unsigned long count = 0;;)
        count = count + 1;
    }
  } // namespace

  BusyProcesses::BusyProcesses(int n)
  {
    processes.reserve(n);
    const pid_t parent = getpid();
    for (int i = 0; i < n; ++i)
      {
        const pid_t process = fork();
        if (process == 0)
          be_busy(parent);
        if (process < 0)
          {
            const std::string why = std::strerror(errno);
            end();
            throw Error("of " + std::to_string(n) + " busy processes the system gives " + std::to_string(i) + ": " + why +
                        "\n  expected: a limit of processes (ulimit -u) that leaves room for them");
          }
        processes.push_back(process);
      }
  }

  BusyProcesses::~BusyProcesses()
  {
    end();
  }

  void BusyProcesses::end()
  {
    for (const int process : processes)
      kill(process, SIGKILL);
    for (const int process : processes)
      while (waitpid(process, nullptr, 0) < 0 && errno == EINTR)
        ;
    processes.clear();
  }

  double core_share(int n_threads, double seconds)
  {
    constexpr double not_running = 2e-4;
    struct alignas(64) Seen // a cache line of its own
    {
      double time = 0., lost = 0.;
    };
    std::vector<Seen> seen(n_threads);
    const auto        look = [&](int thread) {
      const double start = now();
      for (double last = start; last - start < seconds;)
        {
          const double time = now();
          if (time - last > not_running)
            seen[thread].lost += time - last;
          last              = time;
          seen[thread].time = time - start;
        }
    };
    std::vector<std::thread> threads; // of their own: all are to run at the same time
    threads.reserve(n_threads);
    for (int thread = 0; thread < n_threads; ++thread)
      threads.emplace_back(look, thread);
    for (std::thread &thread : threads)
      thread.join();
    double time = 0., lost = 0.;
    for (const Seen &s : seen)
      {
        time += s.time;
        lost += s.lost;
      }
    return 1. - lost / time;
  }
} // namespace leopard::studies
