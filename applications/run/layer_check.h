// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/discretization.h>

#include <string>

namespace leopard
{
  struct Parameters;

  /**
   * A warning where absorption is so strong that a layer at the boundary is thinner than a cell: sqrt(delta/a) h is
   * above 2.5 where a value is prescribed that is not the one inside, source / delta. The consistent mass matrix of
   * finite elements then has positive entries off the diagonal that outweigh those of diffusion (in one dimension from
   * delta h^2 / a = 6 on), and values oscillate beside the boundary. Of stationary problems; of a convergence study on
   * its finest mesh; empty with finite differences and adaptive refinement. Collective.
   */
  template <int dim, int spacedim>
  std::string thin_layers(const Discretization<dim, spacedim> &discretization, const Parameters &parameters);
} // namespace leopard
