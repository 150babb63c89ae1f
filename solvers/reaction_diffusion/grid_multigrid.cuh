// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "grid.h"
#include "grid_kernels.cuh"

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  // Multigrid for A d = rhs, A = R - diag(f) laplace being the Jacobian: R the reaction's part with the identity, a 2 x 2 block a node, f_c = implicit times
  // diffusion_c. The same cycle as the host's (HostMultigrid): one red-black sweep before and one after, GCR on the coarsest grid. Two fields. d, rhs and R are floats;
  // the Laplacian is taken of differences, so that R is not lost beside large f.

  /** An Axis. */
  struct AxisView
  {
    const float *lower, *upper, *interpolation, *restriction;
    const int   *coarse_node, *fine_node;
  };

  struct LevelView
  {
    int      n[3];
    int      line, plane; ///< nodes from one line, one plane to the next
    AxisView axis[3];
    float2  *d, *rhs, *residual, *u; ///< u: coarse levels only, the restricted solution
    float4  *reaction;               ///< R by rows

    __host__ __device__ int n_nodes() const { return n[0] * n[1] * n[2]; }
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
    bool  together;

    template <typename Kinetics>
    __device__ LinearOperator(const NodeSystem<Kinetics> &system, double implicit)
      : f{static_cast<float>(implicit * system.diffusion[0]), static_cast<float>(implicit * system.diffusion[1])}
      , omega(static_cast<float>(system.omega))
      , together(system.fields_together)
    {
    }

    /** (A p) at a node. @param p with its own distances of lines and planes, @param diagonal gets the sum of the weights of the node's neighbours. */
    __device__ float2 multiply(const LevelView &v, const Node &node, float4 r, const float2 *p, int at, int line, int plane, float &diagonal) const
    {
      const float2 here   = p[at];
      const int    step[] = {1, line, plane};
      float2       sum    = make_float2(0.f, 0.f);
      diagonal            = 0.f;
#pragma unroll
      for (int direction = 0; direction < 3; ++direction)
        {
          const float lower = v.axis[direction].lower[node.place[direction]], upper = v.axis[direction].upper[node.place[direction]];
          if (lower != 0.f)
            {
              const float2 q = p[at - step[direction]];
              sum            = make_float2(sum.x + lower * (q.x - here.x), sum.y + lower * (q.y - here.y));
            }
          if (upper != 0.f)
            {
              const float2 q = p[at + step[direction]];
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
      if (!together)
        return make_float2(omega * r.x / block.x, omega * r.y / block.w);
      const float factor = omega / (block.x * block.w - block.y * block.z);
      return make_float2(factor * (block.w * r.x - block.y * r.y), factor * (block.x * r.y - block.z * r.x));
    }
  };

  __device__ inline float2 difference(float2 a, float2 b)
  {
    return make_float2(a.x - b.x, a.y - b.y);
  }

  constexpr int level_threads = 128;

  /** Half a sweep: the nodes of a colour, whose neighbours have the other one. */
  template <typename Kinetics>
  __global__ void __launch_bounds__(level_threads)
    relax_colour(const __grid_constant__ LevelView v, const __grid_constant__ NodeSystem<Kinetics> system, const GraphState *state, int colour)
  {
    const int pairs = (v.n[0] + 1) / 2, t = blockIdx.x * level_threads + threadIdx.x, line = t / pairs;
    const int y = line % v.n[1], z = line / v.n[1], x = 2 * (t % pairs) + ((colour + y + z) & 1);
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

  /** (R f) at a node of the coarse grid; f(at) are the values of the fine one. */
  template <typename Values>
  __device__ float2 restricted(const LevelView &fine, const Node &node, const Values &f)
  {
    float2 sum = make_float2(0.f, 0.f);
    for (int kz = 0; kz < 3; ++kz)
      for (int ky = 0; ky < 3; ++ky)
        {
          const float w = fine.axis[2].restriction[3 * node.place[2] + kz] * fine.axis[1].restriction[3 * node.place[1] + ky];
          if (w == 0.f)
            continue;
          const int begin = (fine.axis[2].fine_node[node.place[2]] + kz - 1) * fine.plane +
                            (fine.axis[1].fine_node[node.place[1]] + ky - 1) * fine.line + fine.axis[0].fine_node[node.place[0]];
          for (int kx = 0; kx < 3; ++kx)
            if (const float wx = fine.axis[0].restriction[3 * node.place[0] + kx]; wx != 0.f)
              {
                const float2 value = f(begin + kx - 1);
                sum                = make_float2(sum.x + w * wx * value.x, sum.y + w * wx * value.y);
              }
        }
    return sum;
  }

  /** coarse.rhs = R fine.residual, coarse.d = 0. */
  template <int>
  __global__ void __launch_bounds__(level_threads) restrict_residual(const __grid_constant__ LevelView fine, const __grid_constant__ LevelView coarse)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= coarse.n_nodes())
      return;
    const Node node(coarse, t);
    coarse.rhs[node.at] = restricted(fine, node, [&](int at) { return fine.residual[at]; });
    coarse.d[node.at]   = make_float2(0.f, 0.f);
  }

  /** fine.d += P coarse.d */
  template <int>
  __global__ void __launch_bounds__(level_threads) prolongate(const __grid_constant__ LevelView coarse, const __grid_constant__ LevelView fine)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= fine.n_nodes())
      return;
    const Node node(fine, t);
    int        begin = 0;
    float      w[3];
    const int  step[] = {1, coarse.line, coarse.plane};
    for (int direction = 0; direction < 3; ++direction)
      {
        w[direction] = fine.axis[direction].interpolation[node.place[direction]];
        begin += fine.axis[direction].coarse_node[node.place[direction]] * step[direction];
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
            at += next ? step[direction] : 0;
          }
        if (weight == 0.f)
          continue;
        const float2 value = coarse.d[at];
        sum                = make_float2(sum.x + weight * value.x, sum.y + weight * value.y);
      }
    fine.d[node.at] = sum;
  }

  /** Zero corrections on the finest grid. */
  template <int>
  __global__ void __launch_bounds__(level_threads) clear_corrections(const __grid_constant__ LevelView v)
  {
    if (const int t = blockIdx.x * level_threads + threadIdx.x; t < v.n_nodes())
      v.d[Node(v, t).at] = make_float2(0.f, 0.f);
  }

  /** The solution on a coarse grid, and the reaction's derivative there. `finest`: the fine grid is the finest one, whose solution is in the slots. */
  template <typename Kinetics, bool finest>
  __global__ void __launch_bounds__(level_threads) linearize_level(const __grid_constant__ LevelView fine,
                                                                   const __grid_constant__ LevelView coarse,
                                                                   const __grid_constant__ NodeSystem<Kinetics> system,
                                                                   const GridView                               grid)
  {
    const int t = blockIdx.x * level_threads + threadIdx.x;
    if (t >= coarse.n_nodes())
      return;
    const Controller &c = grid.state->controller;
    const double     *u = grid.state->slots[c.slot(-1)];
    const Node        node(coarse, t);
    const float2      value   = restricted(fine, node, [&](int at) {
      if constexpr (!finest)
        return fine.u[at];
      const int n_nodes = grid.n[0] * grid.n[1] * grid.n[2];
      const int z = at / fine.plane, y = at % fine.plane / fine.line, x = at % fine.line, i = (z * grid.n[1] + y) * grid.n[0] + x;
      return make_float2(static_cast<float>(u[i]), static_cast<float>(u[n_nodes + i]));
    });
    const double      here[2] = {value.x, value.y};
    const double      zero[2] = {0., 0.};
    double            g[2], block[4];
    Sums              unused;
    system.residual(typename NodeSystem<Kinetics>::Scheme(c), here, here, here, here, zero, 0., 0., g, block, unused);
    coarse.u[node.at] = value;
    coarse.reaction[node.at] =
      make_float4(static_cast<float>(block[0]), static_cast<float>(block[1]), static_cast<float>(block[2]), static_cast<float>(block[3]));
  }

  constexpr int coarse_threads = 1024, max_coarse_iterations = 30;

  /** The vectors of the coarse solver, one after the other; in global memory. */
  struct CoarseVectors
  {
    float2 *p, *q; ///< directions, and A times them, orthonormal; max_coarse_iterations of each
  };

  /** GCR with two sweeps as preconditioner (see CoarseSolver) by one thread block. Shared memory: a float2 a node. */
  template <typename Kinetics>
  __global__ void __launch_bounds__(coarse_threads) solve_coarsest(const __grid_constant__ LevelView v,
                                                                   const __grid_constant__ NodeSystem<Kinetics> system,
                                                                   const GraphState                            *state,
                                                                   const CoarseVectors                          vectors)
  {
    extern __shared__ float2 direction[];
    __shared__ double        partial[coarse_threads / 32];
    __shared__ float         beta[max_coarse_iterations];
    const LinearOperator     A(system, state->controller.implicit);
    const int                n = v.n_nodes(), line = v.n[0], plane = v.n[0] * v.n[1];

    const auto sum_over_block = [&](double sum) {
      for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
      __syncthreads(); // all have read the last sum
      if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
      __syncthreads();
      sum = partial[threadIdx.x % 32];
      for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
      return sum;
    };
    const auto product = [](float2 a, float2 b) { return static_cast<double>(a.x) * b.x + static_cast<double>(a.y) * b.y; };
    const auto squares = [&] {
      double sum = 0.;
      for (int i = threadIdx.x; i < n; i += coarse_threads)
        {
          const float2 r = v.rhs[Node(v, i).at];
          sum += product(r, r);
        }
      return sum_over_block(sum);
    };

    double       norm = squares();
    const double goal = 1e-2 * norm;
    for (int k = 0; k < max_coarse_iterations && norm > goal; ++k)
      {
        float2 *p = vectors.p + static_cast<std::size_t>(k) * n, *q = vectors.q + static_cast<std::size_t>(k) * n;
        for (int i = threadIdx.x; i < n; i += coarse_threads)
          direction[i] = make_float2(0.f, 0.f);
        __syncthreads();
        float diagonal;
        for (int half = 0; half < 4; ++half)
          {
            for (int i = threadIdx.x; i < n; i += coarse_threads)
              {
                const Node node(v, i);
                if (((node.place[0] + node.place[1] + node.place[2] + half) & 1) != 0)
                  continue;
                const float4 r      = v.reaction[node.at];
                const float2 change = [&] {
                  const float2 b = v.rhs[node.at], product = A.multiply(v, node, r, direction, i, line, plane, diagonal);
                  return A.relax(r, diagonal, difference(b, product));
                }();
                direction[i] = make_float2(direction[i].x + change.x, direction[i].y + change.y);
              }
            __syncthreads();
          }
        for (int i = threadIdx.x; i < n; i += coarse_threads)
          {
            const Node node(v, i);
            p[i] = direction[i];
            q[i] = A.multiply(v, node, v.reaction[node.at], direction, i, line, plane, diagonal);
          }
        __syncthreads();
        if (const int j = threadIdx.x / 32; j < k) // a warp a direction: classical Gram-Schmidt
          {
            const float2 *q_j = vectors.q + static_cast<std::size_t>(j) * n;
            double        sum = 0.;
            for (int i = threadIdx.x % 32; i < n; i += 32)
              sum += product(q[i], q_j[i]);
            for (int step = 16; step > 0; step /= 2)
              sum += __shfl_xor_sync(0xffffffffu, sum, step);
            if (threadIdx.x % 32 == 0)
              beta[j] = static_cast<float>(sum);
          }
        __syncthreads();
        double length = 0., sum = 0.;
        for (int i = threadIdx.x; i < n; i += coarse_threads)
          {
            float2 p_i = p[i], q_i = q[i];
            for (int j = 0; j < k; ++j)
              {
                const float2 p_j = vectors.p[static_cast<std::size_t>(j) * n + i], q_j = vectors.q[static_cast<std::size_t>(j) * n + i];
                p_i = make_float2(p_i.x - beta[j] * p_j.x, p_i.y - beta[j] * p_j.y);
                q_i = make_float2(q_i.x - beta[j] * q_j.x, q_i.y - beta[j] * q_j.y);
              }
            p[i] = p_i;
            q[i] = q_i;
            length += product(q_i, q_i);
            sum += product(v.rhs[Node(v, i).at], q_i);
          }
        length = sum_over_block(length);
        sum    = sum_over_block(sum);
        if (!(length > 1e-60)) // rounding only is left, and the inverse of its size would be beyond the floats
          break;
        const float inverse = static_cast<float>(1. / std::sqrt(length)), alpha = static_cast<float>(sum / std::sqrt(length));
        for (int i = threadIdx.x; i < n; i += coarse_threads)
          {
            p[i]         = make_float2(inverse * p[i].x, inverse * p[i].y);
            q[i]         = make_float2(inverse * q[i].x, inverse * q[i].y);
            const int at = Node(v, i).at;
            v.d[at]      = make_float2(v.d[at].x + alpha * p[i].x, v.d[at].y + alpha * p[i].y);
            v.rhs[at]    = make_float2(v.rhs[at].x - alpha * q[i].x, v.rhs[at].y - alpha * q[i].y);
          }
        norm = squares();
      }
  }

  /** The grids of a GraphEngine, and V-cycles on them as launches on a stream. */
  template <typename Kinetics>
  class GridMultigrid
  {
  public:
    /** @param view the finest grid; rhs and reaction are where evaluate_grid() is to write them. */
    GridMultigrid(const NodeGrid &grid, const NodeSystem<Kinetics> &system_, const GridView &view, std::size_t padded_nodes)
      : grids(make_levels(grid))
      , system(system_)
    {
      for (std::size_t l = 0; l < grids.size(); ++l)
        {
          levels.emplace_back(grids[l], l == 0 ? padded_nodes : 0);
          if (l == 0)
            {
              levels[0].view.line  = view.padded_x;
              levels[0].view.plane = view.padded_x * view.padded_y;
              levels[0].view.d     = view.d;
            }
        }
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
      const std::size_t n = grids[coarsest].n_nodes();
      vectors             = device::Array<float2>(2 * max_coarse_iterations * n);
      LEOPARD_CHECK(
        cudaFuncSetAttribute(solve_coarsest<Kinetics>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(n * sizeof(float2))));
      return true;
    }

    /** Before the cycles of a Newton step: d = 0, the Jacobian on the coarse grids. */
    void begin(cudaStream_t stream, const GridView &view) const
    {
      clear_corrections<0><<<blocks(levels[0].view.n_nodes()), level_threads, 0, stream>>>(levels[0].view);
      for (std::size_t l = 1; l <= coarsest; ++l)
        {
          const LevelView &fine = levels[l - 1].view, &coarse = levels[l].view;
          if (l == 1)
            linearize_level<Kinetics, true><<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(fine, coarse, system, view);
          else
            linearize_level<Kinetics, false><<<blocks(coarse.n_nodes()), level_threads, 0, stream>>>(fine, coarse, system, view);
        }
    }

    void cycle(cudaStream_t stream, const GraphState *state, std::size_t l = 0) const
    {
      const LevelView &fine = levels[l].view;
      if (l == coarsest)
        {
          const std::size_t n = fine.n_nodes();
          solve_coarsest<Kinetics><<<1, coarse_threads, n * sizeof(float2), stream>>>(
            fine, system, state, CoarseVectors{vectors.data(), vectors.data() + max_coarse_iterations * n});
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

  private:
    /** A grid in device memory. */
    struct Level
    {
      LevelView             view{};
      device::Array<float>  numbers;
      device::Array<int>    nodes;
      device::Array<float2> pairs;
      device::Array<float4> reaction;

      /** @param padded_nodes of the finest grid, whose d is there already; 0 of others. */
      Level(const GridLevel &grid, std::size_t padded_nodes)
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
        const bool        is_finest = padded_nodes > 0;
        const std::size_t n         = is_finest ? padded_nodes : grid.n_nodes();
        pairs                       = device::Array<float2>((is_finest ? 2 : 4) * n);
        reaction                    = device::Array<float4>(n);
        view.line                   = grid.n[0];
        view.plane                  = grid.n[0] * grid.n[1];
        view.rhs                    = pairs.data();
        view.residual               = pairs.data() + n;
        view.u                      = is_finest ? nullptr : pairs.data() + 2 * n;
        view.d                      = is_finest ? nullptr : pairs.data() + 3 * n;
        view.reaction               = reaction.data();
      }
    };

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
    device::Array<float2>        vectors;
  };
} // namespace leopard::reaction_diffusion
