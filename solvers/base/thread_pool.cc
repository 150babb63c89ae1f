// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.h"

#include "errors.h"

#include <map>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    /** Waits until the atomic is no longer `value`: spinning at first, then asleep. */
    template <typename T>
    void wait_while_equal(const std::atomic<T> &atomic, T value)
    {
      for (int spin = 0; spin < 2000; ++spin)
        {
          if (atomic.load(std::memory_order_acquire) != value)
            return;
#if defined(__x86_64__)
          __builtin_ia32_pause();
#endif
        }
      while (atomic.load(std::memory_order_acquire) == value)
        atomic.wait(value, std::memory_order_acquire);
    }
  } // namespace

  ThreadPool::ThreadPool(int n_threads)
  {
    try
      {
        workers.reserve(std::max(0, n_threads - 1));
        for (int thread = 1; thread < n_threads; ++thread)
          workers.emplace_back([this, thread] { work(thread); });
      }
    catch (const std::exception &problem)
      {
        const std::string made = std::to_string(size());
        end_workers(); // a thread that still runs when its object ends would end the program
        throw Error("of " + std::to_string(n_threads) + " host threads the machine gives " + made + ": " + problem.what() +
                    "\n  expected: at most that many threads; more than the machine has cores (" +
                    std::to_string(std::thread::hardware_concurrency()) + ") make nothing faster");
      }
  }

  ThreadPool::~ThreadPool()
  {
    end_workers();
  }

  void ThreadPool::end_workers()
  {
    stop.store(true);
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }

  void ThreadPool::work(int thread)
  {
    for (unsigned int seen = 0;; ++seen)
      {
        wait_while_equal(generation, seen);
        if (stop.load())
          return;
        if (thread < n_active)
          run_task(thread);
        if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
          running.notify_one();
      }
  }

  void ThreadPool::run_task(int thread) noexcept
  {
    try
      {
        (*task)(thread);
      }
    catch (...)
      {
        if (!failed.exchange(true))
          failure = std::current_exception();
      }
  }

  void ThreadPool::run(const std::function<void(int)> &task_, int n_threads)
  {
    if (workers.empty() || n_threads == 1)
      {
        task_(0);
        return;
      }
    const std::lock_guard<std::mutex> turn(callers);
    task     = &task_;
    n_active = n_threads == 0 ? size() : n_threads;
    running.store(static_cast<int>(workers.size()), std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
    run_task(0);
    for (int left = running.load(std::memory_order_acquire); left != 0; left = running.load(std::memory_order_acquire))
      wait_while_equal(running, left);
    task = nullptr;
    if (failed.exchange(false))
      std::rethrow_exception(std::exchange(failure, nullptr));
  }

  std::shared_ptr<ThreadPool> shared_thread_pool(int n_threads)
  {
    static std::mutex                               mutex;
    static std::map<int, std::weak_ptr<ThreadPool>> pools;
    const int                         n = n_threads > 0 ? n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<ThreadPool>       pool = pools[n].lock();
    if (pool == nullptr)
      pools[n] = pool = std::make_shared<ThreadPool>(n);
    return pool;
  }
} // namespace leopard
