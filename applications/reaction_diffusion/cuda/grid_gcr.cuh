// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_sums.cuh"
#include "grid_levels.cuh"
#include "loop_control.cuh"

namespace leopard::reaction_diffusion
{
  // GCR on the finest grid, or on a mesh (see solvers/krylov/gcr_kernels.cuh). In the grid's LevelView, rhs is the
  // residual and d the preconditioner's approximate solution for it. Sums over all nodes: each thread block writes its
  // part, and a kernel of one block adds the parts up.

  /** The vectors of GCR, with the padding of the grid. Device memory. */
  struct GcrView
  {
    using Entry                   = float2;
    using Scalars                 = GcrState;
    static constexpr int  threads = grid_threads, n_sums = max_directions;
    static constexpr bool clears = true;

    LevelView   level;
    float2     *x;     ///< the solution
    float2     *p, *q; ///< directions, and A times them, orthogonal; max_directions of each, `stride` from one to the next
    std::size_t stride;
    double     *parts; ///< max_directions sums of each thread block, those that nobody writes being 0

    static __device__ constexpr int n_kept() { return max_directions; }
    __device__ float2              *solution() const { return x; }
    __device__ float2              *residual() const { return level.rhs; }
    __device__ float2              *found() const { return level.d; }
    __device__ float2              *multiplied(int k) const { return image(k); }
    __device__ float2              *direction(int k) const { return p + k * stride; }
    __device__ float2              *image(int k) const { return q + k * stride; }

    template <typename F>
    __device__ void for_nodes(const F &f) const
    {
      for (int t = blockIdx.x * grid_threads + threadIdx.x; t < level.n_nodes(); t += gridDim.x * grid_threads)
        f(Node(level, t));
    }
    template <typename F>
    __device__ void for_entries(const F &f) const
    {
      for_nodes([&](const Node &node) { f(node.at); });
    }

    static __device__ double product(float2 a, float2 b) { return leopard::reaction_diffusion::product(a, b); }
    static __device__ float2 sum_of(float2 a, float s, float2 b) { return leopard::reaction_diffusion::sum_of(a, s, b); }
    static __device__ float2 zero() { return make_float2(0.f, 0.f); }
  };

  /** x = 0, d = 0; part of r . r. */
  static __global__ void __launch_bounds__(grid_threads) begin_gcr(const __grid_constant__ GcrView g)
  {
    double sum[1] = {0.};
    g.for_entries([&](int at) {
      g.x[at] = g.level.d[at] = make_float2(0.f, 0.f);
      sum[0] += product(g.level.rhs[at], g.level.rhs[at]);
    });
    write_part<Addition>(sum, g.parts, max_directions);
  }

  /** q_k = A d; parts of q_k . q_j. */
  template <typename Kinetics>
  __global__ void __launch_bounds__(grid_threads, 6)
    multiply_direction(const __grid_constant__ GcrView g, const __grid_constant__ NodeSystem<Kinetics> system, const GraphState *state)
  {
    const LinearOperator A(system, state->controller.implicit);
    const LevelView     &v = g.level;
    const int            k = state->gcr.iteration % max_directions, n_filled = min(state->gcr.iteration, max_directions);
    double               sum[max_directions] = {};
    g.for_nodes([&](const Node &node) {
      float        diagonal;
      const float2 q      = A.multiply(v, node, v.reaction[node.at], v.d, node.at, v.line, v.plane, diagonal);
      g.image(k)[node.at] = q;
#pragma unroll
      for (int j = 0; j < max_directions; ++j)
        if (j < n_filled && j != k)
          sum[j] += product(q, g.image(j)[node.at]);
    });
    write_part<Addition>(sum, g.parts, max_directions);
  }

  /** beta_j = (A d . q_j) / (q_j . q_j), for orthogonalization. */
  static __global__ void find_components(GraphState *state, const double *parts, int n_parts)
  {
    with_merged<Addition, max_directions>(
      parts, n_parts, [&](const double *sum) { state->gcr.find_components(min(state->gcr.iteration, max_directions), sum); });
  }

  /** alpha = (q_k . r) / (q_k . q_k), of floats. */
  static __global__ void find_step(GraphState *state, const double *parts, int n_parts)
  {
    with_merged<Addition, max_directions>(
      parts, n_parts, [&](const double *sum) { state->gcr.find_step(state->gcr.iteration % max_directions, sum[0], sum[1], 1e-60, 1e60); });
  }

  /** Whether there is to be another cycle. @param squares r . r */
  __device__ inline void go_on_or_end(GraphState *state, double squares, Condition more)
  {
    Controller &c       = state->controller;
    const bool  goes_on = state->gcr.goes_on(squares, c.n_cycles);
    if (!goes_on)
      c.n_cycles = state->gcr.iteration;
    more.set(goes_on);
  }

  /** Before the first cycle. */
  static __global__ void set_goal(GraphState *state, const double *parts, int n_parts, Condition more)
  {
    with_merged<Addition, max_directions>(parts, n_parts, [&](const double *sum) {
      state->gcr.begin(state->controller.reduction * state->controller.reduction * sum[0]);
      go_on_or_end(state, sum[0], more);
    });
  }

  /** After a cycle. */
  static __global__ void count_cycle(GraphState *state, const double *parts, int n_parts, Condition more)
  {
    with_merged<Addition, max_directions>(parts, n_parts, [&](const double *sum) {
      ++state->gcr.iteration;
      go_on_or_end(state, sum[0], more);
    });
  }

  /** GCR as launches on a stream, with what the thread blocks of its kernels add up to. */
  class GcrLaunches
  {
  public:
    /**
     * @param x, directions the solution's vector; memory for 2 max_directions vectors of `stride` pairs. @param ranks
     * null: one rank.
     */
    GcrLaunches(int n_blocks, const Ranks *ranks, float2 *x, float2 *directions, std::size_t stride)
      : sums(n_blocks, ranks)
      , view{{}, x, directions, directions + max_directions * stride, stride, sums.blocks()}
    {
    }

    const GcrView &vectors() const { return view; }
    void           set_level(const LevelView &level) { view.level = level; }
    int            n_blocks() const { return sums.n_blocks; }

    /** No correction, and the goal. */
    void begin(cudaStream_t stream, GraphState *state, Condition more)
    {
      begin_gcr<<<n_blocks(), grid_threads, 0, stream>>>(view);
      sums.gather(stream);
      set_goal<<<1, grid_threads, 0, stream>>>(state, sums.parts(), sums.n_parts(), more);
    }

    /**
     * What follows the preconditioner in an iteration. @param multiply() launches q_k = A d, with the parts of q_k .
     * q_j.
     */
    template <typename Multiply>
    void iterate(cudaStream_t stream, GraphState *state, Condition more, const Multiply &multiply)
    {
      multiply();
      sums.gather(stream);
      find_components<<<1, grid_threads, 0, stream>>>(state, sums.parts(), sums.n_parts());
      orthogonalize_direction<<<n_blocks(), grid_threads, 0, stream>>>(view, &state->gcr);
      sums.gather(stream);
      find_step<<<1, grid_threads, 0, stream>>>(state, sums.parts(), sums.n_parts());
      follow_direction<<<n_blocks(), grid_threads, 0, stream>>>(view, &state->gcr);
      sums.gather(stream);
      count_cycle<<<1, grid_threads, 0, stream>>>(state, sums.parts(), sums.n_parts(), more);
    }

  private:
    BlockSums<Addition, max_directions> sums;
    GcrView                             view;
  };
} // namespace leopard::reaction_diffusion
