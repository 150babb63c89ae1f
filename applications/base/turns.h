// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace leopard
{
  // Runs of a sweep side by side in one process: a thread each, of which one works at a time. deal.II, p4est and MPI
  // see one thread, as they are made for (MPI_THREAD_SERIALIZED). A thread gives up its turn while all it does is to
  // step in time, by a library that any number of threads may use; most of a run's time is there.

  /**
   * Calls f(0) ... f(n - 1), each in a thread of its own, which has its turn when f begins, and waits for all. With
   * n = 1: in the calling thread. @throws what the first of them that failed has thrown, when all have ended.
   */
  void in_turns(int n, const std::function<void(int)> &f);

  /** Whether the calling thread is one of several of in_turns(). */
  bool takes_turns();

  /**
   * While it lives, other threads of in_turns() have their turns; then the calling thread waits for its own, behind
   * those that wait already. In other threads: nothing.
   */
  class TurnOfOthers
  {
  public:
    TurnOfOthers();
    ~TurnOfOthers();
    TurnOfOthers(const TurnOfOthers &)            = delete;
    TurnOfOthers &operator=(const TurnOfOthers &) = delete;
  };
} // namespace leopard
