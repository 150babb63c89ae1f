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
    reaction_diffusion::NodeGrid                 grid;
    std::vector<dealii::types::global_dof_index> nodes;         ///< of each scalar degree of freedom that the rank owns: the grid's node
    bool                                         found = false; ///< whether the mesh is such a grid: a rectangle or a box with equal cells
  };

  /** Looks at the nodes themselves. Collective. */
  template <int dim>
  UniformGrid find_uniform_grid(const Discretization<dim, dim> &discretization);
} // namespace leopard
