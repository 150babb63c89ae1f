// SPDX-License-Identifier: Apache-2.0
// What host threads do at the same time: meant to be run with the thread sanitizer, too.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/base/thread_pool.h>
#include <solvers/matrix/generators.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    TEST(Threads, TilesBesideOneAnotherReadWhatTheOthersWrite)
    {
      // more than one tile in x, so that the last column of a tile is read while it is written; ||B||_inf = 0.8 for
      // both
      for (const Stencil<double> &stencil : {five_point_stencil(1100, 64, 1.), seven_point_stencil(200, 24, 24, 1.5)})
        {
          BlockAsyncOptions o;
          o.n_threads        = 2;
          o.local_iterations = 2;
          BlockAsync<double> method(stencil, o);
          ASSERT_NE(method.description().find("2 threads"), std::string::npos) << method.description();
          const Vector x_exact = random_vector(stencil.n_rows(), 1);
          Vector       b(stencil.n_rows()), x(stencil.n_rows(), 0.);
          multiply(stencil.to_crs(), x_exact.data(), b.data());
          method.iterate(x.data(), b.data(), 40);
          EXPECT_LT(largest_difference(x, x_exact), std::pow(0.8, 40 / 2)); // whatever the order and, within an iteration, the staleness
        }
    }

    TEST(ThreadPool, ThrowsWhatATaskThrowsAndGoesOn)
    {
      ThreadPool pool(3);
      for (const int culprit : {0, 1, 2})
        for (int repetition = 0; repetition < 20; ++repetition)
          {
            std::atomic<int> done{0};
            try
              {
                pool.run([&](int thread) {
                  if (thread == culprit)
                    throw std::runtime_error("thread " + std::to_string(thread));
                  ++done;
                });
                ADD_FAILURE() << "nothing was thrown";
              }
            catch (const std::runtime_error &error)
              {
                EXPECT_EQ(error.what(), "thread " + std::to_string(culprit));
              }
            EXPECT_EQ(done, 2); // the others are done when the caller goes on
            pool.run([&](int) { ++done; });
            EXPECT_EQ(done, 5);
          }
      // several at once: one of them
      EXPECT_THROW(pool.run([](int thread) { throw InvalidInput(std::to_string(thread)); }), InvalidInput);
      EXPECT_NO_THROW(pool.run([](int) {}));
    }

    TEST(ThreadPool, DoesThePartsOfAThreadThatDoesNotCome)
    {
      // the caller, who is there at once, does what those who have to be woken up have not begun
      ThreadPool                   pool(4);
      std::vector<std::thread::id> who(4);
      int                          by_caller = 0;
      for (int call = 0; call < 2000; ++call)
        {
          if (call % 100 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(2)); // until all sleep
          std::vector<int> times(4, 0);
          pool.run([&](int part) {
            ++times[part];
            who[part] = std::this_thread::get_id();
          });
          ASSERT_EQ(times, std::vector<int>(4, 1)) << "call " << call;
          by_caller += static_cast<int>(std::count(who.begin() + 1, who.end(), std::this_thread::get_id()));
        }
      EXPECT_GT(by_caller, 0);
    }

    TEST(ThreadPool, OnlyThoseAskedForWorkAndNoneIsLost)
    {
      ThreadPool       pool(4);
      std::vector<int> calls(pool.size(), 0), expected(pool.size(), 0); // each thread writes its own
      for (int call = 0; call < 4000; ++call)
        {
          const int n_threads = 1 + call * 7 % 5 % 4; // others sleep meanwhile, and miss calls
          if (call % 500 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(2)); // until all sleep
          pool.run([&](int thread) { ++calls[thread]; }, n_threads);
          for (int thread = 0; thread < n_threads; ++thread)
            ++expected[thread];
          ASSERT_EQ(calls, expected) << "call " << call;
        }
      pool.run([&](int thread) { ++calls[thread]; }, 9); // more than there are: all
      for (int &calls_of_thread : expected)
        ++calls_of_thread;
      EXPECT_EQ(calls, expected);
    }

    /** Address space for so many more threads, and some memory beside them. */
    class RoomForThreads
    {
    public:
      explicit RoomForThreads(int n)
      {
        constexpr std::size_t stack = std::size_t(1) << 30;
        pthread_getattr_default_np(&usual_attributes);
        pthread_attr_t attributes = usual_attributes;
        pthread_attr_setstacksize(&attributes, stack);
        pthread_setattr_default_np(&attributes);
        getrlimit(RLIMIT_AS, &usual_limit);
        std::size_t n_pages = 0;
        std::ifstream("/proc/self/statm") >> n_pages;
        rlimit limit   = usual_limit;
        limit.rlim_cur = n_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + n * stack + stack / 2;
        setrlimit(RLIMIT_AS, &limit);
      }
      ~RoomForThreads()
      {
        setrlimit(RLIMIT_AS, &usual_limit);
        pthread_setattr_default_np(&usual_attributes);
      }

    private:
      pthread_attr_t usual_attributes;
      rlimit         usual_limit;
    };

    TEST(ThreadPool, SaysHowManyThreadsTheMachineGives)
    {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
      GTEST_SKIP() << "a sanitizer needs the address space";
#endif
      for (const bool shared : {true, false})
        {
          const RoomForThreads room(3);
          try
            {
              shared ? (void)shared_thread_pool(41) : (void)ThreadPool(41);
              ADD_FAILURE() << "threads were made";
            }
          catch (const Error &error) // some threads were made before the one that could not be
            {
              EXPECT_NE(std::string(error.what()).find("of 41 host threads the machine gives 4"), std::string::npos) << error.what();
              EXPECT_NE(std::string(error.what()).find("expected: at most"), std::string::npos) << error.what();
            }
        }
      EXPECT_EQ(shared_thread_pool(41)->size(), 41); // and now they can be
    }

    TEST(ThreadPool, ThreadsMayHavePoolsOfTheirOwn)
    {
      const auto                  shared = shared_thread_pool(3);
      std::shared_ptr<ThreadPool> own, again, of_another;
      std::thread([&] {
        use_own_thread_pools();
        own   = shared_thread_pool(3);
        again = shared_thread_pool(3);
      }).join();
      std::thread([&] { of_another = shared_thread_pool(3); }).join();
      EXPECT_NE(own, shared);
      EXPECT_EQ(own, again);
      EXPECT_EQ(of_another, shared) << "of a thread that has not asked for its own";
      EXPECT_EQ(shared_thread_pool(3), shared);
    }
  } // namespace
} // namespace leopard
