// SPDX-License-Identifier: Apache-2.0
// Hierarchies spread over the ranks against those of one rank. Run with 2 and 4 ranks, too; one rank is a rank.
#include "level_problem.h"

#include <solvers/base/errors.h>
#include <solvers/dealii/krylov_coarse_solver.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/distributed/mpi/gathered_coarse_solver.h>
#include <solvers/relaxation/diagonal.h>

#include <deal.II/base/mpi.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <unistd.h>

namespace leopard
{
  namespace
  {
    using namespace dealii;

    /** Values at points, from all ranks of a communicator. */
    using Values = std::map<std::array<long, 3>, double>;

    Values values_at_points(const std::vector<double> &coordinates, int dim, const std::vector<double> &v, MPI_Comm comm)
    {
      std::vector<std::pair<std::array<long, 3>, double>> own;
      for (std::size_t i = 0; i < coordinates.size() / dim; ++i)
        {
          std::array<long, 3> key = {0, 0, 0};
          for (int d = 0; d < dim; ++d)
            key[d] = std::lround(coordinates[i * dim + d] * (1 << 20));
          own.push_back({key, v[i]});
        }
      Values all;
      for (const auto &list : Utilities::MPI::all_gather(comm, own))
        for (const auto &[key, value] : list)
          EXPECT_TRUE(all.emplace(key, value).second) << "an unknown with two owners";
      return all;
    }

    void expect_equal(const Values &found, const Values &expected, const std::string &what)
    {
      ASSERT_EQ(found.size(), expected.size()) << what;
      for (const auto &[key, value] : expected)
        {
          ASSERT_EQ(found.count(key), 1u) << what;
          EXPECT_NEAR(found.at(key), value, 1e-12) << what << " at " << key[0] << " " << key[1] << " " << key[2];
        }
    }

    /** A function of the place. */
    std::vector<double> function_of(const std::vector<double> &coordinates, int dim, int n_columns)
    {
      std::vector<double> v(n_columns, 1e300); // ghosts that nobody brings up to date are noticed
      for (std::size_t i = 0; i < coordinates.size() / dim; ++i)
        {
          v[i] = 1.;
          for (int d = 0; d < dim; ++d)
            v[i] += std::sin((3. + d) * coordinates[i * dim + d] + d);
        }
      return v;
    }

    void update_ghosts(std::vector<double> &v, const std::shared_ptr<const Communication<double>> &communication)
    {
      if (communication != nullptr)
        communication->update_ghosts(v.data(), MemorySpace::host);
    }

    bool hangs(const AffineConstraints<double> &constraints, types::global_dof_index dof)
    {
      return constraints.is_constrained(dof) && !constraints.get_constraint_entries(dof)->empty();
    }

    /** All that can be done with a hierarchy, by name, with values at points. */
    template <int dim>
    std::map<std::string, Values> products(const LevelProblem<dim> &problem, unsigned int n_levels)
    {
      const MPI_Comm                comm      = problem.dof_handler.get_communicator();
      const MultigridHierarchy      hierarchy = problem.hierarchy(n_levels);
      std::map<std::string, Values> results;
      const auto                    record =
        [&](const std::string &name, unsigned int l, const CrsMatrix<double> &A, const std::vector<double> &x, unsigned int to_level) {
          std::vector<double> y(A.n_rows);
          EXPECT_EQ(static_cast<int>(x.size()), A.n_columns) << name;
          multiply(A, x.data(), y.data());
          results[name + std::to_string(l)] = values_at_points(hierarchy.levels[to_level].coordinates, dim, y, comm);
        };
      std::vector<std::vector<double>> x;
      for (const MultigridLevel &level : hierarchy.levels)
        {
          x.push_back(function_of(level.coordinates, dim, level.matrix.n_columns));
          update_ghosts(x.back(), level.communication);
        }
      std::map<types::global_dof_index, Point<dim>> points;
      DoFTools::map_dofs_to_support_points(problem.mapping, problem.dof_handler, points);
      std::vector<double> own_points;
      for (const auto &[dof, point] : points)
        if (problem.dof_handler.locally_owned_dofs().is_element(dof))
          for (int d = 0; d < dim; ++d) // hanging nodes may be where other nodes are
            own_points.push_back(point[d] + (d == 0 && hangs(problem.constraints, dof) ? 100. : 0.));
      std::vector<double> global = function_of(own_points, dim, hierarchy.finest_matrix().n_columns), up(global.size(), 0.);
      update_ghosts(global, hierarchy.communication);
      for (unsigned int l = 0; l < hierarchy.levels.size(); ++l)
        {
          const MultigridLevel &level = hierarchy.levels[l];
          record("A", l, level.matrix, x[l], l);
          if (l > 0)
            {
              record("P", l, level.prolongation, x[l - 1], l);
              record("R", l, level.restriction.n_columns > 0 ? level.restriction : transpose(level.prolongation), x[l], l - 1);
            }
          if (l > 0 && hierarchy.is_adaptive())
            {
              record("E", l, level.interface, x[l], l);
              record("E^T", l, level.interface_transpose, x[l], l);
            }
          std::vector<double> down(level.matrix.n_rows, 0.);
          for (std::size_t i = 0; i < level.global_rows.size(); ++i)
            {
              const int g = level.global_rows[i], r = level.level_rows[i];
              EXPECT_TRUE(g < hierarchy.matrix.n_rows || r < level.matrix.n_rows) << "a pair of ghosts";
              if (r < level.matrix.n_rows)
                down[r] = global[g];
              if (g < hierarchy.matrix.n_rows)
                up[g] += x[l][r];
            }
          results["down" + std::to_string(l)] = values_at_points(level.coordinates, dim, down, comm);
        }
      results["up"] = values_at_points(own_points, dim, up, comm);
      std::vector<double> y(hierarchy.finest_matrix().n_rows);
      update_ghosts(global, hierarchy.is_adaptive() ? hierarchy.communication : hierarchy.levels.back().communication);
      multiply(hierarchy.finest_matrix(), global.data(), y.data());
      results["A of all"] = values_at_points(own_points, dim, y, comm);
      return results;
    }

    template <int dim>
    void check(const std::function<void(Triangulation<dim> &)> &make, unsigned int degree, unsigned int n_levels = 0)
    {
      const auto alone = distributed_mesh<dim>(MPI_COMM_SELF), shared = distributed_mesh<dim>(MPI_COMM_WORLD);
      make(*alone);
      make(*shared);
      const auto expected = products(LevelProblem<dim>(*alone, degree), n_levels), found = products(LevelProblem<dim>(*shared, degree), n_levels);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto &[name, values] : expected)
        expect_equal(found.at(name), values, name);
    }

    TEST(RanksOfMultigridHierarchy, UniformMeshes)
    {
      check<2>([](auto &mesh) { make_uniform(mesh, 4); }, 1);
      check<2>([](auto &mesh) { make_uniform(mesh, 3); }, 2, 3);
      check<3>([](auto &mesh) { make_uniform(mesh, 2); }, 1);
    }

    TEST(RanksOfMultigridHierarchy, AdaptiveMeshes)
    {
      for (const unsigned int degree : {1, 2})
        check<2>([](auto &mesh) { make_adaptive(mesh, 4); }, degree);
      check<2>([](auto &mesh) { make_adaptive(mesh, 3, 3); }, 1, 5);
      check<3>([](auto &mesh) { make_adaptive(mesh, 2); }, 1);
    }

    /** What make() throws; the same on all ranks. Where one throws and others wait for it, the alarm ends them. */
    std::string error_of_all(const std::function<void()> &make)
    {
      std::string said = "nothing";
      alarm(30);
      try
        {
          make();
        }
      catch (const std::exception &error)
        {
          said = error.what();
        }
      for (const std::string &of_rank : Utilities::MPI::all_gather(MPI_COMM_WORLD, said))
        EXPECT_EQ(of_rank, said);
      alarm(0);
      return said;
    }

    TEST(RanksOfMultigridHierarchy, AnErrorOnOneRankIsThrownOnAll)
    {
      const unsigned int last = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) - 1, rank = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
      for (const bool adaptive : {false, true})
        {
          const auto mesh = distributed_mesh<2>(MPI_COMM_WORLD);
          adaptive ? make_adaptive(*mesh, 3) : make_uniform(*mesh, 4);
          LevelProblem<2> problem(*mesh, 1);
          int             n_cells = 0;
          const auto      make    = [&] {
            make_multigrid_hierarchy<2>(problem.mapping,
                                        problem.dof_handler,
                                        problem.constrained,
                                        local_matrix(problem.matrix),
                                        problem.constrained_rows(),
                                        [&](const auto &cell, FullMatrix<double> &local) {
                                          if (rank == last && ++n_cells == 5)
                                            throw InvalidInput("the fifth cell of the last rank");
                                          problem.cell_matrix(cell, local);
                                        });
          };
          EXPECT_EQ(error_of_all(make), "the fifth cell of the last rank");
          MultigridHierarchy hierarchy = problem.hierarchy();
          EXPECT_EQ(error_of_all([&] { PreconditionMultigrid(hierarchy, MultigridOptions()); }), "nothing");
          if (rank == last)
            (adaptive ? hierarchy.matrix : hierarchy.levels.back().matrix).values.back() = NAN;
          EXPECT_NE(error_of_all([&] { PreconditionMultigrid(hierarchy, MultigridOptions()); }).find("multigrid hierarchy, "), std::string::npos);
        }
    }

    /** A Newton step changes a level's values and keeps its pattern. */
    TEST(RanksOfCoarseSolvers, TakeNewValues)
    {
      const auto mesh = distributed_mesh<2>(MPI_COMM_WORLD);
      make_uniform(*mesh, 6);
      const LevelProblem<2>    problem(*mesh, 1, false, {}, 1.);
      const MultigridHierarchy hierarchy = problem.hierarchy(2);
      const MultigridLevel    &level     = hierarchy.levels.front();
      CrsMatrix<double>        changed   = level.matrix;
      for (const int entry : diagonal_entries(changed))
        changed.values[entry] += 1. + entry % 3;
      for (const std::string name : {"cg", "amg", "dense", "direct"})
        {
          MultigridOptions                      options;
          std::unique_ptr<CoarseSolver<double>> solver;
          options.n_threads     = 1;
          options.coarse_solver = name;
          if (name == "cg" || name == "amg")
            solver = make_krylov_coarse_solver(name, level, options.backend, MPI_COMM_WORLD);
          else
            solver = std::make_unique<GatheredCoarseSolver>(level, options, MPI_COMM_WORLD);
          for (const CrsMatrix<double> &A : {changed, level.matrix})
            {
              solver->update(A, false);
              std::vector<double>       x(A.n_columns, 0.), product(A.n_rows);
              const std::vector<double> b = function_of(level.coordinates, 2, A.n_rows);
              solver->solve(x.data(), b.data());
              multiply(A, x.data(), product.data());
              for (int i = 0; i < A.n_rows; ++i)
                EXPECT_NEAR(product[i], b[i], 1e-6) << name << ", row " << i;
            }
        }
    }
  } // namespace
} // namespace leopard
