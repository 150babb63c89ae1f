// SPDX-License-Identifier: Apache-2.0
#include "discretization.h"
#include "periodic_boundary.h"

#include <applications/base/collective.h>
#include <applications/base/stop_signal.h>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** What one component contributes on one cell. */
    struct CellSystem
    {
      explicit CellSystem(unsigned int n)
        : stiffness(n, n)
        , mass(n, n)
        , lumped_mass(n)
        , load(n)
      {
      }
      FullMatrix<double> stiffness, mass;
      Vector<double>     lumped_mass, load;
    };

    /** load_i = integral of s phi_i; the first value that is not finite goes to error. */
    template <int dim, int spacedim>
    void integrate_source(const FEValues<dim, spacedim> &values, const Expression &source, double t, Vector<double> &load, std::string &error)
    {
      load = 0.;
      for (const auto q : values.quadrature_point_indices())
        {
          const Point<spacedim> point = values.quadrature_point(q);
          const double          s     = source.value(to_3d(point), t);
          if (!std::isfinite(s) && error.empty())
            error = not_finite_message(source, s, point, t);
          for (const auto i : values.dof_indices())
            load(i) += s * values.shape_value(i, q) * values.JxW(q);
        }
    }

    /** Adds grad phi_i . a grad phi_j of quadrature point q; what is wrong with a goes to error. */
    template <int dim, int spacedim>
    void
    add_diffusion(const FEValues<dim, spacedim> &values, unsigned int q, const Problem &problem, unsigned int c, CellSystem &cell, std::string &error)
    {
      const Point<spacedim> point = values.quadrature_point(q);
      if (const Diffusion *tensor = problem.diffusion_tensor(c); tensor != nullptr)
        {
          const SymmetricTensor<2, 3> a = tensor->matrix(to_3d(point));
          if (!is_positive_definite(a, spacedim) && error.empty())
            error = "the least eigenvalue of the diffusion tensor of the entry '" + problem.diffusion_entry(c) + "'" +
                    is_value(least_eigenvalue(a, spacedim)) + " at " + place_text(point) +
                    expected_everywhere("a positive definite matrix of finite numbers");
          for (const auto j : values.dof_indices())
            {
              Tensor<1, spacedim> flux;
              for (unsigned int d = 0; d < spacedim; ++d)
                for (unsigned int e = 0; e < spacedim; ++e)
                  flux[d] += a[d][e] * values.shape_grad(j, q)[e] * values.JxW(q);
              for (const auto i : values.dof_indices())
                cell.stiffness(i, j) += values.shape_grad(i, q) * flux;
            }
          return;
        }
      if (problem.does_not_diffuse(c))
        return;
      const double diffusion = problem.diffusion(c, to_3d(point));
      if (!(diffusion > 0. && std::isfinite(diffusion)) && error.empty())
        error = "the diffusion coefficient of the entry '" + problem.diffusion_entry(c) + "'" + is_value(diffusion) + " at " + place_text(point) +
                expected_everywhere("a finite positive number");
      for (const auto i : values.dof_indices())
        for (const auto j : values.dof_indices())
          cell.stiffness(i, j) += diffusion * (values.shape_grad(i, q) * values.shape_grad(j, q)) * values.JxW(q);
    }

    /** Stiffness (diffusion and absorption), mass and lumped mass of component c. */
    template <int dim, int spacedim>
    void
    integrate_matrices(const FEValues<dim, spacedim> &values, const Problem &problem, unsigned int c, bool lump, CellSystem &cell, std::string &error)
    {
      cell.stiffness   = 0.;
      cell.mass        = 0.;
      cell.lumped_mass = 0.;
      for (const auto q : values.quadrature_point_indices())
        {
          add_diffusion(values, q, problem, c, cell, error);
          for (const auto i : values.dof_indices())
            {
              const double weighted = values.shape_value(i, q) * values.JxW(q);
              for (const auto j : values.dof_indices())
                cell.mass(i, j) += weighted * values.shape_value(j, q);
              cell.lumped_mass(i) += weighted;
            }
        }
      cell.stiffness.add(problem.absorption(c), cell.mass);
      if (problem.is_quasi_stationary(c))
        cell.mass = 0.;
      else if (lump)
        {
          cell.mass = 0.;
          for (const auto i : values.dof_indices())
            cell.mass(i, i) = cell.lumped_mass(i);
        }
    }

    /** What a cell's load adds to the rows of unknowns that are not constrained, in all, without boundary values. */
    double
    sum_in_free_rows(const Vector<double> &load, const std::vector<types::global_dof_index> &unknowns, const AffineConstraints<double> &constraints)
    {
      double sum = 0.;
      for (unsigned int i = 0; i < unknowns.size(); ++i)
        {
          double share = 1.;
          if (const auto *free = constraints.get_constraint_entries(unknowns[i]); free != nullptr) // none where a value is prescribed
            {
              share = 0.;
              for (const auto &[unknown, weight] : *free)
                share += weight;
            }
          sum += share * load(i);
        }
      return sum;
    }
  } // namespace

  void select_component(const std::vector<types::global_dof_index> &scalar,
                        unsigned int                                n_components,
                        unsigned int                                c,
                        std::vector<types::global_dof_index>       &unknowns)
  {
    for (unsigned int i = 0; i < scalar.size(); ++i)
      unknowns[i] = n_components * scalar[i] + c;
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::integrate_stiffness(const FEValues<dim, spacedim> &values,
                                                          unsigned int                   c,
                                                          FullMatrix<double>            &matrix,
                                                          std::string                   &error) const
  {
    CellSystem cell(values.dofs_per_cell);
    integrate_matrices(values, problem, c, false, cell, error);
    matrix = cell.stiffness;
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::assemble_boundary(const Cell &cell, unsigned int c, double t, Vector<double> &rhs, std::string &error) const
  {
    if (problem.boundary(c).fluxes.empty())
      return;
    for (const auto &face : cell->face_iterators())
      {
        if (!face->at_boundary() || is_periodic(face->boundary_id()))
          continue;
        const Expression *flux = problem.boundary(c).flux(face->boundary_id());
        if (flux == nullptr || flux->is_zero())
          continue;
        FEFaceValues<dim, spacedim> values(
          *mapping, dof_handler.get_fe(), face_quadrature, update_values | update_quadrature_points | update_JxW_values);
        values.reinit(cell, cell->face_iterator_to_index(face));
        for (const auto q : values.quadrature_point_indices())
          {
            const Point<spacedim> point = values.quadrature_point(q);
            const double          value = flux->value(to_3d(point), t);
            if (!std::isfinite(value) && error.empty())
              error = not_finite_message(*flux, value, point, t);
            for (const auto i : values.dof_indices())
              rhs(i) += value * values.shape_value(i, q) * values.JxW(q);
          }
      }
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::assemble(SemiDiscreteSystem &system, double t) const
  {
    const bool                              time_dependent = problem.time_dependent();
    const TrilinosWrappers::SparsityPattern pattern        = sparsity_pattern();
    system.stiffness.reinit(pattern);
    if (time_dependent)
      system.mass.reinit(pattern);
    system.lumped_mass.reinit(owned_unknowns, comm);
    system.load.reinit(owned_unknowns, comm);
    system.sources.assign(components, 0.);

    FEValues<dim, spacedim> values(
      *mapping, dof_handler.get_fe(), quadrature, update_values | update_gradients | update_quadrature_points | update_JxW_values);
    CellSystem                           local(values.dofs_per_cell);
    std::vector<types::global_dof_index> dofs(values.dofs_per_cell), unknowns(values.dofs_per_cell);
    std::string                          error;
    StopPoints                           stop_points(triangulation.n_global_active_cells(), triangulation.n_locally_owned_active_cells(), comm);
    for (const auto &cell : dof_handler.active_cell_iterators())
      {
        if (!cell->is_locally_owned())
          continue;
        stop_points.one_more();
        values.reinit(cell);
        cell->get_dof_indices(dofs);
        for (unsigned int c = 0; c < components; ++c)
          {
            integrate_matrices(values, problem, c, parameters.lumped_mass, local, error);
            integrate_source(values, problem.source[c], t, local.load, error);
            assemble_boundary(cell, c, t, local.load, error);
            select_component(dofs, components, c, unknowns);
            constraints.distribute_local_to_global(local.stiffness, local.load, unknowns, system.stiffness, system.load);
            system.sources[c] += sum_in_free_rows(local.load, unknowns, constraints);
            constraints.distribute_local_to_global(local.lumped_mass, unknowns, system.lumped_mass);
            if (time_dependent)
              constraints.distribute_local_to_global(local.mass, unknowns, system.mass);
          }
      }
    stop_points.finish();
    throw_if_any_entry_failed(error, comm);
    system.stiffness.compress(VectorOperation::add);
    if (time_dependent)
      system.mass.compress(VectorOperation::add);
    system.lumped_mass.compress(VectorOperation::add);
    system.load.compress(VectorOperation::add);
    // vertices of P2 have no weight, but for rounding: a tiny one tells them from constrained unknowns, which have none
    // at all
    if (simplices && parameters.degree == 2 && dim == 2)
      for (double &weight : system.lumped_mass)
        weight = std::max(weight, std::numeric_limits<double>::min());
    // the rows of constrained unknowns say nothing; distribute_constraints() sets these unknowns from the others
    constraints.set_zero(system.lumped_mass);
    constraints.set_zero(system.load);
    if (time_dependent && problem.has_boundary_conditions())
      assemble_weight(system.weight);
    else if (time_dependent)
      system.weight = system.lumped_mass; // nothing is prescribed: all that has no mass is a copy or hangs
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::assemble_weight(HostVector &weight) const
  {
    HostVector                           scalar(owned, comm);
    FEValues<dim, spacedim>              values(*mapping, dof_handler.get_fe(), quadrature, update_values | update_JxW_values);
    Vector<double>                       local(values.dofs_per_cell);
    std::vector<types::global_dof_index> dofs(values.dofs_per_cell);
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          values.reinit(cell);
          cell->get_dof_indices(dofs);
          local = 0.;
          for (const auto q : values.quadrature_point_indices())
            for (const auto i : values.dof_indices())
              local(i) += values.shape_value(i, q) * values.JxW(q);
          conforming.distribute_local_to_global(local, dofs, scalar);
        }
    scalar.compress(VectorOperation::add);
    conforming.set_zero(scalar);
    weight.reinit(owned_unknowns, comm);
    for (unsigned int i = 0; i < weight.locally_owned_size(); ++i)
      weight.begin()[i] = scalar.begin()[i / components];
  }

  template <int dim, int spacedim>
  double Discretization<dim, spacedim>::gradient_energy(const HostVector &scalar) const
  {
    FEValues<dim, spacedim>          values(*mapping, dof_handler.get_fe(), quadrature, update_gradients | update_JxW_values);
    std::vector<Tensor<1, spacedim>> gradients(values.n_quadrature_points);
    double                           energy = 0.;
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        {
          values.reinit(cell);
          values.get_function_gradients(scalar, gradients);
          for (const auto q : values.quadrature_point_indices())
            energy += gradients[q].norm_square() * values.JxW(q);
        }
    return Utilities::MPI::sum(energy, comm);
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::assemble_load(HostVector &load, std::vector<double> &sources, double t)
  {
    take_boundary_values(t);
    load = 0.;
    sources.assign(components, 0.);
    FEValues<dim, spacedim> values(
      *mapping, dof_handler.get_fe(), quadrature, update_values | update_gradients | update_quadrature_points | update_JxW_values);
    CellSystem                           local(values.dofs_per_cell);
    std::vector<types::global_dof_index> dofs(values.dofs_per_cell), unknowns(values.dofs_per_cell);
    std::string                          error;
    for (const auto &cell : dof_handler.active_cell_iterators())
      {
        if (!cell->is_locally_owned())
          continue;
        values.reinit(cell);
        cell->get_dof_indices(dofs);
        for (unsigned int c = 0; c < components; ++c)
          {
            integrate_source(values, problem.source[c], t, local.load, error);
            assemble_boundary(cell, c, t, local.load, error);
            select_component(dofs, components, c, unknowns);
            sources[c] += sum_in_free_rows(local.load, unknowns, constraints);
            const bool has_values =
              std::any_of(unknowns.begin(), unknowns.end(), [&](auto i) { return constraints.is_inhomogeneously_constrained(i); });
            if (has_values) // K moves them to the load
              {
                integrate_matrices(values, problem, c, parameters.lumped_mass, local, error);
                constraints.distribute_local_to_global(local.load, unknowns, load, local.stiffness);
              }
            else
              constraints.distribute_local_to_global(local.load, unknowns, load);
          }
      }
    throw_if_any_entry_failed(error, comm);
    load.compress(VectorOperation::add);
    constraints.set_zero(load);
  }

  template void   Discretization<2>::integrate_stiffness(const FEValues<2> &, unsigned int, FullMatrix<double> &, std::string &) const;
  template void   Discretization<3>::integrate_stiffness(const FEValues<3> &, unsigned int, FullMatrix<double> &, std::string &) const;
  template void   Discretization<2, 3>::integrate_stiffness(const FEValues<2, 3> &, unsigned int, FullMatrix<double> &, std::string &) const;
  template void   Discretization<2>::assemble(SemiDiscreteSystem &, double) const;
  template void   Discretization<3>::assemble(SemiDiscreteSystem &, double) const;
  template void   Discretization<2, 3>::assemble(SemiDiscreteSystem &, double) const;
  template void   Discretization<2>::assemble_load(HostVector &, std::vector<double> &, double);
  template double Discretization<2>::gradient_energy(const HostVector &) const;
  template void   Discretization<3>::assemble_load(HostVector &, std::vector<double> &, double);
  template double Discretization<3>::gradient_energy(const HostVector &) const;
  template void   Discretization<2, 3>::assemble_load(HostVector &, std::vector<double> &, double);
  template double Discretization<2, 3>::gradient_energy(const HostVector &) const;
} // namespace leopard
