// SPDX-License-Identifier: Apache-2.0
#include "stencil.h"

#include "../base/errors.h"

#include <cmath>

namespace leopard
{
  namespace
  {
    Stencil grid(int n_x, int n_y, int n_z)
    {
      Stencil stencil;
      stencil.n_x = n_x;
      stencil.n_y = n_y;
      stencil.n_z = n_z;
      return stencil;
    }
  } // namespace

  bool Stencil::is_star() const
  {
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx * dx + dy * dy + dz * dz > 1 && coefficient(dx, dy, dz) != 0. && (n_z > 1 || dz == 0))
            return false;
    return true;
  }

  void Stencil::validate() const
  {
    if (n_x < 1 || n_y < 1 || n_z < 1 || static_cast<double>(n_x) * n_y * n_z > 2147483647.)
      throw InvalidInput("stencil: a grid of " + std::to_string(n_x) + " x " + std::to_string(n_y) + " x " + std::to_string(n_z) +
                         " nodes\n  expected: at least one node a direction and at most 2^31 - 1 in all");
    for (const double c : coefficients)
      if (!std::isfinite(c))
        throw InvalidInput("stencil: a coefficient is " + std::to_string(c) + "\n  expected: finite numbers");
    if (diagonal.empty() && coefficient(0, 0, 0) == 0.)
      throw InvalidInput("stencil: the central coefficient is zero\n  expected: a nonzero diagonal; relaxation divides by it");
    const std::size_t n_diagonal = static_cast<std::size_t>(n_rows()) + (ghost_above ? plane() : 0);
    if (!diagonal.empty() && diagonal.size() != n_diagonal)
      throw InvalidInput("stencil: " + std::to_string(diagonal.size()) + " diagonal entries\n  expected: none or one for each of the " +
                         std::to_string(n_diagonal) + (ghost_above ? " rows and nodes of the ghost plane above" : " rows"));
    for (std::size_t i = 0; i < diagonal.size(); ++i)
      if (!(std::isfinite(diagonal[i]) && diagonal[i] != 0.))
        throw InvalidInput("stencil: the diagonal entry of row " + std::to_string(i) + " is " + std::to_string(diagonal[i]) +
                           "\n  expected: a finite number that is not zero");
  }

  CrsMatrix Stencil::to_crs() const
  {
    if (is_slab())
      throw InvalidInput(
        "stencil: a slab of a larger grid is to be stored as a matrix\n  expected: methods that need no stored matrix (async, jacobi, "
        "damped-jacobi) on several ranks");
    CrsMatrix A;
    A.n_rows = A.n_columns = n_rows();
    A.row_offsets.reserve(A.n_rows + 1);
    for (int z = 0; z < n_z; ++z)
      for (int y = 0; y < n_y; ++y)
        for (int x = 0; x < n_x; ++x)
          {
            for (int dz = z > 0 ? -1 : 0; dz <= (z < n_z - 1 ? 1 : 0); ++dz)
              for (int dy = y > 0 ? -1 : 0; dy <= (y < n_y - 1 ? 1 : 0); ++dy)
                for (int dx = x > 0 ? -1 : 0; dx <= (x < n_x - 1 ? 1 : 0); ++dx)
                  {
                    const int    column = ((z + dz) * n_y + y + dy) * n_x + x + dx;
                    const bool   center = dx == 0 && dy == 0 && dz == 0;
                    const double c      = center && !diagonal.empty() ? diagonal[column] : coefficient(dx, dy, dz);
                    if (c == 0.)
                      continue;
                    A.columns.push_back(column);
                    A.values.push_back(c);
                  }
            A.row_offsets.push_back(A.n_entries());
          }
    return A;
  }

  Stencil five_point_stencil(int n_x, int n_y, double delta)
  {
    Stencil stencil              = grid(n_x, n_y, 1);
    stencil.coefficient(0, 0, 0) = 4. + delta;
    for (const int d : {-1, 1})
      stencil.coefficient(d, 0, 0) = stencil.coefficient(0, d, 0) = -1.;
    return stencil;
  }

  Stencil nine_point_stencil(int n_x, int n_y, double delta)
  {
    Stencil stencil = grid(n_x, n_y, 1);
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        stencil.coefficient(dx, dy, 0) = -1. / 3.;
    stencil.coefficient(0, 0, 0) = 8. / 3. + delta;
    return stencil;
  }

  Stencil seven_point_stencil(int n_x, int n_y, int n_z, double delta)
  {
    Stencil stencil              = grid(n_x, n_y, n_z);
    stencil.coefficient(0, 0, 0) = 6. + delta;
    for (const int d : {-1, 1})
      stencil.coefficient(d, 0, 0) = stencil.coefficient(0, d, 0) = stencil.coefficient(0, 0, d) = -1.;
    return stencil;
  }

  Stencil twenty_seven_point_stencil(int n_x, int n_y, int n_z, double delta)
  {
    Stencil stencil = grid(n_x, n_y, n_z);
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          {
            const int distance              = dx * dx + dy * dy + dz * dz;
            stencil.coefficient(dx, dy, dz) = distance == 0 ? 8. / 3. + delta : distance == 1 ? 0. : distance == 2 ? -1. / 6. : -1. / 12.;
          }
    return stencil;
  }
} // namespace leopard
