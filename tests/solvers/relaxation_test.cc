// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/device_matrix.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/point_relaxation.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace leopard
{
  namespace
  {
    using Vector = std::vector<double>;

    std::unique_ptr<Relaxation<double>> make(const CrsMatrix<double> &A, PointMethod method, double omega = 1.)
    {
      PointRelaxationOptions options;
      options.method = method;
      options.omega  = omega;
      return make_point_relaxation(A, options);
    }

    /** Row i of A as a dense row. */
    double entry(const CrsMatrix<double> &A, int i, int j)
    {
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == j)
          return A.values[p];
      return 0.;
    }

    TEST(PointRelaxation, SorFollowsItsDenseFormula)
    {
      // (D/omega + L) x_new = b - (U + (1 - 1/omega) D) x, solved forwards
      const int               n     = 30;
      const double            omega = 1.3;
      const CrsMatrix<double> A     = random_dominant_matrix(n, 5, 0.7, 1);
      Vector                  x(n), b(n), expected(n);
      for (int i = 0; i < n; ++i)
        {
          x[i] = std::sin(i);
          b[i] = std::cos(i);
        }
      for (int i = 0; i < n; ++i)
        {
          double right = b[i] - (1. - 1. / omega) * entry(A, i, i) * x[i];
          for (int j = 0; j < i; ++j)
            right -= entry(A, i, j) * expected[j];
          for (int j = i + 1; j < n; ++j)
            right -= entry(A, i, j) * x[j];
          expected[i] = right / (entry(A, i, i) / omega);
        }
      make(A, PointMethod::sor, omega)->iterate(x.data(), b.data(), 1);
      for (int i = 0; i < n; ++i)
        EXPECT_NEAR(x[i], expected[i], 1e-13);
    }

    TEST(PointRelaxation, SsorIsSymmetric)
    {
      // from x = 0 SSOR is b -> C b with C symmetric for symmetric A
      const CrsMatrix<double> A    = five_point_matrix(6, 6, 0.1);
      const auto              ssor = make(A, PointMethod::ssor, 1.2);
      for (const auto &[i, j] : {std::pair(3, 17), std::pair(0, 7), std::pair(20, 35)})
        {
          Vector x(36, 0.), y(36, 0.), e_i(36, 0.), e_j(36, 0.);
          e_i[i] = e_j[j] = 1.;
          ssor->iterate(x.data(), e_i.data(), 1);
          ssor->iterate(y.data(), e_j.data(), 1);
          EXPECT_NEAR(x[j], y[i], 1e-14);
          EXPECT_NE(x[i], 0.);
        }
    }

    TEST(PointRelaxation, GaussSeidelNeedsHalfTheIterationsOfJacobi)
    {
      // rho(GS) = rho(J)^2 for consistently ordered matrices (Young)
      const CrsMatrix<double> A = five_point_matrix(30, 30, 0.);
      const Vector            b(900, 1.);
      StoppingCriteria        criteria;
      criteria.relative_tolerance = 1e-8;
      criteria.test_every         = 1;
      const auto count            = [&](PointMethod method) {
        Vector     x(900, 0.);
        const auto result = solve(*make(A, method), x.data(), b.data(), criteria);
        EXPECT_EQ(result.status, SolveStatus::converged);
        return result.n_iterations;
      };
      EXPECT_NEAR(static_cast<double>(count(PointMethod::jacobi)) / count(PointMethod::gauss_seidel), 2., 0.1);
    }

    TEST(PointRelaxation, RefusesBadOptions)
    {
      const CrsMatrix<double> A = five_point_matrix(3, 3, 0.);
      for (const double omega : {2.5, 2., 0., -1., static_cast<double>(NAN), static_cast<double>(INFINITY)})
        EXPECT_THROW(make(A, PointMethod::sor, omega), InvalidInput) << omega;
      EXPECT_THROW(make(A, PointMethod::gauss_seidel, 1.5), InvalidInput);
      PointRelaxationOptions options;
      options.colouring = true;
      EXPECT_THROW(make_point_relaxation(A, options), InvalidInput); // Jacobi has no order
      options.method = PointMethod::sor;
      EXPECT_NO_THROW(make_point_relaxation(A, options));
    }

    TEST(Solve, DoesWhatItIsAskedWithoutTolerance)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 1.);
      const Vector            b(400, 1.);
      Vector                  x(400, 0.);
      StoppingCriteria        criteria;
      criteria.max_iterations = 7;
      const auto result       = solve(*make(A, PointMethod::jacobi), x.data(), b.data(), criteria);
      EXPECT_EQ(result.n_iterations, 7);
      EXPECT_EQ(result.status, SolveStatus::iteration_limit);
      EXPECT_NEAR(result.final_residual, residual_norm(A, x.data(), b.data()), 1e-14);
    }

    TEST(Solve, EndsWhenItIsAskedToStop)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.);
      const Vector            b(400, 1.);
      StoppingCriteria        criteria;
      criteria.max_iterations = 1000;
      criteria.test_every     = 5;
      for (const double tolerance : {0., 1e-14})
        {
          criteria.relative_tolerance = tolerance;
          Vector x(400, 0.), same(400, 0.);
          int    n_asked         = 0;
          criteria.asked_to_stop = [&] { return ++n_asked > 4; };
          const auto result      = solve(*make(A, PointMethod::jacobi), x.data(), b.data(), criteria);
          EXPECT_EQ(result.status, SolveStatus::stopped);
          EXPECT_GE(result.n_iterations, 10);
          EXPECT_LE(result.n_iterations, 25);
          EXPECT_EQ(result.n_iterations % 5, 0);
          // until then it did what it does otherwise
          StoppingCriteria fewer;
          fewer.max_iterations = result.n_iterations;
          solve(*make(A, PointMethod::jacobi), same.data(), b.data(), fewer);
          EXPECT_EQ(x, same);
          EXPECT_NEAR(result.final_residual, residual_norm(A, x.data(), b.data()), 1e-12);
          criteria.asked_to_stop = [] { return false; };
          EXPECT_NE(solve(*make(A, PointMethod::jacobi), x.data(), b.data(), criteria).status, SolveStatus::stopped);
        }
    }

    TEST(Solve, RecognizesDivergence)
    {
      CrsMatrix<double> A = five_point_matrix(20, 20, 0.);
      for (double &value : A.values)
        if (value > 0.)
          value = 2.; // half of what dominance needs
      const Vector     b(400, 1.);
      Vector           x(400, 0.);
      StoppingCriteria criteria;
      criteria.relative_tolerance = 1e-8;
      EXPECT_EQ(solve(*make(A, PointMethod::jacobi), x.data(), b.data(), criteria).status, SolveStatus::diverged);
      EXPECT_GT(estimate_spectral_radius_abs(A), 1.9);
    }

    TEST(Solve, ZeroRightHandSideConvergesAgainstTheFirstResidual)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 1.);
      const Vector            b(400, 0.);
      Vector                  x(400, 1.);
      StoppingCriteria        criteria;
      criteria.relative_tolerance = 1e-6;
      const auto result           = solve(*make(A, PointMethod::gauss_seidel), x.data(), b.data(), criteria);
      EXPECT_EQ(result.status, SolveStatus::converged);
      EXPECT_LE(result.final_residual, 1e-6 * result.initial_residual);
      EXPECT_EQ(result.history_iterations.size(), result.history_residuals.size());
      ASSERT_EQ(result.history_seconds.size(), result.history_residuals.size());
      EXPECT_TRUE(std::is_sorted(result.history_seconds.begin(), result.history_seconds.end()));
      EXPECT_GT(result.history_seconds.back(), 0.);
      EXPECT_LE(result.history_seconds.back(), result.seconds);
    }

    TEST(Solve, WithoutTolerancesAHistoryIsKeptIfAskedForAndEndsNothing)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 1.);
      const Vector            b(400, 1.);
      const auto              history = [&](bool keep_history, double max_seconds) {
        Vector           x(400, 0.);
        StoppingCriteria criteria;
        criteria.max_iterations  = 1000; // the residual falls no more by then
        criteria.test_every      = 100;
        criteria.keep_history    = keep_history;
        criteria.max_seconds     = max_seconds;
        const SolveResult result = solve(*make(A, PointMethod::gauss_seidel), x.data(), b.data(), criteria);
        EXPECT_EQ(result.status, SolveStatus::iteration_limit);
        EXPECT_EQ(result.n_iterations, 1000);
        return result.history_iterations;
      };
      EXPECT_EQ(history(false, 0.), (std::vector<int>{0, 1000}));
      EXPECT_EQ(history(true, 0.), (std::vector<int>{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}));
      EXPECT_EQ(history(false, 1e6), history(true, 0.));
    }

    /** Has the residuals that it is given, one after the other, and the last one for ever. */
    class Scripted : public Relaxation<double>
    {
    public:
      explicit Scripted(std::vector<double> residuals_)
        : residuals(std::move(residuals_))
      {
      }
      std::string name() const override { return "scripted"; }
      int         n_rows() const override { return 1; }
      int         n_columns() const override { return 1; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return true; }
      void        iterate(double        */*x*/, const double        */*b*/, int /*n_iterations*/) override {}
      double      norm_squared(const double      */*b*/) override { return 1.; }
      void        update_values(const double        */*values*/) override {}
      double      residual_norm_squared(const double      */*x*/, const double      */*b*/) override
      {
        const double r = residuals[std::min(next++, residuals.size() - 1)];
        return r * r;
      }

    private:
      const std::vector<double> residuals;
      std::size_t               next = 0;
    };

    TEST(Solve, RecognizesStagnationWithinAFewTests)
    {
      StoppingCriteria criteria;
      criteria.relative_tolerance = 1e-8;
      const auto run              = [&](const std::vector<double> &residuals) {
        Scripted relaxation(residuals);
        double   x = 0., b = 1.;
        return solve(relaxation, &x, &b, criteria);
      };
      // falls in 3 tests and then stays, exactly or with the noise of chaotic schedules: 10 tests later this is known,
      // or some more
      SolveResult result = run({1., 0.5, 0.25, 0.2});
      EXPECT_EQ(result.status, SolveStatus::stagnated);
      EXPECT_EQ(result.n_iterations, 130);
      result = run({1., 0.5, 0.25, 0.2, 0.21, 0.25, 0.39, 0.3, 0.21, 0.21});
      EXPECT_EQ(result.status, SolveStatus::stagnated);
      EXPECT_LE(result.n_iterations, 300);
      // what grows before it falls, as SOR's residual may, has more time, though not for ever
      std::vector<double> hump = {1., 2., 3., 4., 5., 5., 5., 5., 4., 3., 2., 1.5, 1.2, 0.5};
      while (hump.back() > 1e-8)
        hump.push_back(hump.back() / 3.);
      EXPECT_EQ(run(hump).status, SolveStatus::converged);
      result = run({1., 3.});
      EXPECT_EQ(result.status, SolveStatus::stagnated);
      EXPECT_LE(result.n_iterations, 410);
      criteria.stagnation_tests = 0;
      criteria.max_iterations   = 3000;
      EXPECT_EQ(run({1.}).status, SolveStatus::iteration_limit);
    }

    TEST(Solve, EndsAtTheFirstTestThatShowsIt)
    {
      const double tolerance = std::ldexp(1., -20); // of ||b|| = 1, without rounding
      const auto   run       = [&](const std::vector<double> &residuals, double divergence_factor = 1e6) {
        StoppingCriteria criteria;
        criteria.relative_tolerance = tolerance;
        criteria.divergence_factor  = divergence_factor;
        Scripted relaxation(residuals);
        double   x = 0., b = 1.;
        return solve(relaxation, &x, &b, criteria);
      };
      const auto expect = [](const SolveResult &result, SolveStatus status, int n_iterations, const char *what) {
        EXPECT_EQ(result.status, status) << what;
        EXPECT_EQ(result.n_iterations, n_iterations) << what;
      };
      const double not_met = 1.001 * tolerance;
      expect(run({1., tolerance}), SolveStatus::converged, 10, "exactly the goal");
      expect(run({1., not_met, tolerance}), SolveStatus::converged, 20, "a little above the goal");
      expect(run({8., 4. * tolerance, tolerance}), SolveStatus::converged, 20, "the goal is relative to b, not to the first residual");
      expect(run({tolerance, 1.}), SolveStatus::converged, 0, "no iteration is needed");
      expect(run({1., 2e6, 0.}), SolveStatus::diverged, 10, "beyond the limit");
      expect(run({1., 0.9e6, 0.}), SolveStatus::converged, 20, "below the limit");
      expect(run({1., 3., 0.}, 2.), SolveStatus::diverged, 10, "another limit");
      expect(run({1., NAN, 0.}), SolveStatus::diverged, 10, "not a number");
      expect(run({1., INFINITY, 0.}), SolveStatus::diverged, 10, "infinite");
      expect(run({NAN, 0.}), SolveStatus::diverged, 0, "not a number from the beginning");
      EXPECT_THROW(run({INFINITY, 0.}), InvalidInput);
      expect(run({1., 2., 4., 8., 16., 32., 0.}), SolveStatus::diverged, 50, "grows without a pause");
      expect(run({1., 2., 4., 8., 7., 16., 32., 0.}), SolveStatus::converged, 70, "grows with a pause");
      Scripted         relaxation({1., NAN, 0.});
      double           x = 0., b = 1.;
      StoppingCriteria no_tolerance;
      no_tolerance.max_iterations = 7;
      expect(solve(relaxation, &x, &b, no_tolerance), SolveStatus::diverged, 7, "not a number without a tolerance");
    }

    TEST(Solve, RefusesBadCriteria)
    {
      const CrsMatrix<double> A = five_point_matrix(3, 3, 0.);
      Vector                  x(9), b(9);
      EXPECT_NO_THROW(solve(*make(A, PointMethod::jacobi), x.data(), b.data(), StoppingCriteria()));
      const auto refused = [&](const std::string &name, const auto &change) {
        StoppingCriteria criteria;
        change(criteria);
        try
          {
            solve(*make(A, PointMethod::jacobi), x.data(), b.data(), criteria);
            ADD_FAILURE() << "accepted: " << name;
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
          }
      };
      refused("test_every", [](StoppingCriteria &c) { c.test_every = 0; });
      refused("max_iterations", [](StoppingCriteria &c) { c.max_iterations = -1; });
      refused("stagnation_tests", [](StoppingCriteria &c) { c.stagnation_tests = -1; });
      for (const double bad : {0., 1., static_cast<double>(NAN)})
        refused("slowest_factor", [=](StoppingCriteria &c) { c.slowest_factor = bad; });
      refused("divergence_factor", [](StoppingCriteria &c) { c.divergence_factor = 1.; });
      for (const double bad : {-1., 1e-16, static_cast<double>(INFINITY), static_cast<double>(NAN)})
        refused("relative_tolerance", [=](StoppingCriteria &c) { c.relative_tolerance = bad; });
      for (const double bad : {-1., 1e-160, static_cast<double>(INFINITY), static_cast<double>(NAN)})
        refused("absolute_tolerance", [=](StoppingCriteria &c) { c.absolute_tolerance = bad; });
      for (const double bad : {-1., static_cast<double>(NAN)})
        {
          refused("max_seconds", [=](StoppingCriteria &c) { c.max_seconds = bad; });
          for (const double bad : {0., 1., static_cast<double>(NAN)})
            refused("slowest_factor", [=](StoppingCriteria &c) { c.slowest_factor = bad; });
          refused("divergence_factor", [=](StoppingCriteria &c) { c.divergence_factor = bad; });
        }
    }

    TEST(Analysis, SpectralRadiiOfKnownMatrices)
    {
      // five-point: rho(B) = cos(pi/(n+1)); B is not negative, so rho(|B|) is the same
      const double expected = std::cos(M_PI / 41.);
      EXPECT_NEAR(estimate_spectral_radius(five_point_matrix(40, 40, 0.)), expected, 1e-4);
      EXPECT_NEAR(estimate_spectral_radius_abs(five_point_matrix(40, 40, 0.)), expected, 1e-4);
      // published for Trefethen_2000 (SuiteSparse; thesis, appendix B)
      const CrsMatrix<double> trefethen = trefethen_matrix(2000);
      EXPECT_EQ(trefethen.n_entries(), 41906);
      EXPECT_NEAR(estimate_spectral_radius(trefethen), 0.8601, 0.0086);
    }

    TEST(CrsMatrix, ValidateNamesWhatIsWrong)
    {
      const auto message = [](const CrsMatrix<double> &A) -> std::string {
        try
          {
            A.validate();
          }
        catch (const InvalidInput &error)
          {
            return error.what();
          }
        return "accepted";
      };
      const CrsMatrix<double> good = five_point_matrix(3, 3, 0.);
      EXPECT_EQ(message(good), "accepted");
      CrsMatrix<double> bad = good;
      bad.columns[1]        = 9;
      EXPECT_NE(message(bad).find("column 9 is out of range"), std::string::npos);
      bad            = good;
      bad.columns[1] = 0;
      EXPECT_NE(message(bad).find("row 0, column 0 is stored twice"), std::string::npos);
      bad           = good;
      bad.values[2] = INFINITY;
      EXPECT_NE(message(bad).find("is inf"), std::string::npos);
      bad                = good;
      bad.row_offsets[1] = 0;
      EXPECT_NE(message(bad).find("row 0 is empty"), std::string::npos);
      bad            = good;
      bad.columns[0] = 4;
      EXPECT_NE(message(bad).find("the diagonal entry of row 0 is missing"), std::string::npos);
      bad           = good;
      bad.n_columns = 8;
      EXPECT_NE(message(bad).find("9 rows and 8 columns"), std::string::npos);
      bad = good;
      bad.values.pop_back();
      EXPECT_NE(message(bad).find("column indices"), std::string::npos);
    }

    TEST(Device, VectorAndMatrixAgreeWithTheHost)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      const CrsMatrix<double> A = random_dominant_matrix(5000, 9, 0.9, 3);
      Vector                  x(5000), y(5000), ax(5000), back(5000);
      DeviceVector<double>    dx(5000), dy(5000);
      for (int i = 0; i < 5000; ++i)
        {
          x[i] = std::sin(i);
          y[i] = std::cos(3 * i);
        }
      dx.copy_from_host(x.data());
      dy.copy_from_host(y.data());
      double dot = 0., norm = 0.;
      for (int i = 0; i < 5000; ++i)
        {
          dot += x[i] * y[i];
          norm += x[i] * x[i];
        }
      EXPECT_NEAR(dx * dy, dot, 1e-10);
      EXPECT_NEAR(dx.l2_norm(), std::sqrt(norm), 1e-10);
      EXPECT_FALSE(dx.all_zero());

      multiply(A, x.data(), ax.data());
      const device::DeviceMatrix<double> dA(A);
      DeviceVector<double>               result(5000);
      dA.multiply(result.data(), dx.data());
      result.sadd(2., 3., dy);
      result.add(0.5, dx);
      result.copy_to_host(back.data());
      for (int i = 0; i < 5000; ++i)
        ASSERT_NEAR(back[i], 2. * ax[i] + 3. * y[i] + 0.5 * x[i], 1e-12);
      DeviceVector<double> copy(result);
      copy.equ(-1., dx);
      copy += dx;
      EXPECT_TRUE(copy.all_zero());
      EXPECT_THROW(device::select(1000), DeviceError);
    }

    TEST(Device, NormsDoNotOverflowWhereVectorsDoNot)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      const RankSums one_rank;
      for (const RankSums *ranks : {static_cast<const RankSums *>(nullptr), &one_rank})
        {
          DeviceVector<double> x(400, ranks);
          EXPECT_EQ(x.l2_norm(), 0.);
          for (const double value : {1e-300, 1e-170, 1., 1e160, 1e300})
            {
              x = -value;
              EXPECT_NEAR(x.l2_norm() / value, 20., 1e-12) << value;
            }
          for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
            {
              x = bad;
              EXPECT_FALSE(std::isfinite(x.l2_norm())) << bad;
            }
        }
    }

    TEST(Solve, ConvergenceFactorIsThatOfTheSecondHalf)
    {
      SolveResult result;
      result.history_iterations = {0, 10, 20, 30, 40};
      result.history_residuals  = {1., 1e-8, 1e-9, 1e-10, 1e-11};
      EXPECT_NEAR(result.convergence_factor(), std::pow(10., -0.1), 1e-12);
      result.history_iterations = {};
      result.history_residuals  = {};
      EXPECT_EQ(result.convergence_factor(), 0.);
    }
  } // namespace
} // namespace leopard
