// SPDX-License-Identifier: Apache-2.0
// Block-asynchronous iteration for stencils, without a stored matrix.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/stencil.h>

namespace leopard
{
  namespace
  {
    class Stencils : public BackendTest
    {
    };

    std::vector<Stencil<double>> stencils()
    {
      std::vector<Stencil<double>> result = {five_point_stencil(100, 70, 0.5),
                                             five_point_stencil(131, 77, 0.5),
                                             five_point_stencil(1, 1, 0.5),
                                             nine_point_stencil(64, 65, 0.5),
                                             nine_point_stencil(33, 130, 0.5),
                                             seven_point_stencil(40, 30, 20, 0.5),
                                             seven_point_stencil(17, 9, 33, 0.5),
                                             twenty_seven_point_stencil(20, 18, 17, 0.5),
                                             twenty_seven_point_stencil(15, 9, 34, 0.5),
                                             five_point_stencil(1301, 1, 0.5),
                                             five_point_stencil(1024, 1, 0.5),
                                             // whole tiles of a GPU, read and written in pairs
                                             five_point_stencil(128, 64, 0.5),
                                             nine_point_stencil(64, 64, 0.5),
                                             seven_point_stencil(32, 8, 32, 0.5),
                                             twenty_seven_point_stencil(32, 16, 16, 0.5)};
      // nothing symmetric about it, so that a neighbour taken for another shows
      for (std::size_t s = 0, n = result.size(); s < n; ++s)
        {
          Stencil<double> skewed = result[s];
          const Vector    noise  = random_vector(27, 20 + s);
          for (int c = 0; c < 27; ++c)
            if (c != 13 && (skewed.coefficients[c] != 0.))
              skewed.coefficients[c] *= 1. + 0.3 * noise[c];
          if (s % 2 == 1)
            {
              skewed.diagonal = random_vector(skewed.n_rows(), 40);
              for (double &d : skewed.diagonal)
                d = 2. * skewed.coefficient(0, 0, 0) + d;
            }
          skewed.coefficient(0, 0, 0) *= 1.6;
          result.push_back(skewed);
        }
      return result;
    }

    TEST_P(Stencils, OneSweepIsJacobiOfTheStoredMatrix)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const Stencil<double> &stencil : stencils())
          {
            const CrsMatrix<double> A = stencil.to_crs();
            const Vector            b = random_vector(A.n_rows, 1), x0 = random_vector(A.n_rows, 2);
            BlockAsyncOptions       o = options(Schedule::synchronous, 1, 1);
            o.omega                   = 0.9;
            BlockAsync<Number> method(rounded_to<Number>(stencil), o);
            Vector             x = x0, expected = x0;
            iterate(method, x, b, 3);
            for (int n = 0; n < 3; ++n)
              expected = block_jacobi(A, expected, b, A.n_rows, 1, 0.9);
            EXPECT_LT(largest_difference(x, expected), bound<Number>(1e-12, 5e-6)) << method.description();
            EXPECT_NEAR(std::sqrt(residual_norm_squared(method, x0, b)), residual_norm(A, x0.data(), b.data()), bound<Number>(1e-9, 1e-4))
              << method.description();
          }
      });
    }

    /** Whatever is in x is not read: one sweep from zero is omega D^-1 b, unless tiles see what others have done. */
    TEST_P(Stencils, FromZeroNothingIsRead)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const Stencil<double> &stencil : stencils())
          for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic})
            {
              const CrsMatrix<double> A = stencil.to_crs();
              const Vector            b = random_vector(A.n_rows, 1), zero(A.n_rows, 0.);
              BlockAsyncOptions       o = options(schedule, 1, 1);
              o.execution               = Execution::launch; // as smoothers
              o.omega                   = 0.9;
              BlockAsync<Number> method(rounded_to<Number>(stencil), o);
              const auto         from_zero = [&](int n) {
                Vector x(A.n_rows, NAN);
                call_with_numbers<Number>(
                  method.memory_space(), x, b, [&](Number *to, const Number *right) { method.iterate_from_zero(to, right, n); });
                return x;
              };
              const Vector once = from_zero(1), thrice = from_zero(3);
              if (schedule == Schedule::synchronous || (GetParam() == Backend::cuda && stencil.n_y > 1))
                {
                  EXPECT_LT(largest_difference(once, block_jacobi(A, zero, b, A.n_rows, 1, 0.9)), bound<Number>(1e-13, 1e-6)) << method.description();
                }
              EXPECT_LT(residual_norm(A, once.data(), b.data()), residual_norm(A, zero.data(), b.data())) << method.description();
              EXPECT_LT(residual_norm(A, thrice.data(), b.data()), residual_norm(A, once.data(), b.data())) << method.description();
            }
      });
    }

    TEST_P(Stencils, OneTileIsJacobiOnTheWholeSystem)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const Stencil<double> &stencil : {five_point_stencil(512, 1, 0.1),
                                               five_point_stencil(64, 16, 0.1),
                                               nine_point_stencil(50, 13, 0.1),
                                               seven_point_stencil(16, 8, 4, 0.1),
                                               twenty_seven_point_stencil(13, 4, 8, 0.1)})
          {
            const CrsMatrix<double> A = stencil.to_crs();
            const Vector            b = random_vector(A.n_rows, 1), x0 = random_vector(A.n_rows, 2);
            BlockAsync<Number>      method(rounded_to<Number>(stencil), options(Schedule::chaotic, 1, 5));
            Vector                  x = x0;
            iterate(method, x, b, 2);
            EXPECT_LT(largest_difference(x, block_jacobi(A, x0, b, A.n_rows, 10, 1.)), bound<Number>(1e-12, 5e-6)) << method.description();
          }
      });
    }

    /** Each sweep has its own relaxation factor, in the order given; equal ones are omega. */
    TEST_P(Stencils, SweepWeightsAreThoseOfTheSweeps)
    {
      const Vector weights = {0.5, 0.75, 1.25, 1.5, 2.25}; // exact in single precision
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (Stencil<double> stencil : {five_point_stencil(512, 1, 0.1),
                                        five_point_stencil(64, 16, 0.1),
                                        nine_point_stencil(50, 13, 0.1),
                                        seven_point_stencil(16, 8, 4, 0.1),
                                        twenty_seven_point_stencil(13, 4, 8, 0.1)})
          for (const bool varies : {false, true})
            {
              if (varies)
                {
                  stencil.diagonal = random_vector(stencil.n_rows(), 40);
                  for (double &d : stencil.diagonal)
                    d += 3. * stencil.coefficient(0, 0, 0);
                }
              const CrsMatrix<double> A = stencil.to_crs();
              const Vector            b = random_vector(A.n_rows, 1), x0 = random_vector(A.n_rows, 2);
              BlockAsyncOptions       o = options(Schedule::synchronous, 1, 5);
              o.sweep_weights           = weights;
              BlockAsync<Number> method(rounded_to<Number>(stencil), o); // one tile
              Vector             x = x0, expected = x0;
              iterate(method, x, b, 1);
              for (const double weight : weights)
                expected = block_jacobi(A, expected, b, A.n_rows, 1, weight);
              EXPECT_LT(largest_difference(x, expected), bound<Number>(1e-11, 1e-3)) << method.description();
              EXPECT_NEAR(std::sqrt(residual_norm_squared(method, x0, b)), residual_norm(A, x0.data(), b.data()), bound<Number>(1e-9, 1e-4));
            }
        for (const Stencil<double> &stencil : stencils())
          {
            const Stencil<Number> rounded = rounded_to<Number>(stencil);
            const int             n       = stencil.n_rows();
            const Vector          b = random_vector(n, 1), x0 = random_vector(n, 2);
            BlockAsyncOptions     o = options(Schedule::synchronous, 1, 3);
            o.omega                 = 0.75;
            BlockAsync<Number> one(rounded, o);
            o.omega         = 1.;
            o.sweep_weights = {0.75, 0.75, 0.75};
            BlockAsync<Number> equal(rounded, o), changed(rounded, options(Schedule::synchronous, 1, 3));
            changed.set_sweep_weights(o.sweep_weights);
            changed.update_stencil(rounded);
            Vector expected = x0, x = x0, y = x0, z = x0;
            iterate(one, expected, b, 2);
            iterate(equal, x, b, 2);
            iterate(changed, y, b, 2);
            EXPECT_LT(largest_difference(x, expected), bound<Number>(1e-12, 5e-6)) << equal.description();
            EXPECT_LT(largest_difference(y, expected), bound<Number>(1e-12, 5e-6)) << changed.description();
            equal.set_sweep_weights({1.25, 1.5, 0.25});
            equal.set_omega(0.75);
            equal.update_stencil(rounded);
            iterate(equal, z, b, 2);
            EXPECT_LT(largest_difference(z, expected), bound<Number>(1e-12, 5e-6)) << equal.description();
          }
      });
    }

    TEST_P(Stencils, RefuseSweepWeights)
    {
      const auto refused = [&](int k, const Vector &weights, double omega = 1.) {
        BlockAsyncOptions o = options(Schedule::chaotic, 1, k);
        o.sweep_weights     = weights;
        o.omega             = omega;
        EXPECT_THROW(BlockAsync<double>(five_point_stencil(4, 4, 0.), o), InvalidInput);
      };
      refused(3, {1., 1.});
      refused(2, {1., 1., 1.});
      refused(2, {1., 0.});
      refused(2, {1., -1.});
      refused(2, {1., NAN});
      refused(2, {1., INFINITY});
      refused(2, {1., 1.}, 0.9);
      refused(17, Vector(17, 1.));
      BlockAsyncOptions o = options(Schedule::chaotic, 4, 2);
      o.sweep_weights     = {1., 1.};
      try
        {
          BlockAsync<double> method(five_point_matrix(4, 4, 0.), o);
          ADD_FAILURE() << "accepted for a stored matrix";
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("sweep_weights"), std::string::npos);
        }
      o.sweep_weights.clear();
      BlockAsync<double> stored(five_point_matrix(4, 4, 0.), o);
      EXPECT_THROW(stored.set_sweep_weights({1., 1.}), InvalidInput);
    }

    TEST_P(Stencils, SolutionIsAFixedPointAndIsFound)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const Stencil<double> &stencil : stencils())
          for (const Execution execution : {Execution::launch, Execution::automatic})
            {
              const CrsMatrix<double> A       = stencil.to_crs();
              const Vector            x_exact = random_vector(A.n_rows, 3);
              Vector                  b(A.n_rows), x = x_exact;
              multiply(A, x_exact.data(), b.data());
              BlockAsyncOptions o = options(Schedule::chaotic, 1, 5);
              o.execution         = execution;
              BlockAsync<Number> method(rounded_to<Number>(stencil), o);
              iterate(method, x, b, 3);
              EXPECT_LT(largest_difference(x, x_exact), bound<Number>(1e-13, 2e-5)) << method.description();
              x.assign(A.n_rows, 0.);
              for (int n = 0; n < 10 && largest_difference(x, x_exact) > bound<Number>(1e-10, 2e-5); ++n) // a block may be done before another begins
                iterate(method, x, b, 100);
              EXPECT_LT(largest_difference(x, x_exact), bound<Number>(1e-10, 2e-5)) << method.description();
            }
      });
    }

    TEST_P(Stencils, RefuseWhatTheyCannotDo)
    {
      BlockAsyncOptions o = options(Schedule::chaotic, 1, 1);
      o.momentum          = 0.5;
      EXPECT_THROW(BlockAsync<double>(five_point_stencil(4, 4, 0.), o), InvalidInput);
      Stencil<double> bad      = five_point_stencil(4, 4, 0.);
      bad.coefficient(0, 0, 0) = 0.;
      EXPECT_THROW(BlockAsync<double>(bad, options(Schedule::chaotic, 1, 1)), InvalidInput);
      bad.diagonal.assign(15, 1.);
      EXPECT_THROW(BlockAsync<double>(bad, options(Schedule::chaotic, 1, 1)), InvalidInput);
    }

    INSTANTIATE_TEST_SUITE_P(BlockAsync, Stencils, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    TEST(Stencil, GeneratorsAgree)
    {
      const CrsMatrix<double> a = five_point_stencil(7, 5, 0.3).to_crs(), b = five_point_matrix(7, 5, 0.3);
      EXPECT_EQ(a.values, b.values);
      EXPECT_EQ(a.columns, b.columns);
      EXPECT_EQ(seven_point_stencil(4, 5, 6, 0.3).to_crs().values, seven_point_matrix(4, 5, 6, 0.3).values);
    }
  } // namespace
} // namespace leopard
