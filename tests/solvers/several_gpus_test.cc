// SPDX-License-Identifier: Apache-2.0
// Stored matrices on several GPUs of a process. Where there is one GPU it has all parts.
#include "block_async_test.h"
#include "several_gpus_parts.h"

#include <solvers/base/errors.h>
#include <solvers/distributed/gpus/device_team.h>
#include <solvers/distributed/gpus/row_parts.h>
#include <solvers/distributed/gpus/several_gpus.h>
#include <solvers/matrix/generators.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace leopard
{
  namespace
  {
    /** Entries of a part's vector that are those of the whole one; NaN where nothing of it stands. */
    Vector vector_of(const RowPart &part, const Vector &x)
    {
      Vector local(part.n_rows() + part.ghosts.size(), NAN);
      std::copy(x.begin() + part.begin, x.begin() + part.end, local.begin() + part.n_before);
      for (std::size_t g = 0; g < part.ghosts.size(); ++g)
        local[part.place(static_cast<int>(g))] = x[part.ghosts[g]];
      if (part.has_all)
        {
          local.insert(local.end(), x.begin(), x.begin() + part.begin);
          local.insert(local.end(), x.begin() + part.end, x.end());
        }
      return local;
    }

    TEST(RowParts, TogetherTheyAreTheMatrix)
    {
      const CrsMatrix<double> A      = random_dominant_matrix(500, 7, 1.5, 3);
      const Vector            x      = random_vector(500, 1);
      Vector                  wanted = x;
      multiply(A, x.data(), wanted.data());
      for (const OtherRows others : {OtherRows::needed, OtherRows::all})
        for (const RowPart &part : row_parts(A, {0, 100, 110, 500}, others))
          {
            const CrsMatrix<double> own = rows_of(A, part);
            own.validate();
            const Vector local = vector_of(part, x);
            Vector       product(own.n_rows);
            ASSERT_EQ(static_cast<int>(local.size()), own.n_columns);
            multiply(own, local.data(), product.data());
            for (int i = 0; i < own.n_rows; ++i)
              EXPECT_EQ(product[i], wanted[part.begin + i]); // to the last bit: entries are in the same order
          }
    }

    TEST(RowParts, APartWithoutCouplingsHasNoGhosts)
    {
      CrsMatrix<double> diagonal;
      diagonal.n_rows = diagonal.n_columns = 6;
      for (int i = 0; i < 6; ++i)
        {
          diagonal.columns.push_back(i);
          diagonal.values.push_back(1. + i);
          diagonal.row_offsets.push_back(i + 1);
        }
      for (const RowPart &part : row_parts(diagonal, {0, 2, 6}, OtherRows::needed))
        EXPECT_EQ(rows_of(diagonal, part).n_columns, part.n_rows());
    }

    TEST(RowParts, SlabsRelaxAsTheGridDoes)
    {
      for (const Stencil<double> &stencil : {five_point_stencil(9, 20, 0.5), seven_point_stencil(5, 4, 13, 0.5)})
        {
          Stencil<double> varying = stencil;
          for (int i = 0; i < stencil.n_rows(); ++i)
            varying.diagonal.push_back(7. + i % 3);
          const Vector      x = random_vector(stencil.n_rows(), 1), b = random_vector(stencil.n_rows(), 2);
          Vector            wanted = x;
          BlockAsyncOptions jacobi;
          jacobi.schedule         = Schedule::synchronous;
          jacobi.local_iterations = 1;
          BlockAsync<double>(varying, jacobi).iterate(wanted.data(), b.data(), 1);
          for (const RowPart &part : slab_parts(varying, {2., 1., 1.}))
            {
              Vector local = vector_of(part, x);
              for (const double value : local)
                ASSERT_FALSE(std::isnan(value));
              local.resize(local.size() + stencil.plane()); // the second plane above
              BlockAsync<double>(slab_of(varying, part), jacobi).iterate(local.data() + part.n_before, b.data() + part.begin, 1);
              for (int i = 0; i < part.n_rows(); ++i)
                EXPECT_NEAR(local[part.n_before + i], wanted[part.begin + i], 1e-15);
            }
          EXPECT_THROW(slab_parts(stencil, Vector(11, 1.)), InvalidInput);
          EXPECT_THROW(slab_parts(stencil, {1., -1.}), InvalidInput);
          EXPECT_THROW(slab_parts(slab_of(stencil, slab_parts(stencil, {1., 1.})[0]), {1., 1.}), InvalidInput);
        }
      // where there is a tile for each part, parts begin where tiles do
      const auto planes_of = [](const Stencil<double> &stencil, const Vector &shares, int tile) {
        std::vector<int> result;
        for (const RowPart &part : slab_parts(stencil, shares, tile))
          result.push_back(part.n_rows() / stencil.plane());
        return result;
      };
      const Stencil<double> lines = five_point_stencil(9, 170, 0.5);
      EXPECT_EQ(planes_of(lines, {1., 1., 1.}, 32), (std::vector<int>{64, 64, 42}));
      EXPECT_EQ(planes_of(lines, {1e-9, 1., 1e-9}, 32), (std::vector<int>{32, 96, 42}));
      EXPECT_EQ(planes_of(lines, {1e-9, 1e-9, 1.}, 32), (std::vector<int>{32, 32, 106}));
      EXPECT_EQ(planes_of(lines, {1., 1e-9, 1e-9}, 32), (std::vector<int>{96, 32, 42}));
      EXPECT_EQ(planes_of(lines, Vector(5, 1.), 32), (std::vector<int>{32, 32, 32, 32, 42}));
      EXPECT_EQ(planes_of(lines, Vector(6, 1.), 32), (std::vector<int>{28, 29, 28, 28, 29, 28})) << "not enough tiles";
      EXPECT_EQ(planes_of(seven_point_stencil(4, 3, 50, 0.5), {1., 1.}, 8), (std::vector<int>{24, 26}));
      const auto unequal = slab_parts(five_point_stencil(9, 20, 0.5), {1e-9, 1., 1e-9});
      EXPECT_EQ(unequal[0].end, 2 * 9);
      EXPECT_EQ(unequal[1].end, 18 * 9);
    }

    TEST(RowParts, WhatOneSendsIsWhatTheOtherOneReceives)
    {
      const CrsMatrix<double> A = random_dominant_matrix(300, 5, 1.5, 4);
      for (const std::vector<RowPart> &parts :
           {row_parts(A, {0, 90, 200, 300}, OtherRows::needed), slab_parts(five_point_stencil(10, 30, 0.), {1., 1., 1.})})
        for (std::size_t p = 0; p < parts.size(); ++p)
          {
            std::vector<int> received(parts[p].ghosts.size(), -1); // the row that comes to each ghost
            for (const auto &from : parts[p].pattern.from)
              {
                const RowPart &other = parts[from.rank];
                const auto     to    = std::find_if(
                  other.pattern.to.begin(), other.pattern.to.end(), [&](const auto &neighbour) { return neighbour.rank == static_cast<int>(p); });
                ASSERT_NE(to, other.pattern.to.end());
                ASSERT_EQ(to->count, from.count);
                for (int k = 0; k < from.count; ++k)
                  for (std::size_t g = 0; g < received.size(); ++g)
                    if (parts[p].place(static_cast<int>(g)) == parts[p].pattern.received[from.offset + k])
                      received[g] = other.begin + other.pattern.sent[to->offset + k] - other.n_before;
              }
            EXPECT_EQ(received, parts[p].ghosts);
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
      EXPECT_EQ(part_offsets(A, blocks, {1e308, 1e308}), part_offsets(A, blocks, {1., 1.}));
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
      right = 0; // one call after the other in a task: nobody overwrites what another one has not read yet
      team.run([&](int rank) {
        for (int i = 0; i < 1000; ++i)
          {
            const int        mine = 10 * i + rank;
            std::vector<int> all(3);
            team.all_gather(rank)(&mine, sizeof(int), all.data());
            right += all == std::vector<int>{10 * i, 10 * i + 1, 10 * i + 2};
          }
      });
      EXPECT_EQ(right, 3000);
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

    TEST(DeviceTeam, NobodyWaitsForOneThatHasEnded)
    {
      DeviceTeam team(3, [](int) {});
      for (int leaving = 0; leaving < 3; ++leaving)
        for (const bool late : {false, true})
          {
            std::atomic<int> n_left{0};
            const auto       leave = [&](int rank) {
              team.wait();
              if (late && (rank == leaving || n_left == 0)) // one comes to the meeting when the other one has long gone, or is the last to go
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
              if (rank == leaving)
                ++n_left;
              else
                team.wait();
            };
            EXPECT_THROW(team.run(leave), Error);
            team.run([&](int) { team.wait(); });
          }
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
      const BlockAsyncOptions outer = with(cuda, [](auto &o) { o.two_stage = TwoStage::outer; });
      const BlockAsyncOptions inner = with(cuda, [](auto &o) {
        o.two_stage = TwoStage::inner;
        o.schedule  = Schedule::synchronous;
      });
      two.validate(outer);
      refuses(with(outer, [](auto &o) { o.execution = Execution::persistent; }), two, "execution");
      refuses(inner, two, "schedule");
      const auto waiting = with(two, [](auto &s) { s.waits = true; });
      waiting.validate(with(cuda, [](auto &o) { o.schedule = Schedule::synchronous; }));
      waiting.validate(inner);
      waiting.validate(outer);
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
                      EXPECT_LT(largest_difference(Vector(x.begin(), x.end()), x_exact), (std::is_same_v<Number, double>) ? 1e-8 : 1e-2);
                    }
          }
      });
    }

    TEST_F(SeveralGpusOnGpu, StencilsInSlabs)
    {
      for (const Stencil<double> &stencil : {five_point_stencil(150, 170, 0.3), seven_point_stencil(40, 30, 50, 0.5)})
        {
          const CrsMatrix<double> A       = stencil.to_crs();
          const Vector            x_exact = random_vector(A.n_rows, 1);
          Vector                  b(A.n_rows);
          multiply(A, x_exact.data(), b.data());
          BlockAsyncOptions o;
          o.backend = Backend::cuda;
          for (const int n_parts : {1, 2, 3})
            for (const bool waits : {false, true})
              {
                SCOPED_TRACE(std::to_string(n_parts) + (waits ? " parts, waiting" : " parts"));
                const auto       gpus = make_several_gpus(stencil, o, parts_on_gpus(n_parts, GpuExchange::halo, waits));
                Vector           x(A.n_rows, 0.);
                StoppingCriteria criteria;
                criteria.relative_tolerance = 1e-10;
                const SolveResult result    = solve(*gpus, x.data(), b.data(), criteria);
                EXPECT_EQ(result.status, SolveStatus::converged);
                EXPECT_LT(residual_norm(A, x.data(), b.data()), 1.1e-10 * result.initial_residual);
                Stencil<double> other = stencil;
                other.coefficient(0, 0, 0) += 1.;
                gpus->update_stencil(other);
                x.assign(A.n_rows, 0.);
                solve(*gpus, x.data(), b.data(), criteria);
                EXPECT_LT(residual_norm(other.to_crs(), x.data(), b.data()), 1.1e-10 * result.initial_residual);
                EXPECT_THROW(gpus->update_values(b.data()), InvalidInput);
              }
          EXPECT_THROW(make_several_gpus(stencil, o, parts_on_gpus(2, GpuExchange::amc)), InvalidInput);
          BlockAsyncOptions momentum = o;
          momentum.momentum          = 0.5;
          EXPECT_THROW(make_several_gpus(stencil, momentum, parts_on_gpus(2, GpuExchange::halo)), InvalidInput);
          BlockAsyncOptions synchronous = o;
          synchronous.schedule          = Schedule::synchronous;
          BlockAsync<double>   one(stencil, synchronous);
          DeviceVector<double> one_x(A.n_rows), one_b(A.n_rows);
          one_x.copy_from_host(Vector(A.n_rows, 0.).data());
          one_b.copy_from_host(b.data());
          one.iterate(one_x.data(), one_b.data(), 5);
          Vector wanted(A.n_rows), x(A.n_rows, 0.);
          one_x.copy_to_host(wanted.data());
          BlockAsyncOptions persistent = o, launch = o;
          persistent.execution = Execution::persistent;
          launch.execution     = Execution::launch;
          EXPECT_THROW(make_several_gpus(stencil, persistent, parts_on_gpus(2, GpuExchange::halo, true)), InvalidInput);
          for (const BlockAsyncOptions &form : {persistent, launch})
            {
              const auto       gpus = make_several_gpus(stencil, form, parts_on_gpus(2, GpuExchange::halo));
              StoppingCriteria criteria;
              criteria.relative_tolerance = 1e-10;
              EXPECT_NE(gpus->description().find(to_string(form.execution)), std::string::npos) << gpus->description();
              EXPECT_EQ(solve(*gpus, x.data(), b.data(), criteria).status, SolveStatus::converged) << "the planes beside must have come";
              x.assign(A.n_rows, 0.);
            }
          make_several_gpus(stencil, synchronous, parts_on_gpus(1, GpuExchange::halo, true))->iterate(x.data(), b.data(), 5);
          EXPECT_LT(largest_difference(x, wanted), 1e-13);
        }
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
      o.backend                = Backend::cuda;
      BlockAsyncOptions jacobi = o;
      jacobi.local_iterations  = 1;
      for (const GpuExchange exchange : gpu_exchanges)
        {
          const auto gpus = make_several_gpus(A, o, parts_on_gpus(2, exchange));
          Vector     x(A.n_rows, 0.);
          gpus->iterate(x.data(), b.data(), 60);
          EXPECT_LT(largest_difference(x, x_exact), std::pow(0.8, 60 / 2)) << to_string(exchange);
          const auto one = make_several_gpus(A, jacobi, parts_on_gpus(1, exchange)); // nothing is old here, so each iteration counts
          x.assign(A.n_rows, 0.);
          one->iterate(x.data(), b.data(), 60);
          EXPECT_LT(largest_difference(x, x_exact), std::pow(0.8, 60)) << to_string(exchange);
          x.assign(A.n_rows, 0.);
          ResidualTest test;
          test.every                   = 7;
          const IterationReport report = one->iterate_until(x.data(), b.data(), 61, test);
          EXPECT_EQ(report.minimum, 61); // alone, no GPU does more than it is asked for
          EXPECT_EQ(report.maximum, 61);
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
      EXPECT_THROW(make_several_gpus(five_point_matrix(10, 10, 0.), o, parts_on_gpus(2, GpuExchange::halo)), InvalidInput); // one block
      BlockAsyncOptions weights = o;
      weights.sweep_weights     = Vector(5, 1.);
      EXPECT_THROW(make_several_gpus(five_point_matrix(30, 30, 0.), weights, parts_on_gpus(2, GpuExchange::halo)), InvalidInput);
      const auto       some = make_several_gpus(five_point_matrix(30, 30, 0.), o, parts_on_gpus(2, GpuExchange::halo));
      Vector           not_finite(900, NAN);
      const Vector     ones(900, 1.);
      StoppingCriteria criteria;
      criteria.relative_tolerance = 1e-6;
      EXPECT_EQ(solve(*some, not_finite.data(), ones.data(), criteria).status, SolveStatus::diverged);
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
      o.backend                     = Backend::cuda;
      BlockAsyncOptions synchronous = o;
      synchronous.schedule          = Schedule::synchronous;
      const auto as_stored          = make_several_gpus(A, synchronous, parts_on_gpus(2, GpuExchange::halo, true));
      EXPECT_THROW(as_stored->update_values(changed.values.data()), InvalidInput); // one part could take them, another one not
      o.storage = synchronous.storage = Storage::double_precision;
      BlockAsyncOptions reference     = synchronous;
      reference.backend               = Backend::reference;
      reference.omega                 = 0.8;
      Vector wanted(A.n_rows, 0.), relaxed(A.n_rows, 0.);
      BlockAsync<double>(changed, reference).iterate(wanted.data(), x_exact.data(), 3);
      const auto waiting = make_several_gpus(A, synchronous, parts_on_gpus(2, GpuExchange::halo, true));
      waiting->set_omega(0.8); // counts with the values that come next
      waiting->update_values(changed.values.data());
      waiting->iterate(relaxed.data(), x_exact.data(), 3);
      EXPECT_LT(largest_difference(relaxed, wanted), 1e-13);
      multiply(changed, x_exact.data(), b.data());
      for (const GpuExchange exchange : gpu_exchanges)
        {
          const auto gpus = make_several_gpus(A, o, parts_on_gpus(2, exchange));
          gpus->set_omega(0.9);
          gpus->update_values(changed.values.data());
          Vector     x(A.n_rows, 0.);
          const auto iterate = [&] { // in several calls: parts that share a GPU may come one after the other
            for (int call = 0; call < 20; ++call)
              gpus->iterate(x.data(), b.data(), 150);
          };
          iterate();
          EXPECT_LT(largest_difference(x, x_exact), 1e-10) << to_string(exchange);
          CrsMatrix<double> bad = changed;
          bad.values.back()     = NAN; // of the last GPU: nothing may have changed on the first one
          EXPECT_THROW(gpus->update_values(bad.values.data()), InvalidInput);
          EXPECT_THROW(gpus->set_omega(2.5), InvalidInput);
          x.assign(A.n_rows, 0.);
          iterate();
          EXPECT_LT(largest_difference(x, x_exact), 1e-10) << to_string(exchange);
        }
    }
  } // namespace
} // namespace leopard
