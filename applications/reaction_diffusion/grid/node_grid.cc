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
    struct Positions
    {
      std::vector<double> x;
      double              period = 0.; ///< 0: it is not periodic

      int    size() const { return static_cast<int>(x.size()); }
      bool   is_periodic() const { return period > 0.; }
      double before(int i) const { return i > 0 ? x[i - 1] : is_periodic() ? x.back() - period : x[i]; }
      double behind(int i) const { return i + 1 < size() ? x[i + 1] : is_periodic() ? x.front() + period : x[i]; }
      double cell(int i) const { return 0.5 * (behind(i) - before(i)); }
      double spacing() const { return x[1] - x[0]; }
    };

    Axis make_axis(const Positions &positions, double spacing)
    {
      Axis      axis;
      const int n   = positions.size();
      axis.periodic = positions.is_periodic();
      axis.lower.assign(n, 0.);
      axis.upper.assign(n, 0.);
      axis.weight.assign(n, 1.);
      for (int i = 0; i < n && n > 1; ++i)
        {
          const double x = positions.x[i], m = positions.cell(i);
          if (i > 0 || axis.periodic)
            axis.lower[i] = 1. / (m * (x - positions.before(i)));
          if (i + 1 < n || axis.periodic)
            axis.upper[i] = 1. / (m * (positions.behind(i) - x));
          axis.weight[i] = m / spacing;
        }
      return axis;
    }

    /** Every second node and, unless periodic, the last one; of 3 or 2 nodes one. */
    Positions coarsen(const Positions &fine)
    {
      if (fine.size() <= 3)
        return {{fine.x[fine.size() / 3]}, fine.period};
      Positions coarse{{}, fine.period};
      for (int i = 0; i < fine.size(); i += 2)
        coarse.x.push_back(fine.x[i]);
      if (fine.size() % 2 == 0 && !fine.is_periodic())
        coarse.x.push_back(fine.x.back());
      return coarse;
    }

    /**
     * The directions to coarsen: those in which nodes are nearly as close as anywhere, since a relaxation does not
     * smooth along the others; all of them where cells are square. Where these have 3 or 2 nodes only and others have
     * more, what relaxations leave in them is a constant, and they go down to one node. None: the grid stays.
     */
    std::array<bool, 3> directions_to_coarsen(const std::array<Positions, 3> &positions)
    {
      constexpr double nearly  = 1.5; // of spacings
      double           closest = std::numeric_limits<double>::infinity();
      for (const Positions &p : positions)
        if (p.size() > 1)
          closest = std::min(closest, p.spacing());
      const auto is_close = [&](const Positions &p) { return p.size() > 1 && p.spacing() <= nearly * closest; };
      const auto is_long  = [](const Positions &p) { return p.size() > 3; };
      const bool any_long = std::any_of(positions.begin(), positions.end(), is_long);
      const bool halves   = std::any_of(positions.begin(), positions.end(), [&](const Positions &p) { return is_close(p) && is_long(p); });

      std::array<bool, 3> result{};
      for (int d = 0; d < 3; ++d)
        result[d] = is_close(positions[d]) && (halves ? is_long(positions[d]) : any_long);
      return result;
    }

    /** Linear interpolation, and its transpose weighted with the cells: what it restricts keeps its integral. */
    void add_transfers(Axis &axis, const Positions &fine, const Positions &coarse)
    {
      const int n = fine.size(), n_coarse = coarse.size(), step = n == n_coarse ? 1 : 2;
      axis.coarse_node.resize(n);
      axis.interpolation.resize(n);
      axis.fine_node.resize(n_coarse);
      axis.restriction.assign(3 * static_cast<std::size_t>(n_coarse), 0.);
      for (int j = 0; j < n_coarse; ++j)
        axis.fine_node[j] = n_coarse == 1 ? n / 3 : std::min(step * j, n - 1);
      for (int i = 0; i < n; ++i)
        {
          const int j           = i == n - 1 && !fine.is_periodic() ? n_coarse - 1 : std::min(i / step, n_coarse - 1);
          axis.coarse_node[i]   = j;
          axis.interpolation[i] = n_coarse == 1 || axis.fine_node[j] == i ? 1. : (coarse.behind(j) - fine.x[i]) / (coarse.behind(j) - coarse.x[j]);
        }
      const auto behind = [&](int j) { return j + 1 == n_coarse && fine.is_periodic() ? 0 : j + 1; };
      for (int j = 0; j < n_coarse; ++j)
        {
          double *const weights = &axis.restriction[3 * static_cast<std::size_t>(j)];
          double        sum     = 0.;
          for (int k = 0; k < 3; ++k)
            {
              int i = axis.fine_node[j] + k - 1;
              if (fine.is_periodic() && n > 1)
                i = axis.around(i);
              if (i < 0 || i >= n || (fine.is_periodic() && n == 2 && k == 2)) // the one before is the one behind
                continue;
              const int    before = axis.coarse_node[i];
              const double p      = before == j ? axis.interpolation[i] : behind(before) == j ? 1. - axis.interpolation[i] : 0.;
              weights[k]          = n == 1 ? p : p * fine.cell(i);
              sum += weights[k];
            }
          for (int k = 0; k < 3; ++k)
            weights[k] /= sum;
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
      {
        positions[d].period = grid.periodic[d] ? grid.n[d] * grid.spacing[d] : 0.;
        for (int i = 0; i < grid.n[d]; ++i)
          positions[d].x.push_back(i * grid.spacing[d]);
      }

    std::vector<GridLevel> levels;
    while (true)
      {
        GridLevel level;
        for (int d = 0; d < 3; ++d)
          {
            level.n[d]    = positions[d].size();
            level.axis[d] = make_axis(positions[d], grid.spacing[d]);
          }
        levels.push_back(level);
        const std::array<bool, 3> to_coarsen = directions_to_coarsen(positions);
        for (int d = 0; d < 3; ++d)
          {
            const Positions coarse = to_coarsen[d] ? coarsen(positions[d]) : positions[d];
            add_transfers(levels.back().axis[d], positions[d], coarse);
            positions[d] = coarse;
          }
        if (!with_coarser || to_coarsen == std::array<bool, 3>{})
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
