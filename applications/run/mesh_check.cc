// SPDX-License-Identifier: Apache-2.0
#include "mesh_check.h"

#include "boundary_check.h"
#include "parameters.h"

#include <applications/discretization/discretization.h>
#include <applications/discretization/mesh_count.h>

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
} // namespace leopard
