// SPDX-License-Identifier: Apache-2.0
#include "mesh_check.h"

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
    if (smallest.is_surface())
      Discretization<2, 3>(smallest, parameters.discretization, problem, comm);
    else if (parameters.dimension == 2)
      Discretization<2>(smallest, parameters.discretization, problem, comm);
    else
      Discretization<3>(smallest, parameters.discretization, problem, comm);
  }
} // namespace leopard
