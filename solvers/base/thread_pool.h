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
   * Threads that take parts of a work, the caller being thread 0. A waiting thread spins for some microseconds, since
   * the next call often comes at once, and then sleeps; threads that have no part in a call sleep on. A thread that
   * does not come, since something else runs on its core, is not waited for: the others do its part.
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
     * task(part) once for each 0 <= part < n_parts, by whichever of the first n_parts threads come: each begins with
     * the part of its own number, whose data are in its caches, and goes on with what nobody has begun. Parts must not
     * wait for one another. What a part throws is thrown here, the first if there are several, when all are done.
     * @param n_parts at most size(), and so many if it is more; 0: size().
     */
    void run(const std::function<void(int part)> &task, int n_parts = 0);

  private:
    void work(int thread);
    void do_part(int part) noexcept;
    void take_parts(int first);
    void end_workers();

    /** What a thread waits for; a cache line of its own, so that only those are disturbed that are to work. */
    struct alignas(64) Call
    {
      std::atomic<unsigned int> number{0};
      std::atomic<bool>         asleep{false};
      std::atomic<bool>         is_free{false}; ///< the part of this number has not been begun

      void make();
      /** @return the number of the newest call after `last`. */
      unsigned int wait_for_next(unsigned int last);
    };

    std::mutex                      callers;
    const std::function<void(int)> *task = nullptr;
    std::vector<Call>               calls;      ///< of each thread
    std::atomic<int>                running{0}; ///< parts that are not done
    std::atomic<bool>               stop{false};
    std::atomic<bool>               failed{false};
    std::exception_ptr              failure; ///< what the first task that failed has thrown
    std::vector<std::thread>        workers;
  };

  /**
   * The pool of that size that everything in this process shares while somebody holds it: what works in turns, such as
   * the levels of a multigrid cycle, must not have threads of its own, of which some spin where others work. @param
   * n_threads 0: as many as this process may use. @throws Error as ThreadPool().
   */
  std::shared_ptr<ThreadPool> shared_thread_pool(int n_threads);

  /**
   * For a thread that does a work of its own beside others, which would wait for one another in pools that they share:
   * from now on shared_thread_pool() gives the calling thread pools that only this thread gets.
   */
  void use_own_thread_pools();

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

  /**
   * The same by so many threads, which are asked for where n is not small. @param n_threads 0: as many as this process
   * may use.
   */
  template <typename Function>
  void parallel_for(long n, long grain, const Function &function, int n_threads = 0)
  {
    if (n < 2 * grain)
      function(0l, n);
    else
      parallel_for(*shared_thread_pool(n_threads), n, grain, function);
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
