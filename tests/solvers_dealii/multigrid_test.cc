// SPDX-License-Identifier: Apache-2.0
// Our multigrid on deal.II's levels against deal.II's own, and as a solver and preconditioner.
#include "level_problem.h"

#include <solvers/base/errors.h>
#include <solvers/dealii/krylov_coarse_solver.h>
#include <solvers/dealii/precondition_block_async.h>
#include <solvers/dealii/precondition_multigrid.h>

#include <deal.II/lac/householder.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/multigrid/mg_coarse.h>
#include <deal.II/multigrid/mg_matrix.h>
#include <deal.II/multigrid/mg_smoother.h>
#include <deal.II/multigrid/mg_transfer.h>
#include <deal.II/multigrid/multigrid.h>

#include <gtest/gtest.h>

#include <random>

namespace leopard
{
  namespace
  {
    using namespace dealii;

    /** A stored matrix for deal.II, rows and columns i at number[i]. */
    struct DealMatrix
    {
      void reinit(const CrsMatrix<double> &A, const std::vector<unsigned int> &number)
      {
        DynamicSparsityPattern entries(A.n_rows, A.n_rows);
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            entries.add(number[i], number[A.columns[p]]);
        pattern.copy_from(entries);
        matrix.reinit(pattern);
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            matrix.set(number[i], number[A.columns[p]], A.values[p]);
      }
      SparsityPattern      pattern;
      SparseMatrix<double> matrix;
    };

    /**
     * The level's number of each unknown of the hierarchy's level: another one on the finest of a globally refined mesh
     * only.
     */
    template <int dim>
    std::vector<unsigned int> level_numbers(const LevelProblem<dim> &problem, const MultigridHierarchy &hierarchy, unsigned int level)
    {
      std::vector<unsigned int> number(hierarchy.levels[level].matrix.n_rows);
      std::iota(number.begin(), number.end(), 0);
      if (hierarchy.is_adaptive() || level + 1 < hierarchy.levels.size())
        return number;
      std::vector<types::global_dof_index> active(problem.dof_handler.get_fe().n_dofs_per_cell()), of_level(active.size());
      for (const auto &cell : problem.dof_handler.active_cell_iterators())
        {
          cell->get_dof_indices(active);
          cell->get_mg_dof_indices(of_level);
          for (unsigned int i = 0; i < active.size(); ++i)
            number[active[i]] = of_level[i];
        }
      return number;
    }

    /**
     * deal.II's V-cycle with the smoother that a Relaxation class and its data make, on the hierarchy's matrices: dst =
     * C src.
     */
    template <int dim, typename Smoother>
    Vector<double> dealii_cycle(const LevelProblem<dim>                 &problem,
                                const MultigridHierarchy                &hierarchy,
                                const typename Smoother::AdditionalData &data,
                                unsigned int                             n_steps,
                                const Vector<double>                    &src)
    {
      const unsigned int                  finest = hierarchy.levels.size() - 1;
      MGLevelObject<DealMatrix>           level(0, finest), edge(0, finest);
      MGLevelObject<SparseMatrix<double>> matrices(0, finest), edges(0, finest);
      for (unsigned int l = 0; l <= finest; ++l)
        {
          const auto number = level_numbers(problem, hierarchy, l);
          level[l].reinit(hierarchy.levels[l].matrix, number);
          matrices[l].reinit(level[l].pattern);
          matrices[l].copy_from(level[l].matrix);
          CrsMatrix<double> E = hierarchy.levels[l].interface;
          if (E.n_rows == 0)
            {
              E.n_rows = E.n_columns = number.size();
              E.row_offsets.assign(number.size() + 1, 0);
            }
          edge[l].reinit(E, number);
          edges[l].reinit(edge[l].pattern);
          edges[l].copy_from(edge[l].matrix);
        }
      MGTransferPrebuilt<Vector<double>> transfer(problem.constrained);
      transfer.build(problem.dof_handler);
      mg::SmootherRelaxation<Smoother, Vector<double>> smoother;
      smoother.initialize(matrices, data);
      smoother.set_steps(n_steps);
      FullMatrix<double> coarse_matrix;
      coarse_matrix.copy_from(matrices[0]);
      MGCoarseGridHouseholder<double, Vector<double>> coarse(&coarse_matrix);
      const mg::Matrix<Vector<double>>                all(matrices), at_edges(edges);
      dealii::Multigrid<Vector<double>>               multigrid(all, coarse, transfer, smoother, smoother);
      if (hierarchy.is_adaptive())
        multigrid.set_edge_matrices(at_edges, at_edges);
      const PreconditionMG<dim, Vector<double>, MGTransferPrebuilt<Vector<double>>> preconditioner(problem.dof_handler, multigrid, transfer);
      Vector<double>                                                                dst(src.size());
      preconditioner.vmult(dst, src);
      return dst;
    }

    Vector<double> some_right_hand_side(unsigned int n, const IndexSet &zero_rows)
    {
      std::mt19937   random(3);
      Vector<double> b(n);
      for (double &value : b)
        value = std::uniform_real_distribution<double>(-1., 1.)(random);
      for (const auto i : zero_rows)
        b[i] = 0.;
      return b;
    }

    MultigridOptions with_smoother(const std::string &method, double omega, unsigned int n_steps)
    {
      MultigridOptions options;
      options.smoother.method                       = method;
      options.smoother.omega                        = omega;
      options.smoother.block_shape                  = BlockShape::contiguous;
      options.smoother.block_async.schedule         = Schedule::synchronous;
      options.smoother.block_async.block_size       = 16;
      options.smoother.block_async.local_iterations = 3;
      options.pre_smoothing = options.post_smoothing = n_steps;
      options.n_threads                              = 2;
      return options;
    }

    template <int dim>
    void check_against_dealii(const Triangulation<dim> &mesh, unsigned int degree, bool vertex_quadrature)
    {
      const LevelProblem<dim>  problem(mesh, degree, vertex_quadrature);
      const MultigridHierarchy hierarchy = problem.hierarchy();
      const auto               b         = some_right_hand_side(problem.dof_handler.n_dofs(), problem.constrained_rows());
      for (const unsigned int n_steps : {1, 2})
        {
          for (const Backend backend : {Backend::reference, Backend::host})
            {
              Vector<double>   x(b.size());
              MultigridOptions options = with_smoother("damped-jacobi", 0.7, n_steps);
              options.backend          = backend;
              Multigrid<double>(hierarchy, options).vmult(x.begin(), b.begin());
              x -= dealii_cycle<dim, PreconditionJacobi<SparseMatrix<double>>>(problem, hierarchy, 0.7, n_steps, b);
              EXPECT_LT(x.linfty_norm(), 1e-12) << "Jacobi, backend " << to_string(backend);

              options         = with_smoother("async", 0.9, n_steps);
              options.backend = backend;
              Multigrid<double>(hierarchy, options).vmult(x.begin(), b.begin());
              if (!hierarchy.is_adaptive()) // another numbering of the finest level makes other blocks
                continue;
              x -= dealii_cycle<dim, PreconditionBlockAsync>(
                problem,
                hierarchy,
                PreconditionBlockAsync::AdditionalData(1, 3, 16, 0.9, false, Schedule::synchronous, Backend::host, BlockShape::contiguous),
                n_steps,
                b);
              EXPECT_LT(x.linfty_norm(), 1e-12) << "async, backend " << to_string(backend);
            }
        }
    }

    TEST(MultigridAgainstDealII, UniformMeshes)
    {
      check_against_dealii<1>(*uniform_mesh<1>(5), 1, false);
      check_against_dealii<1>(*uniform_mesh<1>(4), 3, false);
      for (const bool vertex_quadrature : {false, true})
        check_against_dealii<2>(*uniform_mesh<2>(4), 1, vertex_quadrature);
      check_against_dealii<2>(*uniform_mesh<2>(3), 2, false);
      check_against_dealii<3>(*uniform_mesh<3>(3), 1, true);
    }

    TEST(MultigridAgainstDealII, AdaptiveMeshes)
    {
      check_against_dealii<1>(*adaptive_mesh<1>(4), 1, false);
      for (const unsigned int degree : {1, 2, 3})
        check_against_dealii<2>(*adaptive_mesh<2>(4), degree, false);
      check_against_dealii<3>(*adaptive_mesh<3>(2), 1, false);
    }
  } // namespace
} // namespace leopard
