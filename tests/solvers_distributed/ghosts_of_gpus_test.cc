// SPDX-License-Identifier: Apache-2.0
// Ghosts that travel by the memory of other GPUs, against the same by messages: the same bits, in all that iterates on
// ranks. On the host both are messages; there the solvers are tested against one rank.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/with_ghosts.h>

#include <functional>
#include <random>

namespace leopard
{
  namespace
  {
    /** Between -1 and 1, of own entries as they are in the numbering of all ranks; ghosts, behind them, are 1e30. */
    template <typename Number = double>
    std::vector<Number> random_part(const OwnRange &own, int n_columns, unsigned int seed)
    {
      std::mt19937        generator(seed);
      std::vector<Number> all(own.n_all()), result(n_columns, Number(1e30));
      for (Number &value : all)
        value = static_cast<Number>(static_cast<double>(generator()) / 0x7fffffff - 1.);
      std::copy_n(all.begin() + own.first(), own.n(), result.begin());
      return result;
    }

    class OnRanks : public testing::TestWithParam<Backend>
    {
    protected:
      void SetUp() override
      {
        if (!is_on_device())
          return;
        if (device::n_devices() == 0)
          GTEST_SKIP() << "no GPU";
        if (device::n_devices() < n_ranks())
          GTEST_SKIP() << "ranks share a GPU";
      }

      static bool        is_on_device() { return GetParam() == Backend::cuda; }
      static MemorySpace space() { return is_on_device() ? MemorySpace::device : MemorySpace::host; }

      /** f(there): v and w in the memory of the backend. */
      template <typename Number>
      static void on_backend(std::vector<Number> &v, std::vector<Number> &w, const std::function<void(Number *, Number *)> &f)
      {
        if (!is_on_device())
          return f(v.data(), w.data());
        const device::Array<Number> v_there(v), w_there(w);
        f(v_there.data(), w_there.data());
        device::copy_to_host(v.data(), v_there.data(), v.size() * sizeof(Number));
        device::copy_to_host(w.data(), w_there.data(), w.size() * sizeof(Number));
      }
    };
    INSTANTIATE_TEST_SUITE_P(Backends, OnRanks, testing::Values(Backend::host, Backend::cuda), [](const auto &info) {
      return to_string(info.param);
    });

    /** What a rank reads of the others: more of some than of others; the second of more than two owns nothing. */
    struct Read
    {
      OwnRange         own = own_range(my_rank() == 1 && n_ranks() > 2 ? 0 : 40 + 9 * my_rank(), MPI_COMM_WORLD);
      std::vector<int> ghosts;

      Read()
      {
        for (int i = 0; i < own.n_all(); ++i)
          if (!own.contains(i) && (7 * i + my_rank()) % (2 + my_rank()) == 0)
            ghosts.push_back(i);
      }
      int n_columns() const { return own.n() + static_cast<int>(ghosts.size()); }
    };

    template <typename Number>
    void expect_ghosts(const Communication<Number> &exchange, const Read &read, const std::vector<int> &old_row, bool on_device, unsigned int seed)
    {
      const std::vector<Number> all = random_part<Number>({{0, read.own.n_all()}, 0}, read.own.n_all(), seed);
      std::vector<Number>       v   = random_part<Number>(read.own, read.n_columns(), seed);
      for (int i = 0; i < static_cast<int>(old_row.size()); ++i)
        v[i] = all[read.own.first() + old_row[i]];
      if (on_device)
        {
          const device::Array<Number> there(v);
          exchange.update_ghosts(there.data(), MemorySpace::device);
          device::copy_to_host(v.data(), there.data(), v.size() * sizeof(Number));
        }
      else
        exchange.update_ghosts(v.data(), MemorySpace::host);
      for (std::size_t k = 0; k < read.ghosts.size(); ++k)
        EXPECT_EQ(v[read.own.n() + k], all[read.ghosts[k]]) << "ghost " << k;
    }
  } // namespace

  TEST_P(OnRanks, GhostsAreBroughtInEachOrderAndNumberType)
  {
    const Read                  read;
    const GhostExchange<double> best(read.own, read.ghosts, MPI_COMM_WORLD), staged(read.own, read.ghosts, MPI_COMM_WORLD, {}, true);
    std::vector<int>            reversed(read.own.n());
    for (int i = 0; i < read.own.n(); ++i)
      reversed[i] = read.own.n() - 1 - i;
    const auto in_reverse = best.reordered(reversed);
    const auto single = best.in_single(), single_in_reverse = in_reverse->in_single();
    EXPECT_EQ(best.is_queued(space()), is_on_device()) << best.description(space());
    EXPECT_EQ(staged.is_queued(space()), is_on_device() && n_ranks() == 1);
    for (unsigned int seed = 1; seed < 12; ++seed)
      {
        expect_ghosts(best, read, {}, is_on_device(), seed);
        expect_ghosts(*in_reverse, read, reversed, is_on_device(), seed);
        expect_ghosts(*single, read, {}, is_on_device(), seed);
        expect_ghosts(staged, read, {}, is_on_device(), seed);
        expect_ghosts(*single_in_reverse, read, reversed, is_on_device(), seed);
        expect_ghosts(best, read, {}, false, seed); // host vectors between those of the device
      }
  }

  TEST_P(OnRanks, AnExchangeSaysWhichWayItTakes)
  {
    if (n_ranks() == 1)
      GTEST_SKIP() << "one rank";
    const Read                  read;
    const GhostExchange<double> best(read.own, read.ghosts, MPI_COMM_WORLD), staged(read.own, read.ghosts, MPI_COMM_WORLD, {}, true);
    EXPECT_EQ(best.description(MemorySpace::host), "MPI messages");
    if (!is_on_device())
      return;
    EXPECT_NE(best.description(space()).find("chosen at the first exchange"), std::string::npos);
    best.is_queued(space());
    staged.is_queued(space());
    EXPECT_NE(best.description(space()).find("memory"), std::string::npos) << best.description(space());
    EXPECT_NE(best.description(space()).find("kernels"), std::string::npos) << best.description(space());
    EXPECT_NE(staged.description(space()).find("staged through host memory (as asked for)"), std::string::npos) << staged.description(space());
  }

  /** Kernels that wait for one another on one GPU would take turns. */
  TEST(RanksThatShareAGpu, StageTheirGhosts)
  {
    if (device::n_devices() == 0 || device::n_devices() >= n_ranks())
      GTEST_SKIP() << "no GPU, or one each";
    const Read                  read;
    const GhostExchange<double> exchange(read.own, read.ghosts, MPI_COMM_WORLD);
    EXPECT_FALSE(exchange.is_queued(MemorySpace::device));
    EXPECT_NE(exchange.description(MemorySpace::device).find("ranks share a GPU"), std::string::npos) << exchange.description(MemorySpace::device);
    expect_ghosts(exchange, read, {}, true, 1);
  }

  TEST_P(OnRanks, AsyncInTheSynchronousScheduleHasTheBitsOfMessages)
  {
    const CrsMatrix<double> A      = five_point_matrix(24, 30, 0.01);
    const OwnRange          own    = own_range(24 * (30 * (my_rank() + 1) / n_ranks() - 30 * my_rank() / n_ranks()), MPI_COMM_WORLD);
    const DistributedRows   rows   = own_rows(A, own);
    const std::vector<int>  ghosts = rows.ghosts(own);
    BlockAsyncOptions       options;
    options.backend     = GetParam();
    options.schedule    = Schedule::synchronous;
    options.block_size  = 24; // no block is cut by the borders of ranks
    options.n_threads   = 1;
    const auto iterated = [&](bool staged) {
      const GhostExchange<double> exchange(own, ghosts, MPI_COMM_WORLD, {}, staged);
      BlockAsync<double>          relaxation(rows.number(own, ghosts), options);
      std::vector<double>         x = random_part(own, relaxation.n_columns(), 1), b = random_part(own, own.n(), 2);
      on_backend<double>(x, b, [&](double *x_there, double *b_there) {
        iterate_with_ghosts(relaxation, x_there, b_there, 13, exchange);
        exchange.update_ghosts(x_there, space());
      });
      return x;
    };
    const std::vector<double> best = iterated(false);
    EXPECT_EQ(best, iterated(true));
    // and those of one process
    options.backend = Backend::reference;
    BlockAsync<double>        alone(A, options);
    const OwnRange            all = {{0, A.n_rows}, 0};
    std::vector<double>       x   = random_part(all, A.n_rows, 1);
    const std::vector<double> b   = random_part(all, A.n_rows, 2);
    alone.iterate(x.data(), b.data(), 13);
    for (int i = 0; i < own.n(); ++i)
      ASSERT_NEAR(best[i], x[own.first() + i], 1e-12);
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      ASSERT_NEAR(best[own.n() + k], x[ghosts[k]], 1e-12);
  }
} // namespace leopard
