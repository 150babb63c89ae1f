// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

#include <string>
#include <vector>

namespace leopard
{
  struct MeshParameters;
  class Problem;

  /**
   * Where boundary values or fluxes of the file are not those of its exact solution, against which errors would say
   * nothing: the largest difference and its place, on the faces of the present mesh; empty if there is none. Fluxes are
   * looked at where boundaries are certainly plane, on hypercubes, boxes and L-shapes. Collective.
   * @param end_time of a problem in time. @throws Error naming entries and places if boundary values are not the same
   * at both ends of a periodic direction.
   */
  template <int dim, int spacedim>
  std::string boundary_contradiction(const Discretization<dim, spacedim> &discretization,
                                     const MeshParameters                &mesh,
                                     const Problem                       &problem,
                                     double                               end_time = 0.);

  /**
   * At which times a run looks at its boundary values before it begins: at zero, and of those that depend on it at
   * more.
   */
  std::vector<double> times_of_boundary_values(const Problem &problem, double end_time);
} // namespace leopard
