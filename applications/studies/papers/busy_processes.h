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

  /**
   * The part of the time that threads run which never wait, in the mean: measured with threads that read the clock and
   * do nothing else, for so many seconds; where two readings are more than 0.2 ms apart, a thread was not running.
   */
  double core_share(int n_threads, double seconds);
} // namespace leopard::studies
