// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gmsh_mesh.h"

#include <string>

namespace leopard
{
  /**
   * Why a text is no mesh in Gmsh's format MSH 2.2 or 4.1 (ASCII) that cells can be made of, with the line, or nothing
   * if it is one; then mesh is what it says. To be asked before deal.II makes cells: it crashes on some meshes, and
   * takes folded, flat and repeated cells for a domain.
   *
   * Checked are, beside what parse_gmsh() checks: that cells are convex at each corner and none has a measure of zero;
   * that not more than two cells meet in an edge (2D) or a face (3D), and that they have no more in common than a node,
   * an edge or a face of both; that boundary ids are at the boundary; that a surface has two sides (no Moebius strip);
   * and in the plane (spacedim 2) that z = 0 and that neighbours lie on the two sides of their edge.
   */
  std::string why_no_mesh(const std::string &text, int dim, int spacedim, GmshMesh &mesh);
} // namespace leopard
