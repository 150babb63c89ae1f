// SPDX-License-Identifier: Apache-2.0
#include "level_problem.h"

#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/multigrid/mg_tools.h>
#include <deal.II/multigrid/mg_transfer.h>

#include <gtest/gtest.h>

#include <random>

namespace leopard
{
  namespace
  {
    using namespace dealii;

    std::vector<double> random_vector(unsigned int n, unsigned int seed)
    {
      std::mt19937        random(seed);
      std::vector<double> v(n);
      for (double &value : v)
        value = std::uniform_real_distribution<double>(-1., 1.)(random);
      return v;
    }

    /** The number on the active mesh of each unknown of the finest level of a globally refined mesh. */
    template <int dim>
    std::vector<types::global_dof_index> active_numbers(const DoFHandler<dim> &dof_handler)
    {
      std::vector<types::global_dof_index> result(dof_handler.n_dofs()), active(dof_handler.get_fe().n_dofs_per_cell()), level(active.size());
      for (const auto &cell : dof_handler.active_cell_iterators())
        {
          cell->get_dof_indices(active);
          cell->get_mg_dof_indices(level);
          for (unsigned int i = 0; i < active.size(); ++i)
            result[level[i]] = active[i];
        }
      return result;
    }

    template <int dim>
    void check_prolongation(const Triangulation<dim> &mesh, unsigned int degree)
    {
      const LevelProblem<dim>            problem(mesh, degree);
      const MultigridHierarchy           hierarchy = problem.hierarchy();
      MGTransferPrebuilt<Vector<double>> transfer(problem.constrained);
      transfer.build(problem.dof_handler);
      ASSERT_EQ(hierarchy.levels.size(), mesh.n_levels());
      for (unsigned int l = 1; l < hierarchy.levels.size(); ++l)
        {
          const CrsMatrix<double>  &P = hierarchy.levels[l].prolongation;
          const std::vector<double> x = random_vector(P.n_columns, l);
          std::vector<double>       y(P.n_rows);
          multiply(P, x.data(), y.data());
          const Vector<double> coarse(x.begin(), x.end());
          Vector<double>       fine(P.n_rows);
          transfer.prolongate(l, fine, coarse);
          std::vector<types::global_dof_index> number(P.n_rows);
          if (hierarchy.is_adaptive() || l + 1 < hierarchy.levels.size())
            std::iota(number.begin(), number.end(), 0);
          else
            number = active_numbers(problem.dof_handler);
          for (int i = 0; i < P.n_rows; ++i)
            EXPECT_NEAR(y[number[i]], fine[i], 1e-13) << "level " << l << ", row " << i;
        }
    }

    TEST(MultigridHierarchy, ProlongationIsThatOfMGTransferPrebuilt)
    {
      for (const unsigned int degree : {1, 2, 3})
        {
          check_prolongation<1>(*uniform_mesh<1>(5), degree);
          check_prolongation<2>(*uniform_mesh<2>(3), degree);
          check_prolongation<1>(*adaptive_mesh<1>(3), degree);
          check_prolongation<2>(*adaptive_mesh<2>(3), degree);
        }
      check_prolongation<3>(*uniform_mesh<3>(2), 1);
      check_prolongation<3>(*adaptive_mesh<3>(2), 2);
    }

    /** The entry in row i and column j, 0 if it is not stored. */
    double entry(const CrsMatrix<double> &A, int i, int j)
    {
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (A.columns[p] == j)
          return A.values[p];
      return 0.;
    }

    /** Dense level matrices by the definition: sums over the level's cells, split by where the unknowns lie. */
    template <int dim>
    void check_level_matrices(const Triangulation<dim> &mesh, unsigned int degree, bool vertex_quadrature)
    {
      const LevelProblem<dim>  problem(mesh, degree, vertex_quadrature);
      const MultigridHierarchy hierarchy = problem.hierarchy();
      const unsigned int       n         = problem.dof_handler.get_fe().n_dofs_per_cell();
      for (unsigned int l = 0; l < hierarchy.levels.size(); ++l)
        {
          const unsigned int N = problem.dof_handler.n_dofs(l);
          FullMatrix<double> all(N, N), local(n, n);
          const bool         in_active_order = !hierarchy.is_adaptive() && l + 1 == hierarchy.levels.size();
          const auto         number          = in_active_order ? active_numbers(problem.dof_handler) : std::vector<types::global_dof_index>();
          std::vector<types::global_dof_index> indices(n);
          for (const auto &cell : problem.dof_handler.mg_cell_iterators_on_level(l))
            {
              local = 0.;
              problem.cell_matrix(cell, local);
              cell->get_mg_dof_indices(indices);
              for (unsigned int i = 0; i < n; ++i)
                for (unsigned int j = 0; j < n; ++j)
                  all(indices[i], indices[j]) += local(i, j);
            }
          const auto outside = [&](unsigned int i) {
            return problem.constrained.is_boundary_index(l, i) || problem.constrained.at_refinement_edge(l, i);
          };
          const MultigridLevel &level = hierarchy.levels[l];
          for (unsigned int i = 0; i < N; ++i)
            for (unsigned int j = 0; j < N; ++j)
              {
                const int    row = in_active_order ? number[i] : i, column = in_active_order ? number[j] : j;
                const double expected = outside(i) || outside(j) ? (i == j ? 1. : 0.) : all(i, j);
                EXPECT_NEAR(entry(level.matrix, row, column), expected, 1e-13) << "level " << l << ": " << i << ", " << j;
                if (l > 0 && hierarchy.is_adaptive())
                  {
                    const bool edge = problem.constrained.is_interface_matrix_entry(l, i, j);
                    EXPECT_NEAR(entry(level.interface, i, j), edge ? all(i, j) : 0., 1e-13);
                    EXPECT_NEAR(entry(level.interface_transpose, j, i), edge ? all(i, j) : 0., 1e-13);
                  }
              }
        }
    }

    TEST(MultigridHierarchy, LevelMatricesAreSumsOverTheLevelsCells)
    {
      check_level_matrices<1>(*uniform_mesh<1>(4), 2, false);
      check_level_matrices<1>(*adaptive_mesh<1>(3), 1, false);
      for (const bool vertex_quadrature : {false, true})
        {
          check_level_matrices<2>(*uniform_mesh<2>(3), 1, vertex_quadrature);
          check_level_matrices<2>(*adaptive_mesh<2>(2), 1, vertex_quadrature);
        }
      check_level_matrices<2>(*adaptive_mesh<2>(2), 2, false);
      check_level_matrices<3>(*adaptive_mesh<3>(1), 1, false);
    }

    TEST(MultigridHierarchy, CopyListsAreThoseOfMGTransferPrebuilt)
    {
      const auto                         mesh = adaptive_mesh<2>(3);
      const LevelProblem<2>              problem(*mesh, 2);
      const MultigridHierarchy           hierarchy = problem.hierarchy();
      MGTransferPrebuilt<Vector<double>> transfer(problem.constrained);
      transfer.build(problem.dof_handler);
      ASSERT_TRUE(hierarchy.is_adaptive());
      EXPECT_NO_THROW(hierarchy.matrix.validate());
      const std::vector<double>     g = random_vector(problem.dof_handler.n_dofs(), 1);
      const Vector<double>          global(g.begin(), g.end());
      MGLevelObject<Vector<double>> levels(0, mesh->n_levels() - 1);
      transfer.copy_to_mg(problem.dof_handler, levels, global);
      std::vector<int> times(global.size(), 0);
      for (unsigned int l = 0; l < hierarchy.levels.size(); ++l)
        {
          const MultigridLevel &level = hierarchy.levels[l];
          Vector<double>        found(level.matrix.n_rows);
          for (unsigned int i = 0; i < level.global_rows.size(); ++i)
            {
              found[level.level_rows[i]] = global[level.global_rows[i]];
              ++times[level.global_rows[i]];
            }
          found -= levels[l];
          EXPECT_EQ(found.linfty_norm(), 0.);
        }
      for (unsigned int i = 0; i < times.size(); ++i)
        {
          const bool hangs = problem.constraints.is_constrained(i) && !problem.constraints.get_constraint_entries(i)->empty();
          EXPECT_EQ(times[i], hangs ? 0 : 1) << "unknown " << i;
        }
    }

    TEST(MultigridHierarchy, CoordinatesAreTheSupportPoints)
    {
      const auto               mesh = uniform_mesh<2>(3);
      const LevelProblem<2>    problem(*mesh, 2);
      const MultigridHierarchy hierarchy = problem.hierarchy();
      std::vector<Point<2>>    points(problem.dof_handler.n_dofs());
      DoFTools::map_dofs_to_support_points(problem.mapping, problem.dof_handler, points);
      for (unsigned int i = 0; i < points.size(); ++i)
        for (unsigned int d = 0; d < 2; ++d)
          EXPECT_NEAR(hierarchy.levels.back().coordinates[2 * i + d], points[i][d], 1e-14);
      // interpolation of x is x (up to the Dirichlet boundary, where it is zero)
      for (unsigned int l = 1; l < hierarchy.levels.size(); ++l)
        {
          const CrsMatrix<double> &P = hierarchy.levels[l].prolongation;
          std::vector<double>      x(P.n_columns), y(P.n_rows);
          for (int i = 0; i < P.n_columns; ++i)
            x[i] = hierarchy.levels[l - 1].coordinates[2 * i];
          multiply(P, x.data(), y.data());
          for (int i = 0; i < P.n_rows; ++i)
            {
              const double *point = &hierarchy.levels[l].coordinates[2 * i];
              if (std::max(std::abs(point[0]), std::abs(point[1])) < 1. - 2. / (1 << (l - 1)))
                {
                  EXPECT_NEAR(y[i], point[0], 1e-13);
                }
            }
        }
    }

    TEST(MultigridHierarchy, FewerLevels)
    {
      const auto            mesh = uniform_mesh<2>(4);
      const LevelProblem<2> problem(*mesh, 1);
      const auto            all = problem.hierarchy(), three = problem.hierarchy(3);
      ASSERT_EQ(all.levels.size(), 5u);
      ASSERT_EQ(three.levels.size(), 3u);
      EXPECT_EQ(three.levels[0].matrix.values, all.levels[2].matrix.values);
      EXPECT_EQ(three.levels[0].prolongation.n_rows, 0);
      EXPECT_EQ(three.levels[1].prolongation.values, all.levels[3].prolongation.values);
    }

    template <typename Function>
    std::string message_of(const Function &function)
    {
      try
        {
          function();
        }
      catch (const InvalidInput &error)
        {
          return error.what();
        }
      return "no exception";
    }

    TEST(MultigridHierarchy, LevelsThatTheMeshDoesNotHave)
    {
      const auto            uniform = uniform_mesh<2>(2), adaptive = adaptive_mesh<2>(3);
      const LevelProblem<2> one(*uniform, 1), other(*adaptive, 1);
      EXPECT_NE(message_of([&] { one.hierarchy(4); }).find("4 levels are asked for, but the mesh has 3"), std::string::npos);
      EXPECT_NE(message_of([&] { other.hierarchy(1); }).find("does not cover the domain"), std::string::npos);
      ASSERT_EQ(adaptive->n_levels(), 5u); // refined once globally, so that the coarsest level may be left out
      EXPECT_NE(message_of([&] { other.hierarchy(1); }).find("at least 4 levels of the 5"), std::string::npos);
      EXPECT_EQ(other.hierarchy(4).levels.size(), 4u);
    }
  } // namespace
} // namespace leopard
