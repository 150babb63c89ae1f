// SPDX-License-Identifier: Apache-2.0
// Which preconditioner a linear solver really takes; Krylov methods of several GPUs, here parts on host threads.
#include <applications/linear_solvers/linear_solver.h>
#include <applications/linear_solvers/residual_rounding.h>
#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

    /**
     * The factors are exact, and so are substitutions: one iteration; blocks that wait bring news one block a sweep.
     */
    TEST(LinearSolver, GoesOnWithExactTriangularSolvesWhereChosenOnesFail)
    {
      const int        n = 6000;
      const HostMatrix A = tridiagonal_matrix(n);
      HostVector       b(dealii::complete_index_set(n), MPI_COMM_SELF);
      b = 1.;
      for (const char *method : {"cg", "gmres"})
        {
          LinearSolverParameters parameters;
          parameters.method               = method;
          parameters.preconditioner       = "ilu";
          parameters.backend              = "host";
          parameters.precision            = "double";
          parameters.block_async.schedule = Schedule::synchronous;
          parameters.triangular_solves    = async_at_first; // as on a GPU
          ASSERT_TRUE(parameters.chosen_triangular().is_asynchronous());
          LinearSolver       solver(parameters, A, 1, nullptr, MPI_COMM_SELF);
          const LinearTarget target{1e-8, 5};
          for (const bool is_first : {true, false})
            {
              HostVector x(b);
              x                              = 0.;
              const LinearSolveResult result = solver.solve(x, b, target);
              EXPECT_TRUE(result.converged) << method;
              EXPECT_GE(result.n_iterations, is_first ? 6 : 1) << method; // those in vain count
              EXPECT_LE(result.n_iterations, is_first ? 10 : 5) << method;
              EXPECT_EQ(result.note.find("exact triangular solves from now on") != std::string::npos, is_first) << result.note;
            }
          EXPECT_NE(solver.description().find("exact, in sequence"), std::string::npos) << solver.description();
        }
    }

    TEST(LinearSolver, TriangularSolvesOfTheHostAreExact)
    {
      LinearSolverParameters parameters;
      parameters.method         = "gmres";
      parameters.preconditioner = "ilu";
      parameters.backend        = "host";
      parameters.choose_backend(MPI_COMM_SELF, NodePlace());
      EXPECT_EQ(parameters.triangular_solves, "exact");
      EXPECT_EQ(parameters.incomplete_options().solves.solve, TriangularSolve::exact);
      parameters.triangular_solves   = "automatic";
      parameters.block_async.backend = Backend::cuda; // no GPU is asked
      EXPECT_TRUE(parameters.chosen_triangular().is_asynchronous());
      EXPECT_TRUE(parameters.chosen_triangular().varies());
      EXPECT_EQ(parameters.chosen_triangular().options.block_async.storage, Storage::double_precision); // values may change
      parameters.block_async.schedule = Schedule::replay;                                               // who wants repetition has it
      EXPECT_FALSE(parameters.chosen_triangular().varies());
      parameters.block_async.schedule = Schedule::chaotic;
      parameters.method               = "cg";
      EXPECT_FALSE(parameters.chosen_triangular().varies());
    }

    HostMatrix on_host(const CrsMatrix<double> &A)
    {
      dealii::DynamicSparsityPattern pattern(A.n_rows, A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          pattern.add(i, A.columns[p]);
      HostMatrix result;
      result.reinit(dealii::complete_index_set(A.n_rows), pattern, MPI_COMM_SELF);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          result.set(i, A.columns[p], A.values[p]);
      result.compress(dealii::VectorOperation::insert);
      return result;
    }

    HostVector wave(const HostMatrix &A, double size = 1.)
    {
      HostVector b(dealii::complete_index_set(A.m()), MPI_COMM_SELF);
      for (unsigned int i = 0; i < b.size(); ++i)
        b[i] = size * std::sin(1. + 0.37 * i * i);
      return b;
    }

    double relative_residual(const HostMatrix &A, const HostVector &x, const HostVector &b)
    {
      HostVector r(b);
      return A.residual(r, x, b) / b.l2_norm();
    }

    /** Of two parts, in small blocks, on so many host threads. */
    LinearSolverParameters of_parts(const std::string &method, const std::string &preconditioner, int n_parts = 2)
    {
      LinearSolverParameters parameters;
      parameters.method                 = method;
      parameters.preconditioner         = preconditioner;
      parameters.backend                = "host";
      parameters.precision              = "double";
      parameters.n_gpus                 = n_parts;
      parameters.block_async.block_size = 32;
      parameters.block_async.n_threads  = 4;
      return parameters;
    }

    /** What the solver says of x is so, and is what the target asks for. */
    LinearSolveResult
    expect_solved(LinearSolver &solver, const HostMatrix &A, const HostVector &b, double tolerance, const LinearSolverParameters &parameters)
    {
      HostVector              x(b);
      const LinearSolveResult result = solver.solve(x, b, {tolerance, parameters.max_iterations});
      EXPECT_TRUE(result.converged) << parameters.name();
      EXPECT_LE(relative_residual(A, x, b), 1.01 * tolerance) << parameters.name();
      EXPECT_NEAR(result.final_residual, relative_residual(A, x, b) * b.l2_norm(), 1e-3 * tolerance * b.l2_norm()) << parameters.name();
      return result;
    }

    TEST(KrylovOnGpus, SolvesAndTakesNewValues)
    {
      for (const std::string method : {"cg", "gmres"})
        for (const std::string preconditioner : {"none", "jacobi", "async", "chebyshev", "ilu", "ic"})
          for (const int n_parts : {2, 3})
            {
              CrsMatrix<double>      of_steps   = five_point_matrix(24, 30, 0.05);
              HostMatrix             A          = on_host(of_steps);
              LinearSolverParameters parameters = of_parts(method, preconditioner, n_parts);
              LinearSolver           solver(parameters, A, 1, nullptr, MPI_COMM_SELF);
              EXPECT_NE(solver.description().find(" on " + std::to_string(n_parts) + " threads"), std::string::npos) << solver.description();
              const HostVector b       = wave(A);
              const int        exactly = expect_solved(solver, A, b, 1e-10, parameters).n_iterations;
              EXPECT_LT(expect_solved(solver, A, b, 1e-2, parameters).n_iterations, exactly); // the tolerance is one of a solve
              for (int i = 0; i < of_steps.n_rows; ++i)
                A.add(i, i, i % 2 == 0 ? 40. : 0.);
              A.compress(dealii::VectorOperation::add);
              solver.update_values();
              const LinearSolveResult stiff = expect_solved(solver, A, b, 1e-10, parameters);
              LinearSolver            anew(parameters, A, 1, nullptr, MPI_COMM_SELF);
              EXPECT_LE(std::abs(stiff.n_iterations - expect_solved(anew, A, b, 1e-10, parameters).n_iterations), preconditioner == "async" ? 3 : 0)
                << parameters.name();
            }
    }

    /** Compact blocks, a factor that is found from the matrix, and the schedule that is the same in each run. */
    TEST(KrylovOnGpus, OptionsOfAsync)
    {
      HostMatrix             A          = on_host(five_point_matrix(24, 30, 0.05));
      const HostVector       b          = wave(A);
      LinearSolverParameters parameters = of_parts("cg", "async");
      parameters.block_async.schedule   = Schedule::synchronous;
      LinearSolver plain(parameters, A, 1, nullptr, MPI_COMM_SELF);
      EXPECT_EQ(plain.description(), "CG on 2 threads with 2 iterations of async-(5) synchronous, compact blocks of 32 (each of its own rows)");
      const int compact = expect_solved(plain, A, b, 1e-10, parameters).n_iterations;
      EXPECT_EQ(expect_solved(plain, A, b, 1e-10, parameters).n_iterations, compact);
      parameters.block_shape = "rows";
      LinearSolver rows(parameters, A, 1, nullptr, MPI_COMM_SELF);
      EXPECT_NE(expect_solved(rows, A, b, 1e-10, parameters).n_iterations, compact);
      EXPECT_NE(rows.description().find(", blocks of 32 "), std::string::npos) << rows.description();
      parameters.omega_is_tau                 = true;
      parameters.block_async.local_iterations = 1;
      LinearSolver tau(parameters, A, 1, nullptr, MPI_COMM_SELF);
      EXPECT_NE(tau.details().find("tau"), std::string::npos);
      EXPECT_TRUE(tau.report().contains("tau"));
      expect_solved(tau, A, b, 1e-10, parameters);
      for (unsigned int i = 0; i < A.m(); ++i)
        A.add(i, i, 10.);
      A.compress(dealii::VectorOperation::add);
      tau.update_values();
      expect_solved(tau, A, b, 1e-10, parameters);
    }

    TEST(KrylovOnGpus, EndsAsTheOthersDo)
    {
      const HostMatrix             A          = on_host(five_point_matrix(24, 30, 0.));
      const LinearSolverParameters parameters = of_parts("cg", "jacobi");
      LinearSolver                 solver(parameters, A, 1, nullptr, MPI_COMM_SELF);
      const HostVector             b = wave(A);
      HostVector                   x(b);
      x                               = 0.;
      const LinearSolveResult limited = solver.solve(x, b, {1e-10, 5});
      EXPECT_FALSE(limited.converged);
      EXPECT_EQ(limited.n_iterations, 5);
      EXPECT_GT(limited.rate, 0.);
      x                           = 0.;
      const LinearSolveResult all = solver.solve(x, b, {0., 5}); // does what it is given
      EXPECT_TRUE(all.converged);
      EXPECT_EQ(all.n_iterations, 5);
      x = b;
      EXPECT_TRUE(solver.solve(x, wave(A, 0.), {1e-10, 1000}).converged);
      EXPECT_EQ(x.linfty_norm(), 0.);
      for (const double unit : {1e-200, 1e200}) // whose squares are no numbers
        {
          const HostVector in_unit = wave(A, unit);
          x                        = 0.;
          EXPECT_TRUE(solver.solve(x, in_unit, {1e-10, 1000}).converged);
          x /= unit;
          EXPECT_LE(relative_residual(A, x, b), 1.01e-10);
        }
      expect_solved(solver, A, b, 1., parameters); // a tolerance that x = 0 has
      HostVector bad(b);
      bad[700] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_THROW(solver.solve(x, bad, {1e-10, 1000}), ConvergenceFailure);
      EXPECT_THROW(solver.solve(bad, b, {1e-10, 1000}), ConvergenceFailure);
      expect_solved(solver, A, b, 1e-10, parameters);
    }

    TEST(KrylovOnGpus, MatricesThatItCannotSolveWith)
    {
      CrsMatrix<double>      wrong      = five_point_matrix(24, 30, 0.05);
      LinearSolverParameters parameters = of_parts("cg", "none");
      wrong.values.back() *= -1.;
      const HostMatrix indefinite = on_host(wrong);
      LinearSolver     solver(parameters, indefinite, 1, nullptr, MPI_COMM_SELF);
      const HostVector b = wave(indefinite);
      HostVector       x(b);
      x                              = 0.;
      const LinearSolveResult result = solver.solve(x, b, {1e-10, 1000});
      EXPECT_FALSE(result.converged);
      EXPECT_TRUE(result.negative_curvature);
      try
        {
          solver.report_missed_tolerance(1e-10, result.progress(b.l2_norm(), 1e-10 * b.l2_norm()), "");
        }
      catch (const ConvergenceFailure &failure)
        {
          EXPECT_NE(std::string(failure.what()).find("'Linear solver/GPUs' = 1"), std::string::npos) << failure.what();
          EXPECT_EQ(std::string(failure.what()).find("aggregation"), std::string::npos) << failure.what();
        }
      wrong.values.back()        = 0.;
      const HostMatrix with_hole = on_host(wrong);
      for (const std::string preconditioner : {"jacobi", "async"})
        {
          parameters = of_parts("gmres", preconditioner);
          try
            {
              LinearSolver(parameters, with_hole, 1, nullptr, MPI_COMM_SELF);
              ADD_FAILURE() << "no error";
            }
          catch (const Error &error)
            {
              const std::string text = error.what();
              EXPECT_EQ(text.find("'Linear solver/GPUs' is 2, and the linear solver is gmres with the preconditioner " + preconditioner + ": rows "),
                        0u)
                << text;
            }
        }
      for (const char *preconditioner : {"amg", "aggregation", "multigrid", "ssor", "of-tomorrow"})
        EXPECT_THROW(LinearSolver(of_parts("cg", preconditioner), indefinite, 1, nullptr, MPI_COMM_SELF), Error) << preconditioner;
      EXPECT_THROW(LinearSolver(of_parts("cg", "none", 9), tridiagonal_matrix(8), 1, nullptr, MPI_COMM_SELF), Error); // more than there are rows
    }

    /** Of every task: what several GPUs of a rank can do, without contradiction. */
    TEST(ChooseMethod, OfSeveralGpusIsWhatTheyCanDo)
    {
      for (int bits = 0; bits < 1 << 9; ++bits)
        for (const double n_unknowns : {0., 100., 1e7})
          {
            const auto bit = [bits](int k) { return (bits >> k & 1) != 0; };
            SolverTask task;
            task.in_time           = bit(0);
            task.follows_bound     = bit(1);
            task.consistent_mass   = bit(2);
            task.quasi_stationary  = bit(3) ? 2 : 0;
            task.long_steps        = bit(4);
            task.has_newton        = bit(5);
            task.may_be_indefinite = bit(6);
            task.fixed_iterations  = bit(7);
            task.has_levels = task.has_even_levels = bit(8);
            task.n_unknowns                        = n_unknowns;
            LinearSolverParameters parameters;
            parameters.n_gpus         = 2;
            parameters.max_iterations = 0;
            EXPECT_NO_THROW(parameters.choose(task)) << bits;
            EXPECT_TRUE(parameters.shares_out_rows()) << bits << ": " << parameters.choice();
            EXPECT_EQ(parameters.precision, "double");
            EXPECT_EQ(parameters.max_iterations, LinearSolverParameters().max_iterations);
          }
      SolverTask singular;
      singular.is_singular = true;
      LinearSolverParameters parameters;
      parameters.n_gpus = 2;
      EXPECT_THROW(parameters.choose(singular), Error); // what keeps the mean out has one GPU
    }

    /** Of what solves no better than this, and of what is no number, nothing is taken for rounding. */
    TEST(ResidualRounding, IsNothingElse)
    {
      const HostMatrix A = tridiagonal_matrix(50);
      HostVector       x(A.locally_owned_range_indices(), MPI_COMM_SELF), b(x);
      for (unsigned int i = 0; i < x.size(); ++i)
        x(i) = 1. + 0.1 * i;
      A.vmult(b, x);
      const ResidualRounding found = rounding_of_residual(A, x, b);
      EXPECT_TRUE(found.is_rounding()) << found.residual << " " << found.rounding;
      EXPECT_LT(found.of_each_row, 1e-15);
      EXPECT_GT(found.rounding, 1e-17 * b.l2_norm());
      HostVector other(x);
      other(20) *= 1. + 1e-13;
      EXPECT_FALSE(rounding_of_residual(A, other, b).is_rounding());
      for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e308})
        {
          other(20) = value;
          EXPECT_FALSE(rounding_of_residual(A, other, b).is_rounding()) << value;
          HostVector c(b);
          c(20) = value;
          EXPECT_FALSE(rounding_of_residual(A, x, c).is_rounding()) << value;
        }
    }
  } // namespace
} // namespace leopard
