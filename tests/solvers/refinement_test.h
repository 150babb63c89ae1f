// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tests of iterative refinement have in common.
#include "krylov_test.h"
#include "real_matrices.h"

#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/matrix/matrix_market.h>
#include <solvers/multigrid/aggregation.h>
#include <solvers/multigrid/multigrid.h>
#include <solvers/refinement/mixed_multigrid.h>
#include <solvers/refinement/refinement.h>
#include <solvers/relaxation/ilu0.h>
#include <solvers/relaxation/methods.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace leopard
{
  template <typename Number>
  using Inner = std::unique_ptr<InnerSolver<Number>>;
  template <typename Number>
  using MakeInner = std::function<Inner<Number>(const CrsMatrix<Number> &)>;

  constexpr double eps = std::numeric_limits<double>::epsilon();

  struct Refined
  {
    RefinementResult result;
    Vector           x;
  };

  /** With host vectors, wherever the solver computes. */
  template <typename Number>
  Refined refined(Refinement<Number> &solver, const Vector &b, Vector x = {})
  {
    x.resize(b.size(), 0.);
    RefinementResult result;
    call_with_numbers<double>(solver.memory_space(), x, b, [&](double *to, const double *right) { result = solver.solve(to, right); });
    return {result, x};
  }

  inline SolveResult solved(Multigrid<double> &multigrid, const Vector &b, const StoppingCriteria &criteria)
  {
    Vector      x(b.size(), 0.);
    SolveResult result;
    call_with_numbers<double>(
      multigrid.memory_space(), x, b, [&](double *to, const double *right) { result = multigrid.solve(to, right, criteria); });
    return result;
  }

  /** ||b - A x|| / (||A||_inf ||x|| + ||b||), whatever their units. */
  inline double backward_error(const CrsMatrix<double> &A, const Vector &x, const Vector &b)
  {
    double norm_A = 0.;
    for (int i = 0; i < A.n_rows; ++i)
      {
        double sum = 0.;
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          sum += std::abs(A.values[p]);
        norm_A = std::max(norm_A, sum);
      }
    return residual_norm(A, x.data(), b.data()) / (norm_A * norm(x) + norm(b));
  }

  /** tridiag(-1, 2, -1), of condition number 4 n^2 / pi^2, whose ILU(0) is its factorization. */
  inline CrsMatrix<double> line_matrix(int n)
  {
    CrsMatrix<double> A = five_point_matrix(n, 1, 0.);
    for (double &value : A.values)
      value = value == 4. ? 2. : value;
    return A;
  }

  template <typename Number>
  MakeInner<Number> relaxation(const std::string &name, const MethodOptions &options)
  {
    return [=](const CrsMatrix<Number> &A) { return make_inner_solver(std::shared_ptr<Relaxation<Number>>(find_method(name).make(A, options))); };
  }

  class RefinementBackend : public BackendTest
  {
  protected:
    template <typename Number>
    MakeInner<Number> async(int k = 5, Schedule schedule = Schedule::chaotic)
    {
      block_async          = options(schedule, 32, k);
      MethodOptions result = {};
      result.backend       = GetParam();
      result.block_async   = &block_async;
      return relaxation<Number>("async", result);
    }

    template <typename Number>
    MakeInner<Number> method(const std::string &name, double omega = 1.)
    {
      MethodOptions result;
      result.backend = GetParam();
      result.omega   = omega;
      return relaxation<Number>(name, result);
    }

    MakeInner<float> cg(double tolerance = 1e-5)
    {
      CgOptions o;
      o.backend        = GetParam();
      o.n_threads      = 4;
      o.tolerance      = tolerance;
      o.max_iterations = 5000;
      return [o](const CrsMatrix<float> &A) { return make_inner_solver(std::shared_ptr<KrylovSolver<float>>(make_cg(A, o))); };
    }

    template <typename Number>
    Refined solve(const CrsMatrix<double> &A, const Vector &b, const MakeInner<Number> &inner, RefinementOptions o = {}, Vector x = {})
    {
      return refined(*make_refinement<Number>(A, inner, o, GetParam(), 4), b, std::move(x));
    }

    static RefinementOptions tolerance(double tolerance, int inner_iterations = 0)
    {
      RefinementOptions o;
      o.tolerance        = tolerance;
      o.inner_iterations = inner_iterations;
      return o;
    }

    BlockAsyncOptions block_async;
  };
} // namespace leopard
