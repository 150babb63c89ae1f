// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

namespace leopard
{
  // The race between blocks is the method; relaxed atomics make it well defined and cost what plain accesses cost.
  template <typename Number>
  Number load(const Number &x)
  {
    return std::atomic_ref<Number>(const_cast<Number &>(x)).load(std::memory_order_relaxed);
  }

  template <typename Number>
  void store(Number &x, Number value)
  {
    std::atomic_ref<Number>(x).store(value, std::memory_order_relaxed);
  }

  /**
   * Threads that relax blocks without waiting for one another. They take chunks of consecutive blocks by an atomic
   * ticket: ticket t stands for chunk t mod n_chunks in global iteration t div n_chunks. A chunk's next iteration
   * begins when its last one is done, so that no block is relaxed twice at once; apart from that nobody waits, a slow
   * thread delays its own chunk only, and no chunk falls behind by more than an iteration or two.
   */
  class HostScheduler
  {
  public:
    /**
     * How many of n_threads threads are worth using: waking one costs microseconds, as much as relaxing some thousand
     * rows.
     */
    static int n_at_work(int n_blocks, long n_rows, int n_threads)
    {
      return static_cast<int>(std::max(1l, std::min({static_cast<long>(n_threads), n_blocks / 4l, n_rows / 2000})));
    }

    /** @param wanted_threads 0: as many as the machine has. */
    HostScheduler(int n_blocks_, long n_rows, int wanted_threads)
      : n_blocks(n_blocks_)
      , pool(shared_thread_pool(wanted_threads))
      , n_active(n_at_work(n_blocks_, n_rows, pool->size()))
      , n_chunks(std::max(1, std::min(n_blocks, n_active == 1 ? 1 : 16 * n_active)))
      , counters(n_chunks)
      , partial_sums(n_chunks)
    {
    }

    int n_threads() const { return n_active; }

    /** relax(block, thread) for each block, n_iterations times. */
    template <typename Relax>
    void run(int n_iterations, const Relax &relax)
    {
      for (ChunkCounter &counter : counters)
        counter.iterations_done.store(0, std::memory_order_relaxed);
      const long        n_tickets = static_cast<long>(n_iterations) * n_chunks;
      std::atomic<long> next_ticket{0};
      const auto        work = [&](int thread) {
        for (long ticket = next_ticket++; ticket < n_tickets; ticket = next_ticket++)
          {
            const int         chunk = static_cast<int>(ticket % n_chunks), iteration = static_cast<int>(ticket / n_chunks);
            std::atomic<int> &done = counters[chunk].iterations_done;
            while (done.load(std::memory_order_acquire) != iteration)
              std::this_thread::yield();
            for (int block = chunk_begin(chunk); block < chunk_begin(chunk + 1); ++block)
              relax(block, thread);
            done.store(iteration + 1, std::memory_order_release);
          }
      };
      pool->run(std::cref(work), n_active); // by reference, so that nothing is allocated
    }

    /** Sums term(block) over the blocks in parallel and, within a number of threads, always in the same order. */
    template <typename Term>
    double sum(const Term &term)
    {
      std::atomic<int> next_chunk{0};
      const auto       work = [&](int /*thread*/) {
        for (int chunk = next_chunk++; chunk < n_chunks; chunk = next_chunk++)
          {
            double part = 0.;
            for (int block = chunk_begin(chunk); block < chunk_begin(chunk + 1); ++block)
              part += term(block);
            partial_sums[chunk] = part;
          }
      };
      pool->run(std::cref(work), n_active); // by reference, so that nothing is allocated
      return std::accumulate(partial_sums.begin(), partial_sums.end(), 0.);
    }

  private:
    /** Counts the global iterations of a chunk; a cache line of its own. */
    struct alignas(64) ChunkCounter
    {
      std::atomic<int> iterations_done{0};
    };

    int chunk_begin(int chunk) const { return static_cast<int>(static_cast<long>(n_blocks) * chunk / n_chunks); }

    const int                   n_blocks;
    std::shared_ptr<ThreadPool> pool;
    const int                   n_active, n_chunks; ///< threads that work, and chunks
    std::vector<ChunkCounter>   counters;
    std::vector<double>         partial_sums;
  };
} // namespace leopard
