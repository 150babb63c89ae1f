// SPDX-License-Identifier: Apache-2.0
// What host threads do at the same time: meant to be run with the thread sanitizer, too.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/base/thread_pool.h>
#include <solvers/matrix/generators.h>

#include <atomic>
#include <stdexcept>

namespace leopard
{
  namespace
  {
    TEST(Threads, TilesBesideOneAnotherReadWhatTheOthersWrite)
    {
      // more than one tile in x, so that the last column of a tile is read while it is written; ||B||_inf = 0.8 for both
      for (const Stencil &stencil : {five_point_stencil(1100, 64, 1.), seven_point_stencil(200, 24, 24, 1.5)})
        {
          BlockAsyncOptions o;
          o.n_threads        = 2;
          o.local_iterations = 2;
          BlockAsync method(stencil, o);
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
  } // namespace
} // namespace leopard
