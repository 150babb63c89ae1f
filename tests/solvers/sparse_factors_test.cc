// SPDX-License-Identifier: Apache-2.0
#include "../../solvers/base/norms.h"
#include "../../solvers/matrix/generators.h"
#include "../../solvers/multigrid/coarse_solvers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace
{
  using namespace leopard;

  CrsMatrix<double> tridiagonal(int n, double lower, double diagonal, double upper)
  {
    CrsMatrix<double> A;
    A.n_rows = A.n_columns = n;
    for (int i = 0; i < n; ++i)
      {
        for (int k = -1; k <= 1; ++k)
          if (i + k >= 0 && i + k < n)
            {
              A.columns.push_back(i + k);
              A.values.push_back(k < 0 ? lower : k > 0 ? upper : diagonal);
            }
        A.row_offsets.push_back(static_cast<int>(A.columns.size()));
      }
    return A;
  }

  /** The name of the factors, and the error of a solution that is known. */
  std::pair<std::string, double> solved(const CrsMatrix<double> &A)
  {
    MultigridOptions options;
    options.coarse_solver       = "direct";
    const auto          factors = make_sparse_factors(A);
    std::vector<double> x(A.n_rows), b(A.n_rows), y(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      x[i] = std::sin(i);
    multiply(A, x.data(), b.data());
    factors->solve(y.data(), b.data());
    double error = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      error = larger_or_nan(error, std::abs(y[i] - x[i]));
    return {factors->name(), error};
  }

  TEST(SparseFactors, OfNoRows)
  {
    CrsMatrix<double> none;
    none.row_offsets = {0};
    EXPECT_EQ(solved(none).second, 0.);
    for (const char *solver : {"direct", "dense"})
      {
        MultigridOptions options;
        options.backend       = Backend::host;
        options.coarse_solver = solver;
        const auto coarse     = make_coarse_solver<double>(none, false, options);
        coarse->update(none, false);
        coarse->solve(nullptr, nullptr);
      }
  }

  TEST(SparseFactors, WorkIsThatOfTheFactors)
  {
    const int n = 100; // each column but the last has one entry below the diagonal, and none comes
    EXPECT_NEAR(cholesky_operations(tridiagonal(n, -1., 2., -1.)), (4. * (n - 1) + 1.) / (3. * n - 2.), 1e-12);
    const auto grid = five_point_matrix(40, 40, 0.);
    EXPECT_GT(cholesky_operations(grid), 10.);
    EXPECT_LT(cholesky_operations(grid), 300.);
    EXPECT_GT(cholesky_operations(seven_point_matrix(20, 20, 20, 0.)), cheap_cholesky);
  }

  TEST(SparseFactors, CholeskyWherePositiveDefiniteElseLu)
  {
    for (const auto &[A, name] : {std::pair(tridiagonal(200, -1., 2., -1.), "Cholesky"),
                                  std::pair(tridiagonal(200, -1., 1.3, -1.), "LU"), // positive diagonal, indefinite
                                  std::pair(tridiagonal(200, -1., -2.5, -1.), "LU"),
                                  std::pair(tridiagonal(200, -1., 3., -1.5), "LU")})
      {
        const auto [found, error] = solved(A);
        EXPECT_EQ(found, "sparse direct (" + std::string(name) + ")");
        EXPECT_LT(error, 1e-10);
      }
  }

  TEST(SparseFactors, NewValuesMayChangeWhatTheyAre)
  {
    auto       A       = tridiagonal(50, -1., 2., -1.);
    const auto factors = make_sparse_factors(A);
    for (const double diagonal : {1.3, 2.5})
      {
        A = tridiagonal(50, -1., diagonal, -1.);
        factors->update(A, false);
        std::vector<double> b(50, 1.), x(50), product(50);
        factors->solve(x.data(), b.data());
        multiply(A, x.data(), product.data());
        for (int i = 0; i < 50; ++i)
          EXPECT_NEAR(product[i], b[i], 1e-11);
        EXPECT_EQ(factors->name(), diagonal < 2. ? "sparse direct (LU)" : "sparse direct (Cholesky)");
      }
  }
} // namespace
