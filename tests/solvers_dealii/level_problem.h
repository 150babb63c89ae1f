// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/dealii/multigrid_hierarchy.h>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <memory>
#include <set>

namespace leopard
{
  /**
   * A cube of 2^(dim * refinements) cells, or refined toward a corner so often that local levels touch the boundary and
   * lie inside (in 2D and 3D an L-shape).
   */
  template <int dim>
  void make_uniform(dealii::Triangulation<dim> &mesh, unsigned int refinements)
  {
    dealii::GridGenerator::hyper_cube(mesh, -1., 1.);
    mesh.refine_global(refinements);
  }

  template <int dim>
  void make_adaptive(dealii::Triangulation<dim> &mesh, unsigned int local_refinements, unsigned int refinements = 1)
  {
    if constexpr (dim == 1)
      dealii::GridGenerator::subdivided_hyper_cube(mesh, 3, -1., 1.);
    else
      dealii::GridGenerator::hyper_L(mesh, -1., 1.);
    mesh.refine_global(refinements);
    for (unsigned int r = 0; r < local_refinements; ++r)
      {
        for (const auto &cell : mesh.active_cell_iterators())
          if (cell->is_locally_owned() && (cell->center().norm() < 0.8 / (1 << r) || (r == 0 && cell->center()[0] > 0.6)))
            cell->set_refine_flag();
        mesh.execute_coarsening_and_refinement();
      }
  }

  template <int dim>
  std::unique_ptr<dealii::Triangulation<dim>> uniform_mesh(unsigned int refinements)
  {
    auto mesh = std::make_unique<dealii::Triangulation<dim>>(dealii::Triangulation<dim>::limit_level_difference_at_vertices);
    make_uniform(*mesh, refinements);
    return mesh;
  }

  template <int dim>
  std::unique_ptr<dealii::Triangulation<dim>> adaptive_mesh(unsigned int local_refinements, unsigned int refinements = 1)
  {
    auto mesh = std::make_unique<dealii::Triangulation<dim>>(dealii::Triangulation<dim>::limit_level_difference_at_vertices);
    make_adaptive(*mesh, local_refinements, refinements);
    return mesh;
  }

  /** A mesh without cells that the ranks of comm share. */
  template <int dim>
  std::unique_ptr<dealii::Triangulation<dim>> distributed_mesh(MPI_Comm comm)
  {
    using Mesh = dealii::parallel::distributed::Triangulation<dim>;
    return std::make_unique<Mesh>(comm, dealii::Triangulation<dim>::limit_level_difference_at_vertices, Mesh::construct_multigrid_hierarchy);
  }

  /**
   * -div(a grad u) + delta u with a = 1 + x^2 on any mesh, with zero values on some of the boundary: the matrix over
   * the active mesh and what a hierarchy is made of. Gauss quadrature, or vertex quadrature (finite differences on
   * uniform meshes).
   */
  template <int dim>
  struct LevelProblem
  {
    LevelProblem(const dealii::Triangulation<dim>           &mesh,
                 unsigned int                                degree,
                 bool                                        vertex_quadrature = false,
                 const std::set<dealii::types::boundary_id> &dirichlet         = {0},
                 double                                      delta_            = 0.)
      : mapping(1)
      , dof_handler(mesh)
      , quadrature(vertex_quadrature ? dealii::Quadrature<dim>(dealii::QTrapezoid<dim>()) : dealii::Quadrature<dim>(dealii::QGauss<dim>(degree + 1)))
      , delta(delta_)
    {
      dof_handler.distribute_dofs(dealii::FE_Q<dim>(degree));
      dof_handler.distribute_mg_dofs();
      constrained.initialize(dof_handler);
      if (!dirichlet.empty())
        constrained.make_zero_boundary_constraints(dof_handler, dirichlet);

      const dealii::IndexSet relevant = dealii::DoFTools::extract_locally_relevant_dofs(dof_handler);
      constraints.reinit(relevant);
      dealii::DoFTools::make_hanging_node_constraints(dof_handler, constraints);
      for (const auto id : dirichlet)
        dealii::DoFTools::make_zero_boundary_constraints(dof_handler, id, constraints);
      constraints.close();
      assemble(relevant);
    }

    /** The weak form on a cell, active or of a level. */
    template <typename Cell>
    void cell_matrix(const Cell &cell, dealii::FullMatrix<double> &local) const
    {
      dealii::FEValues<dim> values(mapping,
                                   dof_handler.get_fe(),
                                   quadrature,
                                   dealii::update_values | dealii::update_gradients | dealii::update_quadrature_points | dealii::update_JxW_values);
      values.reinit(cell);
      for (const auto q : values.quadrature_point_indices())
        for (const auto i : values.dof_indices())
          for (const auto j : values.dof_indices())
            local(i, j) += ((1. + coefficient * values.quadrature_point(q).square()) * (values.shape_grad(i, q) * values.shape_grad(j, q)) +
                            delta * values.shape_value(i, q) * values.shape_value(j, q)) *
                           values.JxW(q);
    }

    dealii::IndexSet constrained_rows() const
    {
      dealii::IndexSet rows(dof_handler.n_dofs());
      for (const auto i : dof_handler.locally_owned_dofs())
        if (constraints.is_constrained(i))
          rows.add_index(i);
      return rows;
    }

    MultigridHierarchy hierarchy(unsigned int n_levels = 0) const
    {
      return make_multigrid_hierarchy<dim>(
        mapping,
        dof_handler,
        constrained,
        local_matrix(matrix),
        constrained_rows(),
        [this](const auto &cell, dealii::FullMatrix<double> &local) { cell_matrix(cell, local); },
        n_levels);
    }

    dealii::MappingQ<dim>             mapping;
    dealii::DoFHandler<dim>           dof_handler;
    dealii::Quadrature<dim>           quadrature;
    double                            delta, coefficient = 1.;
    dealii::MGConstrainedDoFs         constrained;
    dealii::AffineConstraints<double> constraints;
    HostMatrix                        matrix;

  private:
    void assemble(const dealii::IndexSet &relevant)
    {
      dealii::DynamicSparsityPattern pattern(relevant);
      dealii::DoFTools::make_sparsity_pattern(dof_handler, pattern, constraints, true, dof_handler.get_triangulation().locally_owned_subdomain());
      matrix.reinit(dof_handler.locally_owned_dofs(), dof_handler.locally_owned_dofs(), pattern, dof_handler.get_communicator(), true);
      const unsigned int                           n = dof_handler.get_fe().n_dofs_per_cell();
      dealii::FullMatrix<double>                   local(n, n);
      std::vector<dealii::types::global_dof_index> indices(n);
      for (const auto &cell : dof_handler.active_cell_iterators())
        if (cell->is_locally_owned())
          {
            local = 0.;
            cell_matrix(cell, local);
            cell->get_dof_indices(indices);
            constraints.distribute_local_to_global(local, indices, matrix);
          }
      matrix.compress(dealii::VectorOperation::add);
    }
  };
} // namespace leopard
