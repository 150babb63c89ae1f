// SPDX-License-Identifier: Apache-2.0
// What an iterative refinement needs of its system in double precision, of stencils and stored matrices.
#include "multigrid_test.h"

#include <solvers/device/device_array.h>
#include <solvers/matrix/generators.h>
#include <solvers/refinement/outer_system.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace leopard
{
  class OuterSystems : public BackendTest
  {
  };

  TEST_P(OuterSystems, ResidualsOfCorrectedSolutions)
  {
    Stencil<double> variable = five_point_stencil(131, 77, 0.5);
    variable.diagonal        = random_vector(variable.n_rows(), 5);
    for (double &d : variable.diagonal)
      d += 5.;
    Stencil<double> skewed = twenty_seven_point_stencil(70, 20, 19, 0.5);
    for (int c = 0; c < 27; ++c)
      skewed.coefficients[c] *= 1. + 0.01 * c;
    for (const Stencil<double> &stencil : {five_point_stencil(70, 66, 0.1),
                                           variable,
                                           nine_point_stencil(100, 50, 0.),
                                           seven_point_stencil(70, 21, 20, 0.),
                                           skewed,
                                           five_point_stencil(40, 1, 0.)})
      {
        const double            weight = 0.25, unit = 0.5, factor = 8., of_correction = 1024.;
        const CrsMatrix<double> A      = stencil.to_crs();
        const int               n      = A.n_rows;
        const auto              system = make_outer_system<float>(stencil, weight, GetParam(), 2);
        const auto              stored = make_outer_system<float>(A, {}, GetParam(), 2);
        Vector                  x = random_vector(n, 1), b = random_vector(n, 2), c = random_vector(n, 3), corrected(n), expected(n);
        for (OuterSystem<float> *outer : {system.get(), stored.get()})
          for (const bool overflows : {false, true})
            {
              if (overflows)
                c[n / 2] = std::numeric_limits<double>::infinity(); // left out
              for (int i = 0; i < n; ++i)
                corrected[i] = x[i] + (std::isfinite(c[i]) ? (outer == system.get() ? weight : 1.) * static_cast<float>(c[i]) / of_correction : 0.);
              multiply(A, corrected.data(), expected.data());
              for (int i = 0; i < n; ++i)
                expected[i] = b[i] - expected[i];
              const double norm_of_residual = norm(expected);
              const auto   space            = outer->memory_space();
              Vector       to(n, NAN), low(n, NAN), unused(n);
              call_with_numbers<double>(space, to, x, [&](double *there_to, const double *there_x) {
                call_with_numbers<double>(space, unused, b, [&](double *, const double *there_b) {
                  call_with_numbers<float>(space, low, c, [&](float *there_low, const float *there_c) {
                    const auto norms = outer->corrected_residual(there_low, there_to, there_x, {there_c, of_correction}, there_b, unit, factor);
                    EXPECT_NEAR(norms.vector, unit * norm_of_residual, 1e-12 * norm_of_residual);
                    EXPECT_NEAR(norms.low, factor * norm_of_residual, 1e-6 * factor * norm_of_residual);
                    const auto again = outer->residual(there_low, there_to, there_b, unit, factor);
                    EXPECT_NEAR(again.vector, norms.vector, 1e-12 * norms.vector);
                  });
                });
              });
              EXPECT_LT(largest_difference(to, corrected), 1e-15);
              for (int i = 0; i < n; ++i)
                ASSERT_NEAR(low[i], factor * expected[i], 1e-6 * factor) << i;
              c[n / 2] = 0.5;
            }
      }
  }

  TEST_P(OuterSystems, VectorsOfNumbersInAnotherOrder)
  {
    CrsMatrix<double> of_many_values = five_point_stencil(45, 40, 0.3).to_crs();
    const Vector      values         = random_vector(of_many_values.n_entries(), 4);
    for (std::size_t p = 0; p < values.size(); ++p)
      of_many_values.values[p] *= 1. + 0.1 * values[p];
    // the first one has entries enough to be stored in few bytes
    for (const CrsMatrix<double> &A : {five_point_stencil(301, 290, 0.1).to_crs(), five_point_stencil(40, 30, 0.).to_crs(), of_many_values})
      for (const bool is_scaled : {false, true})
        {
          const int    n    = A.n_rows;
          const double unit = 0.5, factor = 8., of_correction = 1024.;
          Vector       scale;
          for (int i = 0; is_scaled && i < n; ++i)
            scale.push_back(std::ldexp(1., i % 5 - 2));
          const auto       system = make_outer_system<float>(A, scale, GetParam(), 2);
          std::vector<int> order(n);
          std::iota(order.begin(), order.end(), 0);
          std::shuffle(order.begin(), order.end(), std::mt19937(7));
          if (GetParam() != Backend::cuda)
            {
              EXPECT_FALSE(system->take_order(order.data()));
              continue;
            }
          const device::Array<int> order_there(order);
          ASSERT_TRUE(system->take_order(order_there.data()));
          const Vector x = random_vector(n, 1), b = random_vector(n, 2), c = random_vector(n, 3);
          Vector       corrected(n), residual(n), to(n);
          for (int i = 0; i < n; ++i)
            corrected[order[i]] = x[order[i]] + static_cast<float>(c[i]) * (is_scaled ? scale[order[i]] : 1.) / of_correction;
          multiply(A, corrected.data(), residual.data());
          for (int i = 0; i < n; ++i)
            residual[i] = b[i] - residual[i];
          const device::Array<double> x_there(x), b_there(b), to_there(static_cast<std::size_t>(n));
          const device::Array<float>  c_there(rounded_to<float>(c)), low_there(static_cast<std::size_t>(n));
          const auto                  norms = system->corrected_residual(
            low_there.data(), to_there.data(), x_there.data(), {c_there.data(), of_correction}, b_there.data(), unit, factor);
          EXPECT_NEAR(norms.vector, unit * norm(residual), 1e-12 * norm(residual));
          std::vector<float> low(n);
          device::copy_to_host(low.data(), low_there.data(), low.size() * sizeof(float));
          device::copy_to_host(to.data(), to_there.data(), to.size() * sizeof(double));
          EXPECT_LT(largest_difference(to, corrected), 1e-15);
          for (int i = 0; i < n; ++i)
            {
              const double expected = factor * (is_scaled ? scale[order[i]] : 1.) * residual[order[i]];
              ASSERT_NEAR(low[i], expected, 1e-6 * factor * (is_scaled ? scale[order[i]] : 1.)) << i;
            }
        }
  }

  INSTANTIATE_TEST_SUITE_P(Backends, OuterSystems, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
} // namespace leopard
