// SPDX-License-Identifier: Apache-2.0
#include "multigrid_test.h"

#include <solvers/krylov/gcr.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace leopard
{
  namespace
  {
    /** Vectors of n entries in pieces of 7, one after the other; behind them ghosts, which nobody touches. */
    struct Pieces
    {
      long n;

      int n_pieces() const { return static_cast<int>((n + 6) / 7); }
      template <typename F>
      void for_ranges(const F &f) const
      {
        for (int piece = 0; piece < n_pieces(); ++piece)
          f(7l * piece, std::min(n, 7l * (piece + 1)), piece);
      }
      void sum_over_ranks(double * /*values*/, int /*n*/) const {}
    };

    /** Upwind differences: not symmetric. */
    CrsMatrix<double> convection_diffusion(int n)
    {
      CrsMatrix<double> A = five_point_stencil(n, n, 0.).to_crs();
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] += A.columns[p] == i ? 1.5 : A.columns[p] == i - 1 ? -1.5 : 0.;
      return A;
    }

    template <typename Number>
    struct Result
    {
      std::vector<Number> x, r;
      int                 n_iterations;
    };

    /** A x = b from x = 0 with the diagonal as preconditioner, of which every second result is scaled. */
    template <typename Number>
    Result<Number> solve_with_gcr(const CrsMatrix<double> &A, const Vector &b, int n_directions, double reduction, int max_iterations)
    {
      const Pieces        pieces{A.n_rows};
      Gcr<Pieces, Number> gcr;
      const auto          n     = static_cast<std::size_t>(A.n_rows) + 3; // with ghosts
      const Number        ghost = std::numeric_limits<Number>::quiet_NaN();
      std::vector<Number> x(n, 0), r(b.begin(), b.end());
      r.resize(n, ghost);
      gcr.allocate(pieces, n, n_directions);
      Pieces     space    = pieces;
      int        calls    = 0;
      const auto multiply = [&](const std::vector<Number> &v, std::vector<Number> &result) {
        for (int i = 0; i < A.n_rows; ++i)
          {
            result[i] = 0;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              result[i] += static_cast<Number>(A.values[p]) * v[A.columns[p]];
          }
        std::fill(result.begin() + A.n_rows, result.end(), ghost);
      };
      const auto precondition = [&](std::vector<Number> &z, const std::vector<Number> &residual) {
        std::vector<Number> other(n, ghost);
        for (int i = 0; i < A.n_rows; ++i)
          other[i] = residual[i] * static_cast<Number>(calls % 2 == 0 ? 0.25 : 4.);
        std::swap(z, other);
        ++calls;
      };
      const int n_iterations = gcr.solve(space, x, r, reduction, max_iterations, multiply, precondition);
      EXPECT_EQ(calls, n_iterations + (n_iterations < calls ? 1 : 0));
      x.resize(A.n_rows);
      r.resize(A.n_rows);
      return {x, r, n_iterations};
    }

    /** The smallest ||b - A p(A) b|| with polynomials of degree k - 1, by Gram and Schmidt. */
    double smallest_residual(const CrsMatrix<double> &A, const Vector &b, int k)
    {
      std::vector<Vector> basis;
      Vector              v = b, r = b;
      for (int j = 0; j < k; ++j)
        {
          Vector Av(A.n_rows);
          multiply(A, v.data(), Av.data());
          v = Av;
          for (int pass = 0; pass < 2; ++pass)
            for (const Vector &q : basis)
              {
                const double c = std::inner_product(q.begin(), q.end(), Av.begin(), 0.);
                for (int i = 0; i < A.n_rows; ++i)
                  Av[i] -= c * q[i];
              }
          const double length = norm(Av);
          for (double &entry : Av)
            entry /= length;
          basis.push_back(Av);
          v              = Av; // the same space, and not nearly parallel
          const double c = std::inner_product(Av.begin(), Av.end(), r.begin(), 0.);
          for (int i = 0; i < A.n_rows; ++i)
            r[i] -= c * Av[i];
        }
      return norm(r);
    }
  } // namespace

  TEST(Gcr, FindsTheSmallestResidualOfTheKrylovSpace)
  {
    const CrsMatrix<double> A = convection_diffusion(12);
    const Vector            b = random_vector(A.n_rows, 3);
    for (const int k : {1, 2, 5, 9})
      {
        const auto result = solve_with_gcr<double>(A, b, 20, 1e-30, k);
        EXPECT_EQ(result.n_iterations, k);
        EXPECT_NEAR(norm(result.r) / smallest_residual(A, b, k), 1., 1e-9) << k;
      }
  }

  TEST(Gcr, ReducesTheTrueResidual)
  {
    const CrsMatrix<double> A = convection_diffusion(12);
    const Vector            b = random_vector(A.n_rows, 3);
    for (const int n_directions : {40, 4, 1})
      {
        const auto result = solve_with_gcr<double>(A, b, n_directions, 1e-6, 500);
        EXPECT_LT(result.n_iterations, n_directions == 1 ? 400 : 100);
        EXPECT_LE(relative_residual(A, result.x, b), 1.001e-6);
        Vector Ax(A.n_rows);
        multiply(A, result.x.data(), Ax.data());
        EXPECT_LT(largest_difference(b - Ax, result.r), 1e-12);
      }
  }

  TEST(Gcr, WorksInSinglePrecision)
  {
    const CrsMatrix<double> A      = convection_diffusion(12);
    const Vector            b      = random_vector(A.n_rows, 3);
    const auto              result = solve_with_gcr<float>(A, b, 40, 1e-3, 500);
    EXPECT_LE(result.n_iterations, solve_with_gcr<double>(A, b, 40, 1e-3, 500).n_iterations + 2);
    EXPECT_LE(relative_residual(A, Vector(result.x.begin(), result.x.end()), b), 1.01e-3);
  }

  TEST(Gcr, EndsWhereNothingIsLeftToBeFound)
  {
    const CrsMatrix<double> A = convection_diffusion(6);
    EXPECT_EQ(solve_with_gcr<double>(A, Vector(A.n_rows, 0.), 5, 1e-6, 10).n_iterations, 0);
    CrsMatrix<double> zero = A;
    for (double &value : zero.values)
      value = 0.;
    const auto result = solve_with_gcr<double>(zero, random_vector(A.n_rows, 3), 5, 1e-6, 10);
    EXPECT_EQ(result.n_iterations, 0);
    for (const double x : result.x)
      EXPECT_EQ(x, 0.);
  }
} // namespace leopard
