// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid_levels.cuh"

namespace leopard::reaction_diffusion
{
  // GCR on the finest grid (see Gcr), as kernels of a graph. In the grid's LevelView, rhs is the residual and d the
  // preconditioner's approximate solution for it. Sums over all nodes: each thread block writes its part, and a kernel
  // of one block adds the parts up.

  /** The vectors of GCR, with the padding of the grid. Device memory. */
  struct GcrView
  {
    float2     *x;     ///< the solution
    float2     *p, *q; ///< directions, and A times them, orthogonal; max_directions of each, `stride` from one to the next
    std::size_t stride;
    double     *parts; ///< max_directions sums of each thread block, those that nobody writes being 0

    __device__ float2 *direction(int k) const { return p + k * stride; }
    __device__ float2 *image(int k) const { return q + k * stride; }
  };

  /** Calls f(node), which adds to `sum`, for all nodes; then writes the thread block's sum to its place in g.parts. */
  template <int n_sums, typename F>
  __device__ void for_nodes(const LevelView &v, const GcrView &g, double (&sum)[n_sums], const F &f)
  {
    for (int t = blockIdx.x * grid_threads + threadIdx.x; t < v.n_nodes(); t += gridDim.x * grid_threads)
      f(Node(v, t));
    write_part<Addition>(sum, g.parts, max_directions);
  }

  /** x = 0, d = 0; part of r . r. */
  template <int>
  __global__ void __launch_bounds__(grid_threads) begin_gcr(const __grid_constant__ LevelView v, const GcrView g)
  {
    double sum[1] = {0.};
    for_nodes(v, g, sum, [&](const Node &node) {
      const int at = node.at;
      g.x[at] = v.d[at] = make_float2(0.f, 0.f);
      sum[0] += product(v.rhs[at], v.rhs[at]);
    });
  }

  /** q_k = A d; parts of q_k . q_j. */
  template <typename Kinetics>
  __global__ void __launch_bounds__(grid_threads) multiply_direction(const __grid_constant__ LevelView v,
                                                                     const __grid_constant__ NodeSystem<Kinetics> system,
                                                                     const GraphState                            *state,
                                                                     const GcrView                                g)
  {
    const LinearOperator A(system, state->controller.implicit);
    const int            k = state->gcr.iteration % max_directions, n_filled = min(state->gcr.iteration, max_directions);
    double               sum[max_directions] = {};
    for_nodes(v, g, sum, [&](const Node &node) {
      float        diagonal;
      const float2 q      = A.multiply(v, node, v.reaction[node.at], v.d, node.at, v.line, v.plane, diagonal);
      g.image(k)[node.at] = q;
#pragma unroll
      for (int j = 0; j < max_directions; ++j)
        if (j < n_filled && j != k)
          sum[j] += product(q, g.image(j)[node.at]);
    });
  }

  /** p_k and q_k from d and A d: less their parts along the other directions; parts of q_k . q_k and q_k . r. */
  template <int>
  __global__ void __launch_bounds__(grid_threads)
    orthogonalize_direction(const __grid_constant__ LevelView v, const GraphState *state, const GcrView g)
  {
    const int k = state->gcr.iteration % max_directions, n_filled = min(state->gcr.iteration, max_directions);
    double    sum[2] = {0., 0.};
    for_nodes(v, g, sum, [&](const Node &node) {
      const int at = node.at;
      float2    p = v.d[at], q = g.image(k)[at];
      for (int j = 0; j < n_filled; ++j)
        {
          if (j == k)
            continue;
          p = sum_of(p, -state->gcr.beta[j], g.direction(j)[at]);
          q = sum_of(q, -state->gcr.beta[j], g.image(j)[at]);
        }
      g.direction(k)[at] = p;
      g.image(k)[at]     = q;
      sum[0] += product(q, q);
      sum[1] += product(q, v.rhs[at]);
    });
  }

  /** x += alpha p_k, r -= alpha q_k, d = 0; part of r . r. */
  template <int>
  __global__ void __launch_bounds__(grid_threads) follow_direction(const __grid_constant__ LevelView v, const GraphState *state, const GcrView g)
  {
    const int   k      = state->gcr.iteration % max_directions;
    const float alpha  = state->gcr.alpha;
    double      sum[1] = {0.};
    for_nodes(v, g, sum, [&](const Node &node) {
      const int    at = node.at;
      const float2 r  = sum_of(v.rhs[at], -alpha, g.image(k)[at]);
      g.x[at]         = sum_of(g.x[at], alpha, g.direction(k)[at]);
      v.rhs[at]       = r;
      v.d[at]         = make_float2(0.f, 0.f);
      sum[0] += product(r, r);
    });
  }

  /** beta_j = (A d . q_j) / (q_j . q_j), for orthogonalization. */
  template <int>
  __global__ void find_components(GraphState *state, const double *parts, int n_parts)
  {
    double sum[max_directions] = {};
    merge_parts<Addition>(parts, n_parts, sum);
    if (threadIdx.x != 0)
      return;
    GcrState &gcr = state->gcr;
    for (int j = 0; j < min(gcr.iteration, max_directions); ++j)
      {
        const float beta = static_cast<float>(sum[j] / gcr.squares[j]);
        gcr.beta[j]      = isfinite(beta) ? beta : 0.f; // what is zero in all directions stays zero
      }
  }

  /** alpha = (q_k . r) / (q_k . q_k). If q_k is only rounding errors, or not finite, GCR is stuck and ends. */
  template <int>
  __global__ void find_step(GraphState *state, const double *parts, int n_parts)
  {
    double sum[max_directions] = {};
    merge_parts<Addition>(parts, n_parts, sum);
    if (threadIdx.x != 0)
      return;
    GcrState  &gcr                              = state->gcr;
    const bool found                            = sum[0] > 1e-60 && sum[0] < 1e60;
    gcr.squares[gcr.iteration % max_directions] = found ? sum[0] : 1.;
    gcr.alpha                                   = found ? static_cast<float>(sum[1] / sum[0]) : 0.f;
    gcr.stuck                                   = !found;
  }

  /** Whether there is to be another cycle. @param squares r . r */
  __device__ inline void go_on_or_end(GraphState *state, double squares, cudaGraphConditionalHandle more)
  {
    Controller     &c       = state->controller;
    const GcrState &gcr     = state->gcr;
    const bool      goes_on = gcr.iteration < c.n_cycles && !reached(squares, gcr.goal) && !gcr.stuck;
    if (!goes_on)
      c.n_cycles = gcr.iteration;
    cudaGraphSetConditional(more, goes_on ? 1 : 0);
  }

  /** Before the first cycle. */
  template <int>
  __global__ void set_goal(GraphState *state, const double *parts, int n_parts, cudaGraphConditionalHandle more)
  {
    double sum[max_directions] = {};
    merge_parts<Addition>(parts, n_parts, sum);
    if (threadIdx.x != 0)
      return;
    GcrState &gcr = state->gcr;
    gcr.iteration = 0;
    gcr.stuck     = false;
    gcr.goal      = state->controller.reduction * state->controller.reduction * sum[0];
    go_on_or_end(state, sum[0], more);
  }

  /** After a cycle. */
  template <int>
  __global__ void count_cycle(GraphState *state, const double *parts, int n_parts, cudaGraphConditionalHandle more)
  {
    double sum[max_directions] = {};
    merge_parts<Addition>(parts, n_parts, sum);
    if (threadIdx.x != 0)
      return;
    ++state->gcr.iteration;
    go_on_or_end(state, sum[0], more);
  }
} // namespace leopard::reaction_diffusion
