// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <array>
#include <vector>

namespace leopard
{
  /**
   * A matrix that need not be stored: on an n_x x n_y x n_z grid, numbered with x fastest, row (x, y, z) has the entry
   * coefficient(dx, dy, dz) in the column of (x+dx, y+dy, z+dz), for dx, dy, dz in {-1, 0, 1}, where that node exists;
   * values beyond the grid are zero (Dirichlet). A diagonal that varies from row to row replaces the central
   * coefficient. In two dimensions n_z = 1 and the coefficients with dz != 0 mean nothing.
   *
   * A stencil can be that of a slab, some consecutive planes of a grid: planes of constant z, in two dimensions lines
   * of constant y. Where the grid goes on below the slab, a vector x has one ghost plane right before its first value,
   * where it goes on above, two right behind its last one, and b and the diagonal one. Ghost planes are read and never
   * written by relaxations.
   */
  template <typename Number>
  struct Stencil
  {
    int                    n_x = 1, n_y = 1, n_z = 1;
    std::array<Number, 27> coefficients = {};                        ///< in the order of (dz, dy, dx), dx fastest
    std::vector<Number>    diagonal;                                 ///< empty, or one a row (and one for each node of the ghost plane above)
    bool                   ghost_below = false, ghost_above = false; ///< whether the grid goes on below and above the last direction's planes

    Number &coefficient(int dx, int dy, int dz) { return coefficients[((dz + 1) * 3 + dy + 1) * 3 + dx + 1]; }
    Number  coefficient(int dx, int dy, int dz) const { return coefficients[((dz + 1) * 3 + dy + 1) * 3 + dx + 1]; }

    /** n_x n_y n_z. @throws InvalidInput if these are more than 2^31 - 1. */
    int n_rows() const;
    int dim() const { return (n_x > 1) + (n_y > 1) + (n_z > 1); } ///< directions with more than one node
    /** Nodes of a plane (a line in two dimensions): those with equal z (equal y). */
    int  plane() const { return n_z > 1 ? n_x * n_y : n_x; }
    bool is_slab() const { return ghost_below || ghost_above; }
    /** Whether all entries lie on the axes: 5 or 7 points. */
    bool is_star() const;
    /** @throws InvalidInput naming the dimension, coefficient or row, what was found and what is expected. */
    void validate() const;
    /**
     * The same matrix, stored. Coefficients that are zero are left out. @throws InvalidInput for a slab, whose columns
     * have no numbers of their own.
     */
    CrsMatrix<Number> to_crs() const;
    /** The same into a matrix that is there, whose memory is taken. */
    void to_crs(CrsMatrix<Number> &A) const;
  };

  /**
   * Whether two stencils differ in values only: same grid, same coefficients that are zero, a diagonal in both or in
   * neither.
   */
  template <typename Number>
  bool have_same_pattern(const Stencil<Number> &a, const Stencil<Number> &b);

  /** The same stencil in another number type, each value rounded, into one that is there, whose memory is taken. */
  template <typename Number>
  void round_to(Stencil<Number> &result, const Stencil<double> &stencil)
  {
    result.n_x = stencil.n_x;
    result.n_y = stencil.n_y;
    result.n_z = stencil.n_z;
    for (std::size_t i = 0; i < result.coefficients.size(); ++i)
      result.coefficients[i] = static_cast<Number>(stencil.coefficients[i]);
    result.diagonal.resize(stencil.diagonal.size());
    for (std::size_t i = 0; i < stencil.diagonal.size(); ++i)
      result.diagonal[i] = static_cast<Number>(stencil.diagonal[i]);
    result.ghost_below = stencil.ghost_below;
    result.ghost_above = stencil.ghost_above;
  }

  template <typename Number>
  Stencil<Number> rounded_to(const Stencil<double> &stencil)
  {
    Stencil<Number> result;
    round_to(result, stencil);
    return result;
  }

  // -laplace u + delta u with zero boundary values, times h^2 (2D) or h^2 again in the finite difference 3D stencil:
  Stencil<double> five_point_stencil(int n_x, int n_y, double delta);           ///< finite differences: 4 + delta; -1
  Stencil<double> nine_point_stencil(int n_x, int n_y, double delta);           ///< bilinear elements: 8/3 + delta; -1/3
  Stencil<double> seven_point_stencil(int n_x, int n_y, int n_z, double delta); ///< finite differences: 6 + delta; -1
  Stencil<double> twenty_seven_point_stencil(int    n_x,
                                             int    n_y,
                                             int    n_z,
                                             double delta); ///< trilinear elements times 1/h: 8/3 + delta; faces 0, edges -1/6, corners -1/12
} // namespace leopard
