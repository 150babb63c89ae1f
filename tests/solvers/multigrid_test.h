// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_async_test.h"

#include <solvers/multigrid/multigrid.h>

#include <cstddef>
#include <functional>

namespace leopard
{
  /** A small dense matrix, row after row. */
  struct Dense
  {
    int    n_rows = 0, n_columns = 0;
    Vector values;

    Dense(int rows, int columns)
      : n_rows(rows)
      , n_columns(columns)
      , values(static_cast<std::size_t>(rows) * columns, 0.)
    {
    }
    double &operator()(int i, int j) { return values[static_cast<std::size_t>(i) * n_columns + j]; }
    double  operator()(int i, int j) const { return values[static_cast<std::size_t>(i) * n_columns + j]; }
  };

  Dense             identity(int n);
  Dense             dense(const CrsMatrix<double> &A);
  CrsMatrix<double> crs(const Dense &A); ///< without its zeros
  Dense             transpose(const Dense &A);
  Dense             operator*(const Dense &A, const Dense &B);
  Dense             operator+(const Dense &A, const Dense &B);
  Dense             operator-(const Dense &A, const Dense &B);
  Vector            operator*(const Dense &A, const Vector &x);
  Vector            operator-(const Vector &a, const Vector &b);
  Vector            operator+(const Vector &a, const Vector &b);
  Dense             inverse(const Dense &A); ///< Gauss with pivots
  double            largest_difference(const Dense &A, const Dense &B);
  double            norm(const Vector &v);

  /** -1 2 -1 in one dimension. */
  Stencil<double> three_point_stencil(int n, double delta = 0.);

  /** Options of a textbook method: Jacobi with omega, nothing asynchronous. */
  MultigridOptions jacobi_multigrid(Backend backend, double omega);

  /** vmult(), cycle(), solve() and multiply() with host vectors, wherever the multigrid computes. */
  template <typename Number>
  Vector vmult(Multigrid<Number> &multigrid, const Vector &b);
  template <typename Number>
  Vector cycle(Multigrid<Number> &multigrid, Vector x, const Vector &b);
  template <typename Number>
  SolveResult solve(Multigrid<Number> &multigrid, Vector &x, const Vector &b, double relative_tolerance, int max_cycles = 60);
  template <typename Number>
  Vector multiply(Multigrid<Number> &multigrid, const Vector &x);

  /** The matrix whose columns are function(unit vector). */
  Dense matrix_of(int n, const std::function<Vector(const Vector &)> &function);

  /** The dense inverse of a matrix as a coarse solver of the user's, on the host; x and b in memory of either kind. */
  std::unique_ptr<CoarseSolver<double>> dense_coarse_solver(const CrsMatrix<double> &A, MemorySpace space);

  /**
   * Finite elements (Q1, vertex quadrature) for -laplace u on a square of 2^n_levels cells a side, nothing prescribed
   * at the boundary: A 1 = 0.
   */
  MultigridHierarchy neumann_hierarchy(int n_levels);

  /**
   * Linear elements for -u'' on (0, 1), u = 0 at both ends. Level 0 has 4 cells; each further level halves the cells of
   * the right half of the level before. Level 0 has the nodes 1, 2, 3 (times 1/4). Level l > 0 has n_l = 4 cells, its
   * nodes are the left one (on the refinement edge) and 3 inside it; the right end is the boundary. The active mesh has
   * the two left nodes of level 0, the first two inside each further level, and all three inside the last.
   */
  MultigridHierarchy adaptive_hierarchy(int n_levels);

  /** ||b - A x|| / ||b||. */
  double relative_residual(const CrsMatrix<double> &A, const Vector &x, const Vector &b);

  /** Runs the tests on the host and, where there is one, on a GPU. */
  class MultigridBackend : public testing::TestWithParam<Backend>
  {
  protected:
    void SetUp() override
    {
      if (GetParam() == Backend::cuda && device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
    }
  };
} // namespace leopard
