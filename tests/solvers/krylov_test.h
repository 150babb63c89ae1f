// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "multigrid_test.h"

#include <solvers/krylov/cg.h>
#include <solvers/krylov/fgmres.h>
#include <solvers/krylov/gcr.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  using Preconditions = std::shared_ptr<Preconditioner<double>>; ///< or null
  /** The same, as a parameter that says nothing of Number: it takes what is derived from it, and null. */
  template <typename Number>
  using PreconditionerOf = std::common_type_t<std::shared_ptr<Preconditioner<Number>>>;

  /** What of all options the tests vary. @param n_directions of FGMRES and GCR. */
  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_krylov(const std::string              &method,
                                                    const CrsMatrix<Number>        &A,
                                                    const KrylovOptions            &common,
                                                    int                             n_directions,
                                                    const PreconditionerOf<Number> &preconditioner = nullptr)
  {
    if (method == "CG")
      return make_cg<Number>(A, CgOptions{common}, preconditioner);
    if (method == "FGMRES")
      return make_fgmres<Number>(A, FgmresOptions{common, n_directions}, preconditioner);
    return make_gcr<Number>(A, GcrOptions{common, n_directions}, preconditioner);
  }

  struct Solved
  {
    KrylovResult result;
    Vector       x;
  };

  /** With host vectors, wherever the solver computes. @param x to begin with; empty: zero. */
  template <typename Number>
  Solved solved(KrylovSolver<Number> &solver, const Vector &b, Vector x = {})
  {
    x.resize(b.size(), 0.);
    Solved solution{{}, x};
    call_with_numbers<Number>(
      solver.memory_space(), solution.x, b, [&](Number *to, const Number *right) { solution.result = solver.solve(to, right); });
    return solution;
  }

  /** Whether it says converged, and rightly. */
  inline void expect_converged(const CrsMatrix<double> &A, const Solved &solution, const Vector &b, double tolerance)
  {
    EXPECT_TRUE(solution.result.converged) << to_string(solution.result.reason) << " after " << solution.result.n_iterations;
    EXPECT_EQ(solution.result.reason, KrylovReason::converged);
    EXPECT_LE(solution.result.relative_residual, tolerance);
    EXPECT_LE(relative_residual(A, solution.x, b), 1.01 * tolerance + 1e-14);
  }

  /** B^T B + I of a random B. */
  inline Dense random_positive_definite(int n, unsigned int seed)
  {
    Dense B(n, n);
    B.values = random_vector(n * n, seed);
    return transpose(B) * B + identity(n);
  }

  /** Each method on each backend. */
  class KrylovBackend : public BackendTest
  {
  protected:
    KrylovOptions options(double tolerance = 1e-10, int max_iterations = 1000) const
    {
      KrylovOptions result;
      result.backend        = GetParam();
      result.n_threads      = 4;
      result.tolerance      = tolerance;
      result.max_iterations = max_iterations;
      return result;
    }
  };
} // namespace leopard
