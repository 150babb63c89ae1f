// SPDX-License-Identifier: Apache-2.0
// -laplace(u) = 1 with u = 0 on the boundary of an L-shaped domain, adaptively refined: conjugate gradients,
// preconditioned by deal.II's geometric multigrid (its step-16 explains it) with block-asynchronous iteration as the
// smoother.
#include <solvers/dealii/precondition_block_async.h>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_refinement.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/multigrid/mg_coarse.h>
#include <deal.II/multigrid/mg_matrix.h>
#include <deal.II/multigrid/mg_smoother.h>
#include <deal.II/multigrid/mg_transfer.h>
#include <deal.II/multigrid/multigrid.h>
#include <deal.II/multigrid/sparse_matrix_collection.h>
#include <deal.II/numerics/error_estimator.h>
#include <deal.II/numerics/matrix_creator.h>

#include <iostream>

using namespace dealii;
using Levels = mg::SparseMatrixCollection<double>; // matrix: the level's own; matrix_in: to its rows at the refinement edge

void assemble_level(unsigned int level, const DoFHandler<2> &dofs, const MGConstrainedDoFs &special, Levels &levels)
{
  AffineConstraints<double> constraints;
  constraints.add_lines(special.get_refinement_edge_indices(level));
  constraints.add_lines(special.get_boundary_indices(level));
  constraints.close();
  FEValues<2>                          values(dofs.get_fe(), QGauss<2>(2), update_gradients | update_JxW_values);
  FullMatrix<double>                   cell_matrix(values.dofs_per_cell);
  std::vector<types::global_dof_index> row(values.dofs_per_cell);
  for (const auto &cell : dofs.mg_cell_iterators_on_level(level))
    {
      values.reinit(cell);
      cell_matrix = 0.;
      for (const unsigned int q : values.quadrature_point_indices())
        for (const unsigned int i : values.dof_indices())
          for (const unsigned int j : values.dof_indices())
            cell_matrix(i, j) += values.shape_grad(i, q) * values.shape_grad(j, q) * values.JxW(q);
      cell->get_mg_dof_indices(row);
      constraints.distribute_local_to_global(cell_matrix, row, levels.matrix[level]);
      for (const unsigned int i : values.dof_indices())
        for (const unsigned int j : values.dof_indices())
          if (special.is_interface_matrix_entry(level, row[i], row[j]))
            levels.matrix_in[level].add(row[i], row[j], cell_matrix(i, j));
    }
}

int main()
{
  Triangulation<2> mesh(Triangulation<2>::limit_level_difference_at_vertices);
  GridGenerator::hyper_L(mesh);
  mesh.refine_global(3);
  DoFHandler<2> dofs(mesh);
  for (unsigned int cycle = 0; cycle < 8; ++cycle)
    {
      dofs.distribute_dofs(FE_Q<2>(1));
      dofs.distribute_mg_dofs();
      AffineConstraints<double> constraints;
      DoFTools::make_hanging_node_constraints(dofs, constraints);
      DoFTools::make_zero_boundary_constraints(dofs, constraints);
      constraints.close();
      DynamicSparsityPattern entries(dofs.n_dofs());
      DoFTools::make_sparsity_pattern(dofs, entries, constraints);
      SparsityPattern pattern;
      pattern.copy_from(entries);
      SparseMatrix<double> matrix(pattern);
      Vector<double>       rhs(dofs.n_dofs()), solution(dofs.n_dofs());
      MatrixCreator::create_laplace_matrix<2, 2>(dofs, QGauss<2>(2), matrix, Functions::ConstantFunction<2>(1.), rhs, nullptr, constraints);
      MGConstrainedDoFs special;
      special.initialize(dofs);
      special.make_zero_boundary_constraints(dofs, {0});
      Levels levels;
      levels.resize(0, mesh.n_levels() - 1);
      levels.reinit(dofs);
      for (unsigned int level = 0; level < mesh.n_levels(); ++level)
        assemble_level(level, dofs, special, levels);
      const mg::Matrix<Vector<double>>   matrices(levels.matrix), edges(levels.matrix_in);
      MGTransferPrebuilt<Vector<double>> transfer(special);
      transfer.build(dofs);

      // All that step-16 does not have: two global iterations of async-(5), synchronous (the default) so that CG may be
      // used.
      mg::SmootherRelaxation<leopard::PreconditionBlockAsync, Vector<double>> smoother;
      smoother.initialize(levels.matrix, leopard::PreconditionBlockAsync::AdditionalData(2, 5));
      MGCoarseGridApplySmoother<Vector<double>> coarse_solver(smoother); // exact: all coarse DoFs are on the boundary
      Multigrid<Vector<double>>                 multigrid(matrices, coarse_solver, transfer, smoother, smoother);
      multigrid.set_edge_matrices(edges, edges);
      PreconditionMG<2, Vector<double>, MGTransferPrebuilt<Vector<double>>> preconditioner(dofs, multigrid, transfer);
      SolverControl control(20, 1e-10 * rhs.l2_norm()); // it throws, and the test fails, should iterations grow with the refinement
      SolverCG<Vector<double>>(control).solve(matrix, solution, rhs, preconditioner);
      constraints.distribute(solution);
      std::cout << mesh.n_active_cells() << " cells, " << dofs.n_dofs() << " DoFs, " << control.last_step() << " iterations" << std::endl;
      Vector<float> error(mesh.n_active_cells());
      KellyErrorEstimator<2>::estimate(dofs, QGauss<1>(2), {}, solution, error);
      GridRefinement::refine_and_coarsen_fixed_number(mesh, error, 0.3, 0.);
      mesh.execute_coarsening_and_refinement();
    }
}
