// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/discretization/cell_fields.h>

#include <string>
#include <vector>

namespace leopard
{
  /**
   * Adds the cells of a .vtu file with its fields, which may be of any mesh: triangles, quadrilaterals, tetrahedra,
   * hexahedra, of VTK's linear, quadratic and Lagrange kinds. Cells of a lower dimension are left out. Local.
   * @return whether a field is of single precision. @throws std::runtime_error as read_vtu(), and for cells of other
   * kinds or another dimension, and for those without area or volume, which have no place for a point.
   */
  template <int dim, int spacedim>
  bool add_vtu(const std::string &path, const std::vector<std::string> &fields, CellFields<dim, spacedim> &cells);
} // namespace leopard
