// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level_gcr.h"
#include "mean_reaction.h"

#include <applications/reaction_diffusion/stepper.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * A grid and coarser ones as the domain of a HostEngine. In a cycle one red-black sweep before and one after; on the
   * coarsest grid GCR with the mean reaction as preconditioner. On several ranks the first grids are shared out, see
   * GridSlabs, and a cycle is that of one rank to the last bit: ranks wait for all values of others.
   */
  template <typename Kinetics>
  class HostGrid
  {
  public:
    static constexpr int         N            = Kinetics::n_species;
    static constexpr const char *level_name   = "grids";
    static constexpr int         n_directions = max_directions; ///< of GCR
    using Level                               = HostLevel<Kinetics>;
    using System                              = NodeSystem<Kinetics>;

    /** @param grids_ as make_levels() makes them. @param slabs_ null: one rank. */
    HostGrid(const std::vector<GridLevel> &grids_, const System &system_, const StepperOptions &options, GridSlabs *slabs_)
      : system(system_)
      , slabs(slabs_)
      , grids(grids_)
    {
      const std::vector<std::vector<int>> planes = slabs != nullptr ? slabs->shared_planes(grids) : std::vector<std::vector<int>>();
      n_shared                                   = planes.empty() ? 0 : std::max<std::size_t>(1, planes.size() - 1); // the last is whole
      for (std::size_t l = 0; l < grids.size(); ++l)
        levels.push_back(std::make_unique<Level>(grids[l],
                                                 l == 0,
                                                 options.stepping.linear_method != LinearMethod::sweeps,
                                                 options.n_threads,
                                                 l < n_shared ? slabs : nullptr,
                                                 l < n_shared ? planes[l] : std::vector<int>()));
      if (n_shared > 0 && n_shared < grids.size())
        for (const int plane : planes[n_shared])
          whole_offsets.push_back(plane * levels[n_shared]->lines_per_plane * grids[n_shared].n[0]);
    }

    void connect()
    {
      for (const auto &level : levels)
        level->connect();
    }

    std::string blocks() const { return std::to_string(levels[0]->lines_per_block) + " lines"; }

    /** f(entry, place) for all own entries of the finest grid: where the caller's arrays have them. */
    template <typename F>
    void for_places(const F &f) const
    {
      const long first = levels[0]->first_node(), n_own = levels[0]->n_own_nodes();
      for (int c = 0; c < N; ++c)
        for (long i = 0; i < n_own; ++i)
          f(c * levels[0]->n + first + i, c * n_own + i);
    }

    /** See coarsest_level(). @param u the rank's own nodes, field by field. */
    void choose_coarsest(const double *u)
    {
      const double rate = system.largest_rate(u, levels[0]->n_own_nodes());
      set_coarsest(coarsest_level(grids, system.smallest_diffusion(), 1.5 * (slabs != nullptr ? slabs->max(rate) : rate)));
    }

    /** Cycles go down to this grid. */
    void set_coarsest(std::size_t number)
    {
      coarsest = std::max(n_shared, number); // it is whole on every rank
      mean_reaction.allocate(*levels[coarsest]);
      coarse_solver.allocate(*levels[coarsest], max_coarse_iterations);
    }

    /** The Jacobian on the coarse grids, see restrict_reaction(). */
    void linearize(const typename System::Scheme &scheme, const double * /*u*/)
    {
      for (std::size_t l = 1; l <= coarsest; ++l)
        {
          Level &level = *levels[l];
          restrict_reaction(l, scheme.implicit);
          level.for_nodes([&](const auto &node, int /*piece*/) {
            const NodeRow row = node.row();
            double        block[N * N];
            for (int e = 0; e < N * N; ++e)
              block[e] = level.block[node.block_entry(e)] + (e % (N + 1) == 0 ? scheme.implicit * system.diffusion[e / (N + 1)] * row.diagonal : 0.);
            level.set_block(system, scheme.implicit, node, row, block, true);
          });
        }
      mean_reaction.set_up(system, scheme.implicit, *levels[coarsest]);
    }

    void smooth(Level &level, double implicit, bool /*after*/) const { level.sweep_by_colour(system, implicit); }

    void solve_coarsest(double implicit)
    {
      Level &grid   = *levels[coarsest];
      grid.residual = grid.rhs;
      coarse_solver.solve(system, implicit, grid, grid.residual, coarse_reduction, max_coarse_iterations, [&] {
        mean_reaction.solve(system, implicit, grid, grid.residual);
      });
    }

    /** result = R f, all fields, on grid l. @param f on grid l - 1, with the neighbours' values. */
    void restrict_to(std::size_t l, const double *f, double *result)
    {
      const Level &fine = *levels[l - 1];
      restrict_to<N>(l, result, [&](int c, const Line &line, int x) { return f[c * fine.n + line.begin + x]; });
    }

    /** On grid l - 1: d += P d of grid l, with the neighbours' values. */
    void prolongate(std::size_t l)
    {
      const Level &coarse = *levels[l];
      Level       &fine   = *levels[l - 1];
      const auto  &axis = fine.grid.axis, &coarse_axis = coarse.grid.axis;
      const int    n_coarse = coarse.grid.n[0];
      const long   n_x = n_coarse, plane = n_x * coarse.grid.n[1];
      const int    first_y = coarse.grid.is_flat() ? coarse.first_known_plane : 0, first_z = coarse.first_known_plane - first_y;
      fine.for_lines([&](int line, int /*b*/) {
        const Line l(fine.grid, line);
        for (int c = 0; c < N; ++c)
          for (int kz = 0; kz < 2; ++kz)
            for (int ky = 0; ky < 2; ++ky)
              {
                const double wz = axis[2].interpolation[l.z], wy = axis[1].interpolation[l.y];
                const double w = (kz == 0 ? wz : 1. - wz) * (ky == 0 ? wy : 1. - wy);
                if (w == 0.)
                  continue;
                const int     z = coarse_axis[2].around(axis[2].coarse_node[l.z] + kz - first_z);
                const int     y = coarse_axis[1].around(axis[1].coarse_node[l.y] + ky - first_y);
                const double *p = coarse.d.data() + c * coarse.n + z * plane + y * n_x;
                double       *q = fine.d.data() + c * fine.n + l.begin;
                for (int x = 0; x < fine.grid.n[0]; ++x)
                  {
                    const int    j  = axis[0].coarse_node[x];
                    const double wx = axis[0].interpolation[x];
                    q[x] += w * (wx == 1. ? p[j] : wx * p[j] + (1. - wx) * p[j + 1 < n_coarse ? j + 1 : 0]);
                  }
              }
      });
    }

    const System                        system;
    std::vector<std::unique_ptr<Level>> levels;
    std::size_t                         n_shared = 0; ///< levels that are shared out, the finest ones; one rank: none
    std::size_t                         coarsest = 0;

  private:
    /**
     * block = R times the finer grid's blocks without diffusion's part, R averaging over the nodes around one. The
     * reaction's derivative is averaged and not taken at averaged values:
     * where a pattern has edges as narrow as the coarse mesh size, it would be that of values which occur nowhere, and
     * could make a coarse block singular.
     */
    void restrict_reaction(std::size_t l, double implicit)
    {
      Level      &fine = *levels[l - 1];
      const Axis &axis = fine.grid.axis[0];
      fine.update_ghosts_of_blocks();
      restrict_to<N * N>(l, levels[l]->block.data(), [&](int e, const Line &line, int x) {
        const double diagonal = implicit * (line.diagonal + axis.lower[x] + axis.upper[x]);
        return fine.block[e * fine.n + line.begin + x] - (e % (N + 1) == 0 ? diagonal * system.diffusion[e / (N + 1)] : 0.);
      });
    }

    /**
     * result = R f on grid l: on the rank's lines of it where it is shared out, else on all.
     * @param f (e, line, x): entry e of n_entries at a node of the finer grid.
     */
    template <int n_entries, typename F>
    void restrict_to(std::size_t l, double *result, const F &f)
    {
      const Level &fine   = *levels[l - 1];
      Level       &coarse = *levels[l];
      const auto  &axis   = fine.grid.axis;
      const int    n_x = coarse.grid.n[0], n_fine = fine.grid.n[0];
      const int    first_y = coarse.grid.is_flat() ? coarse.first_known_plane : 0, first_z = coarse.first_known_plane - first_y;
      const bool   gathers = slabs != nullptr && l == n_shared; // each rank makes its own part
      const auto   around  = [n_fine](int i) { return i < 0 ? i + n_fine : i < n_fine ? i : i - n_fine; };
      coarse.for_lines([&](int number, int /*piece*/) {
        const Line to(coarse.grid, number);
        if (gathers && (to.begin < whole_offsets[slabs->rank] || to.begin >= whole_offsets[slabs->rank + 1]))
          return;
        const int  y = first_y + to.y, z = first_z + to.z; // on the coarse grid of all ranks
        const auto from = [&](int k) {
          return axis[2].around(axis[2].fine_node[z] + k / 3 - 1) * fine.grid.n[1] + axis[1].around(axis[1].fine_node[y] + k % 3 - 1);
        };
        for (int e = 0; e < n_entries; ++e)
          std::fill_n(result + e * coarse.n + to.begin, n_x, 0.);
        for (int k = 0; k < 9; ++k)
          if (const double w = axis[2].restriction[3 * z + k / 3] * axis[1].restriction[3 * y + k % 3]; w != 0.)
            {
              const Line line(fine.grid, from(k));
              for (int x = 0; x < n_x; ++x)
                {
                  double *const place = result + to.begin + x;
                  double        sum[n_entries];
                  for (int e = 0; e < n_entries; ++e)
                    sum[e] = place[e * coarse.n];
                  for (int kx = 0; kx < 3; ++kx)
                    if (const double wx = axis[0].restriction[3 * static_cast<std::size_t>(x) + kx]; wx != 0.)
                      for (int e = 0; e < n_entries; ++e)
                        sum[e] += w * wx * f(e, line, around(axis[0].fine_node[x] + kx - 1));
                  for (int e = 0; e < n_entries; ++e)
                    place[e * coarse.n] = sum[e];
                }
            }
      });
      for (int e = 0; e < n_entries && gathers; ++e)
        slabs->transport->gather(result + e * coarse.n, whole_offsets);
    }

    GridSlabs *const             slabs;         ///< or null
    const std::vector<GridLevel> grids;         ///< whole
    std::vector<int>             whole_offsets; ///< where the ranks' parts of the first whole grid begin, which is gathered
    MeanReaction<Kinetics>       mean_reaction;
    LevelGcr<Level>              coarse_solver;
  };
} // namespace leopard::reaction_diffusion
