// SPDX-License-Identifier: Apache-2.0
#include "slabs.h"

#include "../../base/errors.h"

#include <algorithm>
#include <string>

namespace leopard
{
  namespace
  {
    constexpr int planes_a_rank =
      2; // so that the two ghost planes above are one neighbour's, and a slab is not mistaken for a grid of fewer dimensions

    int half(int n)
    {
      return n == 1 ? 1 : n / 2;
    }

    double unknowns(const std::array<int, 3> &n)
    {
      return static_cast<double>(n[0]) * n[1] * n[2];
    }
  } // namespace

  SlabPartition::SlabPartition(const Stencil<double> &whole, int n_ranks_, int gather_below, int multiple)
    : n_ranks(n_ranks_)
    , direction(whole.n_z > 1 ? 2 : 1)
    , nodes(1, {whole.n_x, whole.n_y, whole.n_z})
  {
    if (whole.n_x < 2 || whole.n_y < 2 || whole.n_z < 1)
      throw InvalidInput("multigrid on slabs: a grid of " + std::to_string(whole.n_x) + " x " + std::to_string(whole.n_y) + " x " +
                         std::to_string(whole.n_z) + " nodes\n  expected: at least two nodes in x and in y");
    if (n_ranks < 1 || gather_below < 1)
      throw InvalidInput("multigrid on slabs: " + std::to_string(n_ranks) + " ranks, and levels gathered below " + std::to_string(gather_below) +
                         " unknowns\n  expected: at least 1 of both");
    while (nodes.size() == 1 ||
           (unknowns(nodes.back()) > gather_below && half(nodes.back()[direction]) >= std::max(planes_a_rank, multiple) * n_ranks))
      {
        std::array<int, 3> coarse;
        std::transform(nodes.back().begin(), nodes.back().end(), coarse.begin(), half);
        nodes.push_back(coarse);
      }
    std::reverse(nodes.begin(), nodes.end());
    for (const std::array<int, 3> &n : nodes)
      n_planes.push_back(n[direction]);
    if (n_planes.front() < std::max(planes_a_rank, multiple) * n_ranks)
      throw InvalidInput("multigrid on slabs: " + std::to_string(n_planes.back()) + " planes in " + (direction == 1 ? "y" : "z") + " for " +
                         std::to_string(n_ranks) + " ranks\n  expected: at least " + std::to_string(2 * std::max(planes_a_rank, multiple)) +
                         " planes a rank");
    offsets.assign(n_planes.size(), std::vector<int>(n_ranks + 1));
    for (int rank = 0; rank <= n_ranks; ++rank)
      offsets[0][rank] = rank == n_ranks ? n_planes[0] : multiple * static_cast<int>(static_cast<long>(n_planes[0] / multiple) * rank / n_ranks);
    for (int level = 1; level < n_levels(); ++level)
      for (int rank = 0; rank <= n_ranks; ++rank)
        offsets[level][rank] = rank == n_ranks ? n_planes[level] : 2 * offsets[level - 1][rank];
  }

  namespace
  {
    int &nodes_of(Stencil<double> &stencil, int direction)
    {
      return direction == 1 ? stencil.n_y : stencil.n_z;
    }

    /**
     * The slab of the next coarser grid: with its ghost plane above as a plane like the others the finer one is a grid
     * that coarsen() knows.
     * @param last_interval of the whole coarser grid in the direction of the slabs.
     */
    StencilGrid coarsen_slab(StencilGrid fine, int direction, double last_interval, const ShiftDown &shift_down)
    {
      const bool below = fine.stencil.ghost_below, above = fine.stencil.ghost_above;
      fine.stencil.ghost_below = fine.stencil.ghost_above = false;
      if (above)
        nodes_of(fine.stencil, direction) += 1;
      StencilGrid coarse            = coarsen(fine);
      coarse.stencil.ghost_below    = below;
      coarse.stencil.ghost_above    = above;
      std::vector<double> &diagonal = coarse.stencil.diagonal;
      if (diagonal.empty() && last_interval != 1.) // it varies on the last rank, and then all have one
        diagonal.assign(coarse.stencil.n_rows(), coarse.stencil.coefficient(0, 0, 0));
      const auto                plane  = static_cast<std::size_t>(coarse.stencil.plane());
      const std::vector<double> ghosts = shift_down(std::vector<double>(diagonal.begin(), diagonal.begin() + std::min(plane, diagonal.size())));
      diagonal.insert(diagonal.end(), ghosts.begin(), ghosts.end());
      return coarse;
    }
  } // namespace

  SlabGrids make_slab_grids(const Stencil<double>     &whole,
                            const std::vector<double> &own_diagonal,
                            const SlabPartition       &partition,
                            int                        rank,
                            const ShiftDown           &shift_down,
                            const Concatenate         &concatenate)
  {
    const int   d = partition.direction, finest = partition.n_levels() - 1;
    StencilGrid grid;
    grid.stencil.coefficients = whole.coefficients;
    grid.stencil.n_x          = whole.n_x;
    grid.stencil.n_y          = whole.n_y;
    grid.stencil.n_z          = whole.n_z;
    nodes_of(grid.stencil, d) = partition.n_owned(finest, rank);
    if (!own_diagonal.empty() && own_diagonal.size() != static_cast<std::size_t>(grid.stencil.n_rows()))
      throw InvalidInput("multigrid on slabs: " + std::to_string(own_diagonal.size()) + " diagonal entries on rank " + std::to_string(rank) +
                         "\n  expected: none, or one for each of its " + std::to_string(grid.stencil.n_rows()) + " rows");
    grid.stencil.ghost_below        = rank > 0;
    grid.stencil.ghost_above        = rank < partition.n_ranks - 1;
    grid.stencil.diagonal           = own_diagonal;
    const auto                plane = static_cast<std::size_t>(grid.stencil.plane());
    const std::vector<double> ghosts =
      shift_down(std::vector<double>(own_diagonal.begin(), own_diagonal.begin() + std::min(plane, own_diagonal.size())));
    grid.stencil.diagonal.insert(grid.stencil.diagonal.end(), ghosts.begin(), ghosts.end());
    grid.stencil.validate();

    SlabGrids result;
    result.slabs.push_back(grid);
    double last_interval = 1.; // of the whole grid in the direction of the slabs
    for (int level = finest; level > 0; --level)
      {
        last_interval = partition.n_planes[level] % 2 == 0 ? last_interval / 2. : (1. + last_interval) / 2.;
        result.slabs.push_back(coarsen_slab(result.slabs.back(), d, last_interval, shift_down));
      }
    std::reverse(result.slabs.begin(), result.slabs.end());

    result.whole                     = result.slabs.front();
    result.whole.last_interval[d]    = last_interval;
    result.whole.stencil.ghost_below = result.whole.stencil.ghost_above = false;
    nodes_of(result.whole.stencil, d)                                   = partition.n_planes[0];
    std::vector<double> own                                             = result.slabs.front().stencil.diagonal;
    if (!own.empty())
      own.resize(result.slabs.front().stencil.n_rows());
    result.whole.stencil.diagonal = concatenate(own);
    result.whole.stencil.validate();
    return result;
  }

  SlabOverlap make_overlap(const SlabGrids &grids, int planes, const ExchangeBeside &exchange)
  {
    SlabOverlap result;
    result.planes = planes;
    if (planes == 0)
      return result;
    result.wide.resize(grids.slabs.size());
    for (std::size_t level = 1; level < grids.slabs.size(); ++level)
      {
        const Stencil<double> &own  = grids.slabs[level].stencil;
        Stencil<double>       &wide = result.wide[level];
        wide                        = own;
        nodes_of(wide, own.n_z > 1 ? 2 : 1) += planes * (own.ghost_below + own.ghost_above);
        if (own.diagonal.empty())
          continue;
        const auto begin = own.diagonal.begin(), end = begin + own.n_rows();
        const long n = static_cast<long>(planes) * own.plane();
        Beside     to;
        if (own.ghost_below)
          to.below.assign(begin, begin + n + own.plane()); // for its ghost plane above, too
        if (own.ghost_above)
          to.above.assign(end - n, end);
        const Beside from = exchange(to);
        wide.diagonal     = from.below;
        wide.diagonal.insert(wide.diagonal.end(), begin, end);
        wide.diagonal.insert(wide.diagonal.end(), from.above.begin(), from.above.end());
      }
    return result;
  }
} // namespace leopard
