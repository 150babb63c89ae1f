// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

#include <array>
#include <vector>

namespace leopard
{
  /**
   * Linear elasticity with multilinear elements (Q1) on a box of n_cells[0] x n_cells[1] (x n_cells[2]) cells of the
   * given sides, Lame's mu = 1 and lambda = 1.5 (Poisson's ratio 0.3). Row dim node + c is the displacement in
   * direction c of a node, of which those in direction x are neighbours. Nothing is prescribed, or the nodes at x = 0
   * are clamped: their rows and columns are the identity's.
   */
  struct Elasticity
  {
    int                   dim;
    std::array<int, 3>    n_cells;
    std::array<double, 3> side    = {1., 1., 1.};
    bool                  clamped = true;

    int n(int d) const { return d < dim ? n_cells[d] + 1 : 1; }
    int n_nodes() const { return n(0) * n(1) * n(2); }
    int place(int node, int d) const { return d == 0 ? node % n(0) : d == 1 ? node / n(0) % n(1) : node / n(0) / n(1); }

    CrsMatrix<double> matrix() const
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = dim * n_nodes();
      for (int node = 0; node < n_nodes(); ++node)
        for (int a = 0; a < dim; ++a)
          {
            for (int dz = -1; dz <= 1; ++dz)
              for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                  for (int b = 0; b < dim; ++b)
                    add(A, node, {dx, dy, dz}, a, b);
            A.row_offsets.push_back(static_cast<int>(A.columns.size()));
          }
      return A;
    }

    /** Translations, then rotations about the origin: 3 in two, 6 in three dimensions. */
    std::vector<std::vector<double>> rigid_body_modes() const
    {
      std::vector<std::vector<double>> modes;
      const auto                       add_mode = [&](const auto &displacement) {
        std::vector<double> mode;
        for (int node = 0; node < n_nodes(); ++node)
          for (int c = 0; c < dim; ++c)
            mode.push_back(displacement(node, c));
        modes.push_back(std::move(mode));
      };
      for (int d = 0; d < dim; ++d)
        add_mode([&](int, int c) { return c == d ? 1. : 0.; });
      for (int d = 0; d < dim; ++d)
        for (int e = 0; e < d; ++e)
          add_mode([&](int node, int c) { return c == e ? place(node, d) * side[d] : c == d ? -place(node, e) * side[e] : 0.; });
      return modes;
    }

  private:
    /** The integral in direction d of (derivatives of) the functions of the nodes i and i + step. */
    double integral(int d, int i, int step, bool derived_row, bool derived_column) const
    {
      if (d >= dim)
        return 1.;
      const double h = side[d], cells = (i > 0) + (i < n_cells[d]);
      if (derived_row && derived_column)
        return step == 0 ? cells / h : -1. / h;
      if (!derived_row && !derived_column)
        return step == 0 ? cells * h / 3. : h / 6.;
      if (step == 0) // half of the difference of the squares at the ends
        return i == 0 ? -0.5 : i == n_cells[d] ? 0.5 : 0.;
      return (derived_row ? -0.5 : 0.5) * step;
    }

    void add(CrsMatrix<double> &A, int node, const std::array<int, 3> &step, int a, int b) const
    {
      int other = 0;
      for (int d = 2; d >= 0; --d)
        {
          const int there = place(node, d) + step[d];
          if (there < 0 || there >= n(d))
            return;
          other = other * n(d) + there;
        }
      const auto K = [&](int row, int column) {
        double result = 1.;
        for (int d = 0; d < dim; ++d)
          result *= integral(d, place(node, d), step[d], d == row, d == column);
        return result;
      };
      constexpr double lambda = 1.5, mu = 1.;
      double           value = lambda * K(a, b) + mu * K(b, a);
      for (int c = 0; c < dim && a == b; ++c)
        value += mu * K(c, c);
      if (clamped && (place(node, 0) == 0 || place(other, 0) == 0))
        value = node == other && a == b ? 1. : 0.;
      if (value != 0. || (node == other && a == b))
        {
          A.columns.push_back(dim * other + b);
          A.values.push_back(value);
        }
    }
  };
} // namespace leopard
