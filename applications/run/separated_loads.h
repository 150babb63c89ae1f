// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>
#include <solvers/base/errors.h>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * What FusedSteps takes of sources, fluxes and boundary values: the load, or one for each factor of
   * Problem::separated_load(). Collective.
   * @param problem that of the discretization; is as it was in the end. @param system gets load and sources at t again.
   * @param why_not a reason why that cannot be.
   */
  template <int dim, int spacedim>
  std::vector<HostVector>
  separated_loads(Problem &problem, Discretization<dim, spacedim> &discretization, SemiDiscreteSystem &system, double t, std::string &why_not)
  {
    if (!problem.load_depends_on_time())
      return {system.load};
    Problem::SeparatedLoad  parts = problem.separated_load();
    std::vector<HostVector> loads(parts.factors.outputs.size(), HostVector(system.load));
    const auto              swap = [&] {
      problem.source.swap(parts.source);
      problem.boundary_conditions.swap(parts.boundary_conditions);
    };
    swap();
    try
      {
        for (std::size_t k = 0; k < loads.size(); ++k)
          discretization.assemble_load(loads[k], system.sources, static_cast<double>(k));
      }
    catch (const Error &) // 0 times infinity, where the product is finite or not looked at
      {
        why_not = "a part of its sources, fluxes or boundary values that depends on the place is not finite everywhere";
      }
    swap();
    discretization.assemble_load(system.load, system.sources, t);
    return loads;
  }
} // namespace leopard
