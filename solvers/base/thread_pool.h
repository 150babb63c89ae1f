// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace leopard
{
  /**
   * Threads that wait for work. run() hands the same function to all of them, the caller being thread 0, and returns
   * when all are done. A waiting thread spins for some microseconds, since the next call often comes at once, and then
   * sleeps. Threads that have no part in a call sleep on.
   * Callers of different threads take turns; a task must not call run() of its own pool.
   */
  class ThreadPool
  {
  public:
    /**
     * @param n_threads >= 1, the caller included; with 1 no thread is made. @throws Error if the machine does not give
     * so many.
     */
    explicit ThreadPool(int n_threads);
    ThreadPool(const ThreadPool &)            = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;
    ~ThreadPool();

    int size() const { return static_cast<int>(workers.size()) + 1; }
    /**
     * task(thread) on the first n_threads threads; 0: on all. What a task throws is thrown here, the first if there are
     * several, when all are done.
     */
    void run(const std::function<void(int thread)> &task, int n_threads = 0);

  private:
    void work(int thread);
    void run_task(int thread) noexcept;
    void end_workers();

    /** What a thread waits for; a cache line of its own, so that only those are disturbed that are to work. */
    struct alignas(64) Call
    {
      std::atomic<unsigned int> number{0};
      std::atomic<bool>         asleep{false};

      void make();
      void wait_for(unsigned int next);
    };

    std::mutex                      callers;
    const std::function<void(int)> *task = nullptr;
    std::vector<Call>               calls; ///< of each thread
    std::atomic<int>                running{0};
    std::atomic<bool>               stop{false};
    std::atomic<bool>               failed{false};
    std::exception_ptr              failure; ///< what the first task that failed has thrown
    std::vector<std::thread>        workers;
  };

  /**
   * The pool of that size that everything in this process shares while somebody holds it: what works in turns, such as
   * the levels of a multigrid cycle, must not have threads of its own, of which some spin where others work. @param
   * n_threads 0: as many as the machine has. @throws Error as ThreadPool().
   */
  std::shared_ptr<ThreadPool> shared_thread_pool(int n_threads);

  /**
   * function(begin, end) for parts of 0 <= i < n, one part a thread, none with fewer than some `grain` indices; in the
   * calling thread alone where n is small. The parts are the same in every call.
   */
  template <typename Function>
  void parallel_for(ThreadPool &pool, long n, long grain, const Function &function)
  {
    const int n_parts = static_cast<int>(std::max(1l, std::min<long>(pool.size(), n / grain)));
    if (n_parts == 1)
      function(0l, n);
    else
      {
        const auto work = [&](int part) { function(n * part / n_parts, n * (part + 1) / n_parts); };
        pool.run(std::cref(work), n_parts); // by reference, so that nothing is allocated
      }
  }

  /** The sum of what function(begin, end) returns for the parts; within a number of threads always the same. */
  template <typename Function>
  double parallel_sum(ThreadPool &pool, long n, long grain, const Function &function)
  {
    struct alignas(64) Part // a cache line of its own
    {
      double sum = 0.;
    };
    const int         n_parts = static_cast<int>(std::max(1l, std::min<long>(pool.size(), n / grain)));
    std::vector<Part> parts(n_parts);
    if (n_parts == 1)
      return function(0l, n);
    pool.run([&](int part) { parts[part].sum = function(n * part / n_parts, n * (part + 1) / n_parts); }, n_parts);
    double sum = 0.;
    for (const Part &part : parts)
      sum += part.sum;
    return sum;
  }
} // namespace leopard
