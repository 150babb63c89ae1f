// SPDX-License-Identifier: Apache-2.0
// Ghosts that travel by the memory of other GPUs, against the same by messages: the same bits, in all that iterates on
// ranks. On the host both are messages; there the solvers are tested against one rank.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device_array.h>
#include <solvers/distributed/mpi/distributed_levels.h>
#include <solvers/distributed/mpi/gathered_coarse_solver.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/stencil.h>
#include <solvers/relaxation/with_ghosts.h>

#include <cmath>
#include <functional>
#include <random>

namespace leopard
{
  namespace
  {
    double sum_of_ranks(double value)
    {
      MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return value;
    }

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
      /** Whether the other GPUs' memory is taken where it is not forbidden. */
      static bool has_direct() { return is_on_device() && n_ranks() > 1; }

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

    /** Stored levels of a grid in slabs, with a multigrid on them. */
    struct Levels
    {
      Levels(const Stencil<double> &stencil, MultigridOptions options, bool staged)
        : hierarchy(make_hierarchy(stencil, 3, MPI_COMM_WORLD, staged))
      {
        options.n_threads                      = 1;
        options.smoother.block_async.n_threads = 1;
        multigrid                              = std::make_unique<Multigrid<double>>(
          hierarchy, options, std::make_unique<GatheredCoarseSolver>(hierarchy.levels.front(), options, MPI_COMM_WORLD));
        own = own_range(multigrid->n_rows(), MPI_COMM_WORLD);
      }

      MultigridHierarchy                 hierarchy;
      std::unique_ptr<Multigrid<double>> multigrid;
      OwnRange                           own;
    };

    MultigridOptions options_with(const std::string &smoother, Backend backend)
    {
      MultigridOptions options;
      options.backend                         = backend;
      options.smoother.method                 = smoother;
      options.smoother.block_async.block_size = 64;
      options.smoother.block_async.schedule   = Schedule::synchronous;
      return options;
    }

    /** Up to rounding: products by cuSPARSE need not have the same bits twice. */
    void expect_close(const std::vector<double> &found, const std::vector<double> &by_messages, const std::string &what)
    {
      ASSERT_EQ(found.size(), by_messages.size()) << what;
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], by_messages[i], 1e-10) << what << ", entry " << i;
    }

    const Stencil<double> grid_of_two_dimensions   = five_point_stencil(37, 41, 0.);
    const Stencil<double> grid_of_three_dimensions = seven_point_stencil(13, 12, 15, 0.);
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

  /** Queued piece by piece, recorded as a graph, replayed. */
  TEST_P(OnRanks, CyclesAgreeWithMessages)
  {
    for (const Stencil<double> &grid : {grid_of_two_dimensions, grid_of_three_dimensions})
      for (const std::string smoother : {"async", "chebyshev"})
        {
          const auto cycled = [&](bool staged, bool use_graph) {
            MultigridOptions options = options_with(smoother, GetParam());
            options.use_graph        = use_graph;
            const Levels levels(grid, options, staged);
            if (is_on_device())
              {
                EXPECT_EQ(levels.multigrid->is_queued(), !staged || n_ranks() == 1) << levels.multigrid->description();
              }
            std::vector<double> x(levels.multigrid->n_columns(), 0.), b = random_part(levels.own, levels.own.n(), 3), all;
            on_backend<double>(x, b, [&](double *x_there, double *b_there) {
              for (int i = 0; i < 5; ++i)
                levels.multigrid->cycle(x_there, b_there);
            });
            all.assign(x.begin(), x.begin() + levels.own.n());
            on_backend<double>(x, b, [&](double *x_there, double *b_there) {
              for (int i = 0; i < 4; ++i)
                levels.multigrid->vmult(x_there, b_there);
            });
            all.insert(all.end(), x.begin(), x.begin() + levels.own.n());
            return all;
          };
          const std::vector<double> by_messages = cycled(true, true), best = cycled(false, true), no_graph = cycled(false, false);
          expect_close(best, by_messages, smoother);
          expect_close(no_graph, by_messages, smoother + ", without a graph");
        }
  }

  TEST_P(OnRanks, ACycleSolves)
  {
    for (const Stencil<double> &grid : {grid_of_two_dimensions, grid_of_three_dimensions})
      for (const std::string coarse : {"dense", "direct"})
        {
          MultigridOptions options = options_with("chebyshev", GetParam());
          options.coarse_solver    = coarse;
          const Levels        levels(grid, options, false);
          std::vector<double> x(levels.multigrid->n_columns(), 0.), b = random_part(levels.own, levels.own.n(), 4);
          StoppingCriteria    criteria;
          criteria.relative_tolerance = 1e-10;
          criteria.max_iterations     = 30;
          SolveResult result;
          on_backend<double>(x, b, [&](double *x_there, double *b_there) { result = levels.multigrid->solve(x_there, b_there, criteria); });
          EXPECT_EQ(result.status, SolveStatus::converged) << coarse << ", residual " << result.final_residual;
          expect_same(result.n_iterations, "cycles");
          if (has_direct())
            {
              EXPECT_EQ(levels.multigrid->is_queued(), coarse == "dense");
            }
        }
  }

  TEST_P(OnRanks, ConjugateGradientsWithMultigridAgreeWithMessages)
  {
    const auto solved = [&](bool staged) {
      const Levels       levels(grid_of_three_dimensions, options_with("chebyshev", GetParam()), staged);
      Multigrid<double> &multigrid = *levels.multigrid;
      const int          n = levels.own.n(), n_columns = multigrid.n_columns();
      const auto         dot = [&](const std::vector<double> &v, const std::vector<double> &w) {
        double sum = 0.;
        for (int i = 0; i < n; ++i)
          sum += v[i] * w[i];
        return sum_of_ranks(sum);
      };
      std::vector<double> x(n, 0.), r = random_part(levels.own, n, 5), z(n_columns, 0.), p(n_columns, 0.), q(n);
      const double        goal = 1e-10 * std::sqrt(dot(r, r));
      double              rho  = 1.;
      int                 step = 0;
      for (; step < 30 && std::sqrt(dot(r, r)) > goal; ++step)
        {
          on_backend<double>(z, r, [&](double *z_there, double *r_there) { multigrid.vmult(z_there, r_there); });
          const double before = rho;
          rho                 = dot(r, z);
          for (int i = 0; i < n; ++i)
            p[i] = z[i] + (step == 0 ? 0. : rho / before) * p[i];
          on_backend<double>(p, q, [&](double *p_there, double *q_there) { multigrid.multiply(q_there, p_there); });
          const double alpha = rho / dot(p, q);
          for (int i = 0; i < n; ++i)
            {
              x[i] += alpha * p[i];
              r[i] -= alpha * q[i];
            }
        }
      EXPECT_LT(step, 15);
      return x;
    };
    const std::vector<double> best = solved(false), by_messages = solved(true);
    expect_close(best, by_messages, "cg");
  }
} // namespace leopard
