// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
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
   * Whose turn it is among chunks of consecutive blocks that threads visit without waiting for one another, each chunk
   * once a global iteration. A thread takes the next chunk in turn that is free: it passes over those in which another
   * thread is, and those that have gone ahead. No chunk begins an iteration that is more than max_lead ahead of the
   * iterations that the slowest has done. So a thread that the system stops inside a chunk delays that chunk only, and
   * the others go on for max_lead iterations before they wait for it.
   *
   * What the theory of asynchronous iteration asks of delays (Chazan and Miranker 1969, Baudet 1978; thesis, section
   * 3.2: none beyond a bound) holds with these bounds, whatever the number of threads. The m-th visit of a chunk reads
   * values of the (m - max_lead)-th visit of every other chunk, or newer ones. Between two visits of a chunk each other
   * one is visited at most 2 max_lead times.
   */
  class ChunkTurns
  {
  public:
    /**
     * Global iterations. With more the residual was larger after as many iterations beside busy processes, since chunks
     * read older values (32 and no bound were tried); with 1, threads wait for one another.
     */
    static constexpr int max_lead = 4;

    /** @param n_chunks >= 1. */
    explicit ChunkTurns(int n_chunks)
      : chunks(n_chunks)
    {
    }

    /** Before the first visit: each chunk is going to be visited n_iterations times. */
    void start(int n_iterations_)
    {
      n_iterations = n_iterations_;
      for (Chunk &chunk : chunks)
        chunk.state.store(0, std::memory_order_relaxed);
      for (Counter &done : counters->n_done)
        done.value.store(0, std::memory_order_relaxed);
      for (Counter *counter : {&counters->n_begun, &counters->n_passed, &counters->slowest})
        counter->value.store(0, std::memory_order_relaxed);
    }

    /**
     * Whether there is a visit left to begin; if so it is the caller's, and try_take() is going to find a chunk for it.
     */
    bool claim_visit(long &visit)
    {
      visit = counters->n_begun.value++;
      return visit < static_cast<long>(chunks.size()) * n_iterations;
    }

    /** Takes a chunk for a visit. @return the chunk, or -1 if at this moment none is free. */
    int try_take(long visit)
    {
      for (std::size_t tried = 0; tried < chunks.size(); ++tried)
        {
          const int  chunk = static_cast<int>((visit + counters->n_passed.value.load(std::memory_order_relaxed)) % static_cast<long>(chunks.size()));
          const long end   = std::min<long>(n_iterations, counters->slowest.value.load(std::memory_order_acquire) + max_lead);
          long       state = chunks[chunk].state.load(std::memory_order_relaxed);
          if (state % 2 == 0 && state / 2 < end && chunks[chunk].state.compare_exchange_strong(state, state + 1, std::memory_order_acquire))
            return chunk;
          ++counters->n_passed.value;
        }
      return -1;
    }

    /** The visit is done. */
    void give_back(int chunk)
    {
      const long state     = chunks[chunk].state.load(std::memory_order_relaxed);
      const long iteration = state / 2;
      Counter   &done      = counters->n_done[iteration % max_lead];
      if (done.value.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<long>(chunks.size()))
        { // the last chunk in this iteration; nobody can begin the one that counts here next before slowest says so
          done.value.store(0, std::memory_order_relaxed);
          counters->slowest.value.store(iteration + 1, std::memory_order_release);
        }
      chunks[chunk].state.store(state + 1, std::memory_order_release);
    }

  private:
    struct alignas(64) Chunk // a cache line of its own
    {
      std::atomic<long> state{0}; ///< twice the iterations done; one more while a thread is in it
    };
    struct alignas(128) Counter // and none beside it, which processors fetch along with it
    {
      std::atomic<long> value{0};
    };

    struct Counters
    {
      Counter n_begun, n_passed; ///< visits; times that a chunk was passed over
      Counter n_done[max_lead];  ///< chunks that have done iteration i: [i mod max_lead], of those not done by all
      Counter slowest;           ///< iterations that all chunks have done
    };

    std::vector<Chunk>        chunks;
    int                       n_iterations = 0;
    std::unique_ptr<Counters> counters     = std::make_unique<Counters>(); // of its own, so that a scheduler can be moved
  };

  /**
   * Threads that relax blocks without waiting for one another. Chunks of consecutive blocks take turns (ChunkTurns): no
   * block is relaxed twice at once, and all are relaxed equally often in the end.
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

    /** @param wanted_threads 0: as many as this process may use. */
    HostScheduler(int n_blocks_, long n_rows, int wanted_threads)
      : n_blocks(n_blocks_)
      , pool(shared_thread_pool(wanted_threads))
      , n_active(n_at_work(n_blocks_, n_rows, pool->size()))
      , n_chunks(std::max(1, std::min(n_blocks, n_active == 1 ? 1 : 16 * n_active)))
      , turns(n_chunks)
      , partial_sums(n_chunks)
    {
    }

    int n_threads() const { return n_active; }

    /** relax(block, thread), which must not throw, for each block, n_iterations times. */
    template <typename Relax>
    void run(int n_iterations, const Relax &relax)
    {
      turns.start(n_iterations);
      const auto work = [&](int thread) {
        for (long visit = 0; turns.claim_visit(visit);)
          {
            int chunk = turns.try_take(visit);
            for (; chunk < 0; chunk = turns.try_take(visit))
              std::this_thread::yield();
            for (int block = chunk_begin(chunk); block < chunk_begin(chunk + 1); ++block)
              relax(block, thread);
            turns.give_back(chunk);
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
    int chunk_begin(int chunk) const { return static_cast<int>(static_cast<long>(n_blocks) * chunk / n_chunks); }

    const int                   n_blocks;
    std::shared_ptr<ThreadPool> pool;
    const int                   n_active, n_chunks; ///< threads that work, and chunks
    ChunkTurns                  turns;
    std::vector<double>         partial_sums;
  };
} // namespace leopard
