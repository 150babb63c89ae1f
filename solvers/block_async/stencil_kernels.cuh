// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relax_kernels.cuh"

namespace leopard
{
  // The stencil form. A warp covers 2 n_lanes_x nodes in x and n_lanes_y n_y in y and marches through n_z planes in z; a thread holds
  // 2 x n_y x n_z values in registers. Neighbours in x and y come from the lanes beside by shuffles, in z from the thread's own registers;
  // the warps of a thread block are stacked in z and exchange their outermost planes through shared memory. So a local sweep touches no memory,
  // and a global iteration moves b, x in and x out: 24 bytes a row. Two-dimensional grids have their y in the kernel's z.

  /** Relaxed loads and stores of two neighbours; each of the two is atomic by itself. The address is a multiple of 16 bytes. */
  __device__ inline double2 load_pair(const double *x)
  {
    double2 v;
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(x) : "memory");
    return v;
  }

  __device__ inline void store_pair(double *x, double2 v)
  {
    asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(x), "d"(v.x), "d"(v.y) : "memory");
  }

  struct StencilView
  {
    int           n_x, n_y, n_z; ///< of the kernel: in two dimensions n_y = 1
    int           tiles_x, tiles_y;
    double        weights[27];       ///< -c_j, times omega / c_0 if the diagonal is constant; [(dz + 1) * 9 + (dy + 1) * 3 + dx + 1]
    double        keep;              ///< 1 - omega
    double        inverse_diagonal;  ///< omega / c_0
    const double *inverse_diagonals; ///< omega / d_i, one a row, or null
    bool          aligned;           ///< two neighbours can be read and written at once: n_x is even, vectors begin at multiples of 16 bytes
  };

  template <int n_lanes_x_, int n_lanes_y_, int n_y_, int n_z_, bool full_, bool variable_, int max_threads_>
  struct StencilShape
  {
    static constexpr int  n_lanes_x = n_lanes_x_, n_lanes_y = n_lanes_y_, n_y = n_y_, n_z = n_z_, max_threads = max_threads_;
    static constexpr bool full = full_, variable = variable_, flat = n_lanes_y_ * n_y_ == 1;
  };

  /** What a thread knows of its place. */
  template <typename Shape>
  struct StencilThread
  {
    int  lane, warp, n_warps, lx, ly, x, y, z;
    bool aligned, left_edge, right_edge, front_edge, back_edge, bottom_edge, top_edge;

    __device__ explicit StencilThread(const StencilView &A)
    {
      lane           = threadIdx.x % 32;
      warp           = threadIdx.x / 32;
      n_warps        = blockDim.x / 32;
      lx             = lane % Shape::n_lanes_x;
      ly             = lane / Shape::n_lanes_x;
      const int tile = blockIdx.x, tile_x = tile % A.tiles_x, tile_y = tile / A.tiles_x % A.tiles_y, tile_z = tile / (A.tiles_x * A.tiles_y);
      x           = (tile_x * Shape::n_lanes_x + lx) * 2;
      y           = (tile_y * Shape::n_lanes_y + ly) * Shape::n_y;
      z           = (tile_z * n_warps + warp) * Shape::n_z;
      aligned     = A.aligned;
      left_edge   = lx == 0;
      right_edge  = lx == Shape::n_lanes_x - 1;
      front_edge  = ly == 0;
      back_edge   = ly == Shape::n_lanes_y - 1;
      bottom_edge = warp == 0;
      top_edge    = warp == n_warps - 1;
    }

    __device__ int  index(const StencilView &A, int px, int py, int r) const { return ((z + r) * A.n_y + y + py) * A.n_x + x + px; }
    __device__ bool exists(const StencilView &A, int px, int py, int r) const
    {
      return x + px >= 0 && x + px < A.n_x && y + py >= 0 && y + py < A.n_y && z + r >= 0 && z + r < A.n_z;
    }
    /** Whether every node of the tile exists. */
    __device__ bool whole(const StencilView &A) const
    {
      return (x - 2 * lx) + 2 * Shape::n_lanes_x <= A.n_x && (y - Shape::n_y * ly) + Shape::n_y * Shape::n_lanes_y <= A.n_y &&
             z - warp * Shape::n_z + n_warps * Shape::n_z <= A.n_z;
    }
    __device__ double off_tile(const StencilView &A, const double *v, int px, int py, int r) const
    {
      return exists(A, px, py, r) ? load(v + index(A, px, py, r)) : 0.;
    }
  };

  template <typename Shape>
  using Patch = double[Shape::n_z][Shape::n_y][2];

  template <typename Shape>
  __device__ void load_patch(const StencilView &A, const StencilThread<Shape> &t, const double *v, Patch<Shape> &patch)
  {
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
      for (int py = 0; py < Shape::n_y; ++py)
        {
          patch[r][py][0] = patch[r][py][1] = 0.;
          if (t.aligned && t.exists(A, 0, py, r))
            {
              const double2 pair = __ldcs(reinterpret_cast<const double2 *>(v + t.index(A, 0, py, r)));
              patch[r][py][0]    = pair.x;
              patch[r][py][1]    = pair.y;
            }
          else
            for (int px = 0; px < 2; ++px)
              if (t.exists(A, px, py, r))
                patch[r][py][px] = __ldcs(v + t.index(A, px, py, r));
        }
  }

  template <typename Shape>
  __device__ void store_patch(const StencilView &A, const StencilThread<Shape> &t, double *v, const Patch<Shape> &patch, bool edges_only)
  {
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
      for (int py = 0; py < Shape::n_y; ++py)
        {
          const bool edge = t.left_edge || t.right_edge || (t.bottom_edge && r == 0) || (t.top_edge && r == Shape::n_z - 1) ||
                            (!Shape::flat && ((t.front_edge && py == 0) || (t.back_edge && py == Shape::n_y - 1)));
          if (edges_only && !edge)
            continue;
          if (t.aligned && t.exists(A, 0, py, r))
            store_pair(v + t.index(A, 0, py, r), make_double2(patch[r][py][0], patch[r][py][1]));
          else
            for (int px = 0; px < 2; ++px)
              if (t.exists(A, px, py, r))
                store(v + t.index(A, px, py, r), patch[r][py][px]);
        }
  }

  /** Adds the frozen off-tile values of a star, times their weights, to s. */
  template <typename Shape>
  __device__ void freeze_star(const StencilView &A, const StencilThread<Shape> &t, const double *v, Patch<Shape> &s)
  {
    double side[Shape::n_z][Shape::n_y] = {}, front[Shape::n_z][2] = {}, bottom[Shape::n_y][2] = {}, top[Shape::n_y][2] = {};
    if (t.left_edge || t.right_edge)
#pragma unroll
      for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
          side[r][py] = t.off_tile(A, v, t.left_edge ? -1 : 2, py, r);
    if (!Shape::flat && (t.front_edge || t.back_edge))
#pragma unroll
      for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
        for (int px = 0; px < 2; ++px)
          front[r][px] = t.off_tile(A, v, px, t.front_edge ? -1 : Shape::n_y, r);
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
      for (int px = 0; px < 2; ++px)
        {
          if (t.bottom_edge)
            bottom[py][px] = t.off_tile(A, v, px, py, -1);
          if (t.top_edge)
            top[py][px] = t.off_tile(A, v, px, py, Shape::n_z);
        }
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
      {
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
          {
            s[r][py][0] += (t.left_edge ? A.weights[12] : 0.) * side[r][py];
            s[r][py][1] += (t.right_edge ? A.weights[14] : 0.) * side[r][py];
          }
        if (!Shape::flat)
#pragma unroll
          for (int px = 0; px < 2; ++px)
            {
              s[r][0][px] += (t.front_edge ? A.weights[10] : 0.) * front[r][px];
              s[r][Shape::n_y - 1][px] += (t.back_edge ? A.weights[16] : 0.) * front[r][px];
            }
      }
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
      for (int px = 0; px < 2; ++px)
        {
          s[0][py][px] += A.weights[4] * bottom[py][px];
          s[Shape::n_z - 1][py][px] += A.weights[22] * top[py][px];
        }
  }

  /** A plane with a margin of one node. */
  template <typename Shape>
  using Plane = double[Shape::n_y + 2][4];

  /** sum over the plane at distance dz of weight times value, for the node (px, py). */
  template <typename Shape>
  __device__ double apply_plane(const StencilView &A, const Plane<Shape> &e, int dz, int py, int px)
  {
    double sum = 0.;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
      for (int dx = -1; dx <= 1; ++dx)
        if ((!Shape::flat || dy == 0) && !(dz == 0 && dy == 0 && dx == 0))
          sum += A.weights[(dz + 1) * 9 + (dy + 1) * 3 + dx + 1] * e[py + dy + 1][px + dx + 1];
    return sum;
  }

  /** Adds the frozen off-tile values of a full stencil, times their weights, to s. */
  template <typename Shape>
  __device__ void freeze_full(const StencilView &A, const StencilThread<Shape> &t, const double *v, Patch<Shape> &s)
  {
#pragma unroll
    for (int q = -1; q <= Shape::n_z; ++q)
      {
        const bool   off_z = (q < 0 && t.bottom_edge) || (q == Shape::n_z && t.top_edge);
        Plane<Shape> e;
#pragma unroll
        for (int j = -1; j <= Shape::n_y; ++j)
#pragma unroll
          for (int i = -1; i <= 2; ++i)
            {
              const bool off = off_z || (i < 0 && t.left_edge) || (i == 2 && t.right_edge) ||
                               (!Shape::flat && ((j < 0 && t.front_edge) || (j == Shape::n_y && t.back_edge)));
              e[j + 1][i + 1] = off ? t.off_tile(A, v, i, j, q) : 0.;
            }
#pragma unroll
        for (int dz = -1; dz <= 1; ++dz)
          if (q - dz >= 0 && q - dz < Shape::n_z)
#pragma unroll
            for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
              for (int px = 0; px < 2; ++px)
                s[q - dz][py][px] += apply_plane<Shape>(A, e, dz, py, px);
      }
  }

  /** The plane without what a star does not need of it. */
  template <typename Shape>
  __device__ void copy_plane(const double (&plane)[Shape::n_y][2], Plane<Shape> &e)
  {
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
      {
        e[py + 1][1] = plane[py][0];
        e[py + 1][2] = plane[py][1];
      }
  }

  /** The plane's margin from the lanes beside; zero at the tile's edge, whose values are frozen in s. */
  template <typename Shape>
  __device__ void extend(const StencilThread<Shape> &t, const double (&plane)[Shape::n_y][2], Plane<Shape> &e)
  {
    constexpr unsigned int all = 0xffffffffu;
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
      {
        const double left = __shfl_up_sync(all, plane[py][1], 1), right = __shfl_down_sync(all, plane[py][0], 1);
        e[py + 1][0] = t.left_edge ? 0. : left;
        e[py + 1][1] = plane[py][0];
        e[py + 1][2] = plane[py][1];
        e[py + 1][3] = t.right_edge ? 0. : right;
      }
    if constexpr (!Shape::flat)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        {
          if (!Shape::full && (i == 0 || i == 3))
            continue;
          const double front = __shfl_up_sync(all, e[Shape::n_y][i], Shape::n_lanes_x), back = __shfl_down_sync(all, e[1][i], Shape::n_lanes_x);
          e[0][i]              = t.front_edge ? 0. : front;
          e[Shape::n_y + 1][i] = t.back_edge ? 0. : back;
        }
  }

  /** sum of weight times value over the neighbours in the tile. */
  template <typename Shape>
  __device__ double neighbours(const StencilView &A, const Plane<Shape> &below, const Plane<Shape> &here, const Plane<Shape> &above, int py, int px)
  {
    if constexpr (Shape::full)
      return apply_plane<Shape>(A, below, -1, py, px) + apply_plane<Shape>(A, here, 0, py, px) + apply_plane<Shape>(A, above, 1, py, px);
    double sum = A.weights[12] * here[py + 1][px] + A.weights[14] * here[py + 1][px + 2];
    sum += A.weights[4] * below[py + 1][px + 1] + A.weights[22] * above[py + 1][px + 1];
    if constexpr (!Shape::flat)
      sum += A.weights[10] * here[py][px + 1] + A.weights[16] * here[py + 2][px + 1];
    return sum;
  }

  /** Planes for the warps above and below: [buffer][warp][bottom, top][n_y][2][32]. */
  template <typename Shape>
  __device__ double *exchange_plane(double *shared, int n_warps, int buffer, int warp, int side)
  {
    return shared + ((buffer * n_warps + warp) * 2 + side) * Shape::n_y * 64;
  }

  template <typename Shape>
  __device__ void neighbour_planes(
    const StencilThread<Shape> &t, const Patch<Shape> &y, double *shared, int buffer, double (&below)[Shape::n_y][2], double (&above)[Shape::n_y][2])
  {
    double *bottom = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp, 0), *top = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp, 1);
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
      for (int px = 0; px < 2; ++px)
        {
          bottom[(py * 2 + px) * 32 + t.lane] = y[0][py][px];
          top[(py * 2 + px) * 32 + t.lane]    = y[Shape::n_z - 1][py][px];
        }
    __syncthreads();
    const double *from_below = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp - 1, 1),
                 *from_above = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp + 1, 0);
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
      for (int px = 0; px < 2; ++px)
        {
          below[py][px] = t.bottom_edge ? 0. : from_below[(py * 2 + px) * 32 + t.lane];
          above[py][px] = t.top_edge ? 0. : from_above[(py * 2 + px) * 32 + t.lane];
        }
  }

  /**
   * One thread block relaxes one tile. Shared memory: exchange planes (8 n_y values a thread), 32, and in the persistent form
   * the right-hand side of the tile (2 n_y n_z values a thread).
   */
  template <typename Shape, bool persistent>
  __global__ void __launch_bounds__(Shape::max_threads) relax_stencil_kernel(const StencilView A, RelaxVectors v, RelaxParameters parameters)
  {
    extern __shared__ double   shared[];
    const StencilThread<Shape> t(A);
    double                    *partial = shared + 8 * Shape::n_y * blockDim.x, *kept_b = partial + 32;
    __shared__ int             state;
    const bool                 whole = t.whole(A);

    Patch<Shape> y, s, inverse;
    load_patch<Shape>(A, t, v.x, y);
    load_patch<Shape>(A, t, v.b, s);
    if constexpr (Shape::variable)
      load_patch<Shape>(A, t, A.inverse_diagonals, inverse);
    const int n_sweeps = max(1, parameters.local_iterations);

    if (persistent && threadIdx.x == 0)
      state = go_on;
    int iteration = 0, buffer = 0;
    for (; iteration < parameters.n_iterations; ++iteration)
      {
        if constexpr (persistent)
          {
            if (v.monitor != nullptr && threadIdx.x == 0)
              state = monitor_state(v.monitor);
#pragma unroll
            for (int e = 0; e < Shape::n_z * Shape::n_y * 2; ++e)
              {
                double &b = s[e / (2 * Shape::n_y)][e / 2 % Shape::n_y][e % 2];
                if (iteration == 0)
                  kept_b[e * blockDim.x + threadIdx.x] = b;
                else
                  b = kept_b[e * blockDim.x + threadIdx.x];
              }
          }
        if constexpr (!Shape::variable)
#pragma unroll
          for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
            for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
              for (int px = 0; px < 2; ++px)
                s[r][py][px] *= A.inverse_diagonal;
        if constexpr (Shape::full)
          freeze_full<Shape>(A, t, v.off_block, s);
        else
          freeze_star<Shape>(A, t, v.off_block, s);

        double norm = 0.;
        for (int sweep = 0; sweep < n_sweeps; ++sweep)
          {
            double below[Shape::n_y][2], above[Shape::n_y][2];
            neighbour_planes<Shape>(t, y, shared, buffer, below, above);
            buffer               = 1 - buffer;
            const bool   measure = parameters.test_every > 0 && sweep == 0 && (iteration + 1) % parameters.test_every == 0;
            Plane<Shape> e_below, e_here, e_above;
            if constexpr (Shape::full)
              extend<Shape>(t, below, e_below);
            else
              copy_plane<Shape>(below, e_below);
            extend<Shape>(t, y[0], e_here);
#pragma unroll
            for (int r = 0; r < Shape::n_z; ++r)
              {
                if (r + 1 < Shape::n_z)
                  extend<Shape>(t, y[r + 1 < Shape::n_z ? r + 1 : r], e_above);
                else if constexpr (Shape::full)
                  extend<Shape>(t, above, e_above);
                else
                  copy_plane<Shape>(above, e_above);
#pragma unroll
                for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
                  for (int px = 0; px < 2; ++px)
                    {
                      double sum = s[r][py][px] + neighbours<Shape>(A, e_below, e_here, e_above, py, px);
                      if constexpr (Shape::variable)
                        sum *= inverse[r][py][px];
                      double value = sum + A.keep * y[r][py][px];
                      if (!whole && !t.exists(A, px, py, r))
                        value = 0.;
                      if (measure)
                        {
                          double change = value - y[r][py][px];
                          if constexpr (Shape::variable)
                            change = inverse[r][py][px] != 0. ? change / inverse[r][py][px] : 0.;
                          else
                            change /= A.inverse_diagonal;
                          norm += change * change;
                        }
                      if (parameters.local_iterations > 0)
                        y[r][py][px] = value;
                    }
#pragma unroll
                for (int j = 0; j < Shape::n_y + 2; ++j)
#pragma unroll
                  for (int i = 0; i < 4; ++i)
                    {
                      e_below[j][i] = e_here[j][i];
                      e_here[j][i]  = e_above[j][i];
                    }
              }
          }
        if (parameters.local_iterations > 0)
          store_patch<Shape>(A, t, v.x, y, persistent && iteration + 1 < parameters.n_iterations);
        if (parameters.test_every > 0 && (iteration + 1) % parameters.test_every == 0)
          {
            const double sum = sum_over_block(norm, partial);
            if (threadIdx.x == 0)
              store(v.partial + blockIdx.x, sum);
            if (v.monitor != nullptr)
              look_at_residual(v.monitor, v.partial, iteration);
          }
        if constexpr (persistent)
          if (v.monitor != nullptr)
            {
              __syncthreads();
              if (state != go_on)
                {
                  ++iteration;
                  store_patch<Shape>(A, t, v.x, y, false);
                  break;
                }
              __syncthreads();
            }
      }
    if (v.monitor != nullptr && threadIdx.x == 0)
      v.iterations_done[blockIdx.x] = iteration;
  }
} // namespace leopard
