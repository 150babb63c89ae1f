// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "axis_modes.h"
#include "coarsest_grid.cuh"
#include "grid_gcr.cuh"

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** The grids of a GraphEngine, and GCR with V-cycles on them as launches on a stream. */
  template <typename Kinetics>
  class GridMultigrid
  {
  public:
    /** @param view the finest grid; rhs and reaction are where evaluate_grid() is to write them. */
    GridMultigrid(const NodeGrid &grid, const NodeSystem<Kinetics> &system_, const GridView &view, std::size_t padded_nodes)
      : grids(make_levels(grid))
      , system(system_)
      , directions(2 * max_directions * padded_nodes)
      , n_parts(8 * device::n_multiprocessors())
      , parts(static_cast<std::size_t>(n_parts) * max_directions)
      , gcr{view.d, directions.data(), directions.data() + max_directions * padded_nodes, padded_nodes, parts.data()}
    {
      for (std::size_t l = 0; l < grids.size(); ++l)
        levels.emplace_back(grids[l], l == 0 ? padded_nodes : grids[l].n_nodes(), l == 0);
      levels[0].view.line  = view.padded_x;
      levels[0].view.plane = view.padded_x * view.padded_y;
    }

    std::size_t      n_grids() const { return grids.size(); }
    const LevelView &finest() const { return levels[0].view; }

    /** Chooses the coarsest grid for a reaction this strong (see coarsest_level()). @return whether it is another one than before. */
    bool choose_coarsest(double rate)
    {
      const std::size_t before = coarsest;
      coarsest                 = coarsest_level(grids, system.smallest_diffusion(), rate);
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
      LEOPARD_CHECK(
        cudaFuncSetAttribute(solve_coarsest<Kinetics>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(n * sizeof(float2))));
      return true;
    }

    /** Before the cycles of a Newton step: no correction, the Jacobian on the coarse grids, the goal. */
    void begin(cudaStream_t stream, const GridView &grid, GraphState *state, cudaGraphConditionalHandle more) const
    {
      for (std::size_t l = 1; l <= coarsest; ++l)
        {
          const LevelView &fine = levels[l - 1].view, &coarse = levels[l].view;
          if (l == 1)
            linearize_level<Kinetics, true><<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(fine, coarse, system, grid);
          else
            linearize_level<Kinetics, false><<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(fine, coarse, system, grid);
        }
      begin_gcr<0><<<n_parts, grid_threads, 0, stream>>>(finest(), gcr);
      set_goal<0><<<1, grid_threads, 0, stream>>>(state, gcr, n_parts, more);
    }

    /** An iteration of GCR with a cycle as preconditioner. */
    void iterate(cudaStream_t stream, GraphState *state, cudaGraphConditionalHandle more) const
    {
      cycle(stream, state, 0);
      multiply_direction<Kinetics><<<n_parts, grid_threads, 0, stream>>>(finest(), system, state, gcr);
      find_components<0><<<1, grid_threads, 0, stream>>>(state, gcr, n_parts);
      orthogonalize_direction<0><<<n_parts, grid_threads, 0, stream>>>(finest(), state, gcr);
      find_step<0><<<1, grid_threads, 0, stream>>>(state, gcr, n_parts);
      follow_direction<0><<<n_parts, grid_threads, 0, stream>>>(finest(), state, gcr);
      count_cycle<0><<<1, grid_threads, 0, stream>>>(state, gcr, n_parts, more);
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

      /** @param n nodes, with the padding. */
      Level(const GridLevel &grid, std::size_t n, bool is_finest)
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
            const Axis &axis  = grid.axis[direction];
            AxisView   &to    = view.axis[direction];
            view.n[direction] = grid.n[direction];
            to.lower          = advance(number, axis.lower.size());
            to.upper          = advance(number, axis.upper.size());
            to.interpolation  = advance(number, axis.interpolation.size());
            to.restriction    = advance(number, axis.restriction.size());
            to.coarse_node    = advance(node, axis.coarse_node.size());
            to.fine_node      = advance(node, axis.fine_node.size());
          }
        pairs         = device::Array<float2>((is_finest ? 3 : 4) * n);
        reaction      = device::Array<float4>(n);
        view.line     = grid.n[0];
        view.plane    = grid.n[0] * grid.n[1];
        view.rhs      = pairs.data();
        view.residual = pairs.data() + n;
        view.d        = pairs.data() + 2 * n;
        view.u        = is_finest ? nullptr : pairs.data() + 3 * n;
        view.reaction = reaction.data();
      }
    };

    void cycle(cudaStream_t stream, const GraphState *state, std::size_t l) const
    {
      const LevelView &fine = levels[l].view;
      if (l == coarsest)
        {
          solve_coarsest<Kinetics><<<1, coarse_threads, fine.n_nodes() * sizeof(float2), stream>>>(fine, system, state, view);
          return;
        }
      const LevelView &coarse = levels[l + 1].view;
      sweep(stream, fine, state);
      compute_residual<Kinetics><<<blocks(fine.n_nodes()), level_threads, 0, stream>>>(fine, system, state);
      restrict_residual<0><<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(fine, coarse);
      cycle(stream, state, l + 1);
      prolongate<0><<<blocks(fine.n_nodes()), level_threads, 0, stream>>>(coarse, fine);
      sweep(stream, fine, state);
    }

    static int blocks(int n) { return (n + level_threads - 1) / level_threads; }

    void sweep(cudaStream_t stream, const LevelView &v, const GraphState *state) const
    {
      const int n_pairs = (v.n[0] + 1) / 2 * v.n[1] * v.n[2];
      for (int colour = 0; colour < 2; ++colour)
        relax_colour<Kinetics><<<blocks(n_pairs), level_threads, 0, stream>>>(v, system, state, colour);
    }

    const std::vector<GridLevel> grids;
    const NodeSystem<Kinetics>   system;
    std::vector<Level>           levels;
    std::size_t                  coarsest = 0;
    device::Array<float2>        vectors; ///< of the coarsest grid
    device::Array<float>         mode_numbers;
    CoarsestView                 view{};
    const device::Array<float2>  directions;
    const int                    n_parts;
    const device::Array<double>  parts;
    const GcrView                gcr;
  };
} // namespace leopard::reaction_diffusion
