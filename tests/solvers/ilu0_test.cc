// SPDX-License-Identifier: Apache-2.0
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/relaxation/ilu0.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    /** The matrix M = L U that the iteration x <- x + omega M^-1 (b - A x) applies, from its action. */
    Dense preconditioner(Relaxation<double> &relaxation)
    {
      const int n = relaxation.n_rows();
      return inverse(matrix_of(n, [&](const Vector &b) {
        Vector x(n, 0.);
        relaxation.iterate(x.data(), b.data(), 1);
        return x;
      }));
    }

    CrsMatrix<double> nonsymmetric(int n)
    {
      Stencil<double> stencil        = nine_point_stencil(n, n, 0.1);
      stencil.coefficient(1, 0, 0)   = -0.7;
      stencil.coefficient(-1, -1, 0) = 0.;
      return stencil.to_crs();
    }

    TEST(Ilu0, IsExactForTridiagonalMatrices)
    {
      CrsMatrix<double> A = three_point_stencil(50, 0.1).to_crs();
      for (double &v : A.values)
        v *= 1. + 0.01 * (&v - A.values.data() - 70); // no symmetry
      const Vector expected = random_vector(50, 1);
      Vector       b(50), x(50, 0.);
      multiply(A, expected.data(), b.data());
      const auto relaxation = make_ilu0(A, 1.);
      relaxation->iterate(x.data(), b.data(), 1);
      EXPECT_LT(largest_difference(x, expected), 1e-11);
    }

    /** Saad's proposition 10.4: L U agrees with A wherever A has entries. */
    TEST(Ilu0, ProductOfTheFactorsAgreesWithTheMatrixOnItsPattern)
    {
      const CrsMatrix<double> A          = nonsymmetric(5);
      const auto              relaxation = make_ilu0(A, 1.);
      const Dense             M          = preconditioner(*relaxation);
      double                  fill       = 0.;
      const Dense             D          = dense(A);
      for (int i = 0; i < A.n_rows; ++i)
        for (int j = 0; j < A.n_rows; ++j)
          if (D(i, j) != 0.)
            {
              EXPECT_NEAR(M(i, j), D(i, j), 1e-12) << i << ", " << j;
            }
          else
            fill = std::max(fill, std::abs(M(i, j)));
      EXPECT_GT(fill, 1e-3); // an incomplete factorization it is
    }

    TEST(Ilu0, OmegaScalesTheCorrection)
    {
      const CrsMatrix<double> A = nonsymmetric(6);
      const Vector            b = random_vector(A.n_rows, 2), x_0 = random_vector(A.n_rows, 3);
      const auto              full = make_ilu0(A, 1.), half = make_ilu0(A, 0.5);
      Vector                  x_full = x_0, x_half = x_0;
      full->iterate(x_full.data(), b.data(), 1);
      half->iterate(x_half.data(), b.data(), 1);
      for (int i = 0; i < A.n_rows; ++i)
        EXPECT_NEAR(x_half[i] - x_0[i], 0.5 * (x_full[i] - x_0[i]), 1e-13);
    }

    TEST(Ilu0, ConvergesAndTakesNewValues)
    {
      const CrsMatrix<double> A = nonsymmetric(20);
      CrsMatrix<double>       B = A;
      for (int i = 0; i < B.n_rows; ++i)
        for (int p = B.row_offsets[i]; p < B.row_offsets[i + 1]; ++p)
          B.values[p] *= B.columns[p] == i ? 1.5 : 0.9;
      const auto changed = make_ilu0(A, 1.), fresh = make_ilu0(B, 1.);
      changed->update_values(B.values.data());
      const Vector b = random_vector(A.n_rows, 4);
      Vector       x(A.n_rows, 0.), y = x;
      changed->iterate(x.data(), b.data(), 3);
      fresh->iterate(y.data(), b.data(), 3);
      EXPECT_EQ(x, y);
      StoppingCriteria criteria;
      criteria.relative_tolerance = 1e-12;
      EXPECT_EQ(solve(*changed, x.data(), b.data(), criteria).status, SolveStatus::converged);
      EXPECT_LT(relative_residual(B, x, b), 1e-12);
      EXPECT_EQ(changed->name(), "ILU(0)");
      EXPECT_TRUE(changed->is_fixed_linear_map());
    }

    /** Ghosts are in the residual and not in the factors. */
    TEST(Ilu0, GhostsAreReadAndNeverWritten)
    {
      const CrsMatrix<double> A = three_point_stencil(10).to_crs();
      CrsMatrix<double>       G = A;
      G.n_columns               = 11;
      G.columns.push_back(10);
      G.values.push_back(-1.);
      G.row_offsets.back() = G.n_entries();
      const auto   without = make_ilu0(A, 1.), with = make_ilu0(G, 1.);
      const double ghost = 3.;
      Vector       b     = random_vector(10, 5), x(10, 0.), y(11, 0.);
      y[10]              = ghost;
      with->iterate(y.data(), b.data(), 1);
      EXPECT_EQ(y[10], ghost);
      b[9] += ghost;
      without->iterate(x.data(), b.data(), 1);
      y.pop_back();
      EXPECT_LT(largest_difference(x, y), 1e-14);
    }

    TEST(Ilu0, RefusesZeroPivots)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = 2;
      A.row_offsets          = {0, 2, 4};
      A.columns              = {0, 1, 0, 1};
      A.values               = {1., 2., 2., 4.};
      try
        {
          make_ilu0(A, 1.);
          FAIL();
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("pivot of row 1"), std::string::npos) << error.what();
        }
      A.values[3]           = 5.;
      const auto relaxation = make_ilu0(A, 1.);
      EXPECT_THROW(relaxation->update_values(Vector({1., 2., 2., 4.}).data()), InvalidInput);
      EXPECT_THROW(make_ilu0(A, 0.), InvalidInput);
      EXPECT_THROW(make_ilu0(A, 2.), InvalidInput);
    }
  } // namespace
} // namespace leopard
