// SPDX-License-Identifier: Apache-2.0
#include "mesh_check.h"

#include "boundary_check.h"
#include "initial_values.h"
#include "parameters.h"

#include <applications/discretization/discretization.h>
#include <applications/discretization/mesh_count.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace leopard
{
  void check_mesh(const Parameters &parameters, MPI_Comm comm)
  {
    if (parameters.study != "none")
      {
        for (const Parameters &c : parameters.cases)
          check_mesh(c, comm);
        if (!parameters.cases.empty() || parameters.smoother_study.uses_stencil())
          return;
      }
    const Problem &problem = *parameters.problem;
    check_before_it_is_made(parameters.mesh, parameters.dimension, problem.fields().size(), parameters.discretization.degree);
    MeshParameters smallest = parameters.mesh;
    smallest.cells.assign(smallest.cells.size(), 1);
    const auto check = [&](auto discretization) {
      if (!smallest.is_periodic() || !problem.has_boundary_values())
        return;
      discretization->refine_coarse_mesh(smallest.is_uniform() ? 2 : 0); // nodes on the edges of a box
      discretization->check_periodic_boundary_values(times_of_boundary_values(problem, parameters.time.end_time));
    };
    if (smallest.is_surface())
      check(std::make_unique<Discretization<2, 3>>(smallest, parameters.discretization, problem, comm));
    else if (parameters.dimension == 2)
      check(std::make_unique<Discretization<2>>(smallest, parameters.discretization, problem, comm));
    else
      check(std::make_unique<Discretization<3>>(smallest, parameters.discretization, problem, comm));
  }

  namespace
  {
    constexpr double many_nodes = 1e5;

    template <int dim, int spacedim>
    void check_at_nodes(const Parameters &parameters, MPI_Comm comm)
    {
      MeshParameters mesh    = parameters.mesh;
      const auto     is_even = [](unsigned int n) { return n % 2 == 0; };
      while (mesh.n_coarse_cells(dim) > many_nodes && std::all_of(mesh.cells.begin(), mesh.cells.end(), is_even))
        for (unsigned int &n : mesh.cells)
          n /= 2;
      Discretization<dim, spacedim> discretization(mesh, parameters.discretization, *parameters.problem, comm);
      double                        n_nodes = discretization.triangulation.n_global_active_cells() * std::pow(parameters.discretization.degree, dim);
      unsigned int                  n_refinements = 0;
      while (n_refinements < mesh.global_refinements && (n_nodes *= std::ldexp(1., dim)) <= many_nodes)
        ++n_refinements;
      discretization.refine_coarse_mesh(n_refinements);
      check_initial_values(parameters, discretization, comm);
    }
  } // namespace

  void check_fields_of_files(const Parameters &parameters, MPI_Comm comm)
  {
    const Pictures *const pictures   = parameters.problem->pictures.get();
    bool                  has_fields = !parameters.problem->initial_from.empty();
    for (std::size_t i = 0; pictures != nullptr && i < pictures->names().size(); ++i)
      has_fields = has_fields || !pictures->field(i).empty();
    if (!has_fields || parameters.study != "none")
      return;
    if (parameters.mesh.is_surface())
      check_at_nodes<2, 3>(parameters, comm);
    else if (parameters.dimension == 2)
      check_at_nodes<2, 2>(parameters, comm);
    else
      check_at_nodes<3, 3>(parameters, comm);
  }
} // namespace leopard
