// SPDX-License-Identifier: Apache-2.0
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace leopard
{
  /** Of a matrix that turns a unit vector to the next GMRES finds nothing before it has had all of them. */
  TEST_P(KrylovBackend, FgmresEndsWhereItsResidualStandsStill)
  {
    constexpr int n = 150;
    Dense         A(n, n);
    for (int i = 0; i < n; ++i)
      A((i + 1) % n, i) = 1.;
    Vector b(n, 0.);
    b[3] = 2.;
    for (const int restart : {10, 40})
      {
        const Solved solution = solved(*make_krylov("FGMRES", crs(A), options(1e-10, 100000), restart), b);
        EXPECT_EQ(solution.result.reason, KrylovReason::standing_still) << to_string(solution.result.reason);
        EXPECT_FALSE(solution.result.converged);
        EXPECT_EQ(solution.result.n_iterations, restart == 10 ? 100 : 120);
        EXPECT_NEAR(solution.result.relative_residual, 1., 1e-14);
      }
    expect_converged(crs(A), solved(*make_krylov("FGMRES", crs(A), options(1e-10), n), b), b, 1e-10);
    // what is slow and not as slow as this is not given up
    const CrsMatrix<double> slow = five_point_matrix(40, 40, 0.);
    const Vector            c    = random_vector(slow.n_rows, 7);
    expect_converged(slow, solved(*make_krylov("FGMRES", slow, options(1e-8, 100000), 2), c), c, 1e-8);
  }

  TEST_P(KrylovBackend, AnEarlyLookEndsWhatHasGainedTooLittle)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            b = random_vector(A.n_rows, 5);
    for (const std::string method : {"CG", "FGMRES"})
      {
        KrylovOptions early    = options();
        early.early_iterations = 5;
        early.early_residual   = 1e-6;
        const Solved given_up  = solved(*make_krylov(method, A, early, 20), b);
        EXPECT_EQ(given_up.result.reason, KrylovReason::standing_still) << method;
        EXPECT_EQ(given_up.result.n_iterations, 5) << method;
        EXPECT_NEAR(given_up.result.relative_residual, relative_residual(A, given_up.x, b), 1e-12) << method;
        early.early_residual = 0.9;
        expect_converged(A, solved(*make_krylov(method, A, early, 20), b), b, 1e-10);
        early.early_iterations = 0; // none
        early.early_residual   = 1e-6;
        expect_converged(A, solved(*make_krylov(method, A, early, 20), b), b, 1e-10);
        early.early_iterations = -1;
        EXPECT_THROW(early.validate(), InvalidInput);
        early.early_iterations = 5;
        for (const double wrong : {0., -1., static_cast<double>(NAN), std::numeric_limits<double>::infinity()})
          {
            early.early_residual = wrong;
            EXPECT_THROW(early.validate(), InvalidInput);
          }
      }
  }
} // namespace leopard
