// SPDX-License-Identifier: Apache-2.0
// Stored matrices on several GPUs of a process. Where there is one GPU it has all parts.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/distributed/gpus/device_team.h>
#include <solvers/distributed/gpus/row_parts.h>
#include <solvers/distributed/gpus/several_gpus.h>
#include <solvers/matrix/generators.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

namespace leopard
{
  namespace
  {
    TEST(RowParts, TogetherTheyAreTheMatrix)
    {
      const CrsMatrix<double> A      = random_dominant_matrix(500, 7, 1.5, 3);
      const Vector            x      = random_vector(500, 1);
      Vector                  wanted = x;
      multiply(A, x.data(), wanted.data());
      for (const OtherColumns others : {OtherColumns::needed, OtherColumns::all})
        {
          const std::vector<int> offsets = {0, 100, 110, 500};
          for (const RowPart<double> &part : row_parts(A, offsets, others))
            {
              part.A.validate();
              Vector local(x.begin() + part.begin, x.begin() + part.end), product(part.A.n_rows);
              if (others == OtherColumns::all)
                {
                  local.insert(local.end(), x.begin(), x.begin() + part.begin);
                  local.insert(local.end(), x.begin() + part.end, x.end());
                }
              for (const int row : part.ghosts)
                local.push_back(x[row]);
              ASSERT_EQ(static_cast<int>(local.size()), part.A.n_columns);
              multiply(part.A, local.data(), product.data());
              for (int i = 0; i < part.A.n_rows; ++i)
                EXPECT_EQ(product[i], wanted[part.begin + i]); // to the last bit: entries are in the same order
            }
        }
    }

    TEST(RowParts, WhatOneSendsIsWhatTheOtherOneReceives)
    {
      const CrsMatrix<double>            A     = random_dominant_matrix(300, 5, 1.5, 4);
      const std::vector<RowPart<double>> parts = row_parts(A, {0, 90, 200, 300}, OtherColumns::needed);
      for (std::size_t p = 0; p < parts.size(); ++p)
        {
          std::size_t n_received = 0;
          for (const auto &from : parts[p].pattern.from)
            {
              const RowPart<double> &other = parts[from.rank];
              const auto             to    = std::find_if(
                other.pattern.to.begin(), other.pattern.to.end(), [&](const auto &neighbour) { return neighbour.rank == static_cast<int>(p); });
              ASSERT_NE(to, other.pattern.to.end());
              ASSERT_EQ(to->count, from.count);
              for (int k = 0; k < from.count; ++k)
                {
                  const int ghost = parts[p].pattern.received[from.offset + k] - parts[p].A.n_rows;
                  EXPECT_EQ(parts[p].ghosts[ghost], other.begin + other.pattern.sent[to->offset + k]);
                }
              n_received += from.count;
            }
          EXPECT_EQ(n_received, parts[p].ghosts.size());
        }
    }

    TEST(RowParts, SharesAreOfTheEntriesAndBeginAtBlocks)
    {
      const CrsMatrix<double> A      = five_point_matrix(100, 100, 0.);
      const Blocks            blocks = contiguous_blocks(A.n_rows, 128);
      EXPECT_EQ(part_offsets(A, blocks, {1., 1.}), (std::vector<int>{0, 39 * 128, 10000}));
      const std::vector<int> unequal = part_offsets(A, blocks, {60., 40.});
      EXPECT_NEAR(unequal[1], 6000, 64);
      EXPECT_EQ(unequal[1] % 128, 0);
      EXPECT_EQ(part_offsets(A, blocks, {1e-9, 1., 1e-9}), (std::vector<int>{0, 128, 78 * 128, 10000})); // a block each
      EXPECT_THROW(part_offsets(A, blocks, std::vector<double>(80, 1.)), InvalidInput);
      EXPECT_THROW(part_offsets(A, blocks, {1., NAN}), InvalidInput);
      EXPECT_THROW(part_offsets(A, blocks, {1., 0.}), InvalidInput);
    }

    TEST(DeviceTeam, TellsAllRanksWhatEachSays)
    {
      DeviceTeam       team(3, [](int) {});
      std::atomic<int> right{0};
      for (int call = 0; call < 20; ++call)
        team.run([&](int rank) {
          const int        mine = 10 * call + rank;
          std::vector<int> all(3);
          team.all_gather(rank)(&mine, sizeof(int), all.data());
          right += all == std::vector<int>{10 * call, 10 * call + 1, 10 * call + 2};
        });
      EXPECT_EQ(right, 60);
    }

    TEST(DeviceTeam, WhoFailsDoesNotLetTheOthersWait)
    {
      DeviceTeam team(3, [](int) {});
      for (int failing = 0; failing < 3; ++failing)
        {
          const auto fail = [&](int rank) {
            if (rank == failing)
              throw InvalidInput("rank " + std::to_string(rank));
            if (rank == (failing + 1) % 3)
              while (true)
                team.look_at_others();
            team.wait();
          };
          try
            {
              team.run(fail);
              FAIL() << "no error";
            }
          catch (const InvalidInput &error)
            {
              EXPECT_STREQ(error.what(), ("rank " + std::to_string(failing)).c_str());
            }
          int n = 0; // and it goes on to work
          team.run([&](int rank) {
            team.wait();
            if (rank == 1)
              ++n;
          });
          EXPECT_EQ(n, 1);
        }
      EXPECT_THROW(DeviceTeam(2,
                              [](int rank) {
                                if (rank == 1)
                                  throw DeviceError("no such GPU");
                              }),
                   DeviceError);
    }

    TEST(SeveralGpusOptions, RefusesWhatDoesNotGoTogether)
    {
      BlockAsyncOptions  cuda;
      SeveralGpusOptions two;
      cuda.backend = Backend::cuda;
      two.devices  = {0, 0};
      two.validate(cuda);
      const auto refuses = [](BlockAsyncOptions o, SeveralGpusOptions s, const std::string &word) {
        try
          {
            s.validate(o);
            ADD_FAILURE() << word << " is taken";
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
          }
      };
      const auto with = [](auto object, const auto &change) {
        change(object);
        return object;
      };
      refuses(cuda, with(two, [](auto &s) { s.devices = {}; }), "devices");
      refuses(cuda, with(two, [](auto &s) { s.devices = {0, -1}; }), "devices");
      refuses(cuda, with(two, [](auto &s) { s.shares = {1.}; }), "shares");
      refuses(with(cuda, [](auto &o) { o.backend = Backend::host; }), two, "backend");
      refuses(with(cuda, [](auto &o) { o.overlap = Overlap::uniform; }), two, "overlap");
      refuses(with(cuda, [](auto &o) { o.schedule = Schedule::synchronous; }), two, "schedule");
      refuses(with(cuda, [](auto &o) { o.corrections = Corrections::single_precision; }), two, "corrections");
      refuses(with(cuda, [](auto &o) { o.last_block_first = true; }), two, "last_block_first");
      const auto waiting = with(two, [](auto &s) { s.waits = true; });
      waiting.validate(with(cuda, [](auto &o) { o.schedule = Schedule::synchronous; }));
      refuses(with(cuda, [](auto &o) { o.execution = Execution::persistent; }), waiting, "execution");
      refuses(cuda, with(waiting, [](auto &s) { s.exchange = GpuExchange::amc; }), "waits");
    }

    TEST(SeveralGpus, WithoutAGpuSaysSo)
    {
      if (device::n_devices() > 0)
        GTEST_SKIP() << "a GPU here";
      BlockAsyncOptions o;
      o.backend = Backend::cuda;
      SeveralGpusOptions two;
      two.devices = {0, 1};
      EXPECT_THROW(make_several_gpus(five_point_matrix(10, 10, 0.), o, two), DeviceError);
    }

    /** So many parts, on as many GPUs as there are. */
    SeveralGpusOptions parts_on_gpus(int n_parts, GpuExchange exchange, bool waits = false)
    {
      SeveralGpusOptions result;
      for (int part = 0; part < n_parts; ++part)
        result.devices.push_back(part % std::max(1, device::n_devices()));
      result.exchange = exchange;
      result.waits    = waits;
      return result;
    }

    class SeveralGpusOnGpu : public testing::Test
    {
    protected:
      void SetUp() override
      {
        if (device::n_devices() == 0)
          GTEST_SKIP() << "no GPU here";
      }
    };

    TEST_F(SeveralGpusOnGpu, EachExchangeSolves)
    {
      for_each_number([](auto number) {
        using Number = decltype(number);
        for (const CrsMatrix<double> &matrix : {five_point_matrix(96, 80, 0.2), random_dominant_matrix(5000, 9, 1.3, 5)})
          {
            const CrsMatrix<Number> A       = rounded_to<Number>(matrix);
            const Vector            x_exact = random_vector(A.n_rows, 1);
            Vector                  b_double(A.n_rows);
            multiply(matrix, x_exact.data(), b_double.data());
            const std::vector<Number> b(b_double.begin(), b_double.end());
            for (const GpuExchange exchange : gpu_exchanges)
              for (const Execution execution : {Execution::launch, Execution::persistent})
                for (const int n_parts : {1, 2, 3})
                  for (const bool waits : {false, true})
                    {
                      if (waits && (exchange != GpuExchange::halo || execution == Execution::persistent))
                        continue;
                      SCOPED_TRACE(to_string(exchange) + ", " + to_string(execution) + ", " + std::to_string(n_parts) + " parts" +
                                   (waits ? ", waiting" : "") + ", " + std::to_string(A.n_rows) + " rows");
                      BlockAsyncOptions o;
                      o.backend                = Backend::cuda;
                      o.block_size             = 128;
                      o.execution              = execution;
                      const auto          gpus = make_several_gpus(A, o, parts_on_gpus(n_parts, exchange, waits));
                      std::vector<Number> x(A.n_rows, Number(0));
                      StoppingCriteria    criteria;
                      criteria.relative_tolerance = std::is_same_v<Number, double> ? 1e-11 : 1e-5;
                      criteria.max_iterations     = 20000;
                      const SolveResult result    = solve(*gpus, x.data(), b.data(), criteria);
                      EXPECT_EQ(result.status, SolveStatus::converged) << gpus->description();
                      const double true_residual = residual_norm(A, x.data(), b.data());
                      const double goal =
                        criteria.relative_tolerance * std::sqrt(std::inner_product(b_double.begin(), b_double.end(), b_double.begin(), 0.));
                      EXPECT_NEAR(result.final_residual, true_residual, 0.1 * goal); // what is said to be reached is, to rounding
                      EXPECT_LE(true_residual, 1.1 * goal);
                      EXPECT_GE(result.n_iterations, result.min_iterations);
                      EXPECT_LT(largest_difference(Vector(x.begin(), x.end()), x_exact), (std::is_same_v<Number, double>) ? 1e-8 : 1e-2);
                    }
          }
      });
    }

    TEST_F(SeveralGpusOnGpu, WaitingAndSynchronousTheyDoWhatOneDoes)
    {
      const CrsMatrix<double> A = random_dominant_matrix(4000, 7, 1.2, 6);
      const Vector            b = random_vector(A.n_rows, 2), start = random_vector(A.n_rows, 3);
      BlockAsyncOptions       o;
      o.backend                   = Backend::cuda;
      o.schedule                  = Schedule::synchronous;
      o.block_size                = 96;
      o.local_iterations          = 3;
      BlockAsyncOptions reference = o;
      reference.backend           = Backend::reference;
      BlockAsync<double> one(A, reference);
      for (const int n_parts : {1, 2, 3, 4})
        {
          Vector wanted = start, x = start;
          one.iterate(wanted.data(), b.data(), 7);
          const auto gpus = make_several_gpus(A, o, parts_on_gpus(n_parts, GpuExchange::halo, true));
          gpus->iterate(x.data(), b.data(), 4);
          gpus->iterate(x.data(), b.data(), 3);
          EXPECT_LT(largest_difference(x, wanted), 1e-13) << n_parts;
          EXPECT_NEAR(gpus->residual_norm_squared(x.data(), b.data()), one.residual_norm_squared(wanted.data(), b.data()), 1e-9);
          EXPECT_NEAR(gpus->norm_squared(b.data()), std::inner_product(b.begin(), b.end(), b.begin(), 0.), 1e-9);
        }
    }

    TEST_F(SeveralGpusOnGpu, DoAtLeastAsManyIterationsAsAskedFor)
    {
      // where ||B||_inf = q and every row has been relaxed n times in any order, the error is at most q^(n / 2), say:
      // values of other GPUs may be old, but those of the own one are of the last iteration
      const CrsMatrix<double> A       = five_point_matrix(64, 64, 1.);
      const Vector            x_exact = random_vector(A.n_rows, 1);
      Vector                  b(A.n_rows);
      multiply(A, x_exact.data(), b.data());
      BlockAsyncOptions o;
      o.backend = Backend::cuda;
      for (const GpuExchange exchange : gpu_exchanges)
        {
          const auto gpus = make_several_gpus(A, o, parts_on_gpus(2, exchange));
          Vector     x(A.n_rows, 0.);
          gpus->iterate(x.data(), b.data(), 60);
          EXPECT_LT(largest_difference(x, x_exact), std::pow(0.8, 60 / 2)) << to_string(exchange);
          Vector same = x;
          gpus->iterate(same.data(), b.data(), 0);
          EXPECT_EQ(same, x);
        }
    }

    TEST_F(SeveralGpusOnGpu, NoSuchGpuAndNoSuchMatrix)
    {
      BlockAsyncOptions o;
      o.backend = Backend::cuda;
      SeveralGpusOptions two;
      two.devices = {0, device::n_devices()};
      EXPECT_THROW(make_several_gpus(five_point_matrix(30, 30, 0.), o, two), DeviceError);
      CrsMatrix<double> bad            = five_point_matrix(30, 30, 0.);
      bad.values[bad.row_offsets[800]] = NAN;
      EXPECT_THROW(make_several_gpus(bad, o, parts_on_gpus(2, GpuExchange::halo)), InvalidInput);
    }

    TEST_F(SeveralGpusOnGpu, TakeNewValuesAndAnotherOmega)
    {
      const CrsMatrix<double> A       = random_dominant_matrix(3000, 7, 1.5, 7);
      CrsMatrix<double>       changed = A;
      for (double &value : changed.values)
        value *= 2.;
      const Vector      x_exact = random_vector(A.n_rows, 1);
      Vector            b(A.n_rows);
      BlockAsyncOptions o;
      o.backend = Backend::cuda;
      o.storage = Storage::double_precision;
      multiply(changed, x_exact.data(), b.data());
      for (const GpuExchange exchange : gpu_exchanges)
        {
          const auto gpus = make_several_gpus(A, o, parts_on_gpus(2, exchange));
          gpus->set_omega(0.9);
          gpus->update_values(changed.values.data());
          Vector x(A.n_rows, 0.);
          gpus->iterate(x.data(), b.data(), 150);
          EXPECT_LT(largest_difference(x, x_exact), 1e-10) << to_string(exchange);
          CrsMatrix<double> bad = changed;
          bad.values.back()     = NAN; // of the last GPU: nothing may have changed on the first one
          EXPECT_THROW(gpus->update_values(bad.values.data()), InvalidInput);
          EXPECT_THROW(gpus->set_omega(2.5), InvalidInput);
          x.assign(A.n_rows, 0.);
          gpus->iterate(x.data(), b.data(), 150);
          EXPECT_LT(largest_difference(x, x_exact), 1e-10) << to_string(exchange);
        }
    }
  } // namespace
} // namespace leopard
