// SPDX-License-Identifier: Apache-2.0
// What an iterative refinement needs of its system in double precision, of stencils and stored matrices.
#include "multigrid_test.h"

#include <solvers/matrix/generators.h>
#include <solvers/refinement/outer_system.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

  INSTANTIATE_TEST_SUITE_P(Backends, OuterSystems, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
} // namespace leopard
