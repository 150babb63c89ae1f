// SPDX-License-Identifier: Apache-2.0
#include "real_matrices.h"

#include <solvers/block_async/block_async.h>
#include <solvers/matrix/matrix_market.h>
#include <solvers/relaxation/relaxation.h>
#include <solvers/relaxation/stagnation.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <sstream>

namespace leopard
{
  namespace
  {
    enum class Found
    {
      goal,
      stagnation,
      nothing
    };

    struct Scatter
    {
      bool   uniform;     ///< or normal, of the logarithm
      double size;        ///< half the width, or the standard deviation
      double correlation; ///< of neighbours
    };

    const std::vector<Scatter> scatters = {
      {true, 0., 0.}, {true, 0.01, 0.}, {true, 0.1, 0.}, {true, 0.2, 0.}, {false, 0.1, 0.}, {false, 0.2, 0.}, {false, 0.1, 0.5}};

    std::string text(const Scatter &s)
    {
      std::ostringstream out;
      out << (s.uniform ? "uniform " : "normal ") << s.size << " correlation " << s.correlation;
      return out.str();
    }

    /**
     * What is found, and after how many tests, where the i-th residual, at iteration 10 i, is trend(i) with scatter.
     */
    std::pair<Found, int> watch(const std::function<double(int)> &trend, const Scatter &scatter, unsigned int seed, int most, double goal)
    {
      const StoppingCriteria                 usual;
      StagnationTest                         test(usual.stagnation_tests, usual.slowest_factor);
      std::mt19937_64                        random(seed);
      std::normal_distribution<double>       normal;
      std::uniform_real_distribution<double> uniform(-1., 1.);
      std::vector<int>                       iterations;
      std::vector<double>                    residuals;
      double                                 disturbance = normal(random);
      for (int i = 0; i < most; ++i)
        {
          disturbance = scatter.correlation * disturbance + std::sqrt(1. - scatter.correlation * scatter.correlation) * normal(random);
          iterations.push_back(usual.test_every * i);
          residuals.push_back(trend(i) * (scatter.uniform ? 1. + scatter.size * uniform(random) : std::exp(scatter.size * disturbance)));
          if (residuals.back() <= goal)
            return {Found::goal, i};
          if (test.stagnates(iterations, residuals))
            return {Found::stagnation, i};
        }
      return {Found::nothing, most};
    }

    TEST(Stagnation, IsNotWhatConvergesSlowlyAndScatters)
    {
      for (const Scatter &scatter : scatters)
        for (const double factor : {0.9, 0.97, 0.99, 0.995, 0.998, 0.999, 0.9995})
          for (unsigned int seed = 1; seed <= 20; ++seed)
            {
              const auto found = watch([&](int i) { return std::pow(factor, 10. * i); }, scatter, seed, 10000, 1e-8);
              EXPECT_EQ(found.first, Found::goal) << text(scatter) << ", factor " << factor << ", seed " << seed << ", at test " << found.second;
            }
    }

    /** From the beginning, and after a fall as at rounding level. */
    TEST(Stagnation, IsWhatStaysWhereItIs)
    {
      for (const Scatter &scatter : scatters)
        for (const int n_falling : {0, 20, 200})
          for (unsigned int seed = 1; seed <= 20; ++seed)
            {
              const auto found =
                watch([&](int i) { return i < n_falling ? std::pow(1e-6, static_cast<double>(i) / n_falling) : 1e-6; }, scatter, seed, 5000, 0.);
              EXPECT_EQ(found.first, Found::stagnation) << text(scatter) << ", falling " << n_falling << ", seed " << seed;
              EXPECT_LE(found.second - n_falling, scatter.size == 0. ? 20 : 100 + static_cast<int>(10000. * scatter.size))
                << text(scatter) << ", falling " << n_falling;
            }
    }

    TEST(Stagnation, IsWhatGrowsSlowly)
    {
      for (const Scatter &scatter : scatters)
        for (const double factor : {1.00005, 1.0005, 1.005})
          for (unsigned int seed = 1; seed <= 20; ++seed)
            {
              const auto found = watch([&](int i) { return std::pow(factor, 10. * i); }, scatter, seed, 5000, 0.);
              EXPECT_EQ(found.first, Found::stagnation) << text(scatter) << ", factor " << factor << ", seed " << seed;
              EXPECT_LE(found.second, factor > 1.004 ? 170 : 100 + static_cast<int>(5000. * scatter.size)) << text(scatter) << ", factor " << factor;
            }
    }

    /** A first residual below those that follow, and growth before the fall. */
    TEST(Stagnation, IsNotWhatBeginsBadly)
    {
      const Scatter none = {true, 0., 0.};
      EXPECT_EQ(watch([](int i) { return i == 0 ? 0.3 : std::pow(0.9995, 10. * i); }, none, 1, 10000, 1e-3).first, Found::goal);
      EXPECT_EQ(watch([](int i) { return i < 25 ? std::pow(1.1, i) : std::pow(1.1, 25.) * std::pow(0.5, i - 25.); }, none, 1, 10000, 1e-3).first,
                Found::goal);
    }

    /** Its factor is 0.998, and chaotic schedules of small blocks scatter. */
    TEST(Stagnation, IsNotARealMatrixThatTakesLong)
    {
      const std::string file = real_matrix_file("fv3");
      if (file.empty())
        GTEST_SKIP() << "no matrix fv3";
      const CrsMatrix<double>   A = read_matrix_market(file);
      const std::vector<double> ones(A.n_rows, 1.);
      std::vector<double>       b(A.n_rows);
      multiply(A, ones.data(), b.data());
      for (const int n_threads : {2, 4, 16})
        {
          BlockAsyncOptions options;
          options.backend    = Backend::host;
          options.block_size = 64;
          options.n_threads  = n_threads;
          BlockAsync<double> relaxation(A, options);
          StoppingCriteria   criteria;
          criteria.relative_tolerance = 3e-5;
          std::vector<double> x(A.n_rows, 0.);
          EXPECT_EQ(solve(relaxation, x.data(), b.data(), criteria).status, SolveStatus::converged) << n_threads << " threads";
        }
    }
  } // namespace
} // namespace leopard
