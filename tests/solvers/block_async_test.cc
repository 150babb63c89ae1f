// SPDX-License-Identifier: Apache-2.0
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>

#include <cstdint>

namespace leopard
{
  namespace
  {
    class Backends : public BackendTest
    {
    };

    TEST_P(Backends, OneBlockIsJacobiOnTheWholeSystem)
    {
      const CrsMatrix<double> A = random_dominant_matrix(1000, 7, 0.9, 1);
      const Vector            b = random_vector(1000, 2), x0 = random_vector(1000, 3);
      for (const auto schedule : {Schedule::chaotic, Schedule::synchronous})
        {
          BlockAsync<double> method(A, options(schedule, 1024, 3));
          Vector             x = x0;
          iterate(method, x, b, 2);
          EXPECT_LT(largest_difference(x, block_jacobi(A, x0, b, 1000, 6, 1.)), 1e-13);
        }
    }

    TEST_P(Backends, SynchronousScheduleIsBlockJacobi)
    {
      for (const int block_size : {1, 7, 64, 256})
        for (const int k : {1, 5})
          for (const double omega : {1., 0.7})
            {
              const CrsMatrix<double> A = block_size == 7 ? random_dominant_matrix(10000, 9, 0.95, 4) : five_point_matrix(100, 100, 0.1);
              const Vector            b = random_vector(10000, 5), x0 = random_vector(10000, 6);
              auto                    o = options(Schedule::synchronous, block_size, k);
              o.omega                   = omega;
              BlockAsync<double> method(A, o);
              Vector             x = x0, expected = x0;
              iterate(method, x, b, 3);
              for (int n = 0; n < 3; ++n)
                expected = block_jacobi(A, expected, b, block_size, k, omega);
              EXPECT_LT(largest_difference(x, expected), 1e-13) << "block size " << block_size << ", k " << k << ", omega " << omega;
            }
    }

    TEST_P(Backends, EveryScheduleContractsTheMaximumNorm)
    {
      // ||B||_inf <= 0.9, so that any order and staleness of one iteration gives at least the factor 0.9 over two global iterations
      const CrsMatrix<double> A       = random_dominant_matrix(20000, 8, 0.9, 7);
      const Vector            x_exact = random_vector(20000, 8);
      Vector                  b(20000);
      multiply(A, x_exact.data(), b.data());
      for (const auto schedule : {Schedule::synchronous, Schedule::chaotic, Schedule::replay})
        for (const int k : {1, 5})
          {
            if (schedule == Schedule::replay && GetParam() == Backend::cuda)
              continue;
            BlockAsync<double> method(A, options(schedule, 128, k));
            Vector             x(20000, 0.);
            for (double bound = largest_difference(x, x_exact); bound > 1e-8; bound *= 0.9)
              {
                ASSERT_LE(largest_difference(x, x_exact), bound * (1. + 1e-12));
                iterate(method, x, b, 4);
              }
          }
    }

    TEST_P(Backends, GhostsAreReadAndNeverWritten)
    {
      CrsMatrix<double> A = five_point_matrix(40, 40, 0.);
      A.n_columns         = 1601; // every row also reads one ghost
      CrsMatrix<double> with_ghost;
      with_ghost.n_rows    = 1600;
      with_ghost.n_columns = 1601;
      for (int i = 0; i < 1600; ++i)
        {
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              with_ghost.columns.push_back(A.columns[p]);
              with_ghost.values.push_back(A.values[p] + (A.columns[p] == i ? 1. : 0.));
            }
          with_ghost.columns.push_back(1600);
          with_ghost.values.push_back(-0.5);
          with_ghost.row_offsets.push_back(with_ghost.n_entries());
        }
      BlockAsync<double> method(with_ghost, options(Schedule::chaotic, 64, 2));
      Vector             x(1601, 0.), b(1600, 0.);
      x[1600] = 2.; // as if b were 1 everywhere
      iterate(method, x, b, 200);
      EXPECT_EQ(x[1600], 2.);
      EXPECT_LT(residual_norm(with_ghost, x.data(), b.data()), 1e-10);
      EXPECT_GT(x[800], 0.1);
      EXPECT_NEAR(std::sqrt(residual_norm_squared(method, Vector(1601, 1.), b)), residual_norm(with_ghost, Vector(1601, 1.).data(), b.data()), 1e-10);
    }

    TEST_P(Backends, UpdatedValuesEqualAFreshObject)
    {
      const CrsMatrix<double> first  = random_dominant_matrix(3000, 6, 0.8, 9);
      CrsMatrix<double>       second = first;
      for (std::size_t p = 0; p < second.values.size(); ++p)
        second.values[p] *= 1. + 0.1 * std::sin(static_cast<double>(p));
      const Vector       b = random_vector(3000, 10);
      BlockAsync<double> updated(first, options(Schedule::synchronous, 100, 3)), fresh(second, options(Schedule::synchronous, 100, 3));
      updated.update_values(second.values.data());
      Vector x(3000, 0.), y(3000, 0.);
      iterate(updated, x, b, 5);
      iterate(fresh, y, b, 5);
      EXPECT_EQ(x, y);
      EXPECT_EQ(residual_norm_squared(updated, x, b), residual_norm_squared(fresh, x, b));
    }

    TEST_P(Backends, ChaoticRunsAllConverge)
    {
      const CrsMatrix<double> A = five_point_matrix(64, 64, 0.1);
      const Vector            b(64 * 64, 1.);
      BlockAsync<double>      method(A, options(Schedule::chaotic, 128, 5));
#if defined(__SANITIZE_THREAD__)
      constexpr int n_chaotic_runs = 5; // each looks at every access of the threads; how often runs converge is asked without the sanitizer
#else
      constexpr int n_chaotic_runs = 200;
#endif
      const int n_runs = GetParam() == Backend::reference ? 1 : n_chaotic_runs; // the reference does the same in every run
      for (int run = 0; run < n_runs; ++run)
        {
          Vector x(b.size(), 0.);
          iterate(method, x, b, 400);
          ASSERT_LT(residual_norm(A, x.data(), b.data()), 1e-4 * std::sqrt(static_cast<double>(b.size()))) << "run " << run;
        }
    }

    TEST_P(Backends, RefusesBadOptionsAndMatrices)
    {
      const CrsMatrix<double> A        = five_point_matrix(4, 4, 0.);
      const auto              rejected = [&](const CrsMatrix<double> &matrix, const BlockAsyncOptions &o, const std::string &text) {
        try
          {
            BlockAsync<double> method(matrix, o);
            ADD_FAILURE() << "accepted: " << text;
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
          }
      };
      auto o = options(Schedule::chaotic, 0, 1);
      rejected(A, o, "block_size is 0");
      o = options(Schedule::chaotic, 65537, 1);
      rejected(A, o, "block_size is");
      o = options(Schedule::chaotic, 4, 0);
      rejected(A, o, "local_iterations is 0");
      o       = options(Schedule::chaotic, 4, 1);
      o.omega = 2.;
      rejected(A, o, "omega is 2");
      o                     = options(Schedule::chaotic, 4, 1);
      CrsMatrix<double> bad = A;
      bad.values[0]         = 0.;
      rejected(bad, o, "the diagonal entry of row 0 is zero");
      bad.values[0] = NAN;
      rejected(bad, o, "row 0, column 0 is nan");
    }

    /**
     * Blocks that look at the residual after each iteration must all decide alike: one that goes on alone waits for
     * ever.
     */
    TEST_P(Backends, PersistentSynchronousFormEndsWithATestInEachIteration)
    {
      if (GetParam() != Backend::cuda)
        GTEST_SKIP() << "a form of the GPU";
      const CrsMatrix<double> A = five_point_matrix(100, 100, 0.5);
      const Vector            b = random_vector(A.n_rows, 3);
      BlockAsyncOptions       o = options(Schedule::synchronous, 96, 1);
      o.execution               = Execution::persistent;
      BlockAsync<double> method(A, o);
      StoppingCriteria   criteria;
      criteria.relative_tolerance = 1e-8;
      criteria.test_every         = 1;
      int n_iterations            = 0;
      for (int repetition = 0; repetition < 300; ++repetition)
        {
          Vector            x(A.n_rows, 0.);
          const SolveResult result = solve_for(method, x, b, criteria);
          ASSERT_EQ(result.status, SolveStatus::converged);
          ASSERT_EQ(result.min_iterations, result.n_iterations);
          if (repetition == 0)
            n_iterations = result.n_iterations;
          ASSERT_EQ(result.n_iterations, n_iterations);
        }
    }

    INSTANTIATE_TEST_SUITE_P(BlockAsync, Backends, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    /** Two rows, a block each, and one global iteration: what came first, and whether the second took the new value. */
    TEST(BlockAsync, ReplaysAreOfEveryOrderAndStale)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns  = 2;
      A.row_offsets           = {0, 2, 4};
      A.columns               = {0, 1, 0, 1};
      A.values                = {1., 0.5, 0.5, 1.};
      const Vector b          = {1., 1.};
      int          n_both_old = 0, n_first_first = 0, n_second_first = 0;
      for (int seed = 0; seed < 100; ++seed)
        {
          BlockAsyncOptions o;
          o.backend          = Backend::reference;
          o.schedule         = Schedule::replay;
          o.block_size       = 1;
          o.local_iterations = 1;
          o.seed             = seed;
          Vector x(2, 0.);
          BlockAsync<double>(A, o).iterate(x.data(), b.data(), 1);
          n_both_old += x == Vector{1., 1.};
          n_first_first += x == Vector{1., 0.5};
          n_second_first += x == Vector{0.5, 1.};
        }
      EXPECT_EQ(n_both_old + n_first_first + n_second_first, 100);
      EXPECT_GT(n_both_old, 10);
      EXPECT_GT(n_first_first, 5);
      EXPECT_GT(n_second_first, 5);
    }

    TEST(BlockAsync, ReplayIsReproducibleAndDependsOnTheSeed)
    {
      const CrsMatrix<double> A = five_point_matrix(50, 50, 0.1);
      const Vector            b = random_vector(2500, 11);
      for (const Backend backend : {Backend::reference, Backend::host})
        {
          const auto run = [&](std::uint64_t seed) {
            BlockAsyncOptions o;
            o.backend    = backend;
            o.schedule   = Schedule::replay;
            o.block_size = 50;
            o.seed       = seed;
            BlockAsync<double> method(A, o);
            Vector             x(2500, 0.);
            method.iterate(x.data(), b.data(), 10);
            return x;
          };
          EXPECT_EQ(run(1), run(1));
          EXPECT_NE(run(1), run(2));
          // the runs of one object differ, and those of another one are the same runs
          const auto runs = [&] {
            BlockAsyncOptions o;
            o.backend    = backend;
            o.schedule   = Schedule::replay;
            o.block_size = 50;
            BlockAsync<double>  method(A, o);
            std::vector<Vector> results;
            for (int i = 0; i < 3; ++i)
              {
                results.emplace_back(2500, 0.);
                method.restart();
                method.iterate(results.back().data(), b.data(), 10);
              }
            return results;
          };
          const auto results = runs();
          EXPECT_NE(results[0], results[1]);
          EXPECT_NE(results[1], results[2]);
          EXPECT_EQ(results, runs());
        }
    }

    TEST(BlockAsync, OneThreadEqualsTheReference)
    {
      const CrsMatrix<double> A = five_point_matrix(60, 60, 0.1);
      const Vector            b = random_vector(3600, 12);
      BlockAsyncOptions       o;
      o.block_size = 77;
      o.n_threads  = 1;
      BlockAsync<double> host(A, o);
      o.backend = Backend::reference;
      BlockAsync<double> reference(A, o);
      Vector             x(3600, 0.), y(3600, 0.);
      host.iterate(x.data(), b.data(), 20);
      reference.iterate(y.data(), b.data(), 20);
      EXPECT_LT(largest_difference(x, y), 1e-13);
    }

    TEST(BlockAsync, SaysThatItWasBuiltWithoutCuda)
    {
      if (device::built_with_cuda())
        GTEST_SKIP() << "built with CUDA";
      BlockAsyncOptions o;
      o.backend = Backend::cuda;
      try
        {
          BlockAsync<double> method(five_point_matrix(4, 4, 0.), o);
          ADD_FAILURE();
        }
      catch (const DeviceError &error)
        {
          EXPECT_NE(std::string(error.what()).find("built without CUDA: configure with -D LEOPARD_CUDA=ON"), std::string::npos);
        }
    }
  } // namespace
} // namespace leopard
