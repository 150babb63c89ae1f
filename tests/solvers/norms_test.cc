// SPDX-License-Identifier: Apache-2.0
// Right-hand sides so small or so large that the squares of their entries leave the range of double.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/chebyshev.h>
#include <solvers/relaxation/point_relaxation.h>

#include <limits>

namespace leopard
{
  namespace
  {
    constexpr int n = 24;

    TEST(Reached, NeverByWhatIsNoNumberNorWhereTheGoalIsInfinite)
    {
      const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
      EXPECT_TRUE(reached(1., 1.));
      EXPECT_TRUE(reached(0., 0.));
      EXPECT_FALSE(reached(2., 1.));
      EXPECT_FALSE(reached(infinity, 1.));
      for (const double norm : {0., 1., infinity, nan})
        {
          EXPECT_FALSE(reached(norm, infinity));
          EXPECT_FALSE(reached(norm, nan));
        }
      EXPECT_FALSE(reached(nan, 1.));
    }

    TEST(LargerOrNan, KeepsWhatIsNoNumber)
    {
      const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
      for (const double other : {-1., 0., 1., infinity, nan})
        {
          EXPECT_TRUE(std::isnan(larger_or_nan(nan, other)));
          EXPECT_TRUE(std::isnan(larger_or_nan(other, nan)));
        }
      EXPECT_EQ(larger_or_nan(2., 1.), 2.);
      EXPECT_EQ(larger_or_nan(1., 2.), 2.);
    }

    class Magnitudes : public BackendTest
    {
    protected:
      std::vector<std::unique_ptr<Relaxation<double>>> relaxations() const
      {
        const CrsMatrix<double>                          A = five_point_matrix(n, n, 0.5);
        std::vector<std::unique_ptr<Relaxation<double>>> result;
        result.push_back(std::make_unique<BlockAsync<double>>(A, options(Schedule::chaotic, 64, 2)));
        result.push_back(std::make_unique<BlockAsync<double>>(five_point_stencil(n, n, 0.5), options(Schedule::chaotic, 64, 2)));
        auto launches      = options(Schedule::chaotic, 64, 2);
        launches.execution = Execution::launch;
        result.push_back(std::make_unique<BlockAsync<double>>(A, launches));
        result.push_back(std::make_unique<BlockAsync<double>>(five_point_stencil(n, n, 0.5), launches));
        if (GetParam() == Backend::reference)
          return result;
        ChebyshevOptions chebyshev;
        chebyshev.backend = GetParam();
        result.push_back(make_chebyshev(A, chebyshev));
        PointRelaxationOptions sor;
        sor.backend   = GetParam();
        sor.method    = PointMethod::sor;
        sor.colouring = true;
        result.push_back(make_point_relaxation(A, sor));
        return result;
      }

      static StoppingCriteria relative(double tolerance)
      {
        StoppingCriteria criteria;
        criteria.relative_tolerance = tolerance;
        criteria.max_iterations     = 1000;
        return criteria;
      }
    };

    TEST_P(Magnitudes, WithinTheRangeScaleTheSolution)
    {
      const CrsMatrix<double> A = five_point_matrix(n, n, 0.5);
      for (const auto &relaxation : relaxations())
        for (const double scale : {1e-125, 1e-60, 1., 1e60, 1e140})
          {
            const Vector b(n * n, scale);
            Vector       x(n * n, 0.);
            const auto   result = solve_for(*relaxation, x, b, relative(1e-10));
            EXPECT_EQ(result.status, SolveStatus::converged) << relaxation->name() << ", b = " << scale;
            EXPECT_LE(residual_norm(A, x.data(), b.data()) / (n * scale), 1.01e-10) << relaxation->name() << ", b = " << scale;
          }
    }

    TEST_P(Magnitudes, OutsideTheRangeAreRefused)
    {
      for (const auto &relaxation : relaxations())
        for (const double scale : {1e-310, 1e-170, 1e-140, 1e148, 1e160, 1e300})
          for (const bool b_is_zero : {false, true}) // then the first residual is what counts
            {
              const Vector b(n * n, b_is_zero ? 0. : scale);
              Vector       x(n * n, b_is_zero ? scale : 0.);
              try
                {
                  const auto result = solve_for(*relaxation, x, b, relative(1e-8));
                  ADD_FAILURE() << relaxation->name() << ", b or x = " << scale << ": " << to_string(result.status) << " after "
                                << result.n_iterations;
                }
              catch (const InvalidInput &error)
                {
                  EXPECT_NE(std::string(error.what()).find("expected: a norm between 1e-130 and 1e+145"), std::string::npos) << error.what();
                }
            }
    }

    TEST_P(Magnitudes, SmallOnesMeetAnAbsoluteTolerance)
    {
      for (const auto &relaxation : relaxations())
        for (const double scale : {1e-310, 1e-170, 1e-135})
          {
            StoppingCriteria criteria   = relative(1e-8);
            criteria.absolute_tolerance = 1e-20;
            Vector x(n * n, 0.);
            EXPECT_EQ(solve_for(*relaxation, x, Vector(n * n, scale), criteria).status, SolveStatus::converged) << relaxation->name();
          }
    }

    TEST_P(Magnitudes, ZeroIsSolvedByZero)
    {
      for (const auto &relaxation : relaxations())
        {
          Vector     x(n * n, 0.);
          const auto result = solve_for(*relaxation, x, Vector(n * n, 0.), relative(1e-8));
          EXPECT_EQ(result.status, SolveStatus::converged);
          EXPECT_EQ(result.final_residual, 0.);
          EXPECT_EQ(x, Vector(n * n, 0.));
        }
    }

    TEST_P(Magnitudes, InfinityIsRefusedWithoutATolerance)
    {
      StoppingCriteria criteria;
      criteria.max_iterations = 5;
      for (const auto &relaxation : relaxations())
        {
          Vector x(n * n, 0.);
          EXPECT_THROW(solve_for(*relaxation, x, Vector(n * n, 1e160), criteria), InvalidInput) << relaxation->name();
        }
    }

    INSTANTIATE_TEST_SUITE_P(Solve, Magnitudes, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    class MultigridMagnitudes : public MultigridBackend
    {
    };

    TEST_P(MultigridMagnitudes, OutsideTheRangeAreRefused)
    {
      MultigridOptions options;
      options.backend               = GetParam();
      const Stencil<double> stencil = five_point_stencil(31, 31, 0.);
      Multigrid<double>     stored(make_hierarchy(stencil, 3), options), unstored(stencil, 3, options);
      for (Multigrid<double> *multigrid : {&stored, &unstored})
        for (const double scale : {1e-310, 1e-170, 1e160})
          {
            Vector x(31 * 31, 0.);
            EXPECT_THROW(solve(*multigrid, x, Vector(31 * 31, scale), 1e-8), InvalidInput) << scale;
          }
      for (Multigrid<double> *multigrid : {&stored, &unstored})
        {
          Vector x(31 * 31, 0.);
          EXPECT_EQ(solve(*multigrid, x, Vector(31 * 31, 0.), 1e-8).status, SolveStatus::converged);
          EXPECT_EQ(solve(*multigrid, x, Vector(31 * 31, 1e-100), 1e-8).status, SolveStatus::converged);
        }
    }

    INSTANTIATE_TEST_SUITE_P(Solve, MultigridMagnitudes, testing::Values(Backend::host, Backend::cuda), backend_name);

    TEST(SafeNorm, OfPartsIsThatOfAllNumbersAlsoWhereOneIsInfiniteOrNone)
    {
      const auto norm = [](const std::vector<double> &first, const std::vector<double> &second) {
        SafeNorm parts[2];
        for (const double v : first)
          parts[0].add(v);
        for (const double v : second)
          parts[1].add(v);
        parts[0].add(parts[1]);
        return parts[0].value();
      };
      constexpr double infinity = std::numeric_limits<double>::infinity();
      EXPECT_DOUBLE_EQ(norm({3e200}, {4e200}), 5e200);
      EXPECT_DOUBLE_EQ(norm({4e-200}, {0., 3e-200}), 5e-200);
      EXPECT_EQ(norm({}, {0.}), 0.);
      EXPECT_EQ(norm({1., infinity}, {2.}), infinity);
      EXPECT_EQ(norm({1.}, {infinity}), infinity);
      EXPECT_FALSE(reached(norm({1.}, {std::nan("")}), 1e300));
    }

    TEST(ResidualNorm, OfValuesWhoseSquaresLeaveTheRange)
    {
      const CrsMatrix<double> A = five_point_matrix(n, n, 0.5);
      const Vector            x(n * n, 0.);
      for (const double scale : {1e-300, 1e-170, 1., 1e160, 1e300})
        EXPECT_NEAR(residual_norm(A, x.data(), Vector(n * n, scale).data()) / scale, n, 1e-10) << scale;
      EXPECT_EQ(residual_norm(A, x.data(), x.data()), 0.);
      Vector b(n * n, 1.);
      b[7] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(std::isnan(residual_norm(A, x.data(), b.data())));
    }

    TEST(StoppingCriteria, RefuseAnAbsoluteToleranceWhoseSquareIsZero)
    {
      StoppingCriteria criteria;
      criteria.absolute_tolerance = 1e-200;
      EXPECT_THROW(criteria.validate(), InvalidInput);
      criteria.absolute_tolerance = 1e-140;
      EXPECT_NO_THROW(criteria.validate());
    }
  } // namespace
} // namespace leopard
