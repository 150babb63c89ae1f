// SPDX-License-Identifier: Apache-2.0
#include "discretization.h"

#include <applications/base/collective.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/multigrid_hierarchy.h>
#include <solvers/dealii/support_points.h>

#include <deal.II/base/function.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/grid_refinement.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/multigrid/mg_constrained_dofs.h>
#include <deal.II/numerics/error_estimator.h>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** The diffusion coefficient of component 0, where it is a number at each place. */
    template <int spacedim>
    class DiffusionFunction : public Function<spacedim>
    {
    public:
      explicit DiffusionFunction(const Problem &problem_)
        : problem(problem_)
      {
      }
      double value(const Point<spacedim> &p, const unsigned int /*component*/ = 0) const override { return problem.diffusion(0, to_3d(p)); }

    private:
      const Problem &problem;
    };
  } // namespace

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::refine_adaptively(HostVector &u)
  {
    solution_after_refinement(u, [&] {
      HostVector scalar;
      extract_component(u, 0, scalar);
      Vector<float>                     indicators(triangulation.n_active_cells());
      const DiffusionFunction<spacedim> coefficient(problem);
      const bool                        has_fluxes = !problem.has_constant_coefficients() && problem.diffusion_tensor(0) == nullptr;
      KellyErrorEstimator<dim, spacedim>::estimate(*mapping,
                                                   dof_handler,
                                                   QGauss<dim - 1>(parameters.degree + 1),
                                                   {},
                                                   scalar,
                                                   indicators,
                                                   {},
                                                   has_fluxes ? &coefficient : nullptr,
                                                   numbers::invalid_unsigned_int,
                                                   triangulation.locally_owned_subdomain());
      parallel::distributed::GridRefinement::refine_and_coarsen_fixed_number(
        dynamic_cast<parallel::distributed::Triangulation<dim, spacedim> &>(triangulation),
        indicators,
        mesh_parameters.refine_fraction,
        mesh_parameters.coarsen_fraction);
    });
  }

  template <int dim, int spacedim>
  const std::vector<double> &Discretization<dim, spacedim>::nodes() const
  {
    if (mesh->nodes.empty())
      mesh->nodes = support_points(*mapping, dof_handler);
    return mesh->nodes;
  }

  template <int dim, int spacedim>
  void Discretization<dim, spacedim>::set_values_at_nodes(const std::vector<double> &values, HostVector &u) const
  {
    u.reinit(owned_unknowns, comm);
    std::copy(values.begin(), values.end(), u.begin());
  }

  template <int dim, int spacedim>
  MultigridHierarchy Discretization<dim, spacedim>::hierarchy([[maybe_unused]] unsigned int       field,
                                                              [[maybe_unused]] const LocalMatrix &A,
                                                              [[maybe_unused]] unsigned int       n_levels)
  {
    if constexpr (dim != spacedim)
      {
        AssertThrow(false, ExcNotImplemented()); // Parameters says so before: deal.II 9.4 has no MGConstrainedDoFs of surfaces
        return {};
      }
    else
      {
        if (!levels_are_numbered)
          dof_handler.distribute_mg_dofs();
        levels_are_numbered = true;
        MGConstrainedDoFs constrained;
        constrained.initialize(dof_handler);
        if (const auto ids = dirichlet_boundary(field); !ids.empty())
          constrained.make_zero_boundary_constraints(dof_handler, ids);

        // where everything is periodic, one cell in all directions has one free unknown, and a Laplacian that is zero
        const unsigned int available = triangulation.n_global_levels();
        if (mesh_parameters.is_periodic() && boundary_ids(triangulation).empty() && triangulation.n_cells(0) == 1 && parameters.degree == 1 &&
            available > 1 && (n_levels == 0 || n_levels == available))
          n_levels = available - 1;

        FEValues<dim> values(
          *mapping, dof_handler.get_fe(), quadrature, update_values | update_gradients | update_quadrature_points | update_JxW_values);
        std::string error;
        const auto  cell_matrix = [&](const typename DoFHandler<dim>::level_cell_iterator &cell, FullMatrix<double> &local) {
          values.reinit(cell);
          integrate_stiffness(values, field, local, error);
        };
        try
          {
            MultigridHierarchy result =
              make_multigrid_hierarchy<dim>(*mapping, dof_handler, constrained, A, constrained_unknowns(field), cell_matrix, n_levels);
            throw_if_any_failed(error, comm);
            return result;
          }
        catch (const InvalidInput &input)
          {
            throw Error(std::string(input.what()) + "\n  see 'Multigrid/Levels', 'Mesh/Global refinements'");
          }
      }
  }

  template <int dim, int spacedim>
  double Discretization<dim, spacedim>::remove_mean(HostVector &u, const HostVector &lumped_mass) const
  {
    HostVector ones(lumped_mass);
    ones              = 1.;
    const double mean = (lumped_mass * u) / (lumped_mass * ones);
    u.add(-mean);
    constraints.set_zero(u);
    return mean;
  }

  template <int dim, int spacedim>
  double Discretization<dim, spacedim>::balance(HostVector &r) const
  {
    HostVector ones(r);
    ones = 1.;
    constraints.set_zero(ones);
    const double total = ones * r;
    r.add(-total / (ones * ones), ones);
    return total;
  }

  template void                       Discretization<2>::refine_adaptively(HostVector &);
  template void                       Discretization<3>::refine_adaptively(HostVector &);
  template void                       Discretization<2, 3>::refine_adaptively(HostVector &);
  template const std::vector<double> &Discretization<2>::nodes() const;
  template void                       Discretization<2>::set_values_at_nodes(const std::vector<double> &, HostVector &) const;
  template MultigridHierarchy         Discretization<2>::hierarchy(unsigned int, const LocalMatrix &, unsigned int);
  template double                     Discretization<2>::remove_mean(HostVector &, const HostVector &) const;
  template double                     Discretization<2>::balance(HostVector &) const;
  template const std::vector<double> &Discretization<3>::nodes() const;
  template void                       Discretization<3>::set_values_at_nodes(const std::vector<double> &, HostVector &) const;
  template MultigridHierarchy         Discretization<3>::hierarchy(unsigned int, const LocalMatrix &, unsigned int);
  template double                     Discretization<3>::remove_mean(HostVector &, const HostVector &) const;
  template double                     Discretization<3>::balance(HostVector &) const;
  template const std::vector<double> &Discretization<2, 3>::nodes() const;
  template void                       Discretization<2, 3>::set_values_at_nodes(const std::vector<double> &, HostVector &) const;
  template MultigridHierarchy         Discretization<2, 3>::hierarchy(unsigned int, const LocalMatrix &, unsigned int);
  template double                     Discretization<2, 3>::remove_mean(HostVector &, const HostVector &) const;
  template double                     Discretization<2, 3>::balance(HostVector &) const;
} // namespace leopard
