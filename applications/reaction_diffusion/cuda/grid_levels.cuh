// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_kernels.cuh"

namespace leopard::reaction_diffusion
{
  // Multigrid for A d = rhs, A = R - diag(f) laplace being the Jacobian: R the reaction's part with the identity, a 2 x
  // 2 block a node, f_c = implicit times diffusion_c. The same method as the host's (HostGrid): GCR, as
  // preconditioner a cycle with one red-black sweep before and one after, on the coarsest grid GCR with the mean
  // reaction. Two fields. d, rhs and R are floats; the Laplacian is taken of differences, so that R is not lost beside
  // large f. Here: the kernels of a level.

  /** An Axis. */
  struct AxisView
  {
    const float *lower, *upper, *interpolation, *restriction;
    const int   *coarse_node, *fine_node;
  };

  struct LevelView
  {
    int      n[3];        ///< shared grids: the rank's nodes
    int      first[3];    ///< the place of the first of them in the grid of all ranks
    int      period[3];   ///< see around()
    int      line, plane; ///< nodes from one line, one plane to the next
    AxisView axis[3];     ///< of the level's nodes, but fine_node and restriction: those of all ranks' nodes of the next coarser grid
    float2  *d, *rhs, *residual;
    float4  *reaction; ///< R by rows

    __host__ __device__ int n_nodes() const { return n[0] * n[1] * n[2]; }
    __device__ int around(int direction, int place) const { return leopard::reaction_diffusion::around(place, n[direction], period[direction]); }
    /**
     * From a place to those before and behind it, `step` numbers apart; round to the other end of a periodic direction.
     */
    __device__ int to_before(int direction, int place, int step) const { return (place > 0 ? -1 : period[direction] - 1) * step; }
    __device__ int to_behind(int direction, int place, int step) const { return (place + 1 < n[direction] ? 1 : 1 - period[direction]) * step; }
  };

  /** A node, and where its values stand in the arrays of its level. */
  struct Node
  {
    int place[3], at;

    __device__ Node(const LevelView &v, int number)
      : Node(v, number % v.n[0], number / v.n[0] % v.n[1], number / (v.n[0] * v.n[1]))
    {
    }
    __device__ Node(const LevelView &v, int x, int y, int z)
      : place{x, y, z}
      , at(z * v.plane + y * v.line + x)
    {
    }
  };

  /** A, as far as all nodes have it in common. */
  struct LinearOperator
  {
    float f[2], omega;

    template <typename Kinetics>
    __device__ LinearOperator(const NodeSystem<Kinetics> &system, double implicit)
      : f{static_cast<float>(implicit * system.diffusion[0]), static_cast<float>(implicit * system.diffusion[1])}
      , omega(static_cast<float>(system.omega))
    {
    }

    /**
     * (A p) at a node. @param p with its own distances of lines and planes, @param diagonal gets the sum of the weights
     * of the node's neighbours.
     */
    __device__ float2 multiply(const LevelView &v, const Node &node, float4 r, const float2 *p, int at, int line, int plane, float &diagonal) const
    {
      const float2 here   = p[at];
      const int    step[] = {1, line, plane};
      float2       sum    = make_float2(0.f, 0.f);
      diagonal            = 0.f;
#pragma unroll
      for (int direction = 0; direction < 3; ++direction)
        {
          const int   place = node.place[direction];
          const float lower = v.axis[direction].lower[place], upper = v.axis[direction].upper[place];
          if (lower != 0.f)
            {
              const float2 q = p[at + v.to_before(direction, place, step[direction])];
              sum            = make_float2(sum.x + lower * (q.x - here.x), sum.y + lower * (q.y - here.y));
            }
          if (upper != 0.f)
            {
              const float2 q = p[at + v.to_behind(direction, place, step[direction])];
              sum            = make_float2(sum.x + upper * (q.x - here.x), sum.y + upper * (q.y - here.y));
            }
          diagonal += lower + upper;
        }
      return make_float2(r.x * here.x + r.y * here.y - f[0] * sum.x, r.z * here.x + r.w * here.y - f[1] * sum.y);
    }

    /** What relaxing a node with the residual r adds to it. */
    __device__ float2 relax(float4 block, float diagonal, float2 r) const
    {
      block.x += f[0] * diagonal;
      block.w += f[1] * diagonal;
      const float factor = omega / (block.x * block.w - block.y * block.z);
      return make_float2(factor * (block.w * r.x - block.y * r.y), factor * (block.x * r.y - block.z * r.x));
    }
  };

  __device__ inline float2 difference(float2 a, float2 b)
  {
    return make_float2(a.x - b.x, a.y - b.y);
  }

  /** a + s b */
  __device__ inline float2 sum_of(float2 a, float s, float2 b)
  {
    return make_float2(a.x + s * b.x, a.y + s * b.y);
  }

  __device__ inline double product(float2 a, float2 b)
  {
    return static_cast<double>(a.x) * b.x + static_cast<double>(a.y) * b.y;
  }

  constexpr int level_threads = 128;

  /**
   * Half a sweep: the nodes of a colour, whose neighbours have the other one; but for those at both ends of a periodic
   * direction with an odd number of nodes, which read each other's old or new value.
   */
  template <typename Kinetics>
  __global__ void __launch_bounds__(level_threads)
    relax_colour(const __grid_constant__ LevelView v, const __grid_constant__ NodeSystem<Kinetics> system, const GraphState *state, int colour)
  {
    const int pairs = (v.n[0] + 1) / 2, t = blockIdx.x * level_threads + threadIdx.x, line = t / pairs;
    const int y = line % v.n[1], z = line / v.n[1], x = 2 * (t % pairs) + ((colour + v.first[1] + y + v.first[2] + z) & 1);
    if (z >= v.n[2] || x >= v.n[0])
      return;
    const LinearOperator A(system, state->controller.implicit);
    const Node           node(v, x, y, z);
    const float4         r = v.reaction[node.at];
    float                diagonal;
    const float2         product = A.multiply(v, node, r, v.d, node.at, v.line, v.plane, diagonal);
    const float2         change = A.relax(r, diagonal, difference(v.rhs[node.at], product)), old = v.d[node.at];
    v.d[node.at] = make_float2(old.x + change.x, old.y + change.y);
  }

  template <typename Kinetics>
  __global__ void __launch_bounds__(level_threads)
    compute_residual(const __grid_constant__ LevelView v, const __grid_constant__ NodeSystem<Kinetics> system, const GraphState *state)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= v.n_nodes())
      return;
    const LinearOperator A(system, state->controller.implicit);
    const Node           node(v, t);
    float                diagonal;
    v.residual[node.at] = difference(v.rhs[node.at], A.multiply(v, node, v.reaction[node.at], v.d, node.at, v.line, v.plane, diagonal));
  }

  /** (R f) at a node of the coarse grid; f(x, y, z) are the values of the fine one. */
  template <typename Values>
  __device__ float2 restricted(const LevelView &fine, const LevelView &coarse, const Node &node, const Values &f)
  {
    float2 sum = make_float2(0.f, 0.f);
    int    place[3], of_all[3]; // of the fine node at it; of the coarse node, in the grid of all ranks
    for (int direction = 0; direction < 3; ++direction)
      {
        of_all[direction] = node.place[direction] + coarse.first[direction];
        place[direction]  = fine.axis[direction].fine_node[of_all[direction]] - fine.first[direction];
      }
    for (int kz = 0; kz < 3; ++kz)
      for (int ky = 0; ky < 3; ++ky)
        {
          const float w = fine.axis[2].restriction[3 * of_all[2] + kz] * fine.axis[1].restriction[3 * of_all[1] + ky];
          if (w == 0.f)
            continue;
          for (int kx = 0; kx < 3; ++kx)
            if (const float wx = fine.axis[0].restriction[3 * of_all[0] + kx]; wx != 0.f)
              {
                const float2 value = f(fine.around(0, place[0] + kx - 1), fine.around(1, place[1] + ky - 1), fine.around(2, place[2] + kz - 1));
                sum                = make_float2(sum.x + w * wx * value.x, sum.y + w * wx * value.y);
              }
        }
    return sum;
  }

  /**
   * The nodes of a coarse grid that a rank restricts to: those on its planes, or, of a shared grid, all that it has.
   */
  struct CoarseNodes
  {
    int begin, end;
  };

  /** coarse.rhs = R fine.residual, coarse.d = 0. */
  static __global__ void __launch_bounds__(level_threads)
    restrict_residual(const __grid_constant__ LevelView fine, const __grid_constant__ LevelView coarse, CoarseNodes own)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= coarse.n_nodes())
      return;
    const Node node(coarse, t);
    coarse.d[node.at] = make_float2(0.f, 0.f);
    if (t >= own.begin && t < own.end)
      coarse.rhs[node.at] = restricted(fine, coarse, node, [&](int x, int y, int z) { return fine.residual[z * fine.plane + y * fine.line + x]; });
  }

  /** fine.d += P coarse.d */
  static __global__ void __launch_bounds__(level_threads) prolongate(const __grid_constant__ LevelView coarse, const __grid_constant__ LevelView fine)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= fine.n_nodes())
      return;
    const Node node(fine, t);
    int        begin = 0, to_next[3];
    float      w[3];
    const int  step[] = {1, coarse.line, coarse.plane};
    for (int direction = 0; direction < 3; ++direction)
      {
        const int place    = fine.axis[direction].coarse_node[node.place[direction]] - coarse.first[direction];
        w[direction]       = fine.axis[direction].interpolation[node.place[direction]];
        to_next[direction] = coarse.to_behind(direction, place, step[direction]);
        begin += place * step[direction];
      }
    float2 sum = fine.d[node.at];
    for (int corner = 0; corner < 8; ++corner)
      {
        float weight = 1.f;
        int   at     = begin;
        for (int direction = 0; direction < 3; ++direction)
          {
            const bool next = (corner >> direction & 1) != 0;
            weight *= next ? 1.f - w[direction] : w[direction];
            at += next ? to_next[direction] : 0;
          }
        if (weight == 0.f)
          continue;
        const float2 value = coarse.d[at];
        sum                = make_float2(sum.x + weight * value.x, sum.y + weight * value.y);
      }
    fine.d[node.at] = sum;
  }

  /**
   * The mean of the fine grid's reaction around a coarse node (see HostGrid::restrict_reaction()), its rows in
   * coarse.d and coarse.residual, whence store_reaction() takes them when those of all ranks are there. Nodes of other
   * ranks do not count.
   */
  static __global__ void __launch_bounds__(level_threads)
    restrict_reaction(const __grid_constant__ LevelView fine, const __grid_constant__ LevelView coarse, CoarseNodes own)
  {
    const int t = own.begin + blockIdx.x * level_threads + threadIdx.x;
    if (t >= own.end)
      return;
    const Node node(coarse, t);
    float4     sum   = make_float4(0.f, 0.f, 0.f, 0.f);
    float      total = 0.f;
    for (int k = 0; k < 27; ++k)
      {
        const int step[]   = {k % 3, k / 3 % 3, k / 9};
        float     w        = 1.f;
        int       place[3] = {};
        bool      is_own   = true;
        for (int direction = 0; direction < 3; ++direction)
          {
            const int of_all = node.place[direction] + coarse.first[direction];
            w *= fine.axis[direction].restriction[3 * of_all + step[direction]];
            place[direction] = fine.around(direction, fine.axis[direction].fine_node[of_all] - fine.first[direction] + step[direction] - 1);
            is_own           = is_own && place[direction] >= 0 && place[direction] < fine.n[direction];
          }
        if (w == 0.f || !is_own)
          continue;
        const float4 r = fine.reaction[place[2] * fine.plane + place[1] * fine.line + place[0]];
        sum            = make_float4(sum.x + w * r.x, sum.y + w * r.y, sum.z + w * r.z, sum.w + w * r.w);
        total += w;
      }
    coarse.d[node.at]        = make_float2(sum.x / total, sum.y / total);
    coarse.residual[node.at] = make_float2(sum.z / total, sum.w / total);
  }

  static __global__ void __launch_bounds__(level_threads) store_reaction(const __grid_constant__ LevelView coarse)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= coarse.n_nodes())
      return;
    const int    at = Node(coarse, t).at;
    const float2 x = coarse.d[at], y = coarse.residual[at];
    coarse.reaction[at] = make_float4(x.x, x.y, y.x, y.y);
  }
} // namespace leopard::reaction_diffusion
