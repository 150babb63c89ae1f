// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace leopard::studies
{
  /**
   * Other work on the same cores: processes that compute and never wait, on the cores that this process may use. They
   * end with the object, and if this process ends in another way (a signal, too), the system ends them.
   */
  class BusyProcesses
  {
  public:
    /** @throws Error if the system gives no more processes; those that there are end. */
    explicit BusyProcesses(int n);
    BusyProcesses(const BusyProcesses &)            = delete;
    BusyProcesses &operator=(const BusyProcesses &) = delete;
    ~BusyProcesses();

    /** The process numbers, such as ps shows. */
    const std::vector<int> &ids() const { return processes; }

  private:
    void end();

    std::vector<int> processes;
  };

  /** What a thread that never waits gets of the cores, and how long it stands still. */
  struct CoreShare
  {
    double share   = 1.; ///< part of the time that it runs, in the mean over threads
    double seconds = 0.; ///< that it does not run before it runs again, in the mean; 0 if it always runs
  };

  /**
   * Measures it with threads that read the clock and do nothing else, for as many seconds: where two readings are more
   * than 0.2 ms apart, the thread was not running.
   */
  CoreShare measure_core_share(int n_threads, double seconds);
} // namespace leopard::studies
