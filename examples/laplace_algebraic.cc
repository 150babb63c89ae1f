// SPDX-License-Identifier: Apache-2.0
// -laplace(u) = 1 on a square with u = 0 on its boundary: conjugate gradients, with algebraic multigrid and with
// incomplete factors as the preconditioner.
#include <solvers/dealii/precondition_aggregation.h>
#include <solvers/dealii/precondition_incomplete.h>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/numerics/matrix_creator.h>

#include <iostream>

using namespace dealii;

int main()
{
  Triangulation<2> mesh;
  GridGenerator::hyper_cube(mesh);
  mesh.refine_global(6);
  DoFHandler<2> dofs(mesh);
  dofs.distribute_dofs(FE_Q<2>(1));
  AffineConstraints<double> constraints;
  DoFTools::make_zero_boundary_constraints(dofs, constraints);
  constraints.close();
  DynamicSparsityPattern entries(dofs.n_dofs());
  DoFTools::make_sparsity_pattern(dofs, entries, constraints);
  SparsityPattern pattern;
  pattern.copy_from(entries);
  SparseMatrix<double> matrix(pattern);
  Vector<double>       b(dofs.n_dofs()), x(dofs.n_dofs());
  MatrixCreator::create_laplace_matrix<2, 2>(dofs, QGauss<2>(2), matrix, Functions::ConstantFunction<2>(1.), b, nullptr, constraints);

  SolverControl control(200, 1e-10 * b.l2_norm());
  SolverCG<Vector<double>>(control).solve(matrix, x, b, PreconditionIdentity());
  std::cout << "without: " << control.last_step() << " iterations" << std::endl;

  x = 0.;
  leopard::PreconditionAggregation aggregation; // algebraic multigrid
  aggregation.initialize(matrix);
  SolverCG<Vector<double>>(control).solve(matrix, x, b, aggregation);
  std::cout << "aggregation: " << control.last_step() << " iterations, largest value " << x.linfty_norm() << std::endl;

  x = 0.;
  leopard::PreconditionIncomplete incomplete;
  leopard::IncompleteOptions      options;
  options.factors.kind                = leopard::FactorKind::ic;
  options.solves.solve                = leopard::TriangularSolve::asynchronous; // default: exact
  options.solves.block_async.schedule = leopard::Schedule::synchronous;         // symmetric, as SolverCG needs it
  incomplete.initialize(matrix, options);
  SolverCG<Vector<double>>(control).solve(matrix, x, b, incomplete);
  std::cout << "IC(0): " << control.last_step() << " iterations, largest value " << x.linfty_norm() << std::endl;
}
