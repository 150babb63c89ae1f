// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../exchange/peer_memory.cuh"
#include "relax_kernels.cuh"

#include <type_traits>

namespace leopard
{
  // The stencil form: what a thread holds of a grid, and how it comes from memory and goes back. See
  // stencil_kernels.cuh.

  template <typename Number>
  struct StencilView
  {
    int           n_x, n_y, n_z; ///< of the kernel: in two dimensions n_y = 1
    int           tiles_x, tiles_y;
    int           offset_x, offset_y, offset_z; ///< nodes that the first tile begins before the grid: of a tile, or zero
    int           begin_z, end_z;               ///< of the planes that exist, ghosts included
    Number        weights[27];                  ///< -c_j, times omega / c_0 if the diagonal is constant; [(dz + 1) * 9 + (dy + 1) * 3 + dx + 1]
    Number        keep;                         ///< 1 - omega
    Number        inverse_diagonal;             ///< omega / c_0
    bool          has_sweep_weights;            ///< omega is 1 then
    Number        sweep_weights[most_sweep_weights];
    const Number *inverse_diagonals;     ///< omega / d_i, one a row, or null
    Number *mirror_below, *mirror_above; ///< persistent form: where the first and the last plane go, too, or null (see BlockAsyncEngine::mirror())
  };

  template <typename Number_, int n_lanes_x_, int n_lanes_y_, int n_y_, int n_z_, bool full_, bool variable_>
  struct StencilShape
  {
    using Number                    = Number_;
    static constexpr int  n_lanes_x = n_lanes_x_, n_lanes_y = n_lanes_y_, n_y = n_y_, n_z = n_z_;
    static constexpr bool full = full_, variable = variable_, flat = n_lanes_y_ * n_y_ == 1;
    /** Warps a tile at most (persistent form). */
    static constexpr int max_warps = flat ? 16 : full ? 4 : 8;
    /** Blocks of four warps a multiprocessor for which registers suffice, of whole tiles. */
    static constexpr int for_double = flat ? (variable ? 3 : full ? 4 : 5) : full ? 2 : variable ? 3 : 4;
    static constexpr int for_float  = flat ? (variable ? 6 : 8) : full ? 4 : variable ? 5 : 7;
    static constexpr int at_once    = std::is_same_v<Number, float> ? for_float : for_double;
  };

  template <typename Shape>
  using Patch = typename Shape::Number[Shape::n_z][Shape::n_y][2];

  /** A thread's place in the grid. If `whole`, every node of its tile exists and pairs of neighbours are aligned. */
  template <typename Shape, bool whole>
  struct StencilThread
  {
    using Number = typename Shape::Number;

    int  lane, warp, n_warps, x, y, z, n_x, n_y, n_z, begin_z, end_z;
    bool left_edge, right_edge, front_edge, back_edge, bottom_edge, top_edge; ///< of the tile

    __device__ explicit StencilThread(const StencilView<Number> &A)
    {
      lane         = threadIdx.x % 32;
      warp         = threadIdx.x / 32;
      n_warps      = blockDim.x / 32;
      const int lx = lane % Shape::n_lanes_x, ly = lane / Shape::n_lanes_x;
      const int tile = blockIdx.x, tile_x = tile % A.tiles_x, tile_y = tile / A.tiles_x % A.tiles_y, tile_z = tile / (A.tiles_x * A.tiles_y);
      x           = (tile_x * Shape::n_lanes_x + lx) * 2 - A.offset_x;
      y           = (tile_y * Shape::n_lanes_y + ly) * Shape::n_y - A.offset_y;
      z           = (tile_z * n_warps + warp) * Shape::n_z - A.offset_z;
      n_x         = A.n_x;
      n_y         = A.n_y;
      n_z         = A.n_z;
      begin_z     = A.begin_z;
      end_z       = A.end_z;
      left_edge   = lx == 0;
      right_edge  = lx == Shape::n_lanes_x - 1;
      front_edge  = ly == 0;
      back_edge   = ly == Shape::n_lanes_y - 1;
      bottom_edge = warp == 0;
      top_edge    = warp == n_warps - 1;
    }

    __device__ int index(int px, int py, int r) const { return ((z + r) * n_y + y + py) * n_x + x + px; }
    /** Of a node of the patch or beside it; what is known of whole tiles is not asked. */
    __device__ bool exists(int px, int py, int r) const
    {
      const bool in_x = (whole && px >= 0 && px < 2) || (x + px >= 0 && x + px < n_x);
      const bool in_y = (whole && py >= 0 && py < Shape::n_y) || (y + py >= 0 && y + py < n_y);
      const bool in_z = (whole && r >= 0 && r < Shape::n_z) || (z + r >= begin_z && z + r < end_z);
      return in_x && in_y && in_z;
    }
    /** Whether a node of the patch is one to relax, and not a ghost. */
    __device__ bool owns(int px, int py, int r) const
    {
      return whole || (x + px >= 0 && x + px < n_x && y + py >= 0 && y + py < n_y && z + r >= 0 && z + r < n_z);
    }
    /** The newest value of a node beside the tile; zero beyond the grid. */
    __device__ Number beside(const Number *v, int px, int py, int r) const { return exists(px, py, r) ? load(v + index(px, py, r)) : Number(0); }
  };

  /** Whether all nodes of a thread block's tile are own ones of the grid. */
  template <typename Shape, typename Number = typename Shape::Number>
  __device__ bool is_inside(const StencilView<Number> &A)
  {
    constexpr int size_x = 2 * Shape::n_lanes_x, size_y = Shape::n_lanes_y * Shape::n_y;
    const int     tile = blockIdx.x, size_z = static_cast<int>(blockDim.x) / 32 * Shape::n_z;
    const int     x = tile % A.tiles_x * size_x - A.offset_x, y = tile / A.tiles_x % A.tiles_y * size_y - A.offset_y,
              z = tile / A.tiles_x / A.tiles_y * size_z - A.offset_z;
    return x >= 0 && x + size_x <= A.n_x && y >= 0 && y + size_y <= A.n_y && z >= 0 && z + size_z <= A.n_z;
  }

  /**
   * @param begin_z, end_z the planes that v has: ghost planes of a slab can lie inside the first and the last tiles.
   */
  template <bool streamed, typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void load_patch(const StencilThread<Shape, whole> &t, const Number *v, int begin_z, int end_z, Patch<Shape> &patch)
  {
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
      for (int py = 0; py < Shape::n_y; ++py)
        if constexpr (whole)
          {
            const Number *const from = v + t.index(0, py, r);
            const auto          pair = streamed ? __ldcs(reinterpret_cast<const typename PairOf<Number>::Type *>(from)) : load_pair(from);
            patch[r][py][0]          = pair.x;
            patch[r][py][1]          = pair.y;
          }
        else
          for (int px = 0; px < 2; ++px)
            {
              const Number *const from     = v + t.index(px, py, r);
              const bool          in_plane = t.x + px >= 0 && t.x + px < t.n_x && t.y + py >= 0 && t.y + py < t.n_y;
              const bool          has      = in_plane && t.z + r >= begin_z && t.z + r < end_z;
              patch[r][py][px]             = !has ? Number(0) : streamed ? __ldcs(from) : load(from);
            }
  }

  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void store_patch(const StencilThread<Shape, whole> &t, Number *v, const Patch<Shape> &patch, bool edges_only)
  {
    const bool at_side = t.left_edge || t.right_edge;
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
      for (int py = 0; py < Shape::n_y; ++py)
        {
          const bool edge = at_side || (t.bottom_edge && r == 0) || (t.top_edge && r == Shape::n_z - 1) ||
                            (!Shape::flat && ((t.front_edge && py == 0) || (t.back_edge && py == Shape::n_y - 1)));
          if (edges_only && !edge)
            continue;
          if constexpr (whole)
            store_pair(v + t.index(0, py, r), {patch[r][py][0], patch[r][py][1]});
          else
            for (int px = 0; px < 2; ++px)
              if (t.owns(px, py, r))
                store(v + t.index(px, py, r), patch[r][py][px]);
        }
  }

  /** The first and the last plane of a slab, to the memory of the GPUs beside. */
  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void store_mirrors(const StencilView<Number> &A, const StencilThread<Shape, whole> &t, const Patch<Shape> &patch)
  {
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
      {
        Number *const below = t.z + r == 0 ? A.mirror_below : nullptr, *const above = t.z + r == t.n_z - 1 ? A.mirror_above : nullptr;
        if (below == nullptr && above == nullptr)
          continue;
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
          for (int px = 0; px < 2; ++px)
            {
              if (!t.owns(px, py, r))
                continue;
              const int place = (t.y + py) * t.n_x + t.x + px;
              if (below != nullptr)
                peer::store(below + place, patch[r][py][px]);
              if (above != nullptr)
                peer::store(above + place, patch[r][py][px]);
            }
      }
  }
} // namespace leopard
