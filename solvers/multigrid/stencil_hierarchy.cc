// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "hierarchy.h"

#include <algorithm>
#include <array>
#include <string>

namespace leopard
{
  namespace
  {
    std::array<int, 3> nodes(const Stencil &stencil)
    {
      return {stencil.n_x, stencil.n_y, stencil.n_z};
    }

    std::string size_text(const Stencil &stencil)
    {
      return std::to_string(stencil.n_x) + " x " + std::to_string(stencil.n_y) + " x " + std::to_string(stencil.n_z);
    }

    /** The coarse nodes that a fine node of one direction is interpolated from: none, one or two neighbours. */
    struct Parents
    {
      int    first = 0, count = 0;
      double weight = 0.;
    };

    Parents parents(int node, int n_fine, int n_coarse)
    {
      if (n_fine == 1)
        return {0, 1, 1.};
      if (node % 2 == 1)
        return {node / 2, node / 2 < n_coarse ? 1 : 0, 1.};
      const int first = std::max(node / 2 - 1, 0), last = std::min(node / 2, n_coarse - 1);
      return {first, last - first + 1, 0.5};
    }

    /** Whether the coefficient couples to a node that the grid can have. */
    bool counts(const Stencil &stencil, int dx, int dy, int dz)
    {
      return (dx == 0 || stencil.n_x > 1) && (dy == 0 || stencil.n_y > 1) && (dz == 0 || stencil.n_z > 1);
    }

    /** function(dx, dy, dz) for the coefficients beside the diagonal that count. */
    template <typename Function>
    void for_each_neighbour(const Stencil &stencil, const Function &function)
    {
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if ((dx != 0 || dy != 0 || dz != 0) && counts(stencil, dx, dy, dz))
              function(dx, dy, dz);
    }

    /** In each coarse node the average of a fine vector with the weights of P^T. */
    std::vector<double> weighted_averages(const std::vector<double> &fine_values, const Stencil &fine, const Stencil &coarse)
    {
      const CrsMatrix     R = transpose(stencil_prolongation(fine, coarse));
      std::vector<double> result(R.n_rows);
      for (int i = 0; i < R.n_rows; ++i)
        {
          double sum = 0., weights = 0.;
          for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
            {
              sum += R.values[p] * fine_values[R.columns[p]];
              weights += R.values[p];
            }
          result[i] = sum / weights;
        }
      return result;
    }
  } // namespace

  int coarse_nodes(int n)
  {
    if (n < 1)
      throw InvalidInput("a grid of " + std::to_string(n) + " nodes\n  expected: at least one");
    if (n == 1)
      return 1;
    const int n_intervals = n + 1, half = n_intervals / 2;
    return (n_intervals % 2 == 0 || half % 2 == 0 ? half : half + 1) - 1;
  }

  CrsMatrix stencil_prolongation(const Stencil &fine, const Stencil &coarse)
  {
    for (int d = 0; d < 3; ++d)
      if (nodes(coarse)[d] != coarse_nodes(nodes(fine)[d]))
        throw InvalidInput("interpolation from a grid of " + size_text(coarse) + " to one of " + size_text(fine) +
                           " nodes\n  expected: the coarse grid that coarse_stencil() makes");
    CrsMatrix P;
    P.n_rows    = fine.n_rows();
    P.n_columns = coarse.n_rows();
    P.row_offsets.reserve(static_cast<std::size_t>(P.n_rows) + 1);
    for (int z = 0; z < fine.n_z; ++z)
      for (int y = 0; y < fine.n_y; ++y)
        for (int x = 0; x < fine.n_x; ++x)
          {
            const Parents px = parents(x, fine.n_x, coarse.n_x), py = parents(y, fine.n_y, coarse.n_y), pz = parents(z, fine.n_z, coarse.n_z);
            for (int k = pz.first; k < pz.first + pz.count; ++k)
              for (int j = py.first; j < py.first + py.count; ++j)
                for (int i = px.first; i < px.first + px.count; ++i)
                  {
                    P.columns.push_back((k * coarse.n_y + j) * coarse.n_x + i);
                    P.values.push_back(px.weight * py.weight * pz.weight);
                  }
            P.row_offsets.push_back(P.n_entries());
          }
    return P;
  }

  Stencil coarse_stencil(const Stencil &fine)
  {
    fine.validate();
    if (fine.n_rows() == 1)
      throw InvalidInput("a stencil on a grid of one node is to be coarsened\n  expected: more nodes");
    double laplacian_scale = 0.25, mass_scale = 1.;
    for (const int n : nodes(fine))
      if (n > 1)
        {
          laplacian_scale *= 2.;
          mass_scale *= 2.;
        }
    Stencil coarse;
    coarse.n_x = coarse_nodes(fine.n_x);
    coarse.n_y = coarse_nodes(fine.n_y);
    coarse.n_z = coarse_nodes(fine.n_z);

    double sum = 0.; // of the coefficients beside the diagonal
    for_each_neighbour(fine, [&](int dx, int dy, int dz) {
      const double c = fine.coefficient(dx, dy, dz);
      sum += c;
      coarse.coefficient(dx, dy, dz) = laplacian_scale * c;
    });
    coarse.coefficient(0, 0, 0) = -laplacian_scale * sum + mass_scale * (fine.coefficient(0, 0, 0) + sum);
    if (!fine.diagonal.empty())
      {
        coarse.diagonal = weighted_averages(fine.diagonal, fine, coarse);
        for (double &d : coarse.diagonal)
          d = -laplacian_scale * sum + mass_scale * (d + sum);
      }
    return coarse;
  }

  std::vector<Stencil> coarsen(const Stencil &finest, int n_levels)
  {
    if (n_levels < 0)
      throw InvalidInput("multigrid: " + std::to_string(n_levels) + " levels\n  expected: a number >= 1, or 0 for as many as there are");
    finest.validate();
    std::vector<Stencil> levels = {finest};
    while (n_levels == 0 ? levels.back().n_rows() > 1 : static_cast<int>(levels.size()) < n_levels)
      {
        if (levels.back().n_rows() == 1)
          throw InvalidInput("multigrid: " + std::to_string(n_levels) + " levels are asked for, but a grid of " + size_text(finest) +
                             " nodes is down to one node with " + std::to_string(levels.size()) + "\n  expected: at most that many levels");
        levels.push_back(coarse_stencil(levels.back()));
      }
    std::reverse(levels.begin(), levels.end());
    return levels;
  }

  MultigridHierarchy make_hierarchy(const Stencil &finest, int n_levels)
  {
    const std::vector<Stencil> stencils = coarsen(finest, n_levels);
    std::vector<int>           directions; // that have more than one node
    for (int d = 0; d < 3; ++d)
      if (nodes(finest)[d] > 1 || (d == 0 && finest.n_rows() == 1))
        directions.push_back(d);

    MultigridHierarchy hierarchy;
    hierarchy.levels.resize(stencils.size());
    std::array<double, 3> spacing = {1., 1., 1.};
    for (int l = static_cast<int>(stencils.size()) - 1; l >= 0; --l)
      {
        const Stencil  &stencil = stencils[l];
        MultigridLevel &level   = hierarchy.levels[l];
        level.matrix            = stencil.to_crs();
        if (l > 0)
          level.prolongation = stencil_prolongation(stencil, stencils[l - 1]);
        level.dim = static_cast<int>(directions.size());
        level.coordinates.reserve(static_cast<std::size_t>(level.dim) * stencil.n_rows());
        for (int z = 0; z < stencil.n_z; ++z)
          for (int y = 0; y < stencil.n_y; ++y)
            for (int x = 0; x < stencil.n_x; ++x)
              for (const int d : directions)
                level.coordinates.push_back(spacing[d] * (std::array<int, 3>{x, y, z}[d] + 1));
        for (int d = 0; d < 3; ++d)
          if (nodes(stencil)[d] > 1) // the next grid's nodes stand twice as far apart
            spacing[d] *= 2.;
      }
    return hierarchy;
  }
} // namespace leopard
