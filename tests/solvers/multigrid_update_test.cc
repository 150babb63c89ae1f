// SPDX-License-Identifier: Apache-2.0
// Singular problems, and matrices whose values change.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/multigrid/operations.h>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

namespace leopard
{
  namespace
  {
    double mean(const Vector &v)
    {
      return std::accumulate(v.begin(), v.end(), 0.) / static_cast<double>(v.size());
    }

    /**
     * The user's coarse solver for a singular problem: shifts by the constants, so that the result for a mean of zero
     * has a mean of zero.
     */
    CrsMatrix<double> shifted(const CrsMatrix<double> &A)
    {
      Dense D = dense(A);
      for (double &v : D.values)
        v += 1. / A.n_rows;
      return crs(D);
    }

    class MultigridSingular : public MultigridBackend
    {
    };

    TEST_P(MultigridSingular, SolvesAmongVectorsOfMeanZero)
    {
      const MultigridHierarchy hierarchy = neumann_hierarchy(4);
      const CrsMatrix<double> &A         = hierarchy.levels.back().matrix;
      const Vector             b         = random_vector(A.n_rows, 1);
      Vector                   projected = b;
      for (double &v : projected)
        v -= mean(b);
      for (const char *solver : {"dense", "direct", "the user's"})
        for (const char *method : {"async", "damped-jacobi", "multicolour-gauss-seidel"})
          {
            MultigridOptions options;
            options.backend         = GetParam();
            options.smoother.method = method;
            const bool users        = std::string(solver) == "the user's";
            if (!users)
              options.coarse_solver = solver;
            const MemorySpace space = GetParam() == Backend::cuda ? MemorySpace::device : MemorySpace::host;
            Multigrid<double> multigrid(hierarchy, options, users ? dense_coarse_solver(shifted(hierarchy.levels[0].matrix), space) : nullptr);
            EXPECT_TRUE(multigrid.is_singular());
            EXPECT_NE(multigrid.description().find("singular"), std::string::npos);
            Vector            x(b.size(), 3.); // whose mean goes
            const SolveResult result = solve(multigrid, x, b, 1e-10);
            EXPECT_EQ(result.status, SolveStatus::converged) << solver << ", " << method;
            EXPECT_LE(result.n_iterations, 16) << solver << ", " << method;
            EXPECT_LT(relative_residual(A, x, projected), 1.1e-10) << solver << ", " << method;
            EXPECT_NEAR(mean(x), 0., 1e-12) << solver << ", " << method;
            EXPECT_NEAR(mean(vmult(multigrid, b)), 0., 1e-12);
            EXPECT_NEAR(mean(cycle(multigrid, x, b)), 0., 1e-12);
          }
    }

    /**
     * Rows with nothing beside the diagonal (constrained unknowns) do not count, and their values stay out of the mean.
     */
    TEST_P(MultigridSingular, WithConstrainedUnknowns)
    {
      MultigridHierarchy hierarchy = neumann_hierarchy(3);
      MultigridLevel    &finest    = hierarchy.levels.back();
      const int          n         = finest.matrix.n_rows;
      // one more unknown that nothing is coupled to
      finest.matrix.n_rows = finest.matrix.n_columns = n + 1;
      finest.matrix.columns.push_back(n);
      finest.matrix.values.push_back(2.);
      finest.matrix.row_offsets.push_back(finest.matrix.n_entries());
      finest.prolongation.n_rows = n + 1;
      finest.prolongation.row_offsets.push_back(finest.prolongation.n_entries());
      finest.coordinates.insert(finest.coordinates.end(), {2., 2.});
      MultigridOptions options;
      options.backend = GetParam();
      Multigrid<double> multigrid(hierarchy, options);
      EXPECT_TRUE(multigrid.is_singular());
      Vector b = random_vector(n + 1, 2), x(n + 1, 0.);
      EXPECT_EQ(solve(multigrid, x, b, 1e-10).status, SolveStatus::converged);
      EXPECT_NEAR(x[n], b[n] / 2., 1e-8);
      x.pop_back();
      EXPECT_NEAR(mean(x), 0., 1e-12);
    }

    TEST_P(MultigridSingular, OthersAreNot)
    {
      MultigridOptions options = jacobi_multigrid(GetParam(), 0.7);
      EXPECT_FALSE(Multigrid<double>(make_hierarchy(five_point_stencil(15, 15, 0.), 2), options).is_singular());
      EXPECT_FALSE(Multigrid<double>(make_hierarchy(five_point_stencil(15, 15, 1e-8), 2), options).is_singular());
      EXPECT_FALSE(Multigrid<double>(adaptive_hierarchy(3), options).is_singular());
      // a stencil whose rows all add up to zero
      Stencil<double> neumann = three_point_stencil(9);
      neumann.diagonal.assign(9, 2.);
      neumann.diagonal.front() = neumann.diagonal.back() = 1.;
      EXPECT_THROW(Multigrid<double>(neumann, 1, options), InvalidInput);
    }

    /** Other values for the same patterns: diagonals grow, couplings shrink, by factors that are symmetric. */
    void change_values(MultigridHierarchy &hierarchy)
    {
      const auto change = [](CrsMatrix<double> &A) {
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            A.values[p] *= A.columns[p] == i ? 1.3 + 0.01 * (i % 3) : 0.9 - 0.01 * ((i + A.columns[p]) % 5);
      };
      for (MultigridLevel &level : hierarchy.levels)
        for (CrsMatrix<double> *A : {&level.matrix, &level.interface})
          change(*A);
      change(hierarchy.matrix);
    }

    class MultigridUpdate : public MultigridBackend
    {
    };

    TEST_P(MultigridUpdate, EqualsAFreshObject)
    {
      for (const MultigridHierarchy &hierarchy : {make_hierarchy(five_point_stencil(31, 30, 0.1), 3), adaptive_hierarchy(4)})
        {
          MultigridHierarchy changed = hierarchy;
          change_values(changed);
          for (const std::string &method : method_names(as_smoother))
            if (find_method(method).runs_on(GetParam(), as_smoother))
              for (const std::string solver : {"dense", "direct", "dense, blocks that move"})
                {
                  MultigridOptions options = jacobi_multigrid(GetParam(), 0.);
                  if (solver.find("move") != std::string::npos)
                    {
                      if (method != "async" || hierarchy.is_adaptive()) // whose levels have no coordinates here
                        continue;
                      options.smoother.moving_blocks = MovingBlocksChoice::yes;
                    }
                  options.coarse_solver                   = solver.substr(0, solver.find(','));
                  options.smoother.method                 = method;
                  options.smoother.block_async.schedule   = Schedule::synchronous;
                  options.smoother.block_async.storage    = Storage::double_precision;
                  options.smoother.block_async.block_size = 100;
                  Multigrid<double> updated(hierarchy, options), fresh(changed, options);
                  const Vector      b = random_vector(fresh.n_rows(), 1), expected = vmult(fresh, b);
                  for (int i = 0; i < 3; ++i) // a graph is recorded before and goes on working
                    vmult(updated, b);
                  EXPECT_GT(largest_difference(vmult(updated, b), expected), 1e-6) << method;
                  updated.update_values(changed);
                  EXPECT_LT(largest_difference(vmult(updated, b), expected), 1e-13) << method << ", " << solver;
                  EXPECT_LT(largest_difference(cycle(updated, b, b), cycle(fresh, b, b)), 1e-12) << method << ", " << solver;
                  updated.update_values(hierarchy);
                  updated.update_values(changed);
                  EXPECT_LT(largest_difference(vmult(updated, b), expected), 1e-13) << method << ", " << solver;
                }
        }
    }

    /** Trilinear elements: a times their stiffness matrix and b times their mass matrix, divided by h and h^3. */
    Stencil<double> trilinear_stencil(int n, double a, double b)
    {
      const std::array<double, 3> k = {-1., 2., -1.}, m = {1. / 6., 4. / 6., 1. / 6.};
      Stencil<double>             stencil;
      stencil.n_x = stencil.n_y = stencil.n_z = n;
      for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 3; ++y)
          for (int x = 0; x < 3; ++x)
            stencil.coefficients[9 * z + 3 * y + x] = a * (k[z] * m[y] * m[x] + m[z] * k[y] * m[x] + m[z] * m[y] * k[x]) + b * m[z] * m[y] * m[x];
      return stencil;
    }

    /**
     * The mass matrix of trilinear elements has lambda_max(D^-1 M) = 3.4, their stiffness matrix 1.5: omega must fall.
     */
    TEST_P(MultigridUpdate, TheRelaxationFactorIsThatOfTheNewMatrix)
    {
      const MultigridHierarchy before = make_hierarchy(trilinear_stencil(15, 1., 1e-3), 3); // entries on the axes are not zero
      MultigridHierarchy       after  = before;
      for (std::size_t l = 0; l < after.levels.size(); ++l)
        {
          after.levels[l].matrix.values = trilinear_stencil((4 << l) - 1, 0., 1.).to_crs().values;
          for (double &v : after.levels[l].matrix.values)
            v *= std::pow(8., 2. - static_cast<double>(l));
        }
      for (const char *method : {"async", "damped-jacobi"})
        {
          MultigridOptions options;
          options.backend                       = GetParam();
          options.smoother.method               = method;
          options.smoother.block_async.schedule = Schedule::synchronous;
          options.smoother.block_async.storage  = Storage::double_precision;
          Multigrid<double> updated(before, options), fresh(after, options);
          updated.update_values(after);
          const Vector b = random_vector(fresh.n_rows(), 1);
          EXPECT_LT(largest_difference(vmult(updated, b), vmult(fresh, b)), 1e-12) << method;
          Vector            x(b.size(), 0.);
          const SolveResult result = solve(updated, x, b, 1e-8);
          EXPECT_EQ(result.status, SolveStatus::converged) << method << ": " << result.final_residual;
          updated.update_values(before); // and it grows again
          EXPECT_LT(largest_difference(vmult(updated, b), vmult(*std::make_unique<Multigrid<double>>(before, options), b)), 1e-12) << method;
        }
    }

    /** Stencils in one to three dimensions, with a diagonal that is constant and one that varies. */
    std::vector<Stencil<double>> some_stencils(double delta)
    {
      std::vector<Stencil<double>> result = {three_point_stencil(63, delta),
                                             five_point_stencil(31, 30, delta),
                                             nine_point_stencil(30, 31, delta),
                                             seven_point_stencil(15, 14, 15, delta),
                                             twenty_seven_point_stencil(15, 15, 14, delta)};
      for (std::size_t i = 0, n = result.size(); i < n; ++i)
        {
          result.push_back(result[i]);
          for (int row = 0; row < result[i].n_rows(); ++row)
            result.back().diagonal.push_back(result[i].coefficient(0, 0, 0) + delta * (row % 3));
        }
      return result;
    }

    template <typename Number>
    void stencil_equals_a_fresh_one(Backend backend, double tolerance)
    {
      const std::vector<Stencil<double>> before = some_stencils(0.1), after = some_stencils(1.7);
      for (std::size_t i = 0; i < before.size(); ++i)
        for (const std::string &method : method_names(as_smoother))
          if (find_method(method).runs_on(backend, as_smoother))
            for (const Schedule schedule : {Schedule::synchronous, Schedule::replay})
              {
                MultigridOptions options              = jacobi_multigrid(backend, 0.);
                options.smoother.method               = method;
                options.smoother.block_async.schedule = schedule;
                if (schedule == Schedule::replay && (method != "async" || backend == Backend::cuda))
                  continue;
                const std::string what = method + " " + std::to_string(i);
                Multigrid<Number> updated(before[i], 3, options), fresh(after[i], 3, options);
                const Vector      b = random_vector(fresh.n_rows(), 1), expected = vmult(fresh, b);
                const double      size = norm(expected);
                for (int k = 0; k < 3; ++k) // a graph is recorded before and goes on working
                  vmult(updated, b);
                EXPECT_GT(norm(vmult(updated, b) - expected), 0.01 * size) << what;
                EXPECT_TRUE(updated.update_values(after[i]));
                if (schedule == Schedule::replay) // whose random numbers go on
                  {
                    EXPECT_LT(norm(vmult(updated, b) - expected), 0.01 * size) << what;
                    continue;
                  }
                EXPECT_LE(norm(vmult(updated, b) - expected), tolerance * size) << what;
                EXPECT_LE(norm(cycle(updated, b, b) - cycle(fresh, b, b)), tolerance * norm(b)) << what;
                EXPECT_LE(norm(multiply(updated, b) - multiply(fresh, b)), tolerance * 100. * norm(b)) << what;
                EXPECT_TRUE(updated.update_values(before[i]));
                EXPECT_TRUE(updated.update_values(after[i]));
                EXPECT_LE(norm(vmult(updated, b) - expected), tolerance * size) << what;
              }
    }

    TEST_P(MultigridUpdate, StencilEqualsAFreshOne)
    {
      stencil_equals_a_fresh_one<double>(GetParam(), 1e-13);
      stencil_equals_a_fresh_one<float>(GetParam(), 1e-5);
    }

    /** Of a stencil with lambda_max(D^-1 A) = 3.4 after one with 1.5. */
    TEST_P(MultigridUpdate, TheRelaxationFactorIsThatOfTheNewStencil)
    {
      const Stencil<double> before = trilinear_stencil(15, 1., 1e-3), after = trilinear_stencil(15, 1e-3, 1.);
      for (const char *method : {"async", "damped-jacobi"})
        {
          MultigridOptions options;
          options.backend                       = GetParam();
          options.smoother.method               = method;
          options.smoother.block_async.schedule = Schedule::synchronous;
          Multigrid<double> updated(before, 3, options), fresh(after, 3, options);
          ASSERT_TRUE(updated.update_values(after));
          const Vector b = random_vector(fresh.n_rows(), 1);
          EXPECT_LT(largest_difference(vmult(updated, b), vmult(fresh, b)), 1e-12) << method;
          Vector x(b.size(), 0.);
          EXPECT_EQ(solve(updated, x, b, 1e-8).status, SolveStatus::converged) << method;
        }
    }

    TEST_P(MultigridUpdate, AStencilOfAnotherPatternChangesNothing)
    {
      MultigridOptions  options = jacobi_multigrid(GetParam(), 0.7);
      Multigrid<double> multigrid(five_point_stencil(15, 15, 0.), 3, options);
      const Vector      b = random_vector(multigrid.n_rows(), 1), expected = vmult(multigrid, b);
      Stencil<double>   varying = five_point_stencil(15, 15, 0.);
      varying.diagonal.assign(225, 4.5);
      for (const Stencil<double> &other : {five_point_stencil(15, 14, 0.), nine_point_stencil(15, 15, 0.), varying})
        EXPECT_FALSE(multigrid.update_values(other));
      EXPECT_EQ(vmult(multigrid, b), expected);
      // and what cannot be
      Stencil<double> not_finite      = five_point_stencil(15, 15, 0.);
      not_finite.coefficient(1, 0, 0) = std::numeric_limits<double>::quiet_NaN();
      EXPECT_THROW(multigrid.update_values(not_finite), InvalidInput);
      EXPECT_THROW(Multigrid<double>(make_hierarchy(five_point_stencil(15, 15, 0.), 3), options).update_values(five_point_stencil(15, 15, 0.)),
                   InvalidInput);
    }

    TEST_P(MultigridUpdate, RefusesWhatDoesNotFit)
    {
      const MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(15, 15, 0.), 3);
      const MultigridOptions   options   = jacobi_multigrid(GetParam(), 0.7);
      Multigrid<double>        multigrid(hierarchy, options);
      EXPECT_THROW(multigrid.update_values(make_hierarchy(five_point_stencil(15, 15, 0.), 2)), InvalidInput);
      EXPECT_THROW(multigrid.update_values(make_hierarchy(nine_point_stencil(15, 15, 0.), 3)), InvalidInput);
      EXPECT_THROW(multigrid.update_values(adaptive_hierarchy(3)), InvalidInput);
      MultigridHierarchy bad         = hierarchy;
      bad.levels[2].matrix.values[0] = 0.;
      EXPECT_THROW(multigrid.update_values(bad), InvalidInput);
      Multigrid<double> users(hierarchy, options, dense_coarse_solver(hierarchy.levels[0].matrix, multigrid.memory_space()));
      EXPECT_THROW(users.update_values(hierarchy), InvalidInput);
      EXPECT_THROW(Multigrid<double>(five_point_stencil(15, 15, 0.), 3, options).update_values(hierarchy), InvalidInput);
    }

    /** From a singular problem to one with mass, and back. */
    TEST_P(MultigridUpdate, FindsOutAnewWhetherTheProblemIsSingular)
    {
      const MultigridHierarchy neumann   = neumann_hierarchy(4);
      MultigridHierarchy       helmholtz = neumann;
      for (std::size_t l = 0; l < helmholtz.levels.size(); ++l)
        {
          CrsMatrix<double> &A = helmholtz.levels[l].matrix;
          for (int i = 0; i < A.n_rows; ++i)
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (A.columns[p] == i)
                A.values[p] += 0.1 * std::pow(4., 3. - static_cast<double>(l));
        }
      for (const char *solver : {"dense", "direct"})
        {
          MultigridOptions options             = jacobi_multigrid(GetParam(), 0.8);
          options.coarse_solver                = solver;
          options.smoother.block_async.storage = Storage::double_precision;
          const CrsMatrix<double> &A           = helmholtz.levels.back().matrix;
          Multigrid<double>        multigrid(neumann, options);
          const Vector             b = random_vector(multigrid.n_rows(), 1);
          Vector                   x(b.size(), 0.);
          multigrid.update_values(helmholtz);
          EXPECT_FALSE(multigrid.is_singular());
          EXPECT_EQ(solve(multigrid, x, b, 1e-10).status, SolveStatus::converged);
          EXPECT_LT(relative_residual(A, x, b), 1.01e-10);
          multigrid.update_values(neumann);
          EXPECT_TRUE(multigrid.is_singular());
          EXPECT_EQ(solve(multigrid, x, b, 1e-10).status, SolveStatus::converged);
          EXPECT_NEAR(mean(x), 0., 1e-12);
        }
    }

    INSTANTIATE_TEST_SUITE_P(Backends, MultigridUpdate, testing::Values(Backend::host, Backend::cuda), backend_name);
    INSTANTIATE_TEST_SUITE_P(Backends, MultigridSingular, testing::Values(Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
