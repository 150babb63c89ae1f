// SPDX-License-Identifier: Apache-2.0
#include "turns.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace leopard
{
  namespace
  {
    /** Who comes first has the first turn. */
    class Queue
    {
    public:
      void wait_for_turn()
      {
        std::unique_lock<std::mutex> lock(mutex);
        const unsigned long          mine = n_came++;
        next_one.wait(lock, [&] { return n_went == mine; });
      }

      void give_up_turn()
      {
        {
          const std::lock_guard<std::mutex> lock(mutex);
          ++n_went;
        }
        next_one.notify_all();
      }

    private:
      std::mutex              mutex;
      std::condition_variable next_one;
      unsigned long           n_came = 0, n_went = 0;
    };

    Queue             queue;
    thread_local bool in_queue = false;

    struct Turn
    {
      Turn()
      {
        in_queue = true;
        queue.wait_for_turn();
      }
      ~Turn() { queue.give_up_turn(); }
    };
  } // namespace

  bool takes_turns()
  {
    return in_queue;
  }

  TurnOfOthers::TurnOfOthers()
  {
    if (in_queue)
      queue.give_up_turn();
  }

  TurnOfOthers::~TurnOfOthers()
  {
    if (in_queue)
      queue.wait_for_turn();
  }

  void in_turns(int n, const std::function<void(int)> &f)
  {
    if (n == 1)
      {
        f(0);
        return;
      }
    std::vector<std::exception_ptr> failures(n);
    std::vector<std::thread>        threads;
    threads.reserve(n);
    const auto run = [&](int i) {
      try
        {
          const Turn turn;
          f(i);
        }
      catch (...)
        {
          failures[i] = std::current_exception();
        }
    };
    try
      {
        for (int i = 0; i < n; ++i)
          threads.emplace_back(run, i);
      }
    catch (const std::exception &) // no more threads, or no memory for them: fewer do it
      {
        if (threads.empty())
          throw;
      }
    for (std::thread &thread : threads)
      thread.join();
    for (const std::exception_ptr &failure : failures)
      if (failure != nullptr)
        std::rethrow_exception(failure);
  }
} // namespace leopard
