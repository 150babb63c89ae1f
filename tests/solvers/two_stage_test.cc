// SPDX-License-Identifier: Apache-2.0
// The classes of two-stage iterations (BlockAsyncOptions::two_stage).
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/prediction.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/point_relaxation.h>

#include <array>
#include <numeric>
#include <thread>

namespace leopard
{
  namespace
  {
    constexpr TwoStage kinds[] = {TwoStage::synchronous, TwoStage::inner, TwoStage::block, TwoStage::outer, TwoStage::total};

    bool waits(TwoStage kind)
    {
      return kind == TwoStage::synchronous || kind == TwoStage::inner;
    }

    /** Of the backend reference, replayed where the blocks do not wait for one another. */
    BlockAsyncOptions of_kind(TwoStage kind, int block_size, int k)
    {
      BlockAsyncOptions o;
      o.backend          = Backend::reference;
      o.two_stage        = kind;
      o.schedule         = waits(kind) ? Schedule::synchronous : Schedule::replay;
      o.block_size       = block_size;
      o.local_iterations = k;
      o.n_threads        = 1;
      return o;
    }

    /** As run by host threads. */
    BlockAsyncOptions on_host(TwoStage kind, int block_size, int k, int n_threads)
    {
      BlockAsyncOptions o = of_kind(kind, block_size, k);
      o.backend           = Backend::host;
      o.schedule          = waits(kind) ? Schedule::synchronous : Schedule::chaotic;
      o.n_threads         = n_threads;
      return o;
    }

    /** Table 3.1 of the thesis on a dense matrix, line by line, with the random numbers of the backend reference. */
    class Naive
    {
    public:
      Naive(const CrsMatrix<double> &A, const BlockAsyncOptions &options)
        : o(options)
        , blocks(options.blocks(A.n_rows))
        , n(A.n_rows)
        , random(options.seed)
        , dense(n, Vector(n, 0.))
      {
        for (int i = 0; i < n; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            dense[i][A.columns[p]] = A.values[p];
      }

      void iterate(Vector &x, const Vector &b, int n_iterations)
      {
        std::array<Vector, 2> old = {x, x};
        for (int iteration = 0; iteration < n_iterations; ++iteration)
          {
            old = {x, old[0]};
            if (o.two_stage == TwoStage::total)
              publish_rows(x, b, old);
            else
              freeze_blocks(x, b, old);
          }
      }

    private:
      int sweeps(int block) const { return o.local_iterations_per_block.empty() ? o.local_iterations : o.local_iterations_per_block[block]; }

      void shuffle(std::vector<int> &list)
      {
        if (o.backend == Backend::reference) // else rows are taken in their order
          for (std::size_t i = list.size(); i > 1; --i)
            std::swap(list[i - 1], list[random() % i]);
      }

      std::vector<int> rows(int block) const
      {
        std::vector<int> result(blocks.end[block] - blocks.begin[block]);
        std::iota(result.begin(), result.end(), blocks.begin[block]);
        if (o.last_block_first && o.backend == Backend::host)
          std::reverse(result.begin(), result.end());
        return result;
      }

      /** omega / d_i times what row i lacks, where the block has values y and all else values from off. */
      double change(int block, int i, const Vector &y, const Vector &off, const Vector &b) const
      {
        double r = b[i], outside = 0.;
        for (int j = 0; j < n; ++j)
          {
            const bool inside = j >= blocks.begin[block] && j < blocks.end[block];
            r -= dense[i][j] * (inside ? y[j] : off[j]);
            outside += inside ? 0. : std::abs(dense[i][j]);
          }
        return o.omega * r / (dense[i][i] + (o.l1_weights ? std::copysign(outside, dense[i][i]) : 0.));
      }

      /** Which vector: 0 is x as it is now, 1 and 2 are the beginnings of this iteration and the one before. */
      int age()
      {
        return o.schedule == Schedule::synchronous ? 1 : o.schedule == Schedule::chaotic ? 0 : static_cast<int>(random() % (o.staleness + 1));
      }

      void freeze_blocks(Vector &x, const Vector &b, const std::array<Vector, 2> &old)
      {
        std::vector<int> order(blocks.n_blocks());
        std::iota(order.begin(), order.end(), 0);
        if (o.schedule == Schedule::replay)
          shuffle(order);
        for (const int block : order)
          {
            const int    a   = age();
            const Vector off = a == 0 ? x : old[a - 1];
            Vector       y   = off;
            for (int i = blocks.owned_begin[block]; i < blocks.owned_end[block]; ++i)
              y[i] = x[i];
            std::vector<int> row_order = rows(block);
            for (int sweep = 0; sweep < sweeps(block); ++sweep)
              {
                const bool jacobi = o.two_stage == TwoStage::synchronous || o.two_stage == TwoStage::block;
                if (!jacobi)
                  shuffle(row_order);
                const Vector before = y;
                for (const int i : row_order)
                  y[i] += change(block, i, jacobi ? before : y, off, b);
              }
            for (int i = blocks.owned_begin[block]; i < blocks.owned_end[block]; ++i)
              x[i] = o.block_omega * y[i] + (1. - o.block_omega) * x[i];
          }
      }

      void publish_rows(Vector &x, const Vector &b, const std::array<Vector, 2> &old)
      {
        std::vector<int> turns;
        for (int block = 0; block < blocks.n_blocks(); ++block)
          turns.insert(turns.end(), sweeps(block) * rows(block).size(), block);
        shuffle(turns);
        std::vector<std::vector<int>> row_order(blocks.n_blocks()); // those that are left of a sweep, the last one first
        std::vector<std::vector<int>> order(blocks.n_blocks());     // of the sweep before
        std::vector<int>              ages(blocks.n_blocks());
        for (const int block : turns)
          {
            if (row_order[block].empty())
              {
                ages[block] = age();
                if (order[block].empty())
                  order[block] = rows(block);
                shuffle(order[block]);
                row_order[block].assign(order[block].rbegin(), order[block].rend());
              }
            const int i = row_order[block].back();
            row_order[block].pop_back();
            const Vector &off = ages[block] == 0 ? x : old[ages[block] - 1];
            x[i] += change(block, i, x, off, b);
          }
      }

      const BlockAsyncOptions o;
      const Blocks            blocks;
      const int               n;
      std::mt19937_64         random;
      std::vector<Vector>     dense;
    };

    /** Of a kind, with everything that goes with it, one after the other. */
    std::vector<BlockAsyncOptions> variants(const BlockAsyncOptions &plain)
    {
      std::vector<BlockAsyncOptions> result(1, plain);
      result.push_back(plain), result.back().omega                      = 0.8;
      result.push_back(plain), result.back().l1_weights                 = true;
      result.push_back(plain), result.back().local_iterations_per_block = {3, 1, 4, 2}; // of 25 rows in blocks of 7
      result.push_back(plain), result.back().last_block_first           = true;
      if (plain.two_stage != TwoStage::total)
        {
          result.push_back(plain), result.back().block_omega = 1.2;
          result.push_back(plain), result.back().overlap = Overlap::uniform, result.back().overlap_percent = 30.;
          result.back().block_size = 10;
        }
      return result;
    }

    TEST(TwoStage, ReferenceIsTheDefinition)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const TwoStage kind : kinds)
          for (const int k : {1, 3})
            for (const int staleness : {0, 2})
              for (const std::uint64_t seed : {1, 2, 3})
                for (BlockAsyncOptions o : variants(of_kind(kind, 7, k)))
                  {
                    o.seed                    = seed;
                    o.staleness               = staleness;
                    const CrsMatrix<double> A = random_dominant_matrix(25, 6, 0.9, seed);
                    const Vector            b = random_vector(25, 3);
                    Vector                  x = random_vector(25, 4), expected = x;
                    BlockAsync<Number>      method(rounded_to<Number>(A), o);
                    Naive                   naive(A, o);
                    for (const int n_iterations : {3, 2}) // random numbers go on
                      {
                        iterate(method, x, b, n_iterations);
                        naive.iterate(expected, b, n_iterations);
                      }
                    ASSERT_LT(largest_difference(x, expected), bound<Number>(1e-13, 1e-5)) << method.name() << ", seed " << seed;
                  }
      });
    }

    /** In one thread nothing tells total from outer; see PublishesWhileABlockIsRelaxed. */
    TEST(TwoStage, HostTakesRowsInTheirOrder)
    {
      for_each_number([&](auto number) {
        using Number              = decltype(number);
        const CrsMatrix<double> A = random_dominant_matrix(25, 6, 0.9, 1);
        const Vector            b = random_vector(25, 3);
        for (const TwoStage kind : kinds)
          for (const int k : {1, 3})
            for (const BlockAsyncOptions &o : variants(on_host(kind, 7, k, 1)))
              {
                Vector             x = random_vector(25, 4), expected = x;
                BlockAsync<Number> method(rounded_to<Number>(A), o);
                BlockAsyncOptions  definition = o;
                if (kind == TwoStage::total)
                  definition.two_stage = TwoStage::outer;
                iterate(method, x, b, 3);
                Naive(A, definition).iterate(expected, b, 3);
                ASSERT_LT(largest_difference(x, expected), bound<Number>(1e-13, 1e-5)) << method.name();
              }
      });
    }

    TEST(TwoStage, RowsAsBlocksMakeAllTheSame)
    {
      const CrsMatrix<double> A   = random_dominant_matrix(60, 6, 0.9, 1);
      const Vector            b   = random_vector(60, 3);
      const auto              run = [&](const CrsMatrix<double> &matrix, const BlockAsyncOptions &o) {
        Vector             x = random_vector(60, 4);
        BlockAsync<double> method(matrix, o);
        method.iterate(x.data(), b.data(), 4);
        return x;
      };
      EXPECT_EQ(run(A, of_kind(TwoStage::synchronous, 1, 1)), run(A, of_kind(TwoStage::inner, 1, 1)));
      for (const int staleness : {0, 1, 2})
        for (const std::uint64_t seed : {1, 2, 3})
          {
            BlockAsyncOptions o = of_kind(TwoStage::block, 1, 1);
            o.staleness         = staleness;
            o.seed              = seed;
            const Vector x      = run(A, o);
            o.two_stage         = TwoStage::outer;
            EXPECT_EQ(x, run(A, o));
            o.two_stage = TwoStage::total;
            EXPECT_EQ(x, run(A, o));
          }
      // rows that read only such as come after them do not see what the schedule is
      CrsMatrix<double> upper;
      upper.n_rows = upper.n_columns = 60;
      for (int i = 0; i < 60; ++i)
        {
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] >= i)
              {
                upper.columns.push_back(A.columns[p]);
                upper.values.push_back(A.values[p]);
              }
          upper.row_offsets.push_back(upper.n_entries());
        }
      const Vector x = run(upper, of_kind(TwoStage::synchronous, 1, 1));
      for (const TwoStage kind : kinds)
        {
          EXPECT_LT(largest_difference(x, run(upper, on_host(kind, 1, 1, 1))), 1e-15) << to_string(kind);
          BlockAsyncOptions o = of_kind(kind, 1, 1);
          if (kind != TwoStage::total && !waits(kind)) // total has no order of blocks
            {
              o.schedule = Schedule::chaotic;
              EXPECT_EQ(x, run(upper, o)) << to_string(kind);
            }
        }
    }

    /** With several blocks and k = 1 that is Baudet's AGS. */
    TEST(TwoStage, OneBlockInItsOrderIsGaussSeidel)
    {
      const CrsMatrix<double> A            = random_dominant_matrix(50, 6, 0.9, 1);
      const Vector            b            = random_vector(50, 3);
      const auto              gauss_seidel = make_point_relaxation(A, {PointMethod::gauss_seidel, 1., false, Backend::host});
      for (const TwoStage kind : {TwoStage::inner, TwoStage::outer, TwoStage::total})
        for (const int k : {1, 4})
          {
            Vector             x = random_vector(50, 4), expected = x;
            BlockAsync<double> method(A, on_host(kind, 50, k, 1));
            method.iterate(x.data(), b.data(), 2);
            gauss_seidel->iterate(expected.data(), b.data(), 2 * k);
            EXPECT_LT(largest_difference(x, expected), 1e-14) << to_string(kind) << ", k " << k;
          }
    }

    /** As many rows as there are: each finds what it depends on. */
    TEST(TwoStage, TriangularSystemsAreSolvedInTheirOrder)
    {
      const CrsMatrix<double> A = random_dominant_matrix(300, 8, 0.9, 1);
      for (const bool lower : {true, false})
        {
          CrsMatrix<double> T;
          T.n_rows = T.n_columns = 300;
          for (int i = 0; i < 300; ++i)
            {
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                if (lower ? A.columns[p] <= i : A.columns[p] >= i)
                  {
                    T.columns.push_back(A.columns[p]);
                    T.values.push_back(A.values[p]);
                  }
              T.row_offsets.push_back(T.n_entries());
            }
          for (const TwoStage kind : {TwoStage::outer, TwoStage::total})
            {
              BlockAsyncOptions o  = on_host(kind, 64, 1, 1);
              o.last_block_first   = !lower;
              const Vector       b = random_vector(300, 2);
              Vector             x(300, 0.);
              BlockAsync<double> method(T, o);
              method.iterate(x.data(), b.data(), 1);
              EXPECT_LT(residual_norm(T, x.data(), b.data()), 1e-12) << to_string(kind) << (lower ? ", lower" : ", upper");
            }
        }
    }

    TEST(TwoStage, AllContractTheMaximumNorm)
    {
      // ||B||_inf <= 0.9, so that whatever comes in whatever order, one or two iterations old, gives the factor 0.9 in four iterations
      for (const TwoStage kind : kinds)
        for (const int k : {1, 5})
          for (const BlockAsyncOptions &o : {of_kind(kind, 128, k), on_host(kind, 128, k, 4)}) // more threads than cores
            {
              const int               n       = o.backend == Backend::reference ? 1000 : 8000;
              const CrsMatrix<double> A       = random_dominant_matrix(n, 8, 0.9, 7);
              const Vector            x_exact = random_vector(n, 8);
              Vector                  b(n), x(n, 0.);
              multiply(A, x_exact.data(), b.data());
              BlockAsync<double> method(A, o);
              for (double bound = largest_difference(x, x_exact); bound > 1e-4; bound *= 0.9)
                {
                  ASSERT_LE(largest_difference(x, x_exact), bound * (1. + 1e-12)) << method.name() << " on " << to_string(o.backend);
                  iterate(method, x, b, 4);
                }
            }
    }

    /** Which tries other schedules than that of the options, and takes the class along. */
    TEST(TwoStage, ConvergenceIsPredicted)
    {
      const CrsMatrix<double> A       = five_point_matrix(16, 16, 0.5);
      const auto              factor  = [&](TwoStage kind) { return predicted_convergence(A, on_host(kind, 32, 2, 1)).factor; };
      const double            jacobi  = factor(TwoStage::synchronous);
      const double            in_turn = factor(TwoStage::inner);
      EXPECT_LT(in_turn, 0.95 * jacobi); // the newest values inside blocks
      EXPECT_EQ(factor(TwoStage::block), jacobi);
      EXPECT_EQ(factor(TwoStage::outer), in_turn);
      EXPECT_EQ(factor(TwoStage::total), in_turn);
      for (const TwoStage kind : kinds)
        EXPECT_TRUE(converges_in_all_schedules(A, of_kind(kind, 32, 2), 60.)) << to_string(kind);
    }

    TEST(TwoStage, InnerDoesNotDependOnThreads)
    {
      const CrsMatrix<double> A = random_dominant_matrix(20000, 8, 0.9, 7);
      const Vector            b = random_vector(20000, 3);
      Vector                  x(20000, 0.), y = x;
      BlockAsync<double>      one(A, on_host(TwoStage::inner, 128, 30, 1)), four(A, on_host(TwoStage::inner, 128, 30, 4));
      one.iterate(x.data(), b.data(), 5);
      for (int run = 0; run < 5; ++run)
        {
          std::fill(y.begin(), y.end(), 0.);
          four.iterate(y.data(), b.data(), 5);
          ASSERT_EQ(x, y) << "run " << run;
        }
      EXPECT_TRUE(four.is_fixed_linear_map());
    }

    /**
     * One block and a ghost, which another thread changes when it sees the first row's value: with total that value
     * comes before the block has done its local iterations, and the later ones take the new value of the ghost.
     */
    TEST(TwoStage, PublishesWhileABlockIsRelaxed)
    {
      const int         n = 5000;
      CrsMatrix<double> A;
      A.n_rows    = n;
      A.n_columns = n + 1;
      for (int i = 0; i < n; ++i)
        {
          A.columns.insert(A.columns.end(), {i, n});
          A.values.insert(A.values.end(), {2., -1.});
          A.row_offsets.push_back(A.n_entries());
        }
      const Vector b(n, 2.); // x = 1, and with the ghost 1 x = 1.5
      const auto   value_of_last = [&](TwoStage kind) {
        BlockAsync<double> method(A, on_host(kind, n, 10000, 1));
        Vector             x(n + 1, 0.);
        std::thread        observer([&x, n] {
          double first = 0., ghost = 1.;
          while (first == 0.)
            __atomic_load(x.data(), &first, __ATOMIC_RELAXED);
          __atomic_store(x.data() + n, &ghost, __ATOMIC_RELAXED);
        });
        method.iterate(x.data(), b.data(), 1);
        observer.join();
        return x[n - 1];
      };
      EXPECT_EQ(value_of_last(TwoStage::outer), 1.);
      EXPECT_EQ(value_of_last(TwoStage::total), 1.5);
    }

    TEST(TwoStage, GhostsAreReadAndNeverWritten)
    {
      CrsMatrix<double> A;
      A.n_rows    = 20;
      A.n_columns = 21;
      for (int i = 0; i < 20; ++i)
        {
          A.columns.insert(A.columns.end(), {i, (i + 1) % 20, 20});
          A.values.insert(A.values.end(), {2., -0.5, -0.5});
          A.row_offsets.push_back(A.n_entries());
        }
      const Vector b(20, 0.);
      for (const TwoStage kind : kinds)
        for (const BlockAsyncOptions &o : {of_kind(kind, 6, 2), on_host(kind, 6, 2, 1)})
          {
            Vector x(21, 0.);
            x[20] = 3.;
            BlockAsync<double> method(A, o);
            method.iterate(x.data(), b.data(), 60);
            EXPECT_EQ(x[20], 3.);
            EXPECT_NEAR(x[7], 1., 1e-12) << method.name();
          }
    }

    TEST(TwoStage, UpdatedValuesEqualAFreshObject)
    {
      const CrsMatrix<double> first  = random_dominant_matrix(300, 6, 0.8, 9);
      CrsMatrix<double>       second = first;
      for (std::size_t p = 0; p < second.values.size(); ++p)
        second.values[p] *= 1. + 0.1 * std::sin(static_cast<double>(p));
      const Vector b = random_vector(300, 10);
      for (const TwoStage kind : kinds)
        for (BlockAsyncOptions o : {of_kind(kind, 32, 3), on_host(kind, 32, 3, 1)})
          {
            BlockAsync<double> updated(first, o);
            o.omega = 0.9;
            BlockAsync<double> fresh(second, o);
            updated.set_omega(0.9);
            updated.update_values(second.values.data());
            Vector x(300, 0.), y = x;
            updated.iterate(x.data(), b.data(), 3);
            fresh.iterate(y.data(), b.data(), 3);
            EXPECT_EQ(x, y) << fresh.name();
          }
    }

    TEST(TwoStage, AutomaticIsWhatTheScheduleSays)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
      const Vector            b = random_vector(400, 1);
      for (const auto &[kind, schedule] : {std::pair(TwoStage::synchronous, Schedule::synchronous),
                                           std::pair(TwoStage::block, Schedule::chaotic),
                                           std::pair(TwoStage::block, Schedule::replay)})
        {
          BlockAsyncOptions o;
          o.schedule   = schedule;
          o.block_size = 32;
          o.n_threads  = 1;
          BlockAsync<double> automatic(A, o);
          o.two_stage = kind;
          BlockAsync<double> named(A, o);
          EXPECT_EQ(automatic.name(), named.name());
          Vector x(400, 0.), y = x;
          automatic.iterate(x.data(), b.data(), 5);
          named.iterate(y.data(), b.data(), 5);
          EXPECT_EQ(x, y);
        }
    }

    TEST(TwoStage, SaysWhatMapsAreFixedAndSymmetric)
    {
      const CrsMatrix<double> A = five_point_matrix(10, 10, 0.1);
      for (const TwoStage kind : kinds)
        {
          BlockAsync<double> host(A, on_host(kind, 16, 3, 1)), reference(A, of_kind(kind, 16, 3));
          EXPECT_TRUE(host.is_fixed_linear_map()) << to_string(kind); // one thread
          EXPECT_EQ(reference.is_fixed_linear_map(), kind == TwoStage::synchronous) << to_string(kind);
          for (const BlockAsync<double> *method : {&host, &reference})
            EXPECT_EQ(method->is_symmetric_map(), kind == TwoStage::synchronous) << to_string(kind);
        }
    }

    TEST(TwoStage, RefusesWhatContradictsIt)
    {
      const auto rejected = [](BlockAsyncOptions o, const std::string &found, const std::string &expected) {
        try
          {
            o.validate();
            ADD_FAILURE() << "accepted: " << found;
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find(found + "\n  expected: "), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
          }
      };
      for (const TwoStage kind : kinds)
        {
          const std::string name = to_string(kind);
          for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic, Schedule::replay})
            {
              BlockAsyncOptions o = on_host(kind, 8, 1, 1);
              o.schedule          = schedule;
              if ((schedule == Schedule::synchronous) == waits(kind))
                EXPECT_NO_THROW(o.validate());
              else
                rejected(o,
                         "two_stage is " + name + " with the schedule " +
                           (waits(kind) ? schedule == Schedule::chaotic ? "chaotic" : "replay" : "synchronous"),
                         waits(kind) ? "the schedule synchronous with it" : "the schedule chaotic or replay with it");
            }
          BlockAsyncOptions o = on_host(kind, 8, 1, 1);
          if (kind == TwoStage::synchronous || kind == TwoStage::block)
            {
              o.backend  = Backend::cuda;
              o.momentum = 0.5;
              EXPECT_NO_THROW(o.validate());
              continue;
            }
          o.backend = Backend::cuda;
          EXPECT_NO_THROW(o.validate());
          o.execution = Execution::persistent;
          rejected(o, "execution is persistent with two_stage " + name, "automatic or launch");
          o          = on_host(kind, 8, 1, 1);
          o.momentum = 0.5;
          rejected(o, "momentum is 0.5 with two_stage " + name, "two_stage synchronous or block");
          o             = on_host(kind, 8, 1, 1);
          o.corrections = Corrections::single_precision;
          rejected(o, "corrections is given with two_stage " + name, "two_stage synchronous or block");
          EXPECT_THROW(BlockAsync<double>(Stencil<double>(five_point_stencil(8, 8, 0.1)), on_host(kind, 8, 1, 1)), InvalidInput);
        }
      BlockAsyncOptions o = on_host(TwoStage::total, 8, 1, 1);
      o.overlap           = Overlap::uniform;
      o.overlap_percent   = 25.;
      rejected(o, "overlap is given with two_stage total", "or two_stage outer");
      o             = on_host(TwoStage::total, 8, 1, 1);
      o.block_omega = 1.2;
      rejected(o, "block_omega is 1.2 with two_stage total", "or omega");
    }
  } // namespace
} // namespace leopard
