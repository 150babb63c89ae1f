// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../device/block_sum.cuh"
#include "../device/launch.cuh"
#include "../device/relaxed_atomics.cuh"
#include "../matrix/stencil.h"

namespace leopard
{
  // Residual and transfers of a stencil's grids. Coarse node i stands at fine node 2 i + 1 in each direction that is
  // coarsened (all but those with one node), and values beyond a grid are zero, so that neither the boundary nor an odd
  // number of intervals needs a case of its own.

  template <typename Number>
  struct GridView
  {
    int           n_x, n_y, n_z;
    Number        coefficients[27]; ///< [(dz + 1) * 9 + (dy + 1) * 3 + dx + 1]
    const Number *diagonal;         ///< one a row, or null
    Number        last_weights[3];  ///< twice the weight by which the last node of an odd number of nodes is interpolated (see StencilGrid)
    int           begin_y, end_y, begin_z, end_z; ///< of the nodes at which x has values: ghost planes of a slab included

    __device__ int  index(int x, int y, int z) const { return (z * n_y + y) * n_x + x; }
    __device__ bool has_line(int y, int z) const { return y >= begin_y && y < end_y && z >= begin_z && z < end_z; }
    __device__ bool has(int x, int y, int z) const { return x >= 0 && x < n_x && has_line(y, z); }
    __device__ bool owns(int y, int z) const { return y < n_y && z < n_z; }
    /**
     * Whether b has a value: at own nodes, and in one ghost plane above, whose residual the last own coarse plane
     * needs.
     */
    __device__ bool has_row(int x, int y, int z) const { return x < n_x && y <= n_y && y < end_y && z <= n_z && z < end_z; }
    /** What values at nodes are multiplied with beside the weights 1/2, 1, 1/2. */
    __device__ Number weight_x(int x) const { return x == n_x - 1 ? last_weights[0] : Number(1); }
    __device__ Number weight_yz(int y, int z) const
    {
      return (y == n_y - 1 ? last_weights[1] : Number(1)) * (z == n_z - 1 ? last_weights[2] : Number(1));
    }
  };

  /**
   * What the kernels are compiled for: whether entries lie off the axes (full), and whether the grid has one plane
   * (flat).
   */
  template <bool full_, bool flat_>
  struct GridShape
  {
    static constexpr bool full = full_, flat = flat_;
    /** Coarse nodes that a thread block computes, one a thread. */
    static constexpr int t_x = flat ? 32 : 16, t_y = flat ? 8 : 4, t_z = flat ? 1 : 4;
    /** Fine nodes whose residual that needs. */
    static constexpr int w_x = 2 * t_x + 1, w_y = 2 * t_y + 1, w_z = flat ? 1 : 2 * t_z + 1;
    static constexpr int n_threads = t_x * t_y * t_z;
  };

  /** b - A x at a node of the grid. @tparam interior all its neighbours are known to exist. */
  template <typename Shape, bool interior, typename Number>
  __device__ Number residual_at(const GridView<Number> &A, const Number *x, const Number *b, int i, int j, int k)
  {
    const int    row = A.index(i, j, k);
    const Number d   = A.diagonal != nullptr ? A.diagonal[row] : A.coefficients[13];
    Number       r   = __ldcs(b + row) - d * x[row];
#pragma unroll
    for (int dz = Shape::flat ? 0 : -1; dz <= (Shape::flat ? 0 : 1); ++dz)
#pragma unroll
      for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx)
          {
            const int distance = dx * dx + dy * dy + dz * dz;
            if (distance == 0 || (!Shape::full && distance > 1))
              continue;
            if (interior || A.has(i + dx, j + dy, k + dz))
              r -= A.coefficients[(dz + 1) * 9 + (dy + 1) * 3 + dx + 1] * x[row + (dz * A.n_y + dy) * A.n_x + dx];
          }
    return r;
  }

  /** r = b - A x (if r is not null) and the block's part of ||b - A x||^2. A thread a node. */
  template <typename Shape, typename Number>
  __global__ void __launch_bounds__(256) residual_kernel(const GridView<Number> A, const Number *x, const Number *b, Number *r, double *parts)
  {
    __shared__ double partial[32];
    const int         n   = A.n_x * A.n_y * A.n_z;
    double            sum = 0.;
    for (unsigned int next = blockIdx.x * blockDim.x + threadIdx.x; next < static_cast<unsigned int>(n); next += gridDim.x * blockDim.x)
      {
        const int    row = static_cast<int>(next); // unsigned, so that what is behind the last one does not overflow
        const int    i = row % A.n_x, j = row / A.n_x % A.n_y, k = row / A.n_x / A.n_y;
        const bool   interior = i > 0 && i < A.n_x - 1 && j > 0 && j < A.n_y - 1 && (Shape::flat || (k > 0 && k < A.n_z - 1));
        const Number value    = interior ? residual_at<Shape, true>(A, x, b, i, j, k) : residual_at<Shape, false>(A, x, b, i, j, k);
        sum += static_cast<double>(value) * static_cast<double>(value);
        if (r != nullptr)
          r[row] = value;
      }
    sum = sum_over_block(sum, partial);
    if (threadIdx.x == 0)
      parts[blockIdx.x] = sum;
  }

  /** The fine nodes that a thread block looks at: the first one, and whether all of them are away from the boundary. */
  struct Window
  {
    int  x, y, z;
    bool interior;
  };

  template <typename Shape, typename Number>
  __device__ Window window_of_block(const GridView<Number> &fine)
  {
    Window w;
    w.x = 2 * static_cast<int>(blockIdx.x) * Shape::t_x;
    w.y = 2 * static_cast<int>(blockIdx.y) * Shape::t_y; // 0 for grids of one line, or one plane
    w.z = Shape::flat ? 0 : 2 * static_cast<int>(blockIdx.z) * Shape::t_z;
    w.interior =
      w.x > 0 && w.x + Shape::w_x < fine.n_x && w.y > 0 && w.y + Shape::w_y < fine.n_y && (Shape::flat || (w.z > 0 && w.z + Shape::w_z < fine.n_z));
    return w;
  }

  /**
   * Puts the values of the window's nodes times their weights into shared memory. Unrolled, so that all loads of a
   * thread are on their way at once.
   * @return this thread's part of the sum of squares of the values; nodes in the last planes count in the window
   * behind.
   */
  template <typename Shape, bool interior, typename Number, typename Value>
  __device__ double fill_window(const GridView<Number> &fine, const Window &w, Number *window, const Value &value)
  {
    constexpr int n    = Shape::w_x * Shape::w_y * Shape::w_z;
    double        norm = 0.;
#pragma unroll
    for (int round = 0; round < (n + Shape::n_threads - 1) / Shape::n_threads; ++round)
      {
        const int e = threadIdx.x + round * Shape::n_threads;
        const int i = e % Shape::w_x, j = e / Shape::w_x % Shape::w_y, k = e / (Shape::w_x * Shape::w_y);
        if (e < n)
          {
            const int    x = w.x + i, y = w.y + j, z = w.z + k;
            const bool   exists = interior || fine.has_row(x, y, z);
            const Number v      = exists ? value(x, y, z) : Number(0);
            window[e]           = interior || !exists ? v : fine.weight_x(x) * fine.weight_yz(y, z) * v;
            if (i < Shape::w_x - 1 && j < Shape::w_y - 1 && (Shape::flat || k < Shape::w_z - 1) && (interior || fine.owns(y, z)))
              norm += square(v);
          }
      }
    return norm;
  }

  /**
   * The sum over the 3^dim fine nodes around a coarse one with weights 1/2, 1, 1/2 in each direction; in a direction of
   * one node only that node.
   */
  template <typename Shape, typename Number>
  __device__ Number restrict_window(const Number *window, int cx, int cy, int cz, bool coarsens_x, bool coarsens_y)
  {
    constexpr Number half = Number(0.5);
    Number           sum  = 0;
#pragma unroll
    for (int dz = Shape::flat ? 1 : 0; dz <= (Shape::flat ? 1 : 2); ++dz)
#pragma unroll
      for (int dy = 0; dy <= 2; ++dy)
        {
          const Number *line    = window + ((Shape::flat ? 0 : 2 * cz + dz) * Shape::w_y + 2 * cy + dy) * Shape::w_x + 2 * cx;
          const Number  of_line = (dz == 1 ? Number(1) : half) * (coarsens_x ? line[1] + half * (line[0] + line[2]) : line[0]);
          if (coarsens_y)
            sum += (dy == 1 ? Number(1) : half) * of_line;
          else if (dy == 0) // the only line
            sum += of_line;
        }
    return sum;
  }

  /**
   * coarse_b = P^T (b - A x), and the block's part of ||b - A x||^2 in parts, if that is not null; with x null coarse_b
   * = P^T b. A thread a coarse node, a thread block a tile of them; tiles cover all fine nodes.
   */
  template <typename Shape, typename Number>
  __global__ void __launch_bounds__(Shape::n_threads)
    restrict_kernel(const GridView<Number> A, int c_x, int c_y, int c_z, const Number *x, const Number *b, Number *coarse_b, double *parts)
  {
    __shared__ Number window[Shape::w_x * Shape::w_y * Shape::w_z];
    __shared__ double partial[32];
    const Window      w    = window_of_block<Shape>(A);
    double            norm = 0.;
    device::wait_for_previous();
    if (x == nullptr)
      fill_window<Shape, false>(A, w, window, [&](int i, int j, int k) { return b[A.index(i, j, k)]; });
    else if (w.interior)
      norm = fill_window<Shape, true>(A, w, window, [&](int i, int j, int k) { return residual_at<Shape, true>(A, x, b, i, j, k); });
    else
      norm = fill_window<Shape, false>(A, w, window, [&](int i, int j, int k) { return residual_at<Shape, false>(A, x, b, i, j, k); });
    __syncthreads();
    const int cx = threadIdx.x % Shape::t_x, cy = threadIdx.x / Shape::t_x % Shape::t_y, cz = threadIdx.x / (Shape::t_x * Shape::t_y);
    const int X = blockIdx.x * Shape::t_x + cx, Y = blockIdx.y * Shape::t_y + cy, Z = blockIdx.z * Shape::t_z + cz;
    if (X < c_x && Y < c_y && Z < c_z)
      coarse_b[(Z * c_y + Y) * c_x + X] = restrict_window<Shape>(window, cx, cy, cz, A.n_x > 1, A.n_y > 1);
    if (parts != nullptr)
      {
        norm = sum_over_block(norm, partial);
        if (threadIdx.x == 0)
          parts[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = norm;
      }
  }

  /** double2, float2. */
  template <typename Number>
  using Pair = decltype(load_pair(static_cast<const Number *>(nullptr)));

  /** Two neighbours of a line, at an even column. @tparam paired they can be moved at once: n_x is even, v aligned. */
  template <bool paired, typename Number>
  __device__ void load_two(const Number *v, bool has_second, Number (&to)[2])
  {
    if constexpr (paired)
      {
        const auto pair = *reinterpret_cast<const Pair<Number> *>(v);
        to[0]           = pair.x;
        to[1]           = pair.y;
      }
    else
      {
        to[0] = v[0];
        to[1] = has_second ? v[1] : Number(0);
      }
  }

  template <bool paired, typename Number>
  __device__ void store_two(Number *v, bool has_second, const Number (&from)[2])
  {
    if constexpr (paired)
      *reinterpret_cast<Pair<Number> *>(v) = {from[0], from[1]};
    else
      {
        v[0] = from[0];
        if (has_second)
          v[1] = from[1];
      }
  }

  // Restrictions that march, for x that is not null: a warp covers 62 fine columns (two a lane; the last lane serves
  // the lane before) and goes through the grid line by line or plane by plane. These kernels are bound by the
  // instructions that they issue: what lies inside the grid is not asked whether it exists (interior).

  /** Values of a line in columns i - 1 to i + 2. @tparam sides whether the outer two are asked for. */
  template <bool interior, bool paired, bool sides, typename Number>
  __device__ void load_line(const GridView<Number> &A, const Number *__restrict__ v, int i, int y, int z, Number (&to)[4])
  {
    to[0] = to[1] = to[2] = to[3] = 0;
    if (!interior && !A.has_line(y, z))
      return;
    const Number *const from = v + A.index(i, y, z);
    if (sides && (interior || (i > 0 && i - 1 < A.n_x)))
      to[0] = from[-1];
    if (interior || i < A.n_x)
      {
        Number pair[2];
        load_two<paired>(from, interior || i + 1 < A.n_x, pair);
        to[1] = pair[0];
        to[2] = pair[1];
      }
    if (sides && (interior || i + 2 < A.n_x))
      to[3] = from[2];
  }

  /** The residual in a lane's two columns becomes weighted, and goes into the norm; zero where there is no row. */
  template <bool interior, typename Number>
  __device__ void weigh(const GridView<Number> &A, int i, int y, int z, bool counts, Number (&r)[2], double &norm)
  {
    if (!interior)
      {
        if (!A.has_row(i, y, z))
          r[0] = 0;
        if (!A.has_row(i + 1, y, z))
          r[1] = 0;
      }
    if (counts && (interior || A.owns(y, z)))
      norm += square(r[0]) + square(r[1]);
    if (!interior)
      {
        r[0] *= A.weight_x(i) * A.weight_yz(y, z);
        r[1] *= A.weight_x(i + 1) * A.weight_yz(y, z);
      }
  }

  /** b minus the diagonal's part of A x, in a lane's two columns. */
  template <bool interior, bool paired, typename Number>
  __device__ void
  begin_residual(const GridView<Number> &A, const Number *__restrict__ b, int i, int y, int z, const Number (&here)[4], Number (&r)[2])
  {
    r[0] = r[1] = 0;
    if (!interior && !A.has_row(i, y, z))
      return;
    const int row = A.index(i, y, z);
    load_two<paired>(b + row, interior || i + 1 < A.n_x, r);
    r[0] -= (A.diagonal != nullptr ? A.diagonal[row] : A.coefficients[13]) * here[1];
    r[1] -= (A.diagonal != nullptr && (interior || i + 1 < A.n_x) ? A.diagonal[row + 1] : A.coefficients[13]) * here[2];
  }

  /** The restriction in x of values in a lane's two columns. */
  template <typename Number>
  __device__ Number restrict_two(const Number (&r)[2])
  {
    return r[1] + Number(0.5) * (r[0] + __shfl_down_sync(0xffffffffu, r[0], 1));
  }

  template <bool interior, bool full, int n_coarse, bool paired, typename Number>
  __device__ double march_through_lines(const GridView<Number> &A,
                                        int                     c_x,
                                        int                     c_y,
                                        int                     X,
                                        int                     Y,
                                        bool                    counts,
                                        const Number *__restrict__ x,
                                        const Number *__restrict__ b,
                                        Number *__restrict__ coarse_b)
  {
    const int lane = threadIdx.x % 32, i = 2 * X;
    Number    line[3][4]; // x before, at, and behind a node's line
    load_line<interior, paired, full>(A, x, i, 2 * Y - 1, 0, line[0]);
    load_line<interior, paired, true>(A, x, i, 2 * Y, 0, line[1]);
    double norm = 0.;
    Number sum  = 0; // of a coarse node
#pragma unroll
    for (int step = 0; step <= 2 * n_coarse; ++step)
      {
        const int j = 2 * Y + step;
        Number    r[2];
        load_line<interior, paired, true>(A, x, i, j + 1, 0, line[(step + 2) % 3]);
        begin_residual<interior, paired>(A, b, i, j, 0, line[(step + 1) % 3], r);
#pragma unroll
        for (int c = 0; c < 2; ++c)
#pragma unroll
          for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx)
              if ((dx != 0 || dy != 0) && (full || dx == 0 || dy == 0))
                r[c] -= A.coefficients[9 + (dy + 1) * 3 + dx + 1] * line[(step + 1 + dy) % 3][c + 1 + dx];
        weigh<interior>(A, i, j, 0, counts && lane < 31 && step < 2 * n_coarse, r, norm);
        const Number of_line = restrict_two(r);
        if (step % 2 == 1)
          sum += of_line;
        else
          {
            const int coarse = Y + step / 2 - 1;
            if (step > 0 && lane < 31 && X < c_x && coarse < c_y)
              coarse_b[coarse * c_x + X] = sum + Number(0.5) * of_line;
            sum = Number(0.5) * of_line;
          }
      }
    return norm;
  }

  /**
   * restrict_kernel for grids of one plane with lines of more than one node, and more than one line. A warp marches
   * through n_coarse coarse lines; a thread block has four warps, one behind the other.
   */
  template <bool full, int n_coarse, bool paired, typename Number>
  __global__ void __launch_bounds__(128) restrict_flat_kernel(
    const GridView<Number> A, int c_x, int c_y, const Number *x, const Number *b, Number *__restrict__ coarse_b, double *__restrict__ parts)
  {
    __shared__ double partial[32];
    const int         begin = 31 * blockIdx.x, Y = (4 * blockIdx.y + threadIdx.x / 32) * n_coarse, X = begin + threadIdx.x % 32;
    device::wait_for_previous();
    const bool interior = begin > 0 && 2 * begin + 66 < A.n_x && Y > 0 && 2 * (Y + n_coarse) + 2 < A.n_y;
    double     norm     = interior ? march_through_lines<true, full, n_coarse, paired>(A, c_x, c_y, X, Y, parts != nullptr, x, b, coarse_b)
                                   : march_through_lines<false, full, n_coarse, paired>(A, c_x, c_y, X, Y, parts != nullptr, x, b, coarse_b);
    if (parts == nullptr)
      return;
    norm = sum_over_block(norm, partial);
    if (threadIdx.x == 0)
      parts[blockIdx.y * gridDim.x + blockIdx.x] = norm;
  }

  constexpr int deep_lines = 7; ///< coarse lines of a thread block of restrict_deep_kernel; its last warp serves the warp before

  template <bool interior, int n_coarse, bool paired, typename Number>
  __device__ double march_through_planes(const GridView<Number> &A,
                                         const int (&c_n)[3],
                                         int  X,
                                         int  Y,
                                         int  Z,
                                         bool counts,
                                         const Number *__restrict__ x,
                                         const Number *__restrict__ b,
                                         Number *__restrict__ coarse_b,
                                         Number (&first_lines)[2][deep_lines + 2][32])
  {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = 2 * X;
    Number    plane[3][2][4]; // x in the thread's lines, in planes before, here and behind
#pragma unroll
    for (int l = 0; l < 2; ++l)
      {
        load_line<interior, paired, false>(A, x, i, 2 * Y + l, 2 * Z - 1, plane[0][l]);
        load_line<interior, paired, true>(A, x, i, 2 * Y + l, 2 * Z, plane[1][l]);
      }
    double norm = 0.;
    Number sum  = 0; // of a coarse node
#pragma unroll
    for (int step = 0; step <= 2 * n_coarse; ++step)
      {
        const int k = 2 * Z + step;
        Number    beside[2][4], of_line[2]; // lines 2 Y - 1 and 2 Y + 2
#pragma unroll
        for (int l = 0; l < 2; ++l)
          {
            load_line<interior, paired, true>(A, x, i, 2 * Y + l, k + 1, plane[(step + 2) % 3][l]);
            load_line<interior, paired, false>(A, x, i, 2 * Y - 1 + 3 * l, k, beside[l]);
          }
#pragma unroll
        for (int l = 0; l < 2; ++l)
          {
            const Number(&here)[4] = plane[(step + 1) % 3][l];
            Number r[2];
            begin_residual<interior, paired>(A, b, i, 2 * Y + l, k, here, r);
#pragma unroll
            for (int c = 0; c < 2; ++c)
              {
                r[c] -= A.coefficients[12] * here[c] + A.coefficients[14] * here[c + 2];
                r[c] -= A.coefficients[10] * (l == 0 ? beside[0][c + 1] : plane[(step + 1) % 3][0][c + 1]) +
                        A.coefficients[16] * (l == 0 ? plane[(step + 1) % 3][1][c + 1] : beside[1][c + 1]);
                r[c] -= A.coefficients[4] * plane[step % 3][l][c + 1] + A.coefficients[22] * plane[(step + 2) % 3][l][c + 1];
              }
            weigh<interior>(A, i, 2 * Y + l, k, counts && lane < 31 && warp < deep_lines && step < 2 * n_coarse, r, norm);
            of_line[l] = restrict_two(r);
          }
        first_lines[step % 2][warp][lane] = of_line[0];
        __syncthreads();
        const Number of_plane = of_line[1] + Number(0.5) * (of_line[0] + first_lines[step % 2][warp + 1][lane]);
        if (step % 2 == 1)
          sum += of_plane;
        else
          {
            const int coarse = Z + step / 2 - 1;
            if (step > 0 && lane < 31 && warp < deep_lines && X < c_n[0] && Y < c_n[1] && coarse < c_n[2])
              coarse_b[(coarse * c_n[1] + Y) * c_n[0] + X] = sum + Number(0.5) * of_plane;
            sum = Number(0.5) * of_plane;
          }
      }
    return norm;
  }

  /**
   * restrict_kernel for stars in three dimensions with more than one node in each direction. A thread has two lines of
   * two nodes, and marches through 2 n_coarse + 1 planes.
   */
  template <int n_coarse, bool paired, typename Number>
  __global__ void __launch_bounds__(32 * (deep_lines + 1)) restrict_deep_kernel(
    const GridView<Number> A, int c_x, int c_y, int c_z, const Number *x, const Number *b, Number *__restrict__ coarse_b, double *__restrict__ parts)
  {
    __shared__ double partial[32];
    __shared__ Number first_lines[2][deep_lines + 2][32]; // restricted in x, for the warp before; in two buffers by turns
    const int         begin_x = 31 * blockIdx.x, begin_y = deep_lines * blockIdx.y, Z = n_coarse * blockIdx.z, c_n[3] = {c_x, c_y, c_z};
    const int         X = begin_x + threadIdx.x % 32, Y = begin_y + threadIdx.x / 32;
    device::wait_for_previous();
    const bool interior =
      begin_x > 0 && 2 * begin_x + 66 < A.n_x && begin_y > 0 && 2 * (begin_y + deep_lines) + 3 < A.n_y && Z > 0 && 2 * (Z + n_coarse) + 2 < A.n_z;
    double norm = interior ? march_through_planes<true, n_coarse, paired>(A, c_n, X, Y, Z, parts != nullptr, x, b, coarse_b, first_lines)
                           : march_through_planes<false, n_coarse, paired>(A, c_n, X, Y, Z, parts != nullptr, x, b, coarse_b, first_lines);
    if (parts == nullptr)
      return;
    norm = sum_over_block(norm, partial);
    if (threadIdx.x == 0)
      parts[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = norm;
  }

  /**
   * Linear interpolation in x to nodes 2 X and 2 X + 1 of a line, from coarse line (y, z); zeros where there is none.
   */
  template <typename Number>
  __device__ void interpolate_line(const GridView<Number> &C, const Number *coarse, int X, bool coarsens_x, int y, int z, Number (&to)[2])
  {
    const bool          exists = C.has_line(y, z);
    const Number *const line   = coarse + C.index(0, exists ? y : 0, exists ? z : 0);
    to[1]                      = exists && X < C.n_x ? line[X] : Number(0);
    to[0]                      = coarsens_x ? Number(0.5) * (to[1] + (exists && X > 0 ? line[X - 1] : Number(0))) : to[1];
  }

  /**
   * Pairs of lines 2 j and 2 j + 1 that have nodes to interpolate, ghost planes included: the first j, and behind the
   * last one.
   */
  template <typename Number>
  __host__ __device__ int first_pair(const GridView<Number> &A)
  {
    return A.begin_y < 0 ? (A.begin_y - 1) / 2 : 0;
  }
  template <typename Number>
  __host__ __device__ int end_pair(const GridView<Number> &A)
  {
    return (A.end_y + 1) / 2;
  }

  constexpr int prolongate_x = 64, prolongate_y = 4; ///< threads of a block

  /**
   * x += P coarse (add), or x = P coarse, in ghost planes too. A thread the four nodes (2 X, 2 j) to (2 X + 1, 2 j + 1)
   * of a plane.
   */
  template <bool add, bool paired, typename Number>
  __global__ void __launch_bounds__(prolongate_x *prolongate_y)
    prolongate_kernel(const GridView<Number> A, const GridView<Number> C, int first_j, int first_k, const Number *coarse, Number *__restrict__ x)
  {
    const int X = blockIdx.x * prolongate_x + threadIdx.x, i = 2 * X;
    const int j = first_j + static_cast<int>(blockIdx.y) * prolongate_y + static_cast<int>(threadIdx.y);
    const int k = first_k + static_cast<int>(blockIdx.z);
    device::wait_for_previous();
    if (i >= A.n_x || j >= end_pair(A))
      return;
    // the coarse planes above and below; the same one at a coarse node
    const bool coarsens_x = A.n_x > 1, has_second = i + 1 < A.n_x;
    const int  z1 = A.n_z == 1 ? 0 : k >> 1, z0 = A.n_z > 1 && k % 2 == 0 ? z1 - 1 : z1; // plane -1 is coarse plane -1
    const bool lines[2]  = {2 * j >= A.begin_y, 2 * j + 1 < A.end_y};
    Number     to[2][2]  = {}, from[2][2]; // of lines 2 j and 2 j + 1; of coarse lines j - 1 and j
    Number    *places[2] = {x + A.index(i, 2 * j, k), x + A.index(i, 2 * j + 1, k)};
    if (add)
#pragma unroll
      for (int l = 0; l < 2; ++l)
        if (lines[l])
          load_two<paired>(places[l], has_second, to[l]);
#pragma unroll
    for (int l = 0; l < 2; ++l)
      {
        interpolate_line(C, coarse, X, coarsens_x, j - 1 + l, z1, from[l]);
        if (z0 != z1)
          {
            Number other[2];
            interpolate_line(C, coarse, X, coarsens_x, j - 1 + l, z0, other);
            from[l][0] = Number(0.5) * (from[l][0] + other[0]);
            from[l][1] = Number(0.5) * (from[l][1] + other[1]);
          }
      }
#pragma unroll
    for (int c = 0; c < 2; ++c)
      {
        const Number even = A.n_y > 1 ? Number(0.5) * (from[0][c] + from[1][c]) : from[1][c];
        to[0][c] += even * A.weight_x(i + c) * A.weight_yz(2 * j, k);
        to[1][c] += from[1][c] * A.weight_x(i + c) * A.weight_yz(2 * j + 1, k);
      }
#pragma unroll
    for (int l = 0; l < 2; ++l)
      if (lines[l])
        store_two<paired>(places[l], has_second, to[l]);
  }
} // namespace leopard
