// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.h"

#include "errors.h"
#include "usable_resources.h"

#include <map>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    /** Waits for some microseconds until done() holds. @return whether it does. */
    template <typename Done>
    bool spin_until(const Done &done)
    {
      for (int spin = 0; spin < 2000; ++spin)
        {
          if (done())
            return true;
#if defined(__x86_64__)
          __builtin_ia32_pause();
#endif
        }
      return done();
    }
  } // namespace

  // Either the thread sees the new number before it sleeps, or the caller sees that it sleeps: both write first and
  // then read, in one order for all.
  void ThreadPool::Call::make()
  {
    number.fetch_add(1, std::memory_order_seq_cst);
    if (asleep.load(std::memory_order_seq_cst))
      number.notify_one();
  }

  unsigned int ThreadPool::Call::wait_for_next(unsigned int last)
  {
    if (!spin_until([&] { return number.load(std::memory_order_acquire) != last; }))
      {
        asleep.store(true, std::memory_order_seq_cst);
        while (number.load(std::memory_order_seq_cst) == last)
          number.wait(last, std::memory_order_seq_cst);
        asleep.store(false, std::memory_order_relaxed);
      }
    return number.load(std::memory_order_acquire);
  }

  ThreadPool::ThreadPool(int n_threads)
    : calls(std::max(1, n_threads))
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
                    "\n  expected: at most that many threads; more than there are cores to use (" + std::to_string(usable_cores()) +
                    ") make nothing faster");
      }
  }

  ThreadPool::~ThreadPool()
  {
    end_workers();
  }

  void ThreadPool::end_workers()
  {
    stop.store(true);
    for (std::size_t thread = 1; thread <= workers.size(); ++thread)
      calls[thread].make();
    for (std::thread &worker : workers)
      worker.join();
  }

  void ThreadPool::work(int thread)
  {
    for (unsigned int number = 0;;)
      {
        number = calls[thread].wait_for_next(number);
        if (stop.load())
          return;
        take_parts(thread);
      }
  }

  void ThreadPool::do_part(int part) noexcept
  {
    try
      {
        (*task)(part);
      }
    catch (...)
      {
        if (!failed.exchange(true))
          failure = std::current_exception();
      }
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
      running.notify_one();
  }

  // A thread that comes late may be here when the call that woke it has ended: it finds no free part, or one of the
  // present call, which cannot end before that part. So who has got a part may read the task.
  void ThreadPool::take_parts(int first)
  {
    const int n = size();
    for (int i = 0; i < n; ++i)
      {
        const int          part = first + i < n ? first + i : first + i - n;
        std::atomic<bool> &free = calls[part].is_free;
        if (free.load(std::memory_order_relaxed) && free.exchange(false, std::memory_order_acq_rel))
          do_part(part);
      }
  }

  void ThreadPool::run(const std::function<void(int)> &task_, int n_parts)
  {
    n_parts = n_parts == 0 ? size() : std::min(n_parts, size());
    if (n_parts == 1)
      {
        task_(0);
        return;
      }
    const std::lock_guard<std::mutex> turn(callers);
    task = &task_;
    running.store(n_parts, std::memory_order_relaxed);
    for (int part = 0; part < n_parts; ++part)
      calls[part].is_free.store(true, std::memory_order_release);
    for (int thread = 1; thread < n_parts; ++thread)
      calls[thread].make();
    take_parts(0);
    if (!spin_until([this] { return running.load(std::memory_order_acquire) == 0; }))
      for (int left = running.load(std::memory_order_acquire); left != 0; left = running.load(std::memory_order_acquire))
        running.wait(left, std::memory_order_acquire);
    task = nullptr;
    if (failed.exchange(false))
      std::rethrow_exception(std::exchange(failure, nullptr));
  }

  namespace
  {
    thread_local std::thread::id owner; ///< of the calling thread's pools; nobody: they are everybody's
  }

  void use_own_thread_pools()
  {
    owner = std::this_thread::get_id();
  }

  std::shared_ptr<ThreadPool> shared_thread_pool(int n_threads)
  {
    static std::mutex                                                           mutex;
    static std::map<std::pair<std::thread::id, int>, std::weak_ptr<ThreadPool>> pools;
    const int                                                                   n = n_threads > 0 ? n_threads : usable_cores();
    const std::lock_guard<std::mutex>                                           lock(mutex);
    std::weak_ptr<ThreadPool>                                                  &known = pools[{owner, n}];
    std::shared_ptr<ThreadPool>                                                 pool  = known.lock();
    if (pool == nullptr)
      known = pool = std::make_shared<ThreadPool>(n);
    return pool;
  }
} // namespace leopard
