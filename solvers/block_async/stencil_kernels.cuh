// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/launch.cuh"
#include "stencil_patch.cuh"

namespace leopard
{
  // The stencil form. A warp covers 2 n_lanes_x nodes in x and n_lanes_y n_y in y and marches through n_z planes in z;
  // a thread holds 2 x n_y x n_z values in registers. Neighbours in x and y come from the lanes beside by shuffles, in
  // z from the thread's own registers; the warps of a thread block are stacked in z and exchange their outermost planes
  // in shared memory. A global iteration moves three Numbers a row: b, x in, x out. In two dimensions y is the
  // kernel's z.

  /** Adds the frozen values beside the tile of a star, times their weights, to s. */
  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void freeze_star(const StencilView<Number> &A, const StencilThread<Shape, whole> &t, const Number *v, Patch<Shape> &s)
  {
    Number     side[Shape::n_z][Shape::n_y], front[Shape::flat ? 1 : Shape::n_z][2], plane[Shape::n_y][2];
    const bool at_side = t.left_edge || t.right_edge, at_front = !Shape::flat && (t.front_edge || t.back_edge), at_end = t.bottom_edge || t.top_edge;
    if (at_side)
#pragma unroll
      for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
          side[r][py] = t.beside(v, t.left_edge ? -1 : 2, py, r);
    if (at_end)
#pragma unroll
      for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
        for (int px = 0; px < 2; ++px)
          plane[py][px] = t.beside(v, px, py, t.bottom_edge ? -1 : Shape::n_z);
    if constexpr (!Shape::flat)
      if (at_front)
#pragma unroll
        for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
          for (int px = 0; px < 2; ++px)
            front[r][px] = t.beside(v, px, t.front_edge ? -1 : Shape::n_y, r);

    if (at_side)
      {
        const Number left = t.left_edge ? A.weights[12] : Number(0), right = t.left_edge ? Number(0) : A.weights[14];
#pragma unroll
        for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
          for (int py = 0; py < Shape::n_y; ++py)
            {
              s[r][py][0] += left * side[r][py];
              s[r][py][1] += right * side[r][py];
            }
      }
    if constexpr (!Shape::flat)
      if (at_front)
        {
          const Number to_front = t.front_edge ? A.weights[10] : Number(0), to_back = t.front_edge ? Number(0) : A.weights[16];
#pragma unroll
          for (int r = 0; r < Shape::n_z; ++r)
#pragma unroll
            for (int px = 0; px < 2; ++px)
              {
                s[r][0][px] += to_front * front[r][px];
                s[r][Shape::n_y - 1][px] += to_back * front[r][px];
              }
        }
    if (at_end)
#pragma unroll
      for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
        for (int px = 0; px < 2; ++px)
          {
            if (t.bottom_edge)
              s[0][py][px] += A.weights[4] * plane[py][px];
            if (t.top_edge) // a tile of one warp has both ends
              s[Shape::n_z - 1][py][px] += A.weights[22] * (t.bottom_edge ? t.beside(v, px, py, Shape::n_z) : plane[py][px]);
          }
  }

  /** A plane with a margin of one node. */
  template <typename Shape>
  using Plane = typename Shape::Number[Shape::n_y + 2][4];

  /** sum over the plane at distance dz of weight times value, for the node (px, py). */
  template <typename Shape, typename Number = typename Shape::Number>
  __device__ Number apply_plane(const StencilView<Number> &A, const Plane<Shape> &e, int dz, int py, int px)
  {
    Number sum = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
      for (int dx = -1; dx <= 1; ++dx)
        if ((!Shape::flat || dy == 0) && !(dz == 0 && dy == 0 && dx == 0))
          sum += A.weights[(dz + 1) * 9 + (dy + 1) * 3 + dx + 1] * e[py + dy + 1][px + dx + 1];
    return sum;
  }

  /** The plane's margin from the lanes beside; zero at the tile's edge, whose values are frozen in s. */
  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void extend(const StencilThread<Shape, whole> &t, const Number (&plane)[Shape::n_y][2], Plane<Shape> &e)
  {
    constexpr unsigned int all = 0xffffffffu;
#pragma unroll
    for (int py = 0; py < Shape::n_y; ++py)
      {
        const Number left = __shfl_up_sync(all, plane[py][1], 1), right = __shfl_down_sync(all, plane[py][0], 1);
        e[py + 1][0] = t.left_edge ? Number(0) : left;
        e[py + 1][1] = plane[py][0];
        e[py + 1][2] = plane[py][1];
        e[py + 1][3] = t.right_edge ? Number(0) : right;
      }
    if constexpr (!Shape::flat)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        {
          const Number front = __shfl_up_sync(all, e[Shape::n_y][i], Shape::n_lanes_x), back = __shfl_down_sync(all, e[1][i], Shape::n_lanes_x);
          e[0][i]              = t.front_edge ? Number(0) : front;
          e[Shape::n_y + 1][i] = t.back_edge ? Number(0) : back;
        }
  }

  /** Adds the frozen values beside the tile of a full stencil in two dimensions, times their weights, to s. */
  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void freeze_flat(const StencilView<Number> &A, const StencilThread<Shape, whole> &t, const Number *v, Patch<Shape> &s)
  {
    constexpr int n = Shape::n_z;
    Number        side[n + 2], ends[2][1][2];
    Plane<Shape>  e;
    const bool    at_side = t.left_edge || t.right_edge;
#pragma unroll
    for (int r = -1; r <= n; ++r)
      side[r + 1] = at_side ? t.beside(v, t.left_edge ? -1 : 2, 0, r) : Number(0);
#pragma unroll
    for (int end = 0; end < 2; ++end)
#pragma unroll
      for (int px = 0; px < 2; ++px)
        ends[end][0][px] = (end == 0 ? t.bottom_edge : t.top_edge) ? t.beside(v, px, 0, end == 0 ? -1 : n) : Number(0);
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz)
      {
        const Number left = t.left_edge ? A.weights[(dz + 1) * 9 + 3] : Number(0), right = t.right_edge ? A.weights[(dz + 1) * 9 + 5] : Number(0);
#pragma unroll
        for (int r = 0; r < n; ++r)
          {
            s[r][0][0] += left * side[r + dz + 1];
            s[r][0][1] += right * side[r + dz + 1];
          }
      }
#pragma unroll
    for (int end = 0; end < 2; ++end)
      {
        extend<Shape>(t, ends[end], e); // beyond the tile's corners: that is in side
#pragma unroll
        for (int px = 0; px < 2; ++px)
          s[end == 0 ? 0 : n - 1][0][px] += apply_plane<Shape>(A, e, end == 0 ? -1 : 1, 0, px);
      }
  }

  /** Adds the frozen values beside the tile of a full stencil in three dimensions, times their weights, to s. */
  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void freeze_full(const StencilView<Number> &A, const StencilThread<Shape, whole> &t, const Number *v, Patch<Shape> &s)
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
              e[j + 1][i + 1] = off ? t.beside(v, i, j, q) : Number(0);
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

  /** Planes for the warps above and below: [buffer][warp][bottom, top][n_y][2][32]. */
  template <typename Shape, typename Number = typename Shape::Number>
  __device__ Number *exchange_plane(Number *shared, int n_warps, int buffer, int warp, int side)
  {
    return shared + ((buffer * n_warps + warp) * 2 + side) * Shape::n_y * 64;
  }

  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void neighbour_planes(const StencilThread<Shape, whole> &t,
                                   const Patch<Shape>                &y,
                                   Number                            *shared,
                                   int                                buffer,
                                   Number (&below)[Shape::n_y][2],
                                   Number (&above)[Shape::n_y][2])
  {
    Number *bottom = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp, 0), *top = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp, 1);
#pragma unroll
    for (int e = 0; e < 2 * Shape::n_y; ++e)
      {
        bottom[e * 32 + t.lane] = y[0][e / 2][e % 2];
        top[e * 32 + t.lane]    = y[Shape::n_z - 1][e / 2][e % 2];
      }
    __syncthreads();
    const Number *from_below = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp - 1, 1),
                 *from_above = exchange_plane<Shape>(shared, t.n_warps, buffer, t.warp + 1, 0);
#pragma unroll
    for (int e = 0; e < 2 * Shape::n_y; ++e)
      {
        below[e / 2][e % 2] = t.bottom_edge ? Number(0) : from_below[e * 32 + t.lane];
        above[e / 2][e % 2] = t.top_edge ? Number(0) : from_above[e * 32 + t.lane];
      }
  }

  enum class SweepMode
  {
    undamped, ///< omega = 1
    damped,
    weighted, ///< by one of the sweep weights
    measure   ///< changes nothing and returns the thread's part of ||r||^2
  };

  /** What becomes of a value whose right-hand side and neighbours sum up to `sum`. */
  template <typename Shape, SweepMode mode, typename Number = typename Shape::Number>
  __device__ Number relaxed(const StencilView<Number> &A, Number sum, Number value, Number inverse, Number weight, double &norm)
  {
    if constexpr (Shape::variable)
      sum *= inverse;
    if constexpr (mode == SweepMode::undamped)
      return sum;
    if constexpr (mode == SweepMode::weighted)
      return value + weight * (sum - value);
    const Number result = sum + A.keep * value;
    if constexpr (mode == SweepMode::damped)
      return result;
    const Number change = (result - value) / (Shape::variable ? (inverse != Number(0) ? inverse : Number(1)) : A.inverse_diagonal);
    norm += square(change);
    return value;
  }

  /** One Jacobi sweep in the tile; off-tile values are in s. */
  template <typename Shape, bool whole, SweepMode mode, typename Number = typename Shape::Number>
  __device__ double sweep_star(const StencilView<Number>         &A,
                               const StencilThread<Shape, whole> &t,
                               Patch<Shape>                      &y,
                               const Patch<Shape>                &s,
                               const Patch<Shape>                &inverse,
                               Number                             weight,
                               Number                            *shared,
                               int                                buffer)
  {
    constexpr unsigned int all = 0xffffffffu;
    // what a shuffle brings from beyond the tile's edge counts nothing: it is in s
    const Number left = t.left_edge ? Number(0) : A.weights[12], right = t.right_edge ? Number(0) : A.weights[14];
    const Number front = t.front_edge ? Number(0) : A.weights[10], back = t.back_edge ? Number(0) : A.weights[16];
    Number       below[Shape::n_y][2], above[Shape::n_y][2];
    double       norm = 0.;
    neighbour_planes<Shape>(t, y, shared, buffer, below, above);
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
      {
        Number next[Shape::n_y][2];
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
          {
            const Number from_left = __shfl_up_sync(all, y[r][py][1], 1), from_right = __shfl_down_sync(all, y[r][py][0], 1);
#pragma unroll
            for (int px = 0; px < 2; ++px)
              {
                Number sum = s[r][py][px] + A.weights[4] * below[py][px];
                sum += A.weights[22] * (r + 1 < Shape::n_z ? y[r + 1 < Shape::n_z ? r + 1 : r][py][px] : above[py][px]);
                sum += px == 0 ? A.weights[14] * y[r][py][1] : A.weights[12] * y[r][py][0];
                sum += px == 0 ? left * from_left : right * from_right;
                if constexpr (!Shape::flat)
                  {
                    const Number from_front =
                      py > 0 ? y[r][py > 0 ? py - 1 : 0][px] : __shfl_up_sync(all, y[r][Shape::n_y - 1][px], Shape::n_lanes_x);
                    const Number from_back =
                      py + 1 < Shape::n_y ? y[r][py + 1 < Shape::n_y ? py + 1 : 0][px] : __shfl_down_sync(all, y[r][0][px], Shape::n_lanes_x);
                    sum += (py > 0 ? A.weights[10] : front) * from_front;
                    sum += (py + 1 < Shape::n_y ? A.weights[16] : back) * from_back;
                  }
                next[py][px] = t.owns(px, py, r) ? relaxed<Shape, mode>(A, sum, y[r][py][px], inverse[r][py][px], weight, norm) : y[r][py][px];
              }
          }
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
          for (int px = 0; px < 2; ++px)
            {
              below[py][px] = y[r][py][px];
              y[r][py][px]  = next[py][px];
            }
      }
    return norm;
  }

  template <typename Shape, bool whole, SweepMode mode, typename Number = typename Shape::Number>
  __device__ double sweep_full(const StencilView<Number>         &A,
                               const StencilThread<Shape, whole> &t,
                               Patch<Shape>                      &y,
                               const Patch<Shape>                &s,
                               const Patch<Shape>                &inverse,
                               Number                             weight,
                               Number                            *shared,
                               int                                buffer)
  {
    Number       below[Shape::n_y][2], above[Shape::n_y][2];
    double       norm = 0.;
    Plane<Shape> e_below, e_here, e_above;
    neighbour_planes<Shape>(t, y, shared, buffer, below, above);
    extend<Shape>(t, below, e_below);
    extend<Shape>(t, y[0], e_here);
#pragma unroll
    for (int r = 0; r < Shape::n_z; ++r)
      {
        if (r + 1 < Shape::n_z)
          extend<Shape>(t, y[r + 1 < Shape::n_z ? r + 1 : r], e_above);
        else
          extend<Shape>(t, above, e_above);
#pragma unroll
        for (int py = 0; py < Shape::n_y; ++py)
#pragma unroll
          for (int px = 0; px < 2; ++px)
            {
              const Number sum = s[r][py][px] + apply_plane<Shape>(A, e_below, -1, py, px) + apply_plane<Shape>(A, e_here, 0, py, px) +
                                 apply_plane<Shape>(A, e_above, 1, py, px);
              if (t.owns(px, py, r))
                y[r][py][px] = relaxed<Shape, mode>(A, sum, y[r][py][px], inverse[r][py][px], weight, norm);
            }
#pragma unroll
        for (int e = 0; e < (Shape::n_y + 2) * 4; ++e)
          {
            e_below[e / 4][e % 4] = e_here[e / 4][e % 4];
            e_here[e / 4][e % 4]  = e_above[e / 4][e % 4];
          }
      }
    return norm;
  }

  template <typename Shape, bool whole, SweepMode mode, typename Number = typename Shape::Number>
  __device__ double sweep(const StencilView<Number>         &A,
                          const StencilThread<Shape, whole> &t,
                          Patch<Shape>                      &y,
                          const Patch<Shape>                &s,
                          const Patch<Shape>                &inverse,
                          Number                             weight,
                          Number                            *shared,
                          int                                buffer)
  {
    if constexpr (Shape::full)
      return sweep_full<Shape, whole, mode>(A, t, y, s, inverse, weight, shared, buffer);
    else
      return sweep_star<Shape, whole, mode>(A, t, y, s, inverse, weight, shared, buffer);
  }

  /** s from b (times omega / c_0 if the diagonal is constant); the persistent form keeps it in shared memory. */
  template <typename Shape, bool persistent, typename Number = typename Shape::Number>
  __device__ void take_right_hand_side(const StencilView<Number> &A, Patch<Shape> &s, Number *kept_b, bool first)
  {
#pragma unroll
    for (int e = 0; e < Shape::n_z * Shape::n_y * 2; ++e)
      {
        Number &b = s[e / (2 * Shape::n_y)][e / 2 % Shape::n_y][e % 2];
        if constexpr (!Shape::variable)
          if (first)
            b *= A.inverse_diagonal;
        if constexpr (persistent)
          {
            if (first)
              kept_b[e * blockDim.x + threadIdx.x] = b;
            else
              b = kept_b[e * blockDim.x + threadIdx.x];
          }
      }
  }

  template <typename Shape, bool whole, typename Number = typename Shape::Number>
  __device__ void freeze(const StencilView<Number> &A, const StencilThread<Shape, whole> &t, const Number *v, Patch<Shape> &s)
  {
    if constexpr (Shape::full && Shape::flat)
      freeze_flat(A, t, v, s);
    else if constexpr (Shape::full)
      freeze_full(A, t, v, s);
    else
      freeze_star(A, t, v, s);
  }

  /** What relax_stencil_kernel does, for one tile. */
  template <typename Shape, bool persistent, bool whole, typename Number = typename Shape::Number>
  __device__ void
  relax_tile(const StencilView<Number> &A, const RelaxVectors<Number> &v, const RelaxParameters<Number> &parameters, const MonitorView &m)
  {
    extern __shared__ double          shared_memory[]; // one type for all kernels
    const StencilThread<Shape, whole> t(A);
    Number                           *shared  = reinterpret_cast<Number *>(shared_memory);
    double                           *partial = reinterpret_cast<double *>(shared + 8 * Shape::n_y * blockDim.x);
    Number                           *kept_b  = reinterpret_cast<Number *>(partial + 32);
    __shared__ int                    state;

    Patch<Shape> y = {}, s, inverse;
    if (persistent || v.off_block != nullptr)
      load_patch<Shape::flat>(t, v.x, t.begin_z, t.end_z, y); // in three dimensions the tiles behind find it in the L2 cache
    load_patch<true>(t, v.b, 0, t.n_z, s);
    if constexpr (Shape::variable)
      load_patch<true>(t, A.inverse_diagonals, 0, t.n_z, inverse);
    int        buffer       = 0;
    const auto squared_part = [&] {
      const double norm = sweep<Shape, whole, SweepMode::measure>(A, t, y, s, inverse, Number(1), shared, buffer);
      buffer            = 1 - buffer;
      return sum_over_block(norm, partial);
    };
    if constexpr (persistent)
      {
        take_right_hand_side<Shape, true>(A, s, kept_b, true);
        if (m.tests)
          {
            double norm = 0.;
#pragma unroll
            for (int e = 0; e < Shape::n_z * Shape::n_y * 2; ++e)
              {
                const Number b = s[e / (2 * Shape::n_y)][e / 2 % Shape::n_y][e % 2] / (Shape::variable ? Number(1) : A.inverse_diagonal);
                norm += square(b);
              }
            const double b_part = sum_over_block(norm, partial);
            freeze(A, t, v.off_block, s);
            begin_solve(m, squared_part(), b_part, partial);
          }
      }

    int iteration = 0;
    for (; iteration < (persistent ? parameters.n_iterations : 1); ++iteration)
      {
        if constexpr (persistent)
          if (m.tests)
            {
              __syncthreads(); // all have read the state of the iteration before
              if (threadIdx.x == 0)
                state = monitor_state(m.monitor);
            }
        take_right_hand_side<Shape, persistent>(A, s, kept_b, !persistent);
        if (persistent || v.off_block != nullptr)
          freeze(A, t, v.off_block, s);
        if (parameters.test_every > 0 && iteration % parameters.test_every == 0)
          {
            const double part = squared_part();
            if (threadIdx.x == 0)
              store((m.tests ? m.parts : v.parts) + blockIdx.x, part);
            if (m.tests && iteration > 0 && blockIdx.x == 0)
              {
                const int decision = look_at_residual(m, m.parts, iteration, true);
                if (threadIdx.x == 0 && decision != go_on)
                  set_monitor_state(m.monitor, decision);
              }
          }
        if constexpr (persistent)
          if (m.tests)
            {
              __syncthreads();
              if (state != go_on)
                break;
            }
        for (int k = 0; k < parameters.local_iterations; ++k)
          {
            if (A.has_sweep_weights)
              sweep<Shape, whole, SweepMode::weighted>(A, t, y, s, inverse, A.sweep_weights[k], shared, buffer);
            else if (A.keep == Number(0))
              sweep<Shape, whole, SweepMode::undamped>(A, t, y, s, inverse, Number(1), shared, buffer);
            else
              sweep<Shape, whole, SweepMode::damped>(A, t, y, s, inverse, Number(1), shared, buffer);
            buffer = 1 - buffer;
          }
        if (parameters.local_iterations > 0)
          {
            store_patch(t, v.x, y, persistent);
            if constexpr (persistent)
              if (A.mirror_below != nullptr || A.mirror_above != nullptr)
                store_mirrors(A, t, y);
          }
      }
    if constexpr (persistent)
      {
        if (parameters.local_iterations > 0)
          store_patch(t, v.x, y, false);
        if (m.tests)
          {
            wait_for_all(&m.monitor->arrived[1], gridDim.x);
            take_right_hand_side<Shape, true>(A, s, kept_b, false);
            freeze(A, t, v.off_block, s);
            end_solve(m, squared_part(), iteration, partial);
          }
      }
  }

  /**
   * One thread block relaxes one tile. Without off_block all of x is zero (not in the persistent form). If `paired`,
   * neighbours at even columns can be moved at once (n_x is even, vectors are aligned), and what tiles inside the grid
   * know of themselves they do not ask; in the persistent form all tiles are such ones. Shared memory: exchange planes
   * (8 n_y Numbers a thread), 32 doubles, and in the persistent form the right-hand side of the tile (2 n_y n_z Numbers
   * a thread).
   */
  template <typename Shape, bool persistent, bool paired>
  __global__ void __launch_bounds__(persistent ? 32 * Shape::max_warps : 128,
                                    persistent ? 1
                                    : paired   ? Shape::at_once
                                               : 3) relax_stencil_kernel(const StencilView<typename Shape::Number>     A,
                                                                       const RelaxVectors<typename Shape::Number>    v,
                                                                       const RelaxParameters<typename Shape::Number> parameters,
                                                                       const MonitorView                             m)
  {
    if constexpr (!persistent)
      device::wait_for_previous();
    if constexpr (persistent || !paired)
      relax_tile<Shape, persistent, paired>(A, v, parameters, m);
    else if (is_inside<Shape>(A))
      relax_tile<Shape, false, true>(A, v, parameters, m);
    else
      relax_tile<Shape, false, false>(A, v, parameters, m);
  }
} // namespace leopard
