// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dealii
{
  template <int dim, int spacedim>
  class Triangulation;
}

namespace leopard
{
  /**
   * Where a coarse mesh does not hang together although it may look so, and what to do in Gmsh: vertices at the
   * boundary that stand at the place of another one, or in the interior of an edge or face at the boundary
   * (T-junctions), both to 1e-6 of the shortest edge there, each with an example and its coordinates, and several parts
   * that have no vertex in common. Empty if there is none. Local: every rank knows the coarse mesh. Looks for the
   * vertices at the boundary in a search tree; refined cells are not looked at.
   */
  template <int dim, int spacedim>
  std::string gaps_of(const dealii::Triangulation<dim, spacedim> &triangulation);
} // namespace leopard
