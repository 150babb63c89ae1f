// SPDX-License-Identifier: Apache-2.0
// What classes with an asynchronous inner iteration have in common on all backends, in whatever order rows come.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>

#include <random>
#include <set>

namespace leopard
{
  namespace
  {
    class InAnyOrder : public BackendTest
    {
    protected:
      static constexpr TwoStage classes[] = {TwoStage::inner, TwoStage::outer, TwoStage::total};

      BlockAsyncOptions of_class(TwoStage kind, int block_size, int k) const
      {
        const bool        waits  = kind == TwoStage::synchronous || kind == TwoStage::inner;
        BlockAsyncOptions result = options(waits ? Schedule::synchronous : Schedule::chaotic, block_size, k);
        result.two_stage         = kind;
        return result;
      }

      /** x after that, on the backend of the options. */
      template <typename Number = double>
      static Vector after(const CrsMatrix<double> &A, const BlockAsyncOptions &o, Vector x, const Vector &b, int n_iterations)
      {
        BlockAsync<Number> method(rounded_to<Number>(A), o);
        iterate(method, x, b, n_iterations);
        return x;
      }

      bool on_device() const { return GetParam() == Backend::cuda; }
    };

    /**
     * Even rows read odd ones, near and far, and two ghosts; odd rows read nothing, and have their solution. So no
     * order of rows matters. @param quantized with few different values, as a dictionary needs.
     */
    CrsMatrix<double> matrix_of_any_order(int n, bool quantized)
    {
      std::mt19937_64 random(5);
      const auto      value = [&] {
        return quantized ? 0.125 * (1 + static_cast<int>(random() % 4)) : 0.1 + static_cast<double>(random() % 1000) / 3000.;
      };
      CrsMatrix<double> A;
      A.n_rows    = n;
      A.n_columns = n + 2;
      for (int i = 0; i < n; ++i)
        {
          std::set<int> columns = {i};
          if (i % 2 == 0)
            {
              for (int e = 0; e < 4; ++e)
                {
                  columns.insert(std::clamp(2 * (i / 2 + static_cast<int>(random() % 21) - 10) + 1, 1, n - n % 2 - 1));
                  columns.insert(2 * static_cast<int>(random() % (n / 2)) + 1);
                }
              columns.insert(n + i / 2 % 2);
            }
          for (const int column : columns)
            {
              A.columns.push_back(column);
              A.values.push_back(column == i ? 1.5 + (quantized ? 0.25 * (i % 3) : value()) : (column % 4 == 1 ? -1. : 1.) * value());
            }
          A.row_offsets.push_back(A.n_entries());
        }
      return A;
    }

    /** One more of them, with a number of local iterations for each block. Omega is not 1, so that they count. */
    void add_numbers_of_blocks(BlockAsyncOptions o, int n_rows, std::vector<BlockAsyncOptions> &result)
    {
      const int n_blocks = o.blocks(n_rows).n_blocks();
      for (int block = 0; block < n_blocks; ++block)
        o.local_iterations_per_block.push_back(1 + block % 4);
      o.omega = 0.8;
      result.push_back(o);
    }

    /** Of the blocks of a size, with everything that goes with a class, one after the other. */
    std::vector<BlockAsyncOptions> with_all_options(const BlockAsyncOptions &plain, int n_rows)
    {
      std::vector<BlockAsyncOptions> result(1, plain);
      result.push_back(plain), result.back().omega            = 0.8;
      result.push_back(plain), result.back().l1_weights       = true;
      result.push_back(plain), result.back().last_block_first = true;
      add_numbers_of_blocks(plain, n_rows, result);
      if (plain.two_stage != TwoStage::total)
        {
          result.push_back(plain), result.back().block_omega = 1.2;
          BlockAsyncOptions overlap = plain; // whose rows neighbours relax, less or more often
          overlap.overlap           = Overlap::uniform;
          overlap.overlap_percent   = 30.;
          add_numbers_of_blocks(overlap, n_rows, result);
        }
      return result;
    }

    /** Weights, off-block and inner entries, and which rows are written, in each storage. */
    TEST_P(InAnyOrder, IsTheDefinitionWhereOrderDoesNotMatter)
    {
      const int n = 3001;
      for (const bool quantized : {false, true})
        {
          const CrsMatrix<double> A     = matrix_of_any_order(n, quantized);
          const Vector            b     = random_vector(n, 1);
          Vector                  start = random_vector(n + 2, 2);
          for (int i = 1; i < n; i += 2)
            start[i] = b[i] / A.values[A.row_offsets[i]];
          for (const TwoStage kind : classes)
            for (const int block_size : {1, 7, 64, 500, 2900})
              for (BlockAsyncOptions o : with_all_options(of_class(kind, block_size, 3), n))
                {
                  BlockAsyncOptions definition = o;
                  definition.backend           = Backend::reference;
                  definition.two_stage         = TwoStage::inner;
                  definition.schedule          = Schedule::synchronous;
                  o.storage                    = quantized && on_device() ? Storage::dictionary : Storage::automatic;
                  const Vector expected        = after(A, definition, start, b, 2);
                  const auto says = [&] { return to_string(kind) + ", blocks of " + std::to_string(block_size) + (quantized ? ", quantized" : ""); };
                  ASSERT_GT(largest_difference(expected, start), 0.1) << says();
                  ASSERT_LT(largest_difference(after(A, o, start, b, 2), expected), 1e-13) << says();
                  ASSERT_LT(largest_difference(after<float>(A, o, start, b, 2), expected), 1e-5) << says();
                }
        }
    }

    TEST_P(InAnyOrder, RowsAsBlocksMakeAllTheSame)
    {
      const CrsMatrix<double> A = random_dominant_matrix(300, 6, 0.9, 1);
      const Vector            b = random_vector(300, 3), start = random_vector(300, 4);
      const Vector            jacobi = block_jacobi(A, start, b, 1, 1, 1.);
      for (const TwoStage kind : {TwoStage::synchronous, TwoStage::inner})
        EXPECT_LT(largest_difference(after(A, of_class(kind, 1, 1), start, b, 1), jacobi), 1e-14) << to_string(kind);
      // rows that read only such as come after them are done, in whatever order, when each has been relaxed as often as
      // there are of them
      CrsMatrix<double> upper;
      upper.n_rows = upper.n_columns = 300;
      for (int i = 0; i < 300; ++i)
        {
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] >= i)
              {
                upper.columns.push_back(A.columns[p]);
                upper.values.push_back(A.values[p]);
              }
          upper.row_offsets.push_back(upper.n_entries());
        }
      const Vector solution = after(upper, of_class(TwoStage::synchronous, 1, 1), start, b, 300);
      for (const TwoStage kind : {TwoStage::inner, TwoStage::block, TwoStage::outer, TwoStage::total})
        for (const int block_size : {1, 64})
          EXPECT_LT(largest_difference(after(upper, of_class(kind, block_size, 1), start, b, 300), solution), 1e-13) << to_string(kind);
    }

    /** Where there are more rows than threads, or a thread for all of them. */
    TEST_P(InAnyOrder, AThreadTakesItsRowsOneAfterTheOther)
    {
      if (GetParam() == Backend::reference)
        GTEST_SKIP() << "at random there";
      const int         n = 3000, threads = 1024;
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          if (i >= threads)
            {
              A.columns.push_back(i - threads);
              A.values.push_back(-0.5);
            }
          A.columns.push_back(i);
          A.values.push_back(1.);
          A.row_offsets.push_back(A.n_entries());
        }
      for (const TwoStage kind : classes)
        {
          const Vector x = after(A, of_class(kind, n, 1), Vector(n, 0.), Vector(n, 1.), 1);
          for (const int i : {0, threads - 1, threads, 2 * threads - 1, 2 * threads, n - 1})
            EXPECT_EQ(x[i], i < threads ? 1. : i < 2 * threads ? 1.5 : 1.75) << to_string(kind) << ", row " << i;
        }
    }

    /**
     * ||B||_inf <= 0.9, and each row is relaxed in each global iteration, of values that are no further off than
     * before.
     */
    TEST_P(InAnyOrder, EachIterationContractsTheMaximumNorm)
    {
      const int               n       = 3000;
      const CrsMatrix<double> A       = random_dominant_matrix(n, 8, 0.9, 7);
      const Vector            x_exact = random_vector(n, 8);
      Vector                  b(n);
      multiply(A, x_exact.data(), b.data());
      for (const TwoStage kind : classes)
        for (const int block_size : {1, 37, 128, 1500})
          for (const int k : {1, 5})
            {
              BlockAsync<double> method(A, of_class(kind, block_size, k));
              Vector             x(n, 0.);
              for (double bound = largest_difference(x, x_exact); bound > 1e-4; bound *= 0.9)
                {
                  ASSERT_LE(largest_difference(x, x_exact), bound * (1. + 1e-12)) << method.name() << ", blocks of " << block_size;
                  iterate(method, x, b, 1);
                }
            }
    }

    /**
     * Where B has no negative entry, iterates from 0 grow towards the solution, and a row relaxed once, from values
     * that are as large as at the beginning or larger, comes as far as with Jacobi's method at least.
     */
    TEST_P(InAnyOrder, IsBetweenJacobiAndTheSolution)
    {
      for (const CrsMatrix<double> &A : {five_point_matrix(60, 50, 0.1), seven_point_matrix(15, 14, 13, 0.1)})
        {
          const int          n = A.n_rows;
          const Vector       b = Vector(n, 1.);
          Vector             exact(n, 0.);
          BlockAsync<double> solver(A, {});
          ASSERT_EQ(solve_for(solver, exact, b, {100000, 1e-12}).status, SolveStatus::converged);
          for (const TwoStage kind : classes)
            for (const int block_size : {1, 64, 256, 1500})
              for (const int k : {1, 5})
                {
                  BlockAsync<double> method(A, of_class(kind, block_size, k));
                  Vector             x(n, 0.), jacobi(n, 0.);
                  for (int iteration = 0; iteration < 10; ++iteration)
                    {
                      iterate(method, x, b, 1);
                      jacobi = block_jacobi(A, jacobi, b, n, 1, 1.);
                      for (int i = 0; i < n; ++i)
                        ASSERT_TRUE(x[i] >= jacobi[i] * (1. - 1e-12) && x[i] <= exact[i] * (1. + 1e-9))
                          << method.name() << ", blocks of " << block_size << ", iteration " << iteration << ", row " << i << ": " << x[i]
                          << " beside " << jacobi[i] << " and " << exact[i];
                    }
                }
        }
    }

    /** Rows of 5, 7 and about 20 entries, with and without columns that are stored. */
    TEST_P(InAnyOrder, Converges)
    {
      for (const CrsMatrix<double> &A : {five_point_matrix(60, 50, 0.1), trefethen_matrix(1000), random_dominant_matrix(3000, 8, 0.9, 7)})
        for (const TwoStage kind : classes)
          for (const int block_size : {32, 256, 1500})
            {
              const int          n = A.n_rows;
              const Vector       b(n, 1.);
              Vector             x(n, 0.);
              BlockAsync<double> method(A, of_class(kind, block_size, 5));
              const SolveResult  result = solve_for(method, x, b, {2000, 1e-10});
              EXPECT_EQ(result.status, SolveStatus::converged) << method.name() << ", blocks of " << block_size;
              EXPECT_LT(residual_norm(A, x.data(), b.data()), 1.001e-10 * std::sqrt(n)) << method.name();
              EXPECT_NEAR(std::sqrt(residual_norm_squared(method, x, b)), residual_norm(A, x.data(), b.data()), 1e-13 * std::sqrt(n));
            }
    }

    TEST_P(InAnyOrder, TakesNewValuesAndOmega)
    {
      const CrsMatrix<double> first  = random_dominant_matrix(300, 6, 0.8, 9);
      CrsMatrix<double>       second = first;
      for (std::size_t p = 0; p < second.values.size(); ++p)
        second.values[p] *= 1. + 0.1 * std::sin(static_cast<double>(p));
      const Vector      b = random_vector(300, 10);
      BlockAsyncOptions o = of_class(TwoStage::inner, 1, 1); // rows as blocks, so that it is the same each time
      o.storage           = Storage::double_precision;
      BlockAsync<double> updated(first, o);
      o.omega = 0.9;
      updated.set_omega(0.9);
      updated.update_values(second.values.data());
      Vector x(300, 0.);
      iterate(updated, x, b, 3);
      EXPECT_LT(largest_difference(x, after(second, o, Vector(300, 0.), b, 3)), 1e-15);
      EXPECT_GT(largest_difference(x, after(first, o, Vector(300, 0.), b, 3)), 1e-3);
    }

    TEST_P(InAnyOrder, SaysWhetherMapsAreFixed)
    {
      const CrsMatrix<double> A = five_point_matrix(10, 10, 0.1);
      for (const TwoStage kind : classes)
        {
          BlockAsync<double> method(A, of_class(kind, 64, 3));
          EXPECT_EQ(method.is_fixed_linear_map(), GetParam() == Backend::host) << to_string(kind); // one thread, as there are few rows
          EXPECT_FALSE(method.is_symmetric_map()) << to_string(kind);
        }
    }

    TEST_P(InAnyOrder, SynchronousIsTheSynchronousSchedule)
    {
      const CrsMatrix<double> A = random_dominant_matrix(3000, 8, 0.9, 7);
      const Vector            b = random_vector(3000, 1), start = random_vector(3000, 2);
      BlockAsyncOptions       o = of_class(TwoStage::synchronous, 128, 5);
      const Vector            x = after(A, o, start, b, 4);
      EXPECT_LT(largest_difference(after(A, o, start, b, 1), block_jacobi(A, start, b, 128, 5, 1.)), 1e-14);
      o.two_stage = TwoStage::automatic;
      EXPECT_EQ(after(A, o, start, b, 4), x);
    }

    /**
     * Two blocks of a row that read each other. Frozen values stay what they are for 10000 sweeps; published ones are
     * seen by the other block long before these are done.
     */
    TEST_P(InAnyOrder, TotalAlonePublishesWhileItSweeps)
    {
      if (!on_device())
        GTEST_SKIP() << "one block after the other there";
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = 2;
      A.row_offsets          = {0, 2, 4};
      A.columns              = {0, 1, 0, 1};
      A.values               = {2., -1., -1., 2.};
      const auto smaller     = [&](TwoStage kind) {
        const Vector x = after(A, of_class(kind, 1, 10000), Vector(2, 0.), Vector(2, 1.), 1);
        return std::min(x[0], x[1]);
      };
      EXPECT_EQ(smaller(TwoStage::inner), 0.5);
      EXPECT_EQ(smaller(TwoStage::outer), 0.5); // that of the block that has begun first
      EXPECT_NEAR(smaller(TwoStage::total), 1., 1e-12);
    }

    TEST_P(InAnyOrder, GhostsAreReadAndNeverWritten)
    {
      const int         n = 70;
      CrsMatrix<double> A;
      A.n_rows    = n;
      A.n_columns = n + 1;
      for (int i = 0; i < n; ++i)
        {
          A.columns.insert(A.columns.end(), {i, (i + 1) % n, n});
          A.values.insert(A.values.end(), {2., -0.5, -0.5});
          A.row_offsets.push_back(A.n_entries());
        }
      for (const TwoStage kind : classes)
        {
          Vector start(n + 1, 0.);
          start[n]       = 3.;
          const Vector x = after(A, of_class(kind, 32, 2), start, Vector(n, 0.), 60);
          EXPECT_EQ(x[n], 3.);
          EXPECT_NEAR(x[7], 1., 1e-12) << to_string(kind);
        }
    }

    INSTANTIATE_TEST_SUITE_P(TwoStage, InAnyOrder, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
