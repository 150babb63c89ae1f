// SPDX-License-Identifier: Apache-2.0
#include "../base/errors.h"
#include "hierarchy.h"

#include <algorithm>
#include <string>

namespace leopard
{
  namespace
  {
    int coarse_nodes(int n)
    {
      return n == 1 ? 1 : n / 2;
    }

    std::string size_text(const Stencil<double> &stencil)
    {
      return std::to_string(stencil.n_x) + " x " + std::to_string(stencil.n_y) + " x " + std::to_string(stencil.n_z);
    }

    /** Neighbours of a node on the other grid in one direction, and their weights in the interpolation. */
    struct Neighbours
    {
      int    first = 0, count = 0;
      double weights[3] = {};
    };

    /** The fine nodes that coarse node i is interpolated to. */
    Neighbours children(const StencilGrid &fine, int d, int i)
    {
      const int n = fine.n(d);
      if (n == 1)
        return {0, 1, {1.}};
      Neighbours result = {2 * i, std::min(3, n - 2 * i), {0.5, 1., 0.5}};
      if (2 * i + 2 == n - 1)
        result.weights[2] *= fine.last_weight(d);
      return result;
    }

    /** The coarse nodes that fine node i is interpolated from. */
    Neighbours parents(const StencilGrid &fine, int d, int i)
    {
      const int n = fine.n(d), n_coarse = coarse_nodes(n);
      if (n == 1 || i % 2 == 1)
        return {i / 2, 1, {1.}};
      const int    first = std::max(i / 2 - 1, 0), last = std::min(i / 2, n_coarse - 1);
      const double weight = i == n - 1 ? 0.5 * fine.last_weight(d) : 0.5;
      return {first, last - first + 1, {weight, weight}};
    }

    /** function(dx, dy, dz) for the coefficients beside the diagonal that couple to nodes which the grid can have. */
    template <typename Function>
    void for_each_neighbour(const StencilGrid &grid, const Function &function)
    {
      for (int dz = grid.n(2) > 1 ? -1 : 0; dz <= (grid.n(2) > 1 ? 1 : 0); ++dz)
        for (int dy = grid.n(1) > 1 ? -1 : 0; dy <= (grid.n(1) > 1 ? 1 : 0); ++dy)
          for (int dx = grid.n(0) > 1 ? -1 : 0; dx <= (grid.n(0) > 1 ? 1 : 0); ++dx)
            if (dx != 0 || dy != 0 || dz != 0)
              function(dx, dy, dz);
    }

    /**
     * The Laplacian's part of the diagonal: minus the sum of the other coefficients, and in the last nodes what a near
     * boundary adds.
     */
    struct LaplacianDiagonal
    {
      double inside       = 0.;
      double last[3]      = {};
      int    last_node[3] = {};

      /** @param stencil whose coefficients count, @param last_interval and n_nodes those of the grid it is for. */
      LaplacianDiagonal(const StencilGrid &counts, const StencilGrid &grid)
      {
        for (int d = 0; d < 3; ++d)
          last_node[d] = grid.n(d) - 1;
        for_each_neighbour(counts, [&](int dx, int dy, int dz) {
          const double c       = grid.stencil.coefficient(dx, dy, dz);
          const int    over[3] = {dx, dy, dz};
          inside -= c;
          for (int d = 0; d < 3; ++d)
            if (over[d] == 1)
              last[d] -= (1. / grid.last_interval[d] - 1.) * c;
        });
      }

      bool is_constant() const { return last[0] == 0. && last[1] == 0. && last[2] == 0.; }

      double at(int x, int y, int z) const
      {
        return inside + (x == last_node[0] ? last[0] : 0.) + (y == last_node[1] ? last[1] : 0.) + (z == last_node[2] ? last[2] : 0.);
      }
    };

    template <typename Function>
    void for_each_node(const Stencil<double> &stencil, const Function &function)
    {
      for (int z = 0, i = 0; z < stencil.n_z; ++z)
        for (int y = 0; y < stencil.n_y; ++y)
          for (int x = 0; x < stencil.n_x; ++x, ++i)
            function(x, y, z, i);
    }

    /**
     * In coarse node (x, y, z) the average of what a fine diagonal has beyond the Laplacian, with the weights of the
     * interpolation.
     */
    double average_mass(const StencilGrid &fine, const LaplacianDiagonal &laplacian, int x, int y, int z)
    {
      const Stencil<double> &f  = fine.stencil;
      const Neighbours       cx = children(fine, 0, x), cy = children(fine, 1, y), cz = children(fine, 2, z);
      double                 sum = 0., weights = 0.;
      for (int k = cz.first; k < cz.first + cz.count; ++k)
        for (int j = cy.first; j < cy.first + cy.count; ++j)
          for (int i = cx.first; i < cx.first + cx.count; ++i)
            {
              const double weight = cx.weights[i - cx.first] * cy.weights[j - cy.first] * cz.weights[k - cz.first];
              sum += weight * (f.diagonal[(k * f.n_y + j) * f.n_x + i] - laplacian.at(i, j, k));
              weights += weight;
            }
      return sum / weights;
    }
  } // namespace

  StencilGrid coarsen(const StencilGrid &fine)
  {
    StencilGrid coarse;
    coarsen(fine, coarse);
    return coarse;
  }

  void coarsen(const StencilGrid &fine, StencilGrid &coarse)
  {
    fine.stencil.validate();
    if (fine.stencil.n_rows() == 1)
      throw InvalidInput("a stencil on a grid of one node is to be coarsened\n  expected: more nodes");
    const double     mass_scale = fine.dim() == 1 ? 2. : fine.dim() == 2 ? 4. : 8., laplacian_scale = mass_scale / 4.;
    Stencil<double> &stencil = coarse.stencil;
    coarse.last_interval     = {1., 1., 1.};
    stencil.coefficients     = {};
    stencil.diagonal.clear();
    stencil.n_x = coarse_nodes(fine.n(0));
    stencil.n_y = coarse_nodes(fine.n(1));
    stencil.n_z = coarse_nodes(fine.n(2));
    for (int d = 0; d < 3; ++d)
      if (fine.n(d) > 1)
        coarse.last_interval[d] = 0.5 * (fine.last_interval[d] + (fine.n(d) % 2 == 1 ? 1. : 0.));
    for_each_neighbour(fine,
                       [&](int dx, int dy, int dz) { stencil.coefficient(dx, dy, dz) = laplacian_scale * fine.stencil.coefficient(dx, dy, dz); });

    const LaplacianDiagonal fine_laplacian(fine, fine), laplacian(fine, coarse);
    stencil.coefficient(0, 0, 0) = laplacian.inside + mass_scale * (fine.stencil.coefficient(0, 0, 0) - fine_laplacian.inside);
    if (!fine.stencil.diagonal.empty())
      {
        stencil.diagonal.resize(stencil.n_rows());
        for_each_node(stencil, [&](int x, int y, int z, int i) {
          stencil.diagonal[i] = laplacian.at(x, y, z) + mass_scale * average_mass(fine, fine_laplacian, x, y, z);
        });
      }
    else if (!laplacian.is_constant())
      {
        const double rest = stencil.coefficient(0, 0, 0) - laplacian.inside;
        stencil.diagonal.resize(stencil.n_rows());
        for_each_node(stencil, [&](int x, int y, int z, int i) { stencil.diagonal[i] = laplacian.at(x, y, z) + rest; });
      }
  }

  std::vector<StencilGrid> stencil_levels(const Stencil<double> &finest, int n_levels)
  {
    if (n_levels < 0)
      throw InvalidInput("multigrid: " + std::to_string(n_levels) + " levels\n  expected: a number >= 1, or 0 for as many as there are");
    finest.validate();
    std::vector<StencilGrid> levels(1);
    levels.front().stencil = finest;
    while (n_levels == 0 ? levels.back().stencil.n_rows() > 1 : static_cast<int>(levels.size()) < n_levels)
      {
        if (levels.back().stencil.n_rows() == 1)
          throw InvalidInput("multigrid: " + std::to_string(n_levels) + " levels are asked for, but a grid of " + size_text(finest) +
                             " nodes is down to one node with " + std::to_string(levels.size()) + "\n  expected: at most that many levels");
        levels.push_back(coarsen(levels.back()));
      }
    std::reverse(levels.begin(), levels.end());
    return levels;
  }

  void update_levels(std::vector<StencilGrid> &levels, const Stencil<double> &finest)
  {
    finest.validate();
    levels.back().stencil = finest;
    for (std::size_t l = levels.size() - 1; l > 0; --l)
      coarsen(levels[l], levels[l - 1]);
  }

  CrsMatrix<double> stencil_prolongation(const StencilGrid &fine, const StencilGrid &coarse)
  {
    for (int d = 0; d < 3; ++d)
      if (coarse.n(d) != coarse_nodes(fine.n(d)))
        throw InvalidInput("interpolation from a grid of " + size_text(coarse.stencil) + " to one of " + size_text(fine.stencil) +
                           " nodes\n  expected: the coarse grid that coarsen() makes");
    CrsMatrix<double> P;
    P.n_rows    = fine.stencil.n_rows();
    P.n_columns = coarse.stencil.n_rows();
    P.row_offsets.reserve(static_cast<std::size_t>(P.n_rows) + 1);
    for_each_node(fine.stencil, [&](int x, int y, int z, int /*i*/) {
      const Neighbours px = parents(fine, 0, x), py = parents(fine, 1, y), pz = parents(fine, 2, z);
      for (int c = 0; c < pz.count; ++c)
        for (int b = 0; b < py.count; ++b)
          for (int a = 0; a < px.count; ++a)
            {
              P.columns.push_back(((pz.first + c) * coarse.n(1) + py.first + b) * coarse.n(0) + px.first + a);
              P.values.push_back(px.weights[a] * py.weights[b] * pz.weights[c]);
            }
      P.row_offsets.push_back(P.n_entries());
    });
    return P;
  }

  MultigridHierarchy make_hierarchy(const Stencil<double> &finest, int n_levels)
  {
    const std::vector<StencilGrid> grids = stencil_levels(finest, n_levels);
    std::vector<int>               directions; // that have more than one node
    for (int d = 0; d < 3; ++d)
      if (grids.back().n(d) > 1 || (d == 0 && finest.n_rows() == 1))
        directions.push_back(d);

    MultigridHierarchy hierarchy;
    hierarchy.levels.resize(grids.size());
    std::array<double, 3> spacing = {1., 1., 1.};
    for (int l = static_cast<int>(grids.size()) - 1; l >= 0; --l)
      {
        MultigridLevel &level = hierarchy.levels[l];
        level.matrix          = grids[l].stencil.to_crs();
        if (l > 0)
          level.prolongation = stencil_prolongation(grids[l], grids[l - 1]);
        level.dim = static_cast<int>(directions.size());
        level.coordinates.reserve(static_cast<std::size_t>(level.dim) * level.matrix.n_rows);
        for_each_node(grids[l].stencil, [&](int x, int y, int z, int /*i*/) {
          for (const int d : directions)
            level.coordinates.push_back(spacing[d] * (std::array<int, 3>{x, y, z}[d] + 1));
        });
        for (int d = 0; d < 3; ++d)
          if (grids[l].n(d) > 1) // the next grid's nodes stand twice as far apart
            spacing[d] *= 2.;
      }
    return hierarchy;
  }
} // namespace leopard
