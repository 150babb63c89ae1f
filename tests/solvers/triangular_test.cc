// SPDX-License-Identifier: Apache-2.0
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/incomplete_factors.h>
#include <solvers/triangular/triangular_solver.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    /**
     * Entries near the diagonal and far away, a diagonal from 1 to 2, rows of any sum: nothing that would converge but
     * for its shape.
     */
    CrsMatrix<double> random_triangular(int n, Triangle triangle, unsigned int seed)
    {
      const Vector      values = random_vector(8 * n, seed), places = random_vector(8 * n, seed + 1);
      CrsMatrix<double> T;
      T.n_rows = T.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          std::vector<int> columns = {i};
          for (int e = 0; e < 4; ++e)
            {
              const int distance = 1 + static_cast<int>((places[8 * i + e] + 1.) / 2. * (e < 2 ? 5 : n)),
                        j        = triangle == Triangle::lower ? i - distance : i + distance;
              if (j >= 0 && j < n && std::find(columns.begin(), columns.end(), j) == columns.end())
                columns.push_back(j);
            }
          for (std::size_t e = 0; e < columns.size(); ++e)
            {
              T.columns.push_back(columns[e]);
              T.values.push_back(e == 0 ? 1.5 + 0.5 * values[8 * i] : 0.6 * values[8 * i + static_cast<int>(e)]);
            }
          T.row_offsets.push_back(static_cast<int>(T.columns.size()));
        }
      return T;
    }

    template <typename Number>
    Vector solved(const CrsMatrix<double> &T, Triangle triangle, const TriangularOptions &options, const Vector &b)
    {
      TriangularSolver<Number> solver(rounded_to<Number>(T), triangle, options);
      Vector                   x(b.size(), 1.); // whatever is there
      call_with_numbers<Number>(solver.memory_space(), x, b, [&](Number *to, const Number *right) { solver.solve(to, right); });
      return x;
    }

    TriangularOptions asynchronous(Backend backend, Schedule schedule, int block_size, int n_iterations, int local_iterations)
    {
      TriangularOptions result;
      result.solve                        = TriangularSolve::asynchronous;
      result.n_iterations                 = n_iterations;
      result.block_async.backend          = backend;
      result.block_async.schedule         = schedule;
      result.block_async.block_size       = block_size;
      result.block_async.local_iterations = local_iterations;
      result.block_async.n_threads        = 4;
      return result;
    }

    TriangularOptions exact(Backend backend)
    {
      TriangularOptions result;
      result.block_async.backend = backend;
      return result;
    }

    class Triangular : public BackendTest
    {
    };

    TEST_P(Triangular, ExactSolvesAreExact)
    {
      for (const int n : {1, 2, 33, 1000})
        for (const Triangle triangle : {Triangle::lower, Triangle::upper})
          for_each_number([&](auto number) {
            using Number              = decltype(number);
            const CrsMatrix<double> T = random_triangular(n, triangle, 5);
            const Vector            b = random_vector(n, 7), x = solved<Number>(T, triangle, exact(GetParam()), b);
            EXPECT_LT(relative_residual(T, x, b), bound<Number>(1e-13, 1e-5)) << n;
          });
    }

    /** As many sweeps as a block has rows make a block right, once those are right on which it depends. */
    TEST_P(Triangular, EveryScheduleEndsWithTheExactSolution)
    {
      const int n = 700, block_size = 48, n_blocks = (n - 1) / block_size + 1;
      for (unsigned int seed = 0; seed < 5; ++seed)
        for (const Triangle triangle : {Triangle::lower, Triangle::upper})
          {
            const CrsMatrix<double> T = random_triangular(n, triangle, 10 * seed);
            const Vector            b = random_vector(n, seed), x = solved<double>(T, triangle, exact(Backend::reference), b);
            for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic, Schedule::replay})
              for (const bool from_diagonal : {false, true})
                {
                  if (schedule == Schedule::replay && GetParam() == Backend::cuda)
                    continue;
                  // what is replayed reads values that are up to two iterations old
                  const int         n_iterations = (schedule == Schedule::replay ? 3 : 1) * n_blocks;
                  TriangularOptions options      = asynchronous(GetParam(), schedule, block_size, n_iterations, block_size);
                  options.start_from_diagonal    = from_diagonal;
                  const Vector y                 = solved<double>(T, triangle, options, b);
                  EXPECT_LT(largest_difference(x, y), 1e-10 * norm(x)) << static_cast<int>(schedule) << ", seed " << seed;
                  options.block_async.overlap         = Overlap::upward;
                  options.block_async.overlap_percent = 25.;
                  EXPECT_LT(relative_residual(T, solved<double>(T, triangle, options, b), b), 1e-10) << "overlap, seed " << seed;
                }
          }
    }

    TEST_P(Triangular, OneIterationIsNotEnoughInTheSynchronousSchedule)
    {
      const CrsMatrix<double> T = random_triangular(700, Triangle::lower, 1);
      const Vector            b = random_vector(700, 2);
      EXPECT_GT(relative_residual(T, solved<double>(T, Triangle::lower, asynchronous(GetParam(), Schedule::synchronous, 48, 1, 48), b), b), 1e-3);
    }

    TEST_P(Triangular, SolvesInSinglePrecision)
    {
      const CrsMatrix<double> T = random_triangular(700, Triangle::upper, 1);
      const Vector            b = random_vector(700, 2);
      EXPECT_LT(relative_residual(T, solved<float>(T, Triangle::upper, asynchronous(GetParam(), Schedule::chaotic, 64, 11, 64), b), b), 1e-4);
    }

    INSTANTIATE_TEST_SUITE_P(Backends, Triangular, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    /** Substitution of blocks: one iteration, if blocks come in the order of the dependencies. */
    TEST(TriangularOrder, OfBlocksIsThatOfTheDependencies)
    {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper})
        {
          const CrsMatrix<double> T       = random_triangular(500, triangle, 3);
          const Vector            b       = random_vector(500, 4);
          TriangularOptions       options = asynchronous(Backend::reference, Schedule::chaotic, 32, 1, 32);
          EXPECT_LT(relative_residual(T, solved<double>(T, triangle, options, b), b), 1e-10);
          options.block_async.n_threads = 1;
          options.block_async.backend   = Backend::host;
          EXPECT_LT(relative_residual(T, solved<double>(T, triangle, options, b), b), 1e-10);
          options.block_async.last_block_first = true; // against them
          EXPECT_GT(relative_residual(T, solved<double>(T, triangle, options, b), b), 1e-3);
        }
    }

    TEST(TriangularOrder, OverlapOfRowsByGraphDistance)
    {
      const CrsMatrix<double> A      = five_point_matrix(4, 4, 0.);
      const Blocks            blocks = blocks_between({0, 5, 6, 16});
      using Rows                     = std::vector<int>;
      EXPECT_EQ(rows_with_overlap(A, blocks, Overlap::none, 3)[1], Rows{5});
      EXPECT_EQ(rows_with_overlap(A, blocks, Overlap::uniform, 1)[1], (Rows{1, 4, 5, 6, 9}));
      EXPECT_EQ(rows_with_overlap(A, blocks, Overlap::upward, 1)[1], (Rows{1, 4, 5}));
      EXPECT_EQ(rows_with_overlap(A, blocks, Overlap::downward, 1)[1], (Rows{5, 6, 9}));
      EXPECT_EQ(rows_with_overlap(A, blocks, Overlap::upward, 2)[1], (Rows{0, 1, 2, 4, 5}));
      EXPECT_EQ(rows_with_overlap(A, blocks, Overlap::uniform, 6)[1].size(), 16u);
      EXPECT_EQ(rows_with_overlap(IncompleteFactors<double>(A).lower(), blocks, Overlap::uniform, 1)[1], (Rows{1, 4, 5, 6, 9}));
    }

    /**
     * Figure 5 a of Anzt, Chow, Szyld, Dongarra 2016, on a smaller grid: towards the dependencies as good as uniform,
     * the other way useless.
     */
    TEST(TriangularOrder, OverlapTowardsTheDependenciesIsAsGoodAsBothWays)
    {
      const CrsMatrix<double> L             = IncompleteFactors<double>(seven_point_matrix(6, 6, 6, 0.)).lower();
      const Vector            b             = random_vector(L.n_rows, 1);
      const auto              mean_residual = [&](Overlap overlap) {
        double sum = 0.;
        for (std::uint64_t seed = 0; seed < 30; ++seed)
          {
            TriangularOptions options         = asynchronous(Backend::reference, Schedule::replay, 9, 3, 2);
            options.block_async.staleness     = 0;
            options.block_async.seed          = seed;
            options.block_async.overlap       = overlap;
            options.block_async.overlap_level = 1;
            sum += std::log(relative_residual(L, solved<double>(L, Triangle::lower, options, b), b)) / 30.;
          }
        return std::exp(sum);
      };
      const double none = mean_residual(Overlap::none), uniform = mean_residual(Overlap::uniform);
      EXPECT_NEAR(mean_residual(Overlap::upward) / uniform, 1., 1e-6);
      EXPECT_NEAR(mean_residual(Overlap::downward) / none, 1., 1e-6);
      EXPECT_LT(uniform, 0.7 * none);
    }

    TEST(TriangularOrder, OverlapByGraphDistanceWithinContiguousRowsIsThatInPercent)
    {
      const CrsMatrix<double> A = three_point_stencil(60, 0.2).to_crs();
      const Vector            b = random_vector(60, 1);
      BlockAsyncOptions       distance, percent;
      distance.backend = percent.backend = Backend::reference;
      distance.overlap = percent.overlap = Overlap::upward;
      distance.block_size                = 6;
      distance.overlap_level             = 2;
      percent.block_size                 = 8;
      percent.overlap_percent            = 25.;
      Vector x(60, 0.), y(60, 0.);
      BlockAsync<double>(A, distance).iterate(x.data(), b.data(), 4);
      BlockAsync<double>(A, percent).iterate(y.data(), b.data(), 4);
      EXPECT_EQ(x, y);
    }

    TEST(TriangularOrder, WhatCannotBeIsRefused)
    {
      const auto refused = [](const std::function<void(TriangularOptions &)> &change) {
        TriangularOptions options = asynchronous(Backend::host, Schedule::chaotic, 8, 1, 1);
        change(options);
        EXPECT_THROW(options.validate(), InvalidInput);
      };
      refused([](TriangularOptions &o) { o.n_iterations = 0; });
      refused([](TriangularOptions &o) { o.block_async.overlap_level = 1; }); // on the host
      refused([](TriangularOptions &o) { o.block_async.overlap_level = -1; });
      refused([](TriangularOptions &o) { o.block_async.staleness = 3; });
      const CrsMatrix<double> T = random_triangular(20, Triangle::lower, 1);
      try
        {
          const TriangularSolver<double> solver(T, Triangle::upper, {});
          FAIL();
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("row 1, column 0"), std::string::npos) << error.what();
        }
      CrsMatrix<double> no_diagonal = T;
      no_diagonal.values[0]         = 0.;
      EXPECT_THROW(TriangularSolver<double>(no_diagonal, Triangle::lower, {}), InvalidInput);
    }
  } // namespace
} // namespace leopard
