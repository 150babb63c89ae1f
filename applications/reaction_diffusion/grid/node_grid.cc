// SPDX-License-Identifier: Apache-2.0
#include "node_grid.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** Where the nodes of one direction are. */
    using Positions = std::vector<double>;

    double cell(const Positions &x, std::size_t i)
    {
      const std::size_t last = x.size() - 1;
      return 0.5 * ((i < last ? x[i + 1] : x[i]) - (i > 0 ? x[i - 1] : x[i]));
    }

    Axis make_axis(const Positions &x, double spacing)
    {
      Axis              axis;
      const std::size_t n = x.size();
      axis.lower.assign(n, 0.);
      axis.upper.assign(n, 0.);
      axis.weight.assign(n, 1.);
      for (std::size_t i = 0; i < n && n > 1; ++i)
        {
          const double m = cell(x, i);
          if (i > 0)
            axis.lower[i] = 1. / (m * (x[i] - x[i - 1]));
          if (i + 1 < n)
            axis.upper[i] = 1. / (m * (x[i + 1] - x[i]));
          axis.weight[i] = m / spacing;
        }
      return axis;
    }

    Positions coarsen(const Positions &x)
    {
      if (x.size() <= 3)
        return x;
      Positions coarse;
      for (std::size_t i = 0; i < x.size(); i += 2)
        coarse.push_back(x[i]);
      if (x.size() % 2 == 0)
        coarse.push_back(x.back());
      return coarse;
    }

    /** Linear interpolation, and its transpose weighted with the cells: what it restricts keeps its integral. */
    void add_transfers(Axis &axis, const Positions &fine, const Positions &coarse)
    {
      const int n = static_cast<int>(fine.size()), n_coarse = static_cast<int>(coarse.size());
      const int step = n == n_coarse ? 1 : 2;
      axis.coarse_node.resize(n);
      axis.interpolation.resize(n);
      axis.fine_node.resize(n_coarse);
      axis.restriction.assign(3 * static_cast<std::size_t>(n_coarse), 0.);
      for (int j = 0; j < n_coarse; ++j)
        axis.fine_node[j] = std::min(step * j, n - 1);
      for (int i = 0; i < n; ++i)
        {
          const int j           = i == n - 1 ? n_coarse - 1 : i / step;
          axis.coarse_node[i]   = j;
          axis.interpolation[i] = axis.fine_node[j] == i ? 1. : (coarse[j + 1] - fine[i]) / (coarse[j + 1] - coarse[j]);
        }
      for (int j = 0; j < n_coarse; ++j)
        for (int k = 0; k < 3; ++k)
          {
            const int i = axis.fine_node[j] + k - 1;
            if (i < 0 || i >= n)
              continue;
            const double p = axis.coarse_node[i] == j ? axis.interpolation[i] : axis.coarse_node[i] == j - 1 ? 1. - axis.interpolation[i] : 0.;
            axis.restriction[3 * j + k] = n == 1 ? p : p * cell(fine, i) / cell(coarse, j);
          }
    }
  } // namespace

  void NodeGrid::validate(int n_species) const
  {
    for (int d = 0; d < 3; ++d)
      {
        const std::string direction(1, "xyz"[d]);
        if (n[d] < (d == 2 ? 1 : 2))
          throw InvalidInput("the grid has " + std::to_string(n[d]) + " nodes in " + direction +
                             "\n  expected: at least 2, or 1 in z for two dimensions");
        if (periodic[d] && n[d] < 3)
          throw InvalidInput("the grid has " + std::to_string(n[d]) + " nodes in " + direction + ", in which it is periodic\n  expected: at least 3");
        if (!(spacing[d] >= 1e-100 && spacing[d] <= 1e100)) // its square is divided by
          throw InvalidInput("the grid's spacing in " + direction + " is " + short_text(spacing[d]) + "\n  expected: a number from 1e-100 to 1e100");
      }
    const double values = static_cast<double>(n[0]) * n[1] * n[2] * n_species * n_species;
    if (values >= static_cast<double>(std::numeric_limits<int>::max()))
      throw InvalidInput("the grid has " + std::to_string(n_nodes()) + " nodes and " + std::to_string(n_species) +
                         " fields\n  expected: nodes times fields squared below 2^31, since indices have 32 bits");
  }

  std::vector<GridLevel> make_levels(const NodeGrid &grid, bool with_coarser)
  {
    std::array<Positions, 3> positions;
    for (int d = 0; d < 3; ++d)
      for (int i = 0; i < grid.n[d]; ++i)
        positions[d].push_back(i * grid.spacing[d]);

    std::vector<GridLevel> levels;
    while (true)
      {
        GridLevel level;
        for (int d = 0; d < 3; ++d)
          {
            level.n[d]    = static_cast<int>(positions[d].size());
            level.axis[d] = make_axis(positions[d], grid.spacing[d]);
          }
        levels.push_back(level);
        bool coarser = false;
        for (int d = 0; d < 3; ++d)
          {
            const Positions coarse = coarsen(positions[d]);
            coarser                = coarser || coarse.size() < positions[d].size();
            add_transfers(levels.back().axis[d], positions[d], coarse);
            positions[d] = coarse;
          }
        if (!coarser || !with_coarser)
          return levels;
      }
  }

  std::size_t coarsest_level(const std::vector<GridLevel> &levels, double diffusion, double rate)
  {
    std::size_t coarsest = 0;
    for (; coarsest + 1 < levels.size(); ++coarsest)
      {
        double diagonal = 0.;
        for (const Axis &axis : levels[coarsest].axis)
          diagonal += axis.lower.size() > 1 ? axis.lower[1] + axis.upper[1] : 0.;
        if (0.2 * diffusion * diagonal < rate && levels[coarsest].n_nodes() < 2500) // cheap to solve on
          break;
      }
    return coarsest;
  }

  double largest_row(const NodeGrid &grid)
  {
    double sum = 0.;
    for (int d = 0; d < 3; ++d)
      sum += grid.n[d] > 1 ? 2. / (grid.spacing[d] * grid.spacing[d]) : 0.;
    return sum;
  }
} // namespace leopard::reaction_diffusion
