// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_sums.cuh"
#include "coarsest_grid.cuh"
#include "grid_gcr.cuh"

#include <applications/reaction_diffusion/grid/axis_modes.h>
#include <solvers/device/cuda_error.cuh>
#include <solvers/device/device_array.h>
#include <solvers/multigrid/cycle.h>

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  /**
   * The grids of a DeviceGrid, and GCR with cycles on them as launches on a stream. Apart from DeviceGrid and from a
   * DeviceMesh's cycles, since these levels have neither its sweeps' tiles nor a mesh's rows: nothing would stand once
   * that stands twice now.
   */
  template <typename Kinetics>
  class GridMultigrid
  {
  public:
    /**
     * @param grid of all ranks, @param view the rank's part of it; rhs and reaction are where evaluate_grid() is to
     * write them.
     * @param slabs null: one rank.
     * @param type_ of the cycles
     */
    GridMultigrid(
      const NodeGrid &grid, const NodeSystem<Kinetics> &system_, const GridView &view, std::size_t padded_nodes, GridSlabs *slabs_, CycleType type_)
      : grids(make_levels(grid))
      , system(system_)
      , slabs(slabs_)
      , type(type_)
      , directions(2 * max_directions * padded_nodes)
      , gcr(8 * device::n_multiprocessors(), slabs, view.d, directions.data(), padded_nodes)
    {
      const std::vector<std::vector<int>> planes = slabs != nullptr ? slabs->shared_planes(grids) : std::vector<std::vector<int>>();
      n_shared                                   = planes.empty() ? 0 : planes.size() - 1; // the last is whole
      if (slabs != nullptr && grids.size() == 1)
        n_shared = 1;
      for (std::size_t l = 0; l < grids.size(); ++l)
        {
          const GridLevel &level = grids[l];
          const long       plane =
            l == 0 ? (grid.is_flat() ? view.padded_x : view.padded_x * view.padded_y) : (grid.is_flat() ? level.n[0] : level.n[0] * level.n[1]);
          const bool is_shared = l < n_shared;
          const int  own       = is_shared ? planes[l][slabs->rank + 1] - planes[l][slabs->rank] : 0;
          levels.emplace_back(level, l == 0 ? padded_nodes : is_shared ? plane * own : level.n_nodes(), is_shared ? plane : 0);
          if (l == 0)
            {
              levels[0].view.line  = view.padded_x;
              levels[0].view.plane = view.padded_x * view.padded_y;
            }
          if (is_shared)
            levels[l].share(slabs->direction, planes[l][slabs->rank], own, static_cast<int>(plane));
        }
      if (n_shared > 0 && n_shared < grids.size())
        {
          const long plane = grid.is_flat() ? grids[n_shared].n[0] : grids[n_shared].n[0] * grids[n_shared].n[1];
          for (const int first : planes[n_shared])
            whole_offsets.push_back(static_cast<int>(plane * first));
        }
      gcr.set_level(levels[0].view);
    }

    /** Before the first exchange, when all ranks have made theirs. Collective. */
    void connect()
    {
      for (std::size_t l = 0; l < n_shared; ++l)
        levels[l].ghosts =
          slabs->transport->connect(slab_pattern({slabs->rank, slabs->n_ranks(), 1, levels[l].view.n[slabs->direction]}), levels[l].shared_plane);
    }

    std::size_t      n_grids() const { return grids.size(); }
    const LevelView &finest() const { return levels[0].view; }

    /**
     * Chooses the coarsest grid for a reaction this strong (see coarsest_level()). @return whether it is another one
     * than before.
     */
    bool choose_coarsest(double rate)
    {
      const std::size_t before = coarsest;
      coarsest                 = std::max<std::size_t>(n_shared, coarsest_level(grids, system.smallest_diffusion(), rate));
      if (coarsest == before && vectors.size() > 0)
        return false;
      const GridLevel  &grid = grids[coarsest];
      const std::size_t n    = grid.n_nodes();
      vectors                = device::Array<float2>(2 * max_coarse_iterations * n);
      std::vector<float> all_numbers;
      const auto         add = [&](const std::vector<double> &values) {
        all_numbers.insert(all_numbers.end(), values.begin(), values.end());
        return all_numbers.size() - values.size();
      };
      std::size_t begin[3][3];
      for (int direction = 0; direction < 3; ++direction)
        {
          const AxisModes modes = make_modes(grid.axis[direction]);
          begin[direction][0]   = add(modes.eigenvalue);
          begin[direction][1]   = add(modes.to_modes);
          begin[direction][2]   = add(modes.from_modes);
        }
      mode_numbers = device::Array<float>(all_numbers);
      for (int direction = 0; direction < 3; ++direction)
        view.modes[direction] = {
          mode_numbers.data() + begin[direction][0], mode_numbers.data() + begin[direction][1], mode_numbers.data() + begin[direction][2]};
      view.p = vectors.data();
      view.q = vectors.data() + max_coarse_iterations * n;
      device::allow_shared_memory(reinterpret_cast<const void *>(solve_coarsest<Kinetics>)); // not n of them: other grids have other n
      return true;
    }

    /** Before the cycles of a Newton step: no correction, the Jacobian on the coarse grids, the goal. */
    void begin(cudaStream_t stream, GraphState *state, Condition more)
    {
      for (std::size_t l = 1; l <= coarsest; ++l)
        {
          const LevelView  &fine = levels[l - 1].view, &coarse = levels[l].view;
          const CoarseNodes own = own_nodes(l);
          restrict_reaction<<<blocks(own.end - own.begin), level_threads, 0, stream>>>(fine, coarse, own);
          if (l == n_shared)
            {
              gather(coarse.d);
              gather(coarse.residual);
            }
          store_reaction<<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(coarse);
        }
      gcr.begin(stream, state, more);
    }

    /** An iteration of GCR with a cycle as preconditioner. */
    void iterate(cudaStream_t stream, GraphState *state, Condition more)
    {
      clear_ghosts(stream, 0);
      multigrid_cycle(Parts{*this, stream, state}, static_cast<int>(coarsest), type);
      gcr.iterate(
        stream, state, more, [&] { multiply_direction<Kinetics><<<gcr.n_blocks(), grid_threads, 0, stream>>>(gcr.vectors(), system, state); });
    }

  private:
    /** A grid in device memory. */
    struct Level
    {
      LevelView             view{};
      device::Array<float>  numbers;
      device::Array<int>    nodes;
      device::Array<float2> pairs;
      device::Array<float4> reaction;

      std::unique_ptr<Exchange> ghosts;           ///< or null
      int                       shared_plane = 0; ///< shared grids: nodes of a plane

      /** @param n nodes, with the padding. @param margin nodes before and behind them. */
      Level(const GridLevel &grid, std::size_t n, std::size_t margin)
      {
        std::vector<float> all_numbers;
        std::vector<int>   all_nodes;
        for (const Axis &axis : grid.axis)
          {
            for (const auto *values : {&axis.lower, &axis.upper, &axis.interpolation, &axis.restriction})
              all_numbers.insert(all_numbers.end(), values->begin(), values->end());
            for (const auto *values : {&axis.coarse_node, &axis.fine_node})
              all_nodes.insert(all_nodes.end(), values->begin(), values->end());
          }
        numbers              = device::Array<float>(all_numbers);
        nodes                = device::Array<int>(all_nodes);
        const float *number  = numbers.data();
        const int   *node    = nodes.data();
        const auto   advance = [](auto *&pointer, std::size_t n) {
          auto *const result = pointer;
          pointer += n;
          return result;
        };
        for (int direction = 0; direction < 3; ++direction)
          {
            const Axis &axis       = grid.axis[direction];
            AxisView   &to         = view.axis[direction];
            view.n[direction]      = grid.n[direction];
            view.period[direction] = axis.periodic ? grid.n[direction] : 0;
            to.lower               = advance(number, axis.lower.size());
            to.upper               = advance(number, axis.upper.size());
            to.interpolation       = advance(number, axis.interpolation.size());
            to.restriction         = advance(number, axis.restriction.size());
            to.coarse_node         = advance(node, axis.coarse_node.size());
            to.fine_node           = advance(node, axis.fine_node.size());
          }
        const std::size_t stride = n + 2 * margin;
        pairs                    = device::Array<float2>(3 * stride);
        reaction                 = device::Array<float4>(n);
        if (margin > 0) // planes travel with their padding
          LEOPARD_CHECK(cudaMemset(pairs.data(), 0, pairs.size() * sizeof(float2)));
        view.line     = grid.n[0];
        view.plane    = grid.n[0] * grid.n[1];
        view.rhs      = pairs.data() + margin;
        view.residual = view.rhs + stride;
        view.d        = view.residual + stride;
        view.reaction = reaction.data();
      }

      /** These planes are the rank's, and no others are here. */
      void share(int direction, int first, int n_own, int plane)
      {
        AxisView &axis        = view.axis[direction];
        view.n[direction]     = n_own;
        view.first[direction] = first;
        axis.lower += first;
        axis.upper += first;
        axis.interpolation += first;
        axis.coarse_node += first;
        shared_plane = plane;
      }
    };

    /** What multigrid_cycle() asks for, as launches; its level 0 is the coarsest grid. */
    struct Parts
    {
      const GridMultigrid &multigrid;
      const cudaStream_t   stream;
      const GraphState    *state;

      std::size_t      number(int level) const { return multigrid.coarsest - level; }
      const LevelView &at(int level) const { return multigrid.levels[number(level)].view; }

      void smooth_before(int level) const { multigrid.sweep(stream, number(level), state); }
      void smooth_after(int level) const { multigrid.sweep(stream, number(level), state); }
      void set_zero(int /*level*/) const {} // by restrict_residual()

      void restrict_residual(int level) const
      {
        const LevelView  &fine = at(level), &coarse = at(level - 1);
        const std::size_t l = number(level);
        compute_residual<Kinetics><<<blocks(fine.n_nodes()), level_threads, 0, stream>>>(fine, multigrid.system, state);
        multigrid.exchange(l, fine.residual);
        leopard::reaction_diffusion::restrict_residual<<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(
          fine, coarse, multigrid.own_nodes(l + 1));
        multigrid.clear_ghosts(stream, l + 1);
        if (l + 1 == multigrid.n_shared)
          multigrid.gather(coarse.rhs);
      }

      void correct(int level) const
      {
        const LevelView &fine = at(level);
        prolongate<<<blocks(fine.n_nodes()), level_threads, 0, stream>>>(at(level - 1), fine);
        multigrid.exchange(number(level), fine.d);
      }

      void solve_coarsest() const
      {
        const LevelView &grid = at(0);
        leopard::reaction_diffusion::solve_coarsest<Kinetics>
          <<<1, coarse_threads, grid.n_nodes() * sizeof(float2), stream>>>(grid, multigrid.system, state, multigrid.view);
      }
    };

    static int blocks(int n) { return (n + level_threads - 1) / level_threads; }

    void sweep(cudaStream_t stream, std::size_t l, const GraphState *state) const
    {
      const LevelView &v       = levels[l].view;
      const int        n_pairs = (v.n[0] + 1) / 2 * v.n[1] * v.n[2];
      for (int colour = 0; colour < 2; ++colour)
        {
          relax_colour<Kinetics><<<blocks(n_pairs), level_threads, 0, stream>>>(v, system, state, colour);
          exchange(l, v.d);
        }
    }

    // What several ranks do beside, queued; one rank does nothing.

    /** Ghosts of a vector of a shared grid. A float2 travels as a double. */
    void exchange(std::size_t l, float2 *v) const
    {
      if (l < n_shared)
        levels[l].ghosts->update(reinterpret_cast<double *>(v - levels[l].shared_plane));
    }

    /** Those of d of a shared grid are zero. */
    void clear_ghosts(cudaStream_t stream, std::size_t l) const
    {
      if (l >= n_shared)
        return;
      const LevelView     &v     = levels[l].view;
      const std::ptrdiff_t plane = levels[l].shared_plane;
      for (float2 *ghosts : {v.d - plane, v.d + v.n[slabs->direction] * plane})
        LEOPARD_CHECK(cudaMemsetAsync(ghosts, 0, plane * sizeof(float2), stream));
    }

    /** Of a coarse grid. */
    CoarseNodes own_nodes(std::size_t l) const
    {
      if (slabs != nullptr && l == n_shared)
        return {whole_offsets[slabs->rank], whole_offsets[slabs->rank + 1]};
      return {0, levels[l].view.n_nodes()};
    }

    /** Of the first whole grid. */
    void gather(float2 *coarse) const
    {
      if (slabs != nullptr)
        slabs->transport->gather(reinterpret_cast<double *>(coarse), whole_offsets);
    }

    const std::vector<GridLevel> grids;
    const NodeSystem<Kinetics>   system;
    std::vector<Level>           levels;
    GridSlabs *const             slabs; ///< or null
    const CycleType              type;
    std::size_t                  n_shared = 0; ///< grids that are shared out, the finest ones; one rank: none
    std::size_t                  coarsest = 0;
    std::vector<int>             whole_offsets; ///< where the ranks' parts of the first whole grid begin
    device::Array<float2>        vectors;       ///< of the coarsest grid
    device::Array<float>         mode_numbers;
    CoarsestView                 view{};
    const device::Array<float2>  directions;
    GcrLaunches                  gcr;
  };
} // namespace leopard::reaction_diffusion
