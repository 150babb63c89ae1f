// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dealii
{
  template <int dim, int spacedim>
  class Triangulation;
}

namespace leopard
{
  /**
   * Splits all triangles in 4 and all tetrahedra in 8 ("red" refinement): cell c becomes cells n c to n c + n - 1 of a
   * new coarse mesh. The octahedron that is left in the middle of a tetrahedron is cut along its shortest diagonal, so
   * that angles stay bounded (J. Bey, Tetrahedral grid refinement, Computing 55 (1995) 355, section 2); deal.II 9.4
   * always takes the same one, and its cells become flat. Material and boundary ids are handed on. The triangulation
   * must know all cells, be of one level and have simplices only.
   */
  template <int dim, int spacedim>
  void refine_simplices(dealii::Triangulation<dim, spacedim> &triangulation);
} // namespace leopard
