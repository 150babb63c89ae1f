// SPDX-License-Identifier: Apache-2.0
// Adaptive meshes, and levels with ghosts.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/multigrid/operations.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace leopard
{
  namespace
  {
    /**
     * deal.II's Multigrid::level_v_step, in dense algebra, with Jacobi as smoother, from right-hand sides in the copy
     * lists to the correction.
     */
    class LocalSmoothing
    {
    public:
      LocalSmoothing(const MultigridHierarchy &hierarchy_, double omega_, int n_steps_)
        : hierarchy(hierarchy_)
        , omega(omega_)
        , n_steps(n_steps_)
      {
      }

      Vector vmult(const Vector &global) const
      {
        std::vector<Vector> defect, solution;
        for (const MultigridLevel &level : hierarchy.levels)
          {
            defect.emplace_back(level.matrix.n_rows, 0.);
            solution.emplace_back(level.matrix.n_rows, 0.);
            for (std::size_t i = 0; i < level.global_rows.size(); ++i)
              defect.back()[level.level_rows[i]] = global[level.global_rows[i]];
          }
        step(static_cast<int>(hierarchy.levels.size()) - 1, defect, solution);
        Vector result(global.size(), 0.);
        for (std::size_t l = 0; l < hierarchy.levels.size(); ++l)
          for (std::size_t i = 0; i < hierarchy.levels[l].global_rows.size(); ++i)
            result[hierarchy.levels[l].global_rows[i]] = solution[l][hierarchy.levels[l].level_rows[i]];
        return result;
      }

    private:
      void smooth(const Dense &A, Vector &x, const Vector &b) const
      {
        for (int step = 0; step < n_steps; ++step)
          {
            const Vector r = b - A * x;
            for (std::size_t i = 0; i < x.size(); ++i)
              x[i] += omega * r[i] / A(static_cast<int>(i), static_cast<int>(i));
          }
      }

      void step(int l, std::vector<Vector> &defect, std::vector<Vector> &solution) const
      {
        const MultigridLevel &level = hierarchy.levels[l];
        const Dense           A     = dense(level.matrix);
        if (l == 0)
          {
            solution[0] = inverse(A) * defect[0];
            return;
          }
        const Dense P = dense(level.prolongation), E = dense(level.interface);
        smooth(A, solution[l], defect[l]);
        const Vector t = defect[l] - (A * solution[l] + E * solution[l]);
        defect[l - 1]  = defect[l - 1] + transpose(P) * t;
        step(l - 1, defect, solution);
        solution[l] = solution[l] + P * solution[l - 1];
        defect[l]   = defect[l] - transpose(E) * solution[l];
        smooth(A, solution[l], defect[l]);
      }

      const MultigridHierarchy &hierarchy;
      const double              omega;
      const int                 n_steps;
    };

    class MultigridLocalSmoothing : public MultigridBackend
    {
    };

    TEST_P(MultigridLocalSmoothing, IsTheAlgorithmOfDealII)
    {
      for (const int n_levels : {2, 3, 5})
        for (const bool given_transposed : {false, true})
          {
            MultigridHierarchy hierarchy = adaptive_hierarchy(n_levels);
            if (given_transposed)
              for (int l = 1; l < n_levels; ++l)
                {
                  hierarchy.levels[l].interface_transpose = transpose(hierarchy.levels[l].interface);
                  hierarchy.levels[l].restriction         = transpose(hierarchy.levels[l].prolongation);
                }
            const MultigridOptions options = jacobi_multigrid(GetParam(), 2. / 3.);
            const LocalSmoothing   oracle(hierarchy, 2. / 3., 2);
            Multigrid<double>      multigrid(hierarchy, options);
            const int              n = multigrid.n_rows();
            ASSERT_EQ(n, 2 * n_levels + 1);
            const Dense C        = matrix_of(n, [&](const Vector &b) { return vmult(multigrid, b); });
            const Dense expected = matrix_of(n, [&](const Vector &b) { return oracle.vmult(b); });
            EXPECT_LT(largest_difference(C, expected), 1e-13) << n_levels << " levels";
            EXPECT_LT(largest_difference(C, transpose(C)), 1e-13) << "a preconditioner for conjugate gradients is symmetric";
            const Vector x = random_vector(n, 1), b = random_vector(n, 2);
            EXPECT_LT(largest_difference(cycle(multigrid, x, b), x + C * (b - dense(hierarchy.matrix) * x)), 1e-12);
            Vector Ax(n);
            leopard::multiply(hierarchy.matrix, x.data(), Ax.data());
            EXPECT_LT(largest_difference(multiply(multigrid, x), Ax), 1e-12);
          }
    }

    TEST_P(MultigridLocalSmoothing, ConvergesOnManyLevels)
    {
      const MultigridHierarchy hierarchy = adaptive_hierarchy(12);
      MultigridOptions         options   = jacobi_multigrid(GetParam(), 2. / 3.);
      for (const char *method : {"damped-jacobi", "async", "multicolour-gauss-seidel", "chebyshev"})
        {
          options.smoother.method = method;
          options.smoother.omega  = 0.;
          Multigrid<double> multigrid(hierarchy, options);
          const Vector      b = random_vector(multigrid.n_rows(), 3);
          Vector            x(b.size(), 0.);
          const SolveResult result = solve(multigrid, x, b, 1e-10, 20);
          EXPECT_EQ(result.status, SolveStatus::converged) << method;
          for (std::size_t i = 0; i < result.history_iterations.size(); ++i)
            EXPECT_EQ(result.history_iterations[i], static_cast<int>(i)) << "each cycle is followed by a test";
          EXPECT_LT(relative_residual(hierarchy.matrix, x, b), 1.01e-10) << method;
          EXPECT_NE(multigrid.description().find("local smoothing"), std::string::npos);
        }
    }

    TEST_P(MultigridLocalSmoothing, RefusesOtherCycles)
    {
      for (const auto &[cycle, full_start, word] : {std::tuple(CycleType::w, false, "W-cycle"),
                                                    std::tuple(CycleType::f, false, "F-cycle"),
                                                    std::tuple(CycleType::v, true, "full multigrid start")})
        {
          MultigridOptions options = jacobi_multigrid(GetParam(), 0.7);
          options.cycle            = cycle;
          options.full_start       = full_start;
          try
            {
              Multigrid<double>(adaptive_hierarchy(3), options);
              FAIL() << word;
            }
          catch (const InvalidInput &error)
            {
              EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
            }
        }
    }

    INSTANTIATE_TEST_SUITE_P(Backends, MultigridLocalSmoothing, testing::Values(Backend::host, Backend::cuda), backend_name);

    /** Ghosts that are copies of own entries: what several ranks do, in one process. */
    class CopiesAsGhosts : public Communication<double>
    {
    public:
      CopiesAsGhosts(int n_, std::vector<int> sources_)
        : n(n_)
        , sources(std::move(sources_))
      {
      }
      bool has_ghosts() const override { return true; }
      void update_ghosts(double *x, MemorySpace space) const override
      {
        ++n_exchanges;
        Vector values(n);
        if (space == MemorySpace::device)
          device::copy_to_host(values.data(), x, n * sizeof(double));
        else
          std::copy_n(x, n, values.begin());
        Vector ghosts;
        for (const int i : sources)
          ghosts.push_back(values[i]);
        if (space == MemorySpace::device)
          device::copy_to_device(x + n, ghosts.data(), ghosts.size() * sizeof(double));
        else
          std::copy(ghosts.begin(), ghosts.end(), x + n);
      }
      std::unique_ptr<const Communication<double>> reordered(const std::vector<int> &old_row) const override
      {
        std::vector<int> new_row(n), new_sources;
        for (int i = 0; i < n; ++i)
          new_row[old_row[i]] = i;
        for (const int i : sources)
          new_sources.push_back(new_row[i]);
        return std::make_unique<CopiesAsGhosts>(n, new_sources);
      }
      mutable int n_exchanges = 0;

    private:
      const int              n;
      const std::vector<int> sources;
    };

    /** Rows of the first half read the second half's columns through ghosts, and the other way round. */
    CrsMatrix<double> through_ghosts(CrsMatrix<double> A, int n_columns)
    {
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] != i && (2l * i < A.n_rows) != (2l * A.columns[p] < n_columns))
            A.columns[p] += n_columns;
      A.n_columns = 2 * n_columns;
      return A;
    }

    MultigridHierarchy with_ghosts(MultigridHierarchy hierarchy)
    {
      for (std::size_t l = 0; l < hierarchy.levels.size(); ++l)
        {
          MultigridLevel  &level = hierarchy.levels[l];
          const int        n     = level.matrix.n_rows;
          std::vector<int> all(n);
          std::iota(all.begin(), all.end(), 0);
          level.communication = std::make_shared<CopiesAsGhosts>(n, all);
          level.matrix        = through_ghosts(level.matrix, n);
          if (l == 0)
            continue;
          const int n_coarse = hierarchy.levels[l - 1].matrix.n_rows;
          level.restriction  = through_ghosts(transpose(level.prolongation), n);
          level.prolongation = through_ghosts(level.prolongation, n_coarse);
          if (level.interface.n_rows > 0)
            {
              level.interface_transpose = through_ghosts(transpose(level.interface), n);
              level.interface           = through_ghosts(level.interface, n);
            }
        }
      if (hierarchy.is_adaptive())
        {
          const int        n = hierarchy.matrix.n_rows;
          std::vector<int> all(n);
          std::iota(all.begin(), all.end(), 0);
          hierarchy.communication = std::make_shared<CopiesAsGhosts>(n, all);
          hierarchy.matrix        = through_ghosts(hierarchy.matrix, n);
        }
      return hierarchy;
    }

    class MultigridWithGhosts : public MultigridBackend
    {
    protected:
      void expect_same(const MultigridHierarchy &hierarchy, MultigridOptions options)
      {
        const MultigridHierarchy distributed  = with_ghosts(hierarchy);
        options.smoother.block_async.schedule = Schedule::synchronous;
        Multigrid<double> one(hierarchy, options);
        const MemorySpace space = one.memory_space();
        Multigrid<double> other(distributed, options, dense_coarse_solver(hierarchy.levels[0].matrix, space));
        ASSERT_EQ(other.n_rows(), one.n_rows());
        ASSERT_EQ(other.n_columns(), 2 * one.n_rows());
        const Vector x = random_vector(one.n_rows(), 1), b = random_vector(one.n_rows(), 2);
        EXPECT_LT(largest_difference(vmult(other, b), vmult(one, b)), 1e-12);
        EXPECT_LT(largest_difference(cycle(other, x, b), cycle(one, x, b)), 1e-12);
        EXPECT_LT(largest_difference(multiply(other, x), multiply(one, x)), 1e-12);
        Vector            y(b.size(), 0.), z = y;
        const SolveResult first = solve(one, y, b, 1e-10), second = solve(other, z, b, 1e-10);
        EXPECT_EQ(first.status, SolveStatus::converged);
        EXPECT_EQ(second.status, SolveStatus::converged);
        EXPECT_EQ(first.n_iterations, second.n_iterations);
        EXPECT_LT(largest_difference(y, z), 1e-8 * norm(y));
        EXPECT_EQ(other.diagnosis(), "");
      }
    };

    TEST_P(MultigridWithGhosts, IsTheSameAsWithout)
    {
      MultigridOptions options = jacobi_multigrid(GetParam(), 0.8);
      expect_same(make_hierarchy(five_point_stencil(21, 20, 0.1), 3), options);
      options.full_start = true;
      options.cycle      = CycleType::w;
      expect_same(make_hierarchy(five_point_stencil(21, 20, 0.1), 3), options);
    }

    /** The exchange in another order of the own entries. */
    TEST_P(MultigridWithGhosts, InTheOrderOfBlocks)
    {
      MultigridOptions options                      = jacobi_multigrid(GetParam(), 0.8);
      options.smoother.method                       = "async";
      options.smoother.block_async.block_size       = 64;
      options.smoother.block_async.local_iterations = 1; // with more, ghosts would stand still where own values move
      expect_same(make_hierarchy(five_point_stencil(31, 29, 0.1), 3), options);
    }

    TEST_P(MultigridWithGhosts, OnAdaptiveMeshes)
    {
      expect_same(adaptive_hierarchy(5), jacobi_multigrid(GetParam(), 2. / 3.));
    }

    /** A pair of which the rank owns only one: the other end is the ghost that copies it. */
    TEST_P(MultigridWithGhosts, CopyListsThroughGhosts)
    {
      const MultigridHierarchy plain       = adaptive_hierarchy(3);
      MultigridHierarchy       distributed = with_ghosts(plain);
      for (MultigridLevel &level : distributed.levels)
        {
          // each pair as the two ranks see it that own one end each
          std::vector<int> global_rows, level_rows;
          for (std::size_t i = 0; i < level.global_rows.size(); ++i)
            {
              global_rows.push_back(level.global_rows[i] + plain.matrix.n_rows);
              level_rows.push_back(level.level_rows[i]);
              global_rows.push_back(level.global_rows[i]);
              level_rows.push_back(level.level_rows[i] + level.matrix.n_rows);
            }
          level.global_rows = global_rows;
          level.level_rows  = level_rows;
        }
      const MultigridOptions options = jacobi_multigrid(GetParam(), 2. / 3.);
      Multigrid<double>      one(plain, options);
      Multigrid<double>      other(distributed, options, dense_coarse_solver(plain.levels[0].matrix, one.memory_space()));
      const Vector           b = random_vector(one.n_rows(), 2);
      EXPECT_LT(largest_difference(vmult(other, b), vmult(one, b)), 1e-13);

      distributed.levels[1].global_rows[0] = plain.matrix.n_rows;
      distributed.levels[1].level_rows[0]  = plain.levels[1].matrix.n_rows;
      EXPECT_THROW(distributed.validate(), InvalidInput);
    }

    TEST_P(MultigridWithGhosts, WantsACoarseSolver)
    {
      for (const char *solver : {"dense", "direct"})
        {
          MultigridOptions options = jacobi_multigrid(GetParam(), 0.8);
          options.coarse_solver    = solver;
          try
            {
              Multigrid<double>(with_ghosts(make_hierarchy(five_point_stencil(9, 9, 0.), 2)), options);
              FAIL();
            }
          catch (const InvalidInput &error)
            {
              EXPECT_NE(std::string(error.what()).find("ghosts"), std::string::npos) << error.what();
            }
        }
    }

    INSTANTIATE_TEST_SUITE_P(Backends, MultigridWithGhosts, testing::Values(Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
