// SPDX-License-Identifier: Apache-2.0
#include "grid_slabs.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <string>

namespace leopard::reaction_diffusion
{
  namespace
  {
    int direction_of(const NodeGrid &grid)
    {
      return grid.is_flat() ? 1 : 2;
    }

    std::vector<int> share_out(const NodeGrid &grid, int n_ranks, Backend backend)
    {
      if (const std::string reason = GridSlabs::why_not(grid, n_ranks, backend); !reason.empty())
        throw InvalidInput(reason + "\n  expected: fewer ranks, or a larger grid");
      const int        n_planes = grid.n[direction_of(grid)], multiple = GridSlabs::multiple(grid, backend);
      std::vector<int> begin(n_ranks + 1, n_planes);
      for (int r = 0; r < n_ranks; ++r)
        begin[r] = multiple * static_cast<int>(static_cast<long>(n_planes / multiple) * r / n_ranks);
      return begin;
    }
  } // namespace

  std::string GridSlabs::why_not(const NodeGrid &grid, int n_ranks, Backend backend)
  {
    const int n_planes = grid.n[direction_of(grid)], multiple = GridSlabs::multiple(grid, backend);
    if (n_ranks == 1 || n_planes / multiple >= n_ranks)
      return "";
    return "the grid has " + std::to_string(n_planes) + " nodes in " + (grid.is_flat() ? "y" : "z") + ", too few for " + std::to_string(n_ranks) +
           " ranks with at least " + std::to_string(multiple) + " each";
  }

  GridSlabs::GridSlabs(const NodeGrid &grid_, int rank_, int n_ranks, Backend backend, std::shared_ptr<Transport> transport_)
    : Ranks(rank_, n_ranks, std::move(transport_))
    , share_above(backend != Backend::cuda                         ? 1l << 15
                  : transport == nullptr || transport->is_queued() ? 1l << 21
                                                                   : 1l << 19)
    , grid(grid_)
    , direction(direction_of(grid_))
    , begin(share_out(grid_, n_ranks, backend))
  {
  }

  NodeGrid GridSlabs::own_grid() const
  {
    NodeGrid own     = grid;
    own.n[direction] = n_own();
    return own;
  }

  GridLevel GridSlabs::own_level(const GridLevel &whole, const std::vector<int> &planes) const
  {
    const int  first_known = planes[rank] - has_below(), end = planes[rank + 1] + has_above();
    GridLevel  level = whole;
    Axis      &axis  = level.axis[direction];
    const auto cut   = [&](auto &values) {
      values.erase(values.begin() + end, values.end());
      values.erase(values.begin(), values.begin() + first_known);
    };
    level.n[direction] = end - first_known;
    for (auto *values : {&axis.lower, &axis.upper, &axis.weight, &axis.interpolation})
      cut(*values);
    cut(axis.coarse_node);
    for (int &i : axis.fine_node)
      i -= first_known;
    return level;
  }

  std::vector<std::vector<int>> GridSlabs::shared_planes(const std::vector<GridLevel> &grids) const
  {
    std::vector<std::vector<int>> result = {begin};
    for (std::size_t l = 0; l + 1 < grids.size(); ++l)
      {
        const std::vector<int> &fine_node = grids[l].axis[direction].fine_node;
        std::vector<int>        planes;
        for (const int b : result.back())
          planes.push_back(static_cast<int>(std::lower_bound(fine_node.begin(), fine_node.end(), b) - fine_node.begin()));
        result.push_back(planes);
        bool has_planes = true; // and a ghost plane comes from the neighbour itself
        for (int r = 0; r < n_ranks(); ++r)
          has_planes = has_planes && planes[r + 1] - planes[r] >= 2;
        if (grids[l + 1].n_nodes() <= share_above || !has_planes)
          break;
      }
    return result;
  }
} // namespace leopard::reaction_diffusion
