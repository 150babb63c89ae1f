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
   * @param times at which an exact solution that depends on time is looked at.
   */
  template <int dim, int spacedim>
  std::string boundary_contradiction(const Discretization<dim, spacedim> &discretization,
                                     const MeshParameters                &mesh,
                                     const Problem                       &problem,
                                     const std::vector<double>           &times = {0.});
} // namespace leopard
