// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../exchange/all_gather.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace leopard
{
  /**
   * Threads of this process that live as long as the team, one for each part of a problem: what is queued on a device
   * belongs to the thread that asks for it. If a task throws in one thread, the others are thrown out of the next
   * wait() of the same call, so that none waits for one that has given up.
   */
  class DeviceTeam
  {
  public:
    /**
     * @param begin called by each thread once, such as to make a GPU current. @throws what it throws, the first by
     * ascending rank.
     */
    DeviceTeam(int size, const std::function<void(int rank)> &begin);
    DeviceTeam(const DeviceTeam &)            = delete;
    DeviceTeam &operator=(const DeviceTeam &) = delete;
    ~DeviceTeam();

    int size() const { return static_cast<int>(threads.size()); }

    /** task(rank) in each thread; returns when all are done. @throws what was thrown first. */
    void run(const std::function<void(int rank)> &task);

    /** In a task: waits until all threads have come here. @throws Error in run() if one has ended its task instead. */
    void wait();

    /** In a task: ends it where another thread has failed; for loops without wait(). */
    void look_at_others() const;

    /** In a task: what ranks tell one another, and their exchange; see AllGather. It must not outlive the team. */
    AllGather all_gather(int rank);

  private:
    /** One that has ended its task comes to no meeting any more: then those that wait fail. With the mutex. */
    void require_all_to_come();
    void work(int rank);
    void end_threads();

    std::mutex                      mutex;
    std::condition_variable         called, changed;
    const std::function<void(int)> *task    = nullptr;
    unsigned long                   n_calls = 0, n_meetings = 0;
    int                             n_running = 0, n_waiting = 0;
    std::atomic<bool>               failed{false};
    bool                            ends = false;
    std::exception_ptr              first_error;
    std::vector<std::vector<char>>  gathered;
    std::vector<std::thread>        threads; ///< the last to be made
  };
} // namespace leopard
