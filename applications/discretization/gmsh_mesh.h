// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace leopard
{
  enum class CellKind
  {
    triangle,
    quadrilateral,
    tetrahedron,
    hexahedron
  };

  inline bool is_simplex(CellKind kind)
  {
    return kind == CellKind::triangle || kind == CellKind::tetrahedron;
  }

  /** "triangle", "quadrilateral", "tetrahedron", "hexahedron"; the plural of it. */
  std::string name_of(CellKind kind);
  std::string names_of(CellKind kind);

  /** What a Gmsh file says of a mesh: cells of one kind and the sides of its boundary. */
  struct GmshMesh
  {
    struct Element
    {
      std::size_t      line;  ///< of the file, from 1
      int              id;    ///< number of the physical group: material or boundary id; 0 without one
      std::vector<int> nodes; ///< numbers of points, from 0, in Gmsh's order
    };

    CellKind                           kind = CellKind::quadrilateral;
    std::vector<std::array<double, 3>> points;
    std::vector<Element>               cells, sides; ///< sides: lines (2D), triangles or quadrilaterals (3D)
  };

  /** Why a text is no mesh. */
  struct GmshFailure
  {
    std::string reason;
  };

  /**
   * Reads Gmsh's formats MSH 2.0 to 2.2 and 4.1, ASCII (https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format).
   * Checked are the form of the file, its numbers and ids, and that all cells are of one kind. Sections it does not
   * know are skipped.
   * @param dim 2 for triangles or quadrilaterals with lines, 3 for tetrahedra or hexahedra with triangles or
   * quadrilaterals. @throws GmshFailure.
   */
  GmshMesh parse_gmsh(const std::string &text, int dim);

  /**
   * Names of the physical groups of points (0), curves (1), surfaces (2) or volumes (3), with the groups' numbers, from
   * section $PhysicalNames, which comes before the nodes; empty without one. @throws GmshFailure where that is no list
   * of names.
   */
  std::map<std::string, std::set<unsigned int>> gmsh_group_names(std::istream &file, int dim);

  /** The number of nodes, as such a file says it before them; 0 if it does not. */
  double n_gmsh_nodes(std::istream &file);
} // namespace leopard
