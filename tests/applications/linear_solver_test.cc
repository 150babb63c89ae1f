// SPDX-License-Identifier: Apache-2.0
// Which preconditioner a linear solver really takes.
#include <applications/linear_solvers/linear_solver.h>
#include <solvers/base/errors.h>

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    /** -1 2 -1. */
    HostMatrix tridiagonal_matrix(int n)
    {
      const dealii::IndexSet         rows = dealii::complete_index_set(n);
      dealii::DynamicSparsityPattern pattern(n, n);
      for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
          pattern.add(i, j);
      HostMatrix A;
      A.reinit(rows, pattern, MPI_COMM_SELF);
      for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
          A.set(i, j, i == j ? 2. : -1.);
      A.compress(dealii::VectorOperation::insert);
      return A;
    }

    TEST(LinearSolver, APreconditionerThatItDoesNotHaveIsNotLeftOut)
    {
      const HostMatrix       A = tridiagonal_matrix(20);
      LinearSolverParameters parameters;
      parameters.method  = "cg";
      parameters.backend = "host";
      for (const char *preconditioner : {"none", "jacobi", "ssor", "async", "amg", "ilu", "ic", "aggregation"})
        {
          parameters.preconditioner = preconditioner;
          EXPECT_NO_THROW(LinearSolver(parameters, A, 1, nullptr, MPI_COMM_SELF)) << preconditioner;
        }
      for (const char *preconditioner : {"of-tomorrow", "Jacobi", ""})
        {
          parameters.preconditioner = preconditioner;
          EXPECT_THROW(LinearSolver(parameters, A, 1, nullptr, MPI_COMM_SELF), Error) << preconditioner;
        }
    }
  } // namespace
} // namespace leopard
