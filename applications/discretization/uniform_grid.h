// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/reaction_diffusion/grid.h>

#include <string>
#include <vector>

namespace leopard
{
  template <int dim, int spacedim>
  class Discretization;

  /** The nodes of a finite-difference mesh as a grid with x fastest. */
  struct UniformGrid
  {
    reaction_diffusion::NodeGrid grid;
    std::vector<unsigned int>    unknown; ///< of node i: the scalar degree of freedom there
    std::string                  why_not; ///< empty if the mesh is such a grid; else the reason
  };

  /** Looks at the nodes themselves. One rank only: with more the reason says so. */
  template <int dim>
  UniformGrid find_uniform_grid(const Discretization<dim, dim> &discretization, bool finite_differences);
} // namespace leopard
