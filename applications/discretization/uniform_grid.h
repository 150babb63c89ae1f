// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/grid/node_grid.h>

#include <deal.II/base/types.h>

#include <vector>

namespace leopard
{
  template <int dim, int spacedim>
  class Discretization;

  /** The nodes of a mesh as a grid with x fastest. */
  struct UniformGrid
  {
    reaction_diffusion::NodeGrid grid;
    std::vector<unsigned int>    unknowns;              ///< which of the scalar degrees of freedom that the rank owns are nodes: no periodic copies
    std::vector<dealii::types::global_dof_index> nodes; ///< of each of them: the grid's node
    bool found = false; ///< whether the mesh is such a grid: a rectangle or a box with equal cells, three nodes at least in periodic directions
  };

  /**
   * Looks at the nodes themselves. Collective. @param periodic directions, in which the last nodes, which are copies of
   * the first ones, are left out; none: all nodes are there, copies or not.
   */
  template <int dim>
  UniformGrid find_uniform_grid(const Discretization<dim, dim> &discretization, const std::vector<bool> &periodic = {});
} // namespace leopard
