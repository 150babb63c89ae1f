// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_levels.cuh"

#include <solvers/device/block_sum.cuh>

namespace leopard::reaction_diffusion
{
  /** AxisModes in device memory. */
  struct ModesView
  {
    const float *eigenvalue, *to_modes, *from_modes;
  };

  /** What the coarsest grid needs beside its LevelView; vectors without padding. */
  struct CoarsestView
  {
    ModesView modes[3];
    float2   *p, *q; ///< directions of GCR, and A times them, orthonormal; max_coarse_iterations of each
  };

  constexpr int coarse_threads = 1024;
  static_assert(max_coarse_iterations <= coarse_threads / 32, "a warp a direction");

  /** Solves with the mean reaction (see MeanReaction), by one thread block. */
  struct MeanReactionSolver
  {
    const LevelView    &v;
    const CoarsestView &coarsest;
    float               f[2];
    float4              mean;

    /** Takes the mean. @param partial shared memory, 32 entries. */
    __device__ MeanReactionSolver(const LevelView &v_, const CoarsestView &coarsest_, const LinearOperator &A, double *partial)
      : v(v_)
      , coarsest(coarsest_)
      , f{A.f[0], A.f[1]}
    {
      double sum[4] = {0., 0., 0., 0.};
      for (int i = threadIdx.x; i < v.n_nodes(); i += coarse_threads)
        {
          const float4 r = v.reaction[Node(v, i).at];
          sum[0] += r.x;
          sum[1] += r.y;
          sum[2] += r.z;
          sum[3] += r.w;
        }
      for (double &s : sum)
        s = sum_for_block(s, partial) / v.n_nodes();
      mean = make_float4(static_cast<float>(sum[0]), static_cast<float>(sum[1]), static_cast<float>(sum[2]), static_cast<float>(sum[3]));
    }

    /**
     * result = the solution for the right-hand side v.residual; no padding. @param buffer shared memory, a value a
     * node.
     */
    __device__ void solve(float2 *buffer, float2 *result) const
    {
      const int n_directions = v.n[2] > 1 ? 3 : 2;
      transform(0, coarsest.modes[0].to_modes, v.residual, v.line, v.plane, buffer, false);
      const float2 *from = buffer;
      for (int t = 1; t < 2 * n_directions; ++t)
        {
          const bool       forward   = t < n_directions;
          const int        direction = forward ? t : t - n_directions;
          const ModesView &modes     = coarsest.modes[direction];
          float2          *to        = t % 2 == 0 ? buffer : result;
          transform(direction, forward ? modes.to_modes : modes.from_modes, from, v.n[0], v.n[0] * v.n[1], to, t == n_directions - 1);
          from = to;
        }
    }

  private:
    /** to = the matrix times from along a direction; if `solves`, each mode's system is solved then. */
    __device__ void transform(int direction, const float *matrix, const float2 *from, int line, int plane, float2 *to, bool solves) const
    {
      const int n = v.n[direction], step = direction == 0 ? 1 : direction == 1 ? line : plane;
      for (int i = threadIdx.x; i < v.n_nodes(); i += coarse_threads)
        {
          const Node    node(v, i);
          const int     place = node.place[direction];
          const float2 *first = from + node.place[2] * plane + node.place[1] * line + node.place[0] - place * step;
          float2        sum   = make_float2(0.f, 0.f);
          for (int j = 0; j < n; ++j)
            sum = sum_of(sum, matrix[j * n + place], first[j * step]);
          to[i] = solves ? solve_mode(node, sum) : sum;
        }
      __syncthreads();
    }

    __device__ float2 solve_mode(const Node &node, float2 b) const
    {
      float eigenvalue = 0.f;
      for (int direction = 0; direction < 3; ++direction)
        eigenvalue += coarsest.modes[direction].eigenvalue[node.place[direction]];
      const float xx = mean.x + f[0] * eigenvalue, yy = mean.w + f[1] * eigenvalue, factor = 1.f / (xx * yy - mean.y * mean.z);
      return make_float2(factor * (yy * b.x - mean.y * b.y), factor * (xx * b.y - mean.z * b.x));
    }
  };

  /**
   * GCR with the mean reaction as preconditioner (see Gcr) by one thread block, from d = 0; the residual is in
   * v.residual. Shared memory: a float2 a node. Not of gcr_kernels.cuh, whose kernels give parts of sums to other
   * kernels, where here one block goes through all iterations without a launch and without the host. And its images are
   * of length 1, so that a warp a direction finds a component without a division, and no direction is ever dropped.
   */
  template <typename Kinetics>
  __global__ void __launch_bounds__(coarse_threads) solve_coarsest(const __grid_constant__ LevelView v,
                                                                   const __grid_constant__ NodeSystem<Kinetics> system,
                                                                   const GraphState                            *state,
                                                                   const __grid_constant__ CoarsestView         coarsest)
  {
    extern __shared__ float2 buffer[];
    __shared__ double        partial[32];
    __shared__ float         beta[max_coarse_iterations];
    const LinearOperator     A(system, state->controller.implicit);
    const MeanReactionSolver preconditioner(v, coarsest, A, partial);
    const int                n = v.n_nodes();

    const auto squares = [&] {
      double sum = 0.;
      for (int i = threadIdx.x; i < n; i += coarse_threads)
        {
          const float2 r = v.residual[Node(v, i).at];
          sum += product(r, r);
        }
      return sum_for_block(sum, partial);
    };

    for (int i = threadIdx.x; i < n; i += coarse_threads)
      {
        const int at   = Node(v, i).at;
        v.residual[at] = v.rhs[at];
      }
    __syncthreads();
    double       norm = squares();
    const double goal = coarse_reduction * coarse_reduction * norm;
    for (int k = 0; k < max_coarse_iterations && !reached(norm, goal); ++k)
      {
        float2 *p = coarsest.p + static_cast<std::size_t>(k) * n, *q = coarsest.q + static_cast<std::size_t>(k) * n;
        preconditioner.solve(buffer, p);
        for (int i = threadIdx.x; i < n; i += coarse_threads)
          {
            const Node node(v, i);
            float      diagonal;
            q[i] = A.multiply(v, node, v.reaction[node.at], p, i, v.n[0], v.n[0] * v.n[1], diagonal);
          }
        __syncthreads();
        if (const int j = threadIdx.x / 32; j < k) // classical Gram-Schmidt
          {
            const float2 *q_j = coarsest.q + static_cast<std::size_t>(j) * n;
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
                p_i = sum_of(p_i, -beta[j], coarsest.p[static_cast<std::size_t>(j) * n + i]);
                q_i = sum_of(q_i, -beta[j], coarsest.q[static_cast<std::size_t>(j) * n + i]);
              }
            p[i] = p_i;
            q[i] = q_i;
            length += product(q_i, q_i);
            sum += product(v.residual[Node(v, i).at], q_i);
          }
        length = sum_for_block(length, partial);
        sum    = sum_for_block(sum, partial);
        if (!(length > 1e-60)) // rounding only is left, and the inverse of its size would be beyond the floats
          break;
        const float inverse = static_cast<float>(1. / std::sqrt(length)), alpha = static_cast<float>(sum / std::sqrt(length));
        for (int i = threadIdx.x; i < n; i += coarse_threads)
          {
            p[i]           = make_float2(inverse * p[i].x, inverse * p[i].y);
            q[i]           = make_float2(inverse * q[i].x, inverse * q[i].y);
            const int at   = Node(v, i).at;
            v.d[at]        = sum_of(v.d[at], alpha, p[i]);
            v.residual[at] = sum_of(v.residual[at], -alpha, q[i]);
          }
        norm = squares();
      }
  }
} // namespace leopard::reaction_diffusion
