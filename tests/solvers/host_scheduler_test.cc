// SPDX-License-Identifier: Apache-2.0
// Whose turn it is among chunks of blocks on host threads. The rule is tested in one thread, which visits chunks as
// several would; then threads, of which one stands still inside a chunk until the others have done all that they may.
#include <solvers/block_async/host_scheduler.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>

namespace leopard
{
  namespace
  {
    constexpr int max_lead = ChunkTurns::max_lead;

    /** Visits chunks like a thread, but may stand still inside. */
    class Visitor
    {
    public:
      explicit Visitor(ChunkTurns &turns_)
        : turns(turns_)
      {
      }

      /** Goes into a chunk. @return whether there was one. */
      bool enter()
      {
        if (!has_claim)
          has_claim = turns.claim_visit(visit);
        chunk = has_claim ? turns.try_take(visit) : -1;
        return chunk >= 0;
      }

      /** @return the chunk that was left. */
      int leave()
      {
        has_claim = false;
        turns.give_back(chunk);
        return std::exchange(chunk, -1);
      }

      bool is_inside() const { return chunk >= 0; }

      int chunk = -1;

    private:
      ChunkTurns &turns;
      long        visit     = 0;
      bool        has_claim = false;
    };

    TEST(HostScheduler, OneThreadVisitsChunksInTurn)
    {
      ChunkTurns turns(5);
      for (int run = 0; run < 2; ++run) // and begins anew
        {
          turns.start(3);
          Visitor visitor(turns);
          for (int i = 0; i < 15; ++i)
            {
              ASSERT_TRUE(visitor.enter());
              EXPECT_EQ(visitor.leave(), i % 5);
            }
          EXPECT_FALSE(visitor.enter());
        }
    }

    TEST(HostScheduler, OthersGoOnWhereOneStandsStillAndWaitAtTheBound)
    {
      constexpr int n_chunks = 8, n_iterations = 10;
      for (const int before : {0, 3, 8, 20}) // visits before one stands still
        {
          ChunkTurns turns(n_chunks);
          turns.start(n_iterations);
          std::vector<int> done(n_chunks, 0);
          Visitor          still(turns), other(turns);
          for (int i = 0; i < before; ++i)
            {
              ASSERT_TRUE(other.enter());
              ++done[other.leave()];
            }
          ASSERT_TRUE(still.enter());
          while (other.enter())
            {
              ASSERT_NE(other.chunk, still.chunk) << "two in one chunk";
              ++done[other.leave()];
            }
          const int slowest = done[still.chunk];
          for (int chunk = 0; chunk < n_chunks; ++chunk)
            EXPECT_EQ(done[chunk], chunk == still.chunk ? before / n_chunks : std::min(n_iterations, slowest + max_lead)) << "chunk " << chunk;

          ++done[still.leave()]; // and now they go on
          while (other.enter())
            ++done[other.leave()];
          EXPECT_EQ(done, std::vector<int>(n_chunks, n_iterations));
          EXPECT_FALSE(still.enter());
        }
    }

    TEST(HostScheduler, WhateverTheOrderTheBoundHoldsAndAllIsDone)
    {
      for (unsigned int seed = 1; seed <= 200; ++seed)
        {
          std::mt19937         random(seed);
          const int            n_chunks = 1 + static_cast<int>(random() % 40), n_iterations = 1 + static_cast<int>(random() % 30);
          ChunkTurns           turns(n_chunks);
          std::vector<int>     done(n_chunks, 0);
          std::vector<Visitor> visitors(1 + random() % 8, Visitor(turns));
          turns.start(n_iterations);
          for (int left = n_chunks * n_iterations, idle = 0; left > 0;)
            {
              Visitor &visitor = visitors[random() % 3 == 0 ? 0 : random() % visitors.size()]; // one is faster
              if (visitor.is_inside())
                {
                  ++done[visitor.leave()];
                  --left;
                  idle = 0;
                }
              else if (visitor.enter())
                {
                  for (const Visitor &other : visitors)
                    ASSERT_TRUE(&other == &visitor || other.chunk != visitor.chunk) << "two in one chunk, seed " << seed;
                  ASSERT_LT(done[visitor.chunk], *std::min_element(done.begin(), done.end()) + max_lead) << "seed " << seed;
                }
              else
                ASSERT_LT(++idle, 10000) << "nobody finds a chunk, seed " << seed;
            }
          EXPECT_EQ(done, std::vector<int>(n_chunks, n_iterations)) << "seed " << seed;
          for (Visitor &visitor : visitors)
            EXPECT_FALSE(visitor.enter());
        }
    }

    /** Blocks that are relaxed by threads, each of them a chunk: how often, and whether by one thread at a time. */
    class Visits
    {
    public:
      explicit Visits(int n_blocks)
        : done(n_blocks, 0)
        , inside(n_blocks, false)
      {
      }

      void begin(int block)
      {
        const std::lock_guard<std::mutex> lock(mutex);
        two_in_one    = two_in_one || inside[block];
        beyond        = beyond || done[block] >= *std::min_element(done.begin(), done.end()) + max_lead;
        inside[block] = true;
      }

      void end(int block)
      {
        const std::lock_guard<std::mutex> lock(mutex);
        inside[block] = false;
        ++done[block];
        changed.notify_all();
      }

      /** Until all other blocks are as far ahead of this one as they may be. @return whether that came. */
      bool wait_until_all_are_ahead_of(int block)
      {
        std::unique_lock<std::mutex> lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(20), [&] {
          return static_cast<std::size_t>(std::count(done.begin(), done.end(), done[block] + max_lead)) == done.size() - 1;
        });
      }

      std::mutex              mutex;
      std::condition_variable changed;
      std::vector<int>        done;
      std::vector<bool>       inside;
      bool                    two_in_one = false, beyond = false;
    };

    TEST(HostScheduler, AThreadThatStandsStillDoesNotStopTheOthers)
    {
      constexpr int n_blocks = 16, n_iterations = 10;
      for (const int n_threads : {2, 3, 4})
        for (const int still : {0, 5, 15})
          {
            HostScheduler scheduler(n_blocks, 1000000, n_threads);
            ASSERT_EQ(scheduler.n_threads(), n_threads);
            Visits visits(n_blocks);
            bool   others_went_on = false;
            scheduler.run(n_iterations, [&](int block, int /*thread*/) {
              visits.begin(block);
              if (block == still && visits.done[block] == 2)
                others_went_on = visits.wait_until_all_are_ahead_of(block);
              visits.end(block);
            });
            EXPECT_TRUE(others_went_on) << n_threads << " threads, one of them in block " << still;
            EXPECT_FALSE(visits.two_in_one);
            EXPECT_FALSE(visits.beyond);
            EXPECT_EQ(visits.done, std::vector<int>(n_blocks, n_iterations));
          }
    }

    TEST(HostScheduler, ThreadsRelaxEachBlockEquallyOftenAndOneAtATime)
    {
      for (const int n_threads : {1, 2, 3, 4})
        for (const int n_blocks : {17, 1000}) // chunks of one block, and of more
          for (const int n_iterations : {1, 2, 3, 40})
            {
              HostScheduler                        scheduler(n_blocks, 1000000, n_threads);
              std::vector<int>                     done(n_blocks, 0); // no atomics: the thread sanitizer would see two in one block
              std::unique_ptr<std::atomic<bool>[]> inside(new std::atomic<bool>[n_blocks]());
              std::atomic<bool>                    two_in_one{false};
              for (int run = 1; run <= 3; ++run)
                {
                  scheduler.run(n_iterations, [&](int block, int /*thread*/) {
                    if (inside[block].exchange(true, std::memory_order_relaxed))
                      two_in_one = true;
                    ++done[block];
                    inside[block].store(false, std::memory_order_relaxed);
                  });
                  EXPECT_EQ(done, std::vector<int>(n_blocks, run * n_iterations)) << n_threads << " threads";
                }
              EXPECT_FALSE(two_in_one) << n_threads << " threads";
            }
    }
  } // namespace
} // namespace leopard
