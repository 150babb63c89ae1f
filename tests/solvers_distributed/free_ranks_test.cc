// SPDX-License-Identifier: Apache-2.0
// Block-asynchronous iteration on ranks that wait for one another, or do not.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/relaxation/with_ghosts.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    constexpr int block_size = 16, side = 24;

    BlockAsyncOptions options_with(Schedule schedule, Backend backend = Backend::host)
    {
      BlockAsyncOptions options;
      options.backend          = backend;
      options.block_size       = block_size;
      options.local_iterations = 3;
      options.n_threads        = 1;
      options.schedule         = schedule;
      return options;
    }

    /** -Laplace on a square, n_rows = side^2, with entries that no two rows have alike. */
    CrsMatrix<double> whole_matrix()
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = side * side;
      for (int i = 0; i < A.n_rows; ++i)
        {
          const auto add = [&](bool exists, int j, double value) {
            if (exists)
              {
                A.columns.push_back(j);
                A.values.push_back(value);
              }
          };
          const auto coupling = [&](int j) { return -1. - 0.3 * std::sin(i + j); };
          add(i >= side, i - side, coupling(i - side));
          add(i % side > 0, i - 1, coupling(i - 1));
          add(true, i, 5.3);
          add(i % side < side - 1, i + 1, coupling(i + 1));
          add(i + side < A.n_rows, i + side, coupling(i + side));
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    /** The rank's rows of whole_matrix(): whole blocks, more of them the higher the rank. */
    struct Part
    {
      Part()
        : A(whole_matrix())
        , own(own_range(n_own(A.n_rows / block_size), MPI_COMM_WORLD))
        , rows(own_rows(A, own))
        , ghosts(rows.ghosts(own))
        , exchange(own, ghosts, MPI_COMM_WORLD)
        , local(rows.number(own, ghosts))
        , x(local.n_columns, 0.)
      {
        for (int i = 0; i < A.n_rows; ++i)
          b.push_back(1. + std::cos(i));
        own_b.assign(b.begin() + own.first(), b.begin() + own.first() + own.n());
      }

      static int n_own(int n_blocks)
      {
        const auto begin = [&](int rank) { return n_blocks * rank * (rank + 1) / (n_ranks() * (n_ranks() + 1)); };
        return block_size * (begin(my_rank() + 1) - begin(my_rank()));
      }

      std::vector<double> whole_x() const { return gathered(std::vector<double>(x.begin(), x.begin() + own.n()), MPI_COMM_WORLD); }

      const CrsMatrix<double>     A;
      const OwnRange              own;
      const DistributedRows       rows;
      const std::vector<int>      ghosts;
      const GhostExchange<double> exchange;
      const CrsMatrix<double>     local;
      std::vector<double>         x, b, own_b;
    };

    enum class Disturbance
    {
      late,
      throws,
      makes_nan
    };

    /** What befalls one rank, the last one, from its fourth call on. */
    class Disturbed : public FreeExchange<double>
    {
    public:
      Disturbed(const GhostExchange<double> &ghosts, Disturbance disturbance_)
        : exchange(ghosts.free())
        , disturbance(disturbance_)
      {
      }
      void begin() override { exchange->begin(); }
      void update_ghosts(double *x, MemorySpace space) override
      {
        if (my_rank() == n_ranks() - 1)
          {
            if (++n_calls == 4 && disturbance == Disturbance::throws)
              throw InvalidInput("on purpose");
            if (n_calls == 4 && disturbance == Disturbance::makes_nan)
              set(x, std::numeric_limits<double>::quiet_NaN(), space);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
          }
        exchange->update_ghosts(x, space);
      }
      bool        all_are_done() override { return exchange->all_are_done(); }
      std::string first_error(const std::string &text) const override { return exchange->first_error(text); }

    private:
      static void set(double *x, double value, MemorySpace space)
      {
        if (space == MemorySpace::host)
          *x = value;
        else
          device::copy_to_device(x, &value, sizeof(value));
      }

      const std::unique_ptr<FreeExchange<double>> exchange;
      const Disturbance                           disturbance;
      int                                         n_calls = 0;
    };

    StoppingCriteria to(double tolerance)
    {
      StoppingCriteria criteria;
      criteria.relative_tolerance = tolerance;
      criteria.max_iterations     = 2000;
      return criteria;
    }
  } // namespace

  /** Each row adds its entries in the same order, with values of the same iteration. */
  TEST(RanksThatWait, HaveTheBitsOfOneProcess)
  {
    Part               part;
    BlockAsync<double> relaxation(part.local, options_with(Schedule::synchronous)), whole(part.A, options_with(Schedule::synchronous));
    iterate_with_ghosts(relaxation, part.x.data(), part.own_b.data(), 17, part.exchange);
    std::vector<double> x(part.A.n_rows, 0.);
    whole.iterate(x.data(), part.b.data(), 17);
    EXPECT_EQ(part.whole_x(), x);
  }

  /** The same with ghosts that travel from one GPU's memory to another one's, or ranks that share one. */
  TEST(RanksThatWait, HaveTheBitsOfOneProcessOnGpus)
  {
    if (device::n_devices() == 0)
      GTEST_SKIP() << "no GPU here";
    BlockAsyncOptions options = options_with(Schedule::synchronous);
    options.backend           = Backend::cuda;
    options.execution         = Execution::launch;         // an iteration a call
    options.storage           = Storage::double_precision; // few rows would be in a dictionary, which adds up in another order
    Part                 part;
    BlockAsync<double>   relaxation(part.local, options), whole(part.A, options);
    DeviceVector<double> x(part.x.size()), own_b(part.own_b.size()), whole_x(part.A.n_rows), b(part.A.n_rows);
    std::vector<double>  wanted(part.A.n_rows, 0.);
    x.copy_from_host(part.x.data());
    own_b.copy_from_host(part.own_b.data());
    whole_x.copy_from_host(wanted.data());
    b.copy_from_host(part.b.data());
    iterate_with_ghosts(relaxation, x.data(), own_b.data(), 17, part.exchange);
    whole.iterate(whole_x.data(), b.data(), 17);
    x.copy_to_host(part.x.data());
    whole_x.copy_to_host(wanted.data());
    const std::vector<double> found = part.whole_x();
    for (int i = 0; i < part.A.n_rows; ++i)
      EXPECT_EQ(found[i], wanted[i]) << "row " << i << ", difference " << found[i] - wanted[i] << ", the rank's rows begin with " << part.own.first();
  }

  /** Ranks that do not wait, on host threads and with a GPU each, or one together. */
  class FreeRanks : public testing::TestWithParam<Backend>
  {
  protected:
    void SetUp() override
    {
      if (is_on_device() && device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
    }

    static bool is_on_device() { return GetParam() == Backend::cuda; }

    static BlockAsync<double> relaxation_of(const Part &part) { return BlockAsync<double>(part.local, options_with(Schedule::chaotic, GetParam())); }

    /** From part.x, which gets the solution, in the memory of the backend. */
    static SolveResult solve(BlockAsync<double> &relaxation, Part &part, const StoppingCriteria &criteria, FreeExchange<double> &exchange)
    {
      if (!is_on_device())
        return leopard::solve(relaxation, part.x.data(), part.own_b.data(), criteria, part.exchange, exchange);
      DeviceVector<double> x(part.x.size()), b(part.own_b.size());
      x.copy_from_host(part.x.data());
      b.copy_from_host(part.own_b.data());
      const SolveResult result = leopard::solve(relaxation, x.data(), b.data(), criteria, part.exchange, exchange);
      x.copy_to_host(part.x.data());
      return result;
    }
  };
  INSTANTIATE_TEST_SUITE_P(Backends, FreeRanks, testing::Values(Backend::host, Backend::cuda), [](const auto &info) {
    return to_string(info.param);
  });

  TEST_P(FreeRanks, EndTogetherWithTheTrueResidual)
  {
    for (const bool late : {false, true})
      {
        Part                                        part;
        BlockAsync<double>                          relaxation = relaxation_of(part);
        const std::unique_ptr<FreeExchange<double>> exchange =
          late ? std::make_unique<Disturbed>(part.exchange, Disturbance::late) : part.exchange.free();
        for (int solve_again = 0; solve_again < 2; ++solve_again)
          {
            std::fill(part.x.begin(), part.x.end(), 0.);
            const SolveResult result = solve(relaxation, part, to(1e-6), *exchange);
            EXPECT_EQ(result.status, SolveStatus::converged);
            for (const double number : {result.final_residual, 1. * result.n_iterations, 1. * result.min_iterations, result.mean_iterations})
              expect_same(number, "what has been solved");
            const std::vector<double> x = part.whole_x();
            EXPECT_NEAR(result.final_residual, residual_norm(part.A, x.data(), part.b.data()), 1e-13);
            EXPECT_LE(result.min_iterations, result.mean_iterations);
            EXPECT_LE(result.mean_iterations, result.n_iterations);
            EXPECT_LE(result.n_iterations, (1 + most_more) * result.min_iterations);
            if (late && n_ranks() > 1)
              {
                EXPECT_GT(result.n_iterations, result.min_iterations) << "nobody goes on while the last rank sleeps";
              }
          }
      }
  }

  TEST_P(FreeRanks, EndWithTheLimitOfTheSlowest)
  {
    Part               part;
    BlockAsync<double> relaxation = relaxation_of(part);
    Disturbed          exchange(part.exchange, Disturbance::late);
    StoppingCriteria   criteria = to(0.);
    int                n_asked  = 0;
    criteria.max_iterations     = 25;
    const auto solved           = [&] { return solve(relaxation, part, criteria, exchange); };
    for (const bool tests : {false, true}) // all may have done more when the last one has done 25
      {
        criteria.keep_history = tests;
        const int minimum     = solved().min_iterations;
        EXPECT_TRUE(minimum >= 25 && minimum <= 25 * (1 + most_more)) << minimum << ", tests: " << tests;
      }
    criteria.keep_history    = false;
    criteria.max_iterations  = 1000;
    criteria.asked_to_stop   = [&] { return ++n_asked > 3; }; // once before, then after each ten
    const SolveResult result = solved();
    EXPECT_EQ(result.status, SolveStatus::stopped);
    EXPECT_TRUE(result.min_iterations >= 30 && result.min_iterations <= 30 * (1 + most_more)) << result.min_iterations;
  }

  TEST_P(FreeRanks, NanOnOneRankIsDivergenceOnAll)
  {
    if (n_ranks() == 1)
      return; // no exchange
    Part               part;
    BlockAsync<double> relaxation = relaxation_of(part);
    Disturbed          exchange(part.exchange, Disturbance::makes_nan);
    const SolveResult  result = solve(relaxation, part, to(1e-6), exchange);
    EXPECT_EQ(result.status, SolveStatus::diverged);
    EXPECT_TRUE(std::isnan(result.final_residual));
  }

  /** Where one rank throws and others go on they wait for one another for ever, which the alarm ends. */
  TEST_P(FreeRanks, AnErrorOnOneRankEndsAll)
  {
    if (n_ranks() == 1)
      return; // no exchange
    alarm(is_on_device() ? 60 : 20);
    Part               part;
    BlockAsync<double> relaxation = relaxation_of(part);
    const auto         usual      = part.exchange.free();
    Disturbed          exchange(part.exchange, Disturbance::throws);
    std::string        said;
    try
      {
        solve(relaxation, part, to(1e-6), exchange);
      }
    catch (const Error &error)
      {
        said = error.what();
      }
    EXPECT_EQ(said, "on purpose") << "the text is the same on all ranks";
    std::fill(part.x.begin(), part.x.end(), 0.);
    EXPECT_EQ(solve(relaxation, part, to(1e-6), *usual).status, SolveStatus::converged);
    alarm(0);
  }
} // namespace leopard
