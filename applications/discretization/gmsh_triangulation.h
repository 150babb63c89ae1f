// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gmsh_mesh.h"

namespace dealii
{
  template <int dim, int spacedim>
  class Triangulation;
}

namespace leopard
{
  /**
   * Makes deal.II's cells of a mesh that why_no_mesh() has nothing against, with material and boundary ids. @throws
   * what deal.II throws.
   */
  template <int dim, int spacedim>
  void create_triangulation(dealii::Triangulation<dim, spacedim> &triangulation, const GmshMesh &mesh);
} // namespace leopard
