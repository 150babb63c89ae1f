// SPDX-License-Identifier: Apache-2.0
// Block-asynchronous refinement: in double it is async-(k), in single it comes as far as double.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/matrix/block_crs.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/scaled_matrix.h>

#include <functional>
#include <limits>

namespace leopard
{
  namespace
  {
    constexpr double eps = std::numeric_limits<double>::epsilon();

    class CorrectionsTest : public BackendTest
    {
    protected:
      BlockAsyncOptions corrections(Corrections corrections, Schedule schedule, int block_size, int k) const
      {
        BlockAsyncOptions result = options(schedule, block_size, k);
        result.corrections       = corrections;
        return result;
      }

      bool knows(Schedule schedule) const { return schedule != Schedule::replay || GetParam() != Backend::cuda; }
    };

    double norm(const Vector &v)
    {
      SafeNorm sum;
      for (const double x : v)
        sum.add(x);
      return sum.value();
    }

    /** ||b - A x|| / (||A||_inf ||x|| + ||b||), whatever their units. */
    double backward_error(const CrsMatrix<double> &A, const Vector &x, const Vector &b)
    {
      double   norm_A = 0.;
      SafeNorm r;
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0., of_row = b[i];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              sum += std::abs(A.values[p]);
              of_row -= A.values[p] * x[A.columns[p]];
            }
          norm_A = std::max(norm_A, sum);
          r.add(of_row);
        }
      return r.value() / (norm_A * norm(x) + norm(b));
    }

    /** D A E with powers of ten of up to that many digits, up and down. */
    CrsMatrix<double> scaled(CrsMatrix<double> A, double row_digits, double column_digits, unsigned int seed)
    {
      const Vector exponents = random_vector(A.n_rows, seed);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= std::pow(10., row_digits * exponents[i]) * std::pow(10., column_digits * exponents[A.columns[p]]);
      return A;
    }

    /**
     * Pairs of neighbours coupled by 1 - delta, and to the pairs beside them by delta / 4: condition number 4 / delta.
     */
    CrsMatrix<double> ill_conditioned_matrix(int n, double delta)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          for (const int j : {i - 2, i % 2 == 0 ? i : i - 1, i % 2 == 0 ? i + 1 : i, i + 2})
            if (j >= 0 && j < n)
              {
                A.columns.push_back(j);
                A.values.push_back(j == i ? 1. : std::abs(j - i) == 2 ? -0.25 * delta : -(1. - delta));
              }
          A.row_offsets.push_back(A.n_entries());
        }
      return A;
    }

    struct Variant
    {
      const char                              *name;
      std::function<void(BlockAsyncOptions &)> change;
    };

    /** For blocks of 64 of 10000 rows. */
    std::vector<Variant> variants()
    {
      return {{"plain", [](BlockAsyncOptions &) {}},
              {"one sweep", [](BlockAsyncOptions &o) { o.local_iterations = 1; }},
              {"omega", [](BlockAsyncOptions &o) { o.omega = 0.8; }},
              {"block omega", [](BlockAsyncOptions &o) { o.block_omega = 1.1; }},
              {"l1", [](BlockAsyncOptions &o) { o.l1_weights = true; }},
              {"l1 and both omegas", [](BlockAsyncOptions &o) { o.l1_weights = true, o.omega = 0.9, o.block_omega = 1.2; }},
              {"unequal blocks",
               [](BlockAsyncOptions &o) {
                 o.block_offsets = {0, 1, 66, 67, 400, 1000, 1511, 3011, 4500, 6000, 7500, 9000, 10000};
               }},
              {"one block", [](BlockAsyncOptions &o) { o.block_size = 10000, o.backend = o.backend == Backend::cuda ? Backend::host : o.backend; }},
              {"blocks of 1000", [](BlockAsyncOptions &o) { o.block_size = 1000; }},
              {"unequal iterations", [](BlockAsyncOptions &o) {
                 o.block_size = 2500, o.local_iterations_per_block = {1, 7, 2, 5};
               }}};
    }

    std::vector<CrsMatrix<double>> matrices()
    {
      return {five_point_matrix(100, 100, 0.1), random_dominant_matrix(10000, 9, 0.95, 4), seven_point_matrix(10, 25, 40, 0.1)};
    }

    /** A slip in the residual, the weights, the sweeps or what is added makes it another iteration. */
    TEST_P(CorrectionsTest, InDoubleAreAsync)
    {
      const Vector b = random_vector(10000, 5), x0 = random_vector(10000, 6);
      for (const CrsMatrix<double> &A : matrices())
        for (const Variant &variant : variants())
          for (const Schedule schedule : {Schedule::synchronous, Schedule::replay})
            {
              if (!knows(schedule))
                continue;
              BlockAsyncOptions as_async = options(schedule, 64, 5);
              variant.change(as_async);
              BlockAsyncOptions as_refinement = as_async;
              as_refinement.corrections       = Corrections::working_precision;
              BlockAsync<double> async(A, as_async), refinement(A, as_refinement);
              Vector             x = x0, y = x0;
              iterate(async, x, b, 4);
              iterate(refinement, y, b, 4);
              EXPECT_LT(largest_difference(x, y), 1e-13) << variant.name;
            }
    }

    /** A correction that is added a second time, as the printed algorithm does, is twice too long. */
    TEST_P(CorrectionsTest, LoopsAreFurtherSweeps)
    {
      const Vector b = random_vector(10000, 5), x0 = random_vector(10000, 6);
      for (const CrsMatrix<double> &A : matrices())
        for (const auto &[loops, k] : {std::pair(2, 1), {2, 5}, {3, 4}})
          {
            BlockAsyncOptions o = corrections(Corrections::working_precision, Schedule::synchronous, 64, k);
            o.correction_loops  = loops;
            BlockAsync<double> async(A, options(Schedule::synchronous, 64, loops * k)), refinement(A, o);
            o.corrections = Corrections::single_precision;
            BlockAsync<double> single(A, o);
            Vector             x = x0, y = x0, z = x0;
            iterate(async, x, b, 3);
            iterate(refinement, y, b, 3);
            iterate(single, z, b, 3);
            EXPECT_LT(largest_difference(x, y), 1e-13) << loops << " loops of " << k;
            EXPECT_LT(largest_difference(x, z), 3e-6) << loops << " loops of " << k;
          }
    }

    /** Both number types; corrections that do not agree with the oracle's to single precision are others. */
    TEST_P(CorrectionsTest, InSingleAgreeWithTheReference)
    {
      const Vector b = random_vector(10000, 5), x0 = random_vector(10000, 6);
      for (const CrsMatrix<double> &A : matrices())
        for (const Variant &variant : variants())
          for_each_number([&](auto number) {
            using Number          = decltype(number);
            BlockAsyncOptions own = corrections(Corrections::single_precision, Schedule::synchronous, 64, 5);
            variant.change(own);
            BlockAsyncOptions of_reference = own;
            of_reference.backend           = Backend::reference;
            const CrsMatrix<Number> matrix = rounded_to<Number>(A);
            BlockAsync<Number>      method(matrix, own), reference(matrix, of_reference);
            Vector                  x = x0, y = x0;
            iterate(method, x, b, 2);
            iterate(reference, y, b, 2);
            EXPECT_LT(largest_difference(x, y), 2e-6) << variant.name;
            if (std::is_same_v<Number, double>)
              {
                of_reference.corrections = Corrections::working_precision;
                BlockAsync<Number> in_double(matrix, of_reference);
                Vector             z = x0;
                iterate(in_double, z, b, 2);
                EXPECT_GT(largest_difference(x, z), 1e-10) << variant.name << ": single precision is double in disguise";
              }
          });
    }

    TEST_P(CorrectionsTest, ReachTheAccuracyOfDoubleFromSingle)
    {
      struct Case
      {
        CrsMatrix<double> A;
        int               k, n;
      };
      std::vector<Case> cases = {
        {five_point_matrix(30, 20, 0.5), 5, 200}, {trefethen_matrix(400), 5, 100}, {ill_conditioned_matrix(40, 1e-4), 1000, 900}};
      for (const unsigned int seed : {1u, 2u, 3u})
        {
          cases.push_back({random_dominant_matrix(500, 6, 0.9, seed), 5, 150});
          cases.push_back({scaled(five_point_matrix(20, 20, 0.5), 25., 25., seed), 5, 300});
          cases.push_back({scaled(five_point_matrix(20, 20, 0.5), 10., 0., seed), 5, 300});
          cases.push_back({scaled(ill_conditioned_matrix(40, 1e-3), 8., 8., seed), 500, 300});
        }
      for (std::size_t i = 0; i < cases.size(); ++i)
        for (const int loops : {1, 2})
          {
            const auto &[A, k, n]   = cases[i];
            const Vector      exact = random_vector(A.n_rows, 7);
            Vector            b(A.n_rows), x(A.n_rows, 0.);
            BlockAsyncOptions o = corrections(Corrections::single_precision, Schedule::chaotic, 32, k);
            o.correction_loops  = loops;
            multiply(A, exact.data(), b.data());
            BlockAsync<double> method(A, o);
            iterate(method, x, b, n);
            EXPECT_LE(backward_error(A, x, b), 8. * eps) << "case " << i << ", " << loops << " loops";
          }
    }

    /** Residuals far from one would vanish or overflow in single precision. */
    TEST_P(CorrectionsTest, DoNotDependOnTheUnitsOfTheRightHandSide)
    {
      const CrsMatrix<double> A     = five_point_matrix(20, 20, 0.5);
      const Vector            exact = random_vector(A.n_rows, 7);
      for (const double unit : {1e-300, 1e-60, 1e60, 1e300})
        {
          Vector b(A.n_rows), x(A.n_rows, 0.);
          multiply(A, exact.data(), b.data());
          for (double &value : b)
            value *= unit;
          BlockAsync<double> method(A, corrections(Corrections::single_precision, Schedule::chaotic, 32, 5));
          iterate(method, x, b, 200);
          EXPECT_LE(backward_error(A, x, b), 8. * eps) << unit;
        }
      Vector             x(A.n_rows, 0.), zero(A.n_rows, 0.), bad(A.n_rows, 1.);
      BlockAsync<double> method(A, corrections(Corrections::single_precision, Schedule::chaotic, 32, 5));
      iterate(method, x, zero, 3);
      EXPECT_EQ(norm(x), 0.);
      bad[10] = NAN;
      StoppingCriteria criteria;
      criteria.relative_tolerance = 1e-10;
      EXPECT_EQ(solve_for(method, x, bad, criteria).status, SolveStatus::diverged);
    }

    /**
     * ||B||_inf <= 0.9, as in the test of async-(k): of any order and staleness at least that factor over two
     * iterations.
     */
    TEST_P(CorrectionsTest, EveryScheduleContractsTheMaximumNorm)
    {
      constexpr int           n       = 40000;
      const CrsMatrix<double> A       = random_dominant_matrix(n, 8, 0.9, 7);
      const Vector            x_exact = random_vector(n, 8);
      Vector                  b(n);
      multiply(A, x_exact.data(), b.data());
      for (const Corrections how : {Corrections::working_precision, Corrections::single_precision})
        for (const auto &[schedule, threads] : {std::pair(Schedule::synchronous, 5),
                                                {Schedule::replay, 1},
                                                {Schedule::chaotic, 1},
                                                {Schedule::chaotic, 2},
                                                {Schedule::chaotic, 5},
                                                {Schedule::chaotic, 16}})
          {
            if (!knows(schedule) || (GetParam() != Backend::host && schedule == Schedule::chaotic && threads > 1))
              continue;
            BlockAsyncOptions o = corrections(how, schedule, 128, 5);
            o.n_threads         = threads;
            BlockAsync<double> method(A, o);
            Vector             x(n, 0.);
            // from an error of one, and from one far below single precision
            for (const double begin : {1., 1e-10})
              {
                const Vector error = random_vector(n, 9);
                for (int i = 0; i < n; ++i)
                  x[i] = x_exact[i] + begin * error[i];
                double limit = largest_difference(x, x_exact);
                for (int check = 0; check < 10; ++check, limit *= 0.9)
                  {
                    ASSERT_LE(largest_difference(x, x_exact), limit * (1. + 1e-5)) << threads << " threads, from " << begin;
                    iterate(method, x, b, 4);
                  }
              }
          }
    }

    TEST_P(CorrectionsTest, ResidualAndGhostsAreThoseOfTheMatrix)
    {
      CrsMatrix<double> A = five_point_matrix(30, 30, 0.5);
      A.n_columns         = 901;
      A.columns.push_back(900); // the last row reads a ghost
      A.values.push_back(-0.5);
      ++A.row_offsets.back();
      Vector x       = random_vector(901, 1);
      x[900]         = 2.;
      const Vector b = random_vector(900, 2);
      for (const Corrections how : {Corrections::working_precision, Corrections::single_precision})
        {
          BlockAsync<double> method(A, corrections(how, Schedule::chaotic, 64, 3));
          EXPECT_NEAR(std::sqrt(residual_norm_squared(method, x, b)) / residual_norm(A, x.data(), b.data()), 1., 1e-14);
          Vector y = x;
          iterate(method, y, b, 150);
          EXPECT_EQ(y[900], 2.);
          EXPECT_LE(residual_norm(A, y.data(), b.data()), 1e-13);
        }
    }

    TEST_P(CorrectionsTest, UpdatedValuesEqualAFreshObject)
    {
      const CrsMatrix<double> first  = random_dominant_matrix(3000, 6, 0.8, 9);
      CrsMatrix<double>       second = first;
      for (std::size_t p = 0; p < second.values.size(); ++p)
        second.values[p] *= 1e3 * (1. + 0.1 * std::sin(static_cast<double>(p))); // to another scale, too
      const Vector b = random_vector(3000, 10);
      for (const Corrections how : {Corrections::working_precision, Corrections::single_precision})
        for (const bool l1 : {false, true})
          {
            BlockAsyncOptions o = corrections(how, Schedule::synchronous, 100, 3);
            o.l1_weights        = l1;
            BlockAsync<double> updated(first, o), fresh(second, o);
            updated.update_values(second.values.data());
            const auto expect_equal = [&](const char *when) {
              Vector x(3000, 0.), y(3000, 0.);
              iterate(updated, x, b, 5);
              iterate(fresh, y, b, 5);
              EXPECT_EQ(x, y) << when;
              EXPECT_EQ(residual_norm_squared(updated, x, b), residual_norm_squared(fresh, x, b)) << when;
            };
            expect_equal("after new values");
            CrsMatrix<double> bad = second;
            bad.values[17]        = NAN;
            EXPECT_THROW(updated.update_values(bad.values.data()), InvalidInput);
            expect_equal("after values that were refused");
            if (how != Corrections::single_precision)
              continue;
            bad = second;
            for (int i = 0; i < bad.n_rows; ++i)
              for (int p = bad.row_offsets[i]; p < bad.row_offsets[i + 1]; ++p)
                if (bad.columns[p] != i && bad.columns[p] / 100 == i / 100)
                  bad.values[p] = 1e60;
            EXPECT_THROW(updated.update_values(bad.values.data()), InvalidInput);
            expect_equal("after values that do not fit");
          }
    }

    std::string message_of(const std::function<void()> &function)
    {
      try
        {
          function();
        }
      catch (const InvalidInput &error)
        {
          return error.what();
        }
      return "";
    }

    /** Also where the precision is the same, and a copy would do as long as values do not change. */
    TEST(Corrections, DiagonalBlocksHaveNothingOutside)
    {
      const CrsMatrix<double> A = random_dominant_matrix(300, 6, 0.8, 9);
      BlockAsyncOptions       o;
      o.block_size = 100;
      const BlockCrs<double> whole(A, o.blocks(300)), only(whole, BlockCrs<double>::DiagonalBlocks());
      EXPECT_FALSE(whole.outer.columns.empty());
      EXPECT_TRUE(only.outer.columns.empty());
      EXPECT_EQ(only.inner.columns, whole.inner.columns);
      for (std::size_t p = 0; p < only.inner.source.size(); ++p)
        EXPECT_EQ(only.inner.source[p], static_cast<int>(p));
    }

    TEST_P(CorrectionsTest, SayWhatTheyDoNotDo)
    {
      const Stencil<double>   stencil = five_point_stencil(20, 20, 0.1);
      const CrsMatrix<double> A       = stencil.to_crs();
      const auto              says    = [&](const std::function<void(BlockAsyncOptions &)> &change) {
        BlockAsyncOptions o = corrections(Corrections::single_precision, Schedule::chaotic, 32, 3);
        change(o);
        return message_of([&] { BlockAsync<double>(A, o); });
      };
      EXPECT_EQ(says([](BlockAsyncOptions &) {}), "");
      EXPECT_NE(says([](BlockAsyncOptions &o) { o.momentum = 0.3; }).find("momentum is 0.3"), std::string::npos);
      EXPECT_NE(says([](BlockAsyncOptions &o) { o.overlap = Overlap::uniform, o.overlap_percent = 10.; }).find("overlap is given"),
                std::string::npos);
      EXPECT_NE(says([](BlockAsyncOptions &o) { o.storage = Storage::dictionary; }).find("storage is dictionary"), std::string::npos);
      EXPECT_NE(says([](BlockAsyncOptions &o) { o.correction_loops = 0; }).find("correction_loops is 0"), std::string::npos);
      EXPECT_NE(says([](BlockAsyncOptions &o) { o.corrections = Corrections::none, o.correction_loops = 2; }).find("1 without corrections"),
                std::string::npos);
      const std::string of_stencil =
        message_of([&] { BlockAsync<double>(stencil, corrections(Corrections::single_precision, Schedule::chaotic, 32, 3)); });
      EXPECT_NE(of_stencil.find("corrections is given for a stencil"), std::string::npos) << of_stencil;
      CrsMatrix<double> large = A;
      for (int p = large.row_offsets[2]; p < large.row_offsets[3]; ++p)
        if (large.columns[p] == 3)
          large.values[p] = -1e60;
      const std::string too_large =
        message_of([&] { BlockAsync<double>(large, corrections(Corrections::single_precision, Schedule::chaotic, 32, 3)); });
      EXPECT_NE(too_large.find("the entry in row 2, column 3 is -1e+60"), std::string::npos) << too_large;
      BlockAsync<double> held(A, corrections(Corrections::single_precision, Schedule::chaotic, 32, 3));
      EXPECT_NE(message_of([&] { held.update_values(large.values.data()); }).find("the entry in row 2, column 3 is -1e+60"), std::string::npos);
    }

    TEST_P(CorrectionsTest, TheirNameSaysHow)
    {
      const CrsMatrix<double> A = five_point_matrix(10, 10, 0.1);
      BlockAsyncOptions       o = corrections(Corrections::working_precision, Schedule::chaotic, 32, 15);
      EXPECT_EQ(BlockAsync<double>(A, o).name(), "async-refinement-(15)");
      o.corrections      = Corrections::single_precision;
      o.correction_loops = 2;
      EXPECT_EQ(BlockAsync<double>(A, o).name(), "async-refinement-(2 x 15) with corrections in single precision");
      EXPECT_FALSE(BlockAsync<double>(A, o).is_symmetric_map());
    }

    INSTANTIATE_TEST_SUITE_P(Backends, CorrectionsTest, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
