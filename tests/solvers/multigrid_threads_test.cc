// SPDX-License-Identifier: Apache-2.0
// The default smoother of the host with any number of threads, whatever the machine has, and in schedules whose values
// are older than those of threads.
#include "multigrid_test.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace leopard
{
  namespace
  {
    struct Grid
    {
      int             n;
      Stencil<double> stencil;
      int             n_levels;
    };

    std::vector<Grid> squares()
    {
      return {{63, five_point_stencil(63, 63, 0.), 4}, {127, five_point_stencil(127, 127, 0.), 5}, {255, five_point_stencil(255, 255, 0.), 6}};
    }

    std::vector<Grid> cubes()
    {
      return {{15, seven_point_stencil(15, 15, 15, 0.), 3}, {31, seven_point_stencil(31, 31, 31, 0.), 4}};
    }

    /** Cycles to 1e-10 of the default V(2,2)-cycle. */
    int cycles(const Grid &grid, bool stored, const BlockAsyncOptions &async)
    {
      MultigridOptions options;
      options.n_threads                     = async.n_threads;
      options.smoother.block_async.schedule = async.schedule;
      options.smoother.block_async.seed     = async.seed;
      Multigrid<double> multigrid =
        stored ? Multigrid<double>(make_hierarchy(grid.stencil, grid.n_levels), options) : Multigrid<double>(grid.stencil, grid.n_levels, options);
      Vector     x(grid.stencil.n_rows(), 0.);
      const auto result = solve(multigrid, x, random_vector(grid.stencil.n_rows(), 1), 1e-10);
      EXPECT_EQ(result.status, SolveStatus::converged);
      return result.n_iterations;
    }

    /**
     * The median of the attempts is no more than most: one run in which threads wait for a processor may take a cycle
     * more, most runs may not. Ends as soon as that is decided.
     */
    void expect_few(const std::vector<Grid> &grids, bool stored, const BlockAsyncOptions &async, int most, int attempts)
    {
      for (const Grid &grid : grids)
        {
          std::string found;
          int         few = 0, many = 0;
          while (2 * few < attempts && 2 * many < attempts)
            {
              const int n = cycles(grid, stored, async);
              ++(n <= most ? few : many);
              found += " " + std::to_string(n);
            }
          EXPECT_GT(few, many) << grid.n << (stored ? ", stored" : ", stencil") << ", " << async.n_threads << " threads: cycles" << found
                               << ", expected: at most " << most;
        }
    }

    class MultigridThreads : public testing::TestWithParam<int>
    {
    protected:
      BlockAsyncOptions async() const
      {
        BlockAsyncOptions result;
        result.n_threads = GetParam();
        return result;
      }

      /**
       * Of several threads, which wait for a processor on a busy machine again and again, one cycle more; and another
       * one where more than eight are at work at once: on 16 processors stored levels of 255^2 nodes take 10, where a
       * quarter of the blocks of level 1 are at work at once.
       */
      int most(int of_one_thread) const
      {
        const int processors = static_cast<int>(std::thread::hardware_concurrency());
        const int at_once    = GetParam() == 0 ? processors : std::min(GetParam(), processors);
        return of_one_thread + (GetParam() != 1 ? 1 : 0) + (at_once > 8 ? 1 : 0);
      }
    };

    TEST_P(MultigridThreads, TakeAsFewCycles)
    {
      for (const bool stored : {false, true})
        {
          expect_few(squares(), stored, async(), most(8), 5);
          expect_few(cubes(), stored, async(), most(9), 5);
        }
    }

    std::string n_threads_name(const testing::TestParamInfo<int> &info)
    {
      return info.param == 0 ? "OfThisMachine" : std::to_string(info.param);
    }

    INSTANTIATE_TEST_SUITE_P(Threads, MultigridThreads, testing::Values(1, 2, 5, 16, 0), n_threads_name);

    /**
     * What no number of threads can be worse than, always the same: all blocks read the values of the iteration before
     * (synchronous), or each those of now, of this iteration's beginning or of the one before, in a random order
     * (replay).
     */
    TEST(MultigridOldValues, TakeAFewMoreCycles)
    {
      BlockAsyncOptions async;
      async.n_threads = 1;
      for (const Schedule schedule : {Schedule::synchronous, Schedule::replay})
        for (const bool stored : {false, true})
          {
            async.schedule = schedule;
            async.seed     = 5;
            expect_few(squares(), stored, async, stored ? 9 : 8, 1);
            expect_few(cubes(), stored, async, stored ? 10 : 9, 1);
          }
    }

    TEST(MultigridSmoother, BlocksAtWorkAtOnce)
    {
      BlockAsyncOptions o;
      EXPECT_EQ(share_at_once(o, Backend::cuda, 100, 1000000), 1.);
      EXPECT_EQ(share_at_once(o, Backend::reference, 100, 1000000), 0.);
      double last = -1.;
      for (const int n_threads : {1, 2, 5, 16, 128})
        {
          o.n_threads        = n_threads;
          const double share = share_at_once(o, Backend::host, 100, 1000000);
          EXPECT_DOUBLE_EQ(share, (std::min(n_threads, 25) - 1) / 100.);
          EXPECT_GT(share, last);
          last = share;
          EXPECT_EQ(share_at_once(o, Backend::host, 100, 1000), 0.); // one thread does it
          EXPECT_EQ(share_at_once(o, Backend::host, 1, 1000000), 0.);
        }
      o.schedule = Schedule::synchronous;
      EXPECT_EQ(share_at_once(o, Backend::host, 100, 1000), 1.);
      o.schedule = Schedule::replay;
      EXPECT_EQ(share_at_once(o, Backend::host, 100, 1000), 0.5);
    }
  } // namespace
} // namespace leopard
