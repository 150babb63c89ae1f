// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reaction_diffusion_test.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace leopard::reaction_diffusion
{
  /**
   * Multilinear elements on a box, the first node in the origin: K is a sum over the directions, in each the stiffness
   * of linear elements on a line times their masses in the others. nx x ny x nz cells; nz = 0: a rectangle.
   */
  class LongCells
  {
  public:
    LongCells(const std::array<int, 3> &n_cells_, const std::array<double, 3> &length_)
      : n_cells(n_cells_)
      , length(length_)
    {
      laplacian.dimension = n_cells[2] > 0 ? 3 : 2;
      int n               = 1;
      for (const int cells : n_cells)
        n *= cells + 1;
      laplacian.matrix.n_rows = laplacian.matrix.n_columns = n;
      for (int i = 0; i < n; ++i)
        add_row(i);
    }

    /** Of both fields around (0.92, 0.94), varying slowly in all directions. */
    Vector smooth_fields() const
    {
      const int n = laplacian.n_nodes();
      Vector    u(2 * static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i)
        {
          const auto cosine = [&](int d, double k) { return n_cells[d] > 0 ? std::cos(k * M_PI * place(i)[d] / n_cells[d]) : 1.; };
          u[i]              = 0.92 + 0.1 * cosine(0, 1.) * cosine(1, 2.) * cosine(2, 1.);
          u[n + i]          = 0.94 - 0.1 * cosine(0, 2.) * cosine(1, 1.);
        }
      return u;
    }

    MeshLaplacian laplacian;

  private:
    std::array<int, 3> place(int node) const
    {
      const int nx = n_cells[0] + 1, ny = n_cells[1] + 1;
      return {node % nx, node / nx % ny, node / nx / ny};
    }

    /** Entries of node k of a line and its neighbour k + o, o = -1, 0, 1: stiffness h phi' . phi', mass phi phi / h. */
    double stiffness_of_line(int d, int k, int o) const { return o != 0 ? -1. : k > 0 && k < n_cells[d] ? 2. : 1.; }
    double mass_of_line(int d, int k, int o) const { return o != 0 ? 1. / 6. : k > 0 && k < n_cells[d] ? 2. / 3. : 1. / 3.; }

    void add_row(int i)
    {
      const std::array<int, 3> at   = place(i);
      double                   mass = 1.; // of the node, over that of one inside
      for (int d = 0; d < laplacian.dimension; ++d)
        mass *= at[d] > 0 && at[d] < n_cells[d] ? 1. : 0.5;
      for (int oz = -1; oz <= 1; ++oz)
        for (int oy = -1; oy <= 1; ++oy)
          for (int ox = -1; ox <= 1; ++ox)
            {
              const std::array<int, 3> o         = {ox, oy, oz};
              const auto               is_inside = [&](int d) { return at[d] + o[d] >= 0 && at[d] + o[d] <= n_cells[d]; };
              if (!is_inside(0) || !is_inside(1) || !is_inside(2))
                continue;
              double entry = 0.;
              for (int d = 0; d < laplacian.dimension; ++d)
                {
                  const double h    = length[d] / n_cells[d];
                  double       term = stiffness_of_line(d, at[d], o[d]) / (h * h);
                  for (int e = 0; e < laplacian.dimension; ++e)
                    term *= e != d ? mass_of_line(e, at[e], o[e]) : 1.;
                  entry += term;
                }
              laplacian.matrix.columns.push_back(i + ox + (n_cells[0] + 1) * (oy + (n_cells[1] + 1) * oz));
              laplacian.matrix.values.push_back(entry / mass);
            }
      laplacian.matrix.row_offsets.push_back(static_cast<int>(laplacian.matrix.columns.size()));
      laplacian.weight.push_back(mass);
      for (int d = 0; d < laplacian.dimension; ++d)
        laplacian.coordinates.push_back(length[d] * at[d] / n_cells[d]);
    }

    std::array<int, 3>    n_cells;
    std::array<double, 3> length;
  };
} // namespace leopard::reaction_diffusion
