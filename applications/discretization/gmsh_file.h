// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /**
   * Why a text is no mesh in Gmsh's format MSH 2.2 (ASCII) that cells can be made of, with the line, or nothing if it
   * is one. To be asked before deal.II's reader, which trusts the file: it crashes on a mesh of triangles, and takes
   * folded, flat and repeated cells for a domain.
   *
   * Checked are the form of the file, its numbers and node ids; that there are only quadrilaterals (dim 2) or hexahedra
   * (dim 3) besides points, lines and, in 3D, boundary quadrilaterals; that cells are convex at each corner and none has
   * a measure of zero; that not more than two cells meet in an edge (2D) or a face (3D), and that they have no more in
   * common than a node, an edge or a face of both; that a surface has two sides (no Moebius strip); and in the plane
   * (spacedim 2) that z = 0 and that neighbours lie on the two sides of their edge.
   */
  std::string why_no_mesh(const std::string &text, int dim, int spacedim);
} // namespace leopard
