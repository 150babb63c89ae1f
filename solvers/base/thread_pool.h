// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace leopard
{
  /**
   * Threads that wait for work. run() hands the same function to all of them, the caller being thread 0, and returns when all
   * are done. A waiting thread spins for some microseconds, since the next call often comes at once, and then sleeps.
   */
  class ThreadPool
  {
  public:
    /** @param n_threads >= 1, the caller included; with 1 no thread is made. */
    explicit ThreadPool(int n_threads);
    ThreadPool(const ThreadPool &)            = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;
    ~ThreadPool();

    int  size() const { return static_cast<int>(workers.size()) + 1; }
    void run(const std::function<void(int thread)> &task);

  private:
    void work(int thread);

    const std::function<void(int)> *task = nullptr;
    std::atomic<unsigned int>       generation{0};
    std::atomic<int>                running{0};
    std::atomic<bool>               stop{false};
    std::vector<std::thread>        workers;
  };
} // namespace leopard
