// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/norms.h"
#include "../device/block_sum.cuh"
#include "../device/relaxed_atomics.cuh"
#include "../matrix/stencil.h"

namespace leopard
{
  // Residual and transfers of a stencil's grids. Coarse node i stands at fine node 2 i + 1 in each direction that is
  // coarsened (all but those with one node), and values beyond a grid are zero, so that neither the boundary nor an odd
  // number of intervals needs a case of its own.

  struct GridView
  {
    int           n_x, n_y, n_z;
    double        coefficients[27]; ///< [(dz + 1) * 9 + (dy + 1) * 3 + dx + 1]
    const double *diagonal;         ///< one a row, or null
    double        last_weights[3];  ///< twice the weight by which the last node of an odd number of nodes is interpolated (see StencilGrid)
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
    __device__ double weight_x(int x) const { return x == n_x - 1 ? last_weights[0] : 1.; }
    __device__ double weight_yz(int y, int z) const { return (y == n_y - 1 ? last_weights[1] : 1.) * (z == n_z - 1 ? last_weights[2] : 1.); }
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
  template <typename Shape, bool interior>
  __device__ double residual_at(const GridView &A, const double *x, const double *b, int i, int j, int k)
  {
    const int    row = A.index(i, j, k);
    const double d   = A.diagonal != nullptr ? A.diagonal[row] : A.coefficients[13];
    double       r   = __ldcs(b + row) - d * x[row];
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
  template <typename Shape>
  __global__ void __launch_bounds__(256) residual_kernel(const GridView A, const double *x, const double *b, double *r, double *parts)
  {
    __shared__ double partial[32];
    const int         n   = A.n_x * A.n_y * A.n_z;
    double            sum = 0.;
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < n; row += gridDim.x * blockDim.x)
      {
        const int    i = row % A.n_x, j = row / A.n_x % A.n_y, k = row / A.n_x / A.n_y;
        const bool   interior = i > 0 && i < A.n_x - 1 && j > 0 && j < A.n_y - 1 && (Shape::flat || (k > 0 && k < A.n_z - 1));
        const double value    = interior ? residual_at<Shape, true>(A, x, b, i, j, k) : residual_at<Shape, false>(A, x, b, i, j, k);
        sum += value * value;
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

  template <typename Shape>
  __device__ Window window_of_block(const GridView &fine)
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
  template <typename Shape, bool interior, typename Value>
  __device__ double fill_window(const GridView &fine, const Window &w, double *window, const Value &value)
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
            const double v      = exists ? value(x, y, z) : 0.;
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
  template <typename Shape>
  __device__ double restrict_window(const double *window, int cx, int cy, int cz, bool coarsens_x, bool coarsens_y)
  {
    double sum = 0.;
#pragma unroll
    for (int dz = Shape::flat ? 1 : 0; dz <= (Shape::flat ? 1 : 2); ++dz)
#pragma unroll
      for (int dy = 0; dy <= 2; ++dy)
        {
          const double *line    = window + ((Shape::flat ? 0 : 2 * cz + dz) * Shape::w_y + 2 * cy + dy) * Shape::w_x + 2 * cx;
          const double  of_line = (dz == 1 ? 1. : 0.5) * (coarsens_x ? line[1] + 0.5 * (line[0] + line[2]) : line[0]);
          if (coarsens_y)
            sum += (dy == 1 ? 1. : 0.5) * of_line;
          else if (dy == 0) // the only line
            sum += of_line;
        }
    return sum;
  }

  /**
   * coarse_b = P^T (b - A x), and the block's part of ||b - A x||^2 in parts, if that is not null; with x null coarse_b
   * = P^T b. A thread a coarse node, a thread block a tile of them; tiles cover all fine nodes.
   */
  template <typename Shape>
  __global__ void __launch_bounds__(Shape::n_threads)
    restrict_kernel(const GridView A, int c_x, int c_y, int c_z, const double *x, const double *b, double *coarse_b, double *parts)
  {
    __shared__ double window[Shape::w_x * Shape::w_y * Shape::w_z], partial[32];
    const Window      w    = window_of_block<Shape>(A);
    double            norm = 0.;
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

  /** Linear interpolation in x to node i of a line, from coarse line (y, z); zero where there is none. */
  __device__ inline double interpolate_line(const GridView &C, const double *coarse, int i, bool coarsens_x, int y, int z)
  {
    if (!C.has_line(y, z))
      return 0.;
    const double *line = coarse + C.index(0, y, z);
    const int     X    = i / 2;
    const double  here = X < C.n_x ? line[X] : 0.;
    return i % 2 == 1 || !coarsens_x ? here : 0.5 * (here + (X > 0 ? line[X - 1] : 0.));
  }

  /**
   * Pairs of lines 2 j and 2 j + 1 that have nodes to interpolate, ghost planes included: the first j, and behind the
   * last one.
   */
  __host__ __device__ inline int first_pair(const GridView &A)
  {
    return A.begin_y < 0 ? (A.begin_y - 1) / 2 : 0;
  }
  __host__ __device__ inline int end_pair(const GridView &A)
  {
    return (A.end_y + 1) / 2;
  }

  /**
   * x += P coarse (add), or x = P coarse, in ghost planes too. A thread the two nodes (i, 2 j) and (i, 2 j + 1) of a
   * plane.
   */
  template <bool add>
  __global__ void __launch_bounds__(256)
    prolongate_kernel(const GridView A, const GridView C, const double *__restrict__ coarse, double *__restrict__ x)
  {
    const int          pairs_y = end_pair(A) - first_pair(A);
    const unsigned int t = blockIdx.x * blockDim.x + threadIdx.x, line = t / A.n_x;
    const int          i = t % A.n_x, j = first_pair(A) + static_cast<int>(line % pairs_y), k = A.begin_z + static_cast<int>(line / pairs_y);
    if (k >= A.end_z)
      return;
    // the coarse planes above and below; the same one at a coarse node
    const bool coarsens_x = A.n_x > 1;
    const int  z1 = A.n_z == 1 ? 0 : k >> 1, z0 = A.n_z > 1 && k % 2 == 0 ? z1 - 1 : z1; // plane -1 is coarse plane -1
    double     odd = interpolate_line(C, coarse, i, coarsens_x, j, z1), before = interpolate_line(C, coarse, i, coarsens_x, j - 1, z1);
    if (z0 != z1)
      {
        odd    = 0.5 * (odd + interpolate_line(C, coarse, i, coarsens_x, j, z0));
        before = 0.5 * (before + interpolate_line(C, coarse, i, coarsens_x, j - 1, z0));
      }
    const double even = (A.n_y > 1 ? 0.5 * (before + odd) : odd) * A.weight_x(i) * A.weight_yz(2 * j, k);
    double      *to   = x + A.index(i, 2 * j, k);
    if (2 * j + 1 < A.end_y)
      to[A.n_x] = (add ? to[A.n_x] : 0.) + odd * A.weight_x(i) * A.weight_yz(2 * j + 1, k);
    if (2 * j >= A.begin_y)
      to[0] = (add ? to[0] : 0.) + even;
  }
} // namespace leopard
