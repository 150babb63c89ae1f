// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/block_sum.cuh"
#include "../device/conditional_graph.cuh"
#include "../device/cuda_error.cuh"
#include "../device/device_array.h"
#include "../device/sleep.cuh"
#include "../matrix/device_matrix.h"
#include "krylov_engine.h"
#include "krylov_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace leopard
{
  constexpr int krylov_threads = 256;

  /** f(i) for the calling thread's share of n entries. */
  template <typename F>
  __device__ void for_entries(int n, const F &f)
  {
    for (long i = static_cast<long>(blockIdx.x) * krylov_threads + threadIdx.x; i < n; i += static_cast<long>(gridDim.x) * krylov_threads)
      f(i);
  }

  struct LargestMagnitude
  {
    static __device__ double merge(int /*q*/, double a, double b) { return larger_magnitude(a, b); }
  };

  /** b_i - (A x)_i in double precision. */
  template <typename Number>
  __device__ double true_residual(const device::CrsView<Number> &A, const Number *x, const Number *b, long i)
  {
    double    sum = b[i];
    const int end = A.row_offsets[i + 1];
    for (int p = A.row_offsets[i]; p < end; ++p)
      sum -= static_cast<double>(A.values[p]) * static_cast<double>(x[A.columns[p]]);
    return sum;
  }

  // Kernels of one thread or one thread block, between kernels over vectors, whose thread blocks write parts of sums.

  static __global__ void set_limits(KrylovLimits *limits, const __grid_constant__ KrylovLimits of_this)
  {
    *limits = of_this;
  }

  /** @param limits of this solve. */
  static __global__ void begin_solve(KrylovState *state, const __grid_constant__ KrylovState initial, const KrylovLimits *limits)
  {
    *state = initial;
    state->set(*limits);
  }

  static __global__ void __launch_bounds__(krylov_threads) choose_scale(KrylovState *state, const double *parts, int n_parts)
  {
    with_merged<LargestMagnitude, 1>(parts, n_parts, [&](const double *largest) { state->choose_scale(largest[0]); });
  }

  template <typename State>
  __global__ void __launch_bounds__(krylov_threads) check_residual(State *state, const double *parts, int n_parts, cudaGraphConditionalHandle more)
  {
    with_merged<Addition, 2>(parts, n_parts, [&](const double *sums) {
      const bool goes_on = state->check(sums[0], sums[1]);
      if (goes_on)
        state->begin();
      cudaGraphSetConditional(more, goes_on ? 1 : 0);
    });
  }

  /** What the calling thread adds to the number of ranks that are late: a rank asks once. */
  __device__ inline double late_here(const KrylovState &state)
  {
    return blockIdx.x == 0 && threadIdx.x == 0 && state.is_late() ? 1. : 0.;
  }

  /** By the last kernel of a step. */
  static __device__ void set_conditions(const KrylovState &state, cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking)
  {
    cudaGraphSetConditional(checking, state.checking ? 1 : 0);
    cudaGraphSetConditional(more, 1); // the check may say otherwise
  }

  /** Merges what the thread blocks of a rank have written, n numbers each: a thread block a number. */
  template <typename Merger>
  __global__ void __launch_bounds__(krylov_threads) merge_of_rank(const double *parts, int n_parts, int n, double *of_rank)
  {
    __shared__ double shared[32];
    double            value[1] = {0.};
    for (int i = threadIdx.x; i < n_parts; i += krylov_threads)
      value[0] = Merger::merge(0, value[0], parts[static_cast<std::size_t>(i) * n + blockIdx.x]);
    merge_over_block<Merger>(value, shared);
    if (threadIdx.x == 0)
      of_rank[blockIdx.x] = value[0];
  }

  // Kernels over vectors.

  template <typename Number>
  __global__ void __launch_bounds__(krylov_threads)
    find_largest(const __grid_constant__ device::CrsView<Number> A, const Number *x, const Number *b, double *parts)
  {
    double largest[1] = {0.};
    for_entries(A.n_rows, [&](long i) { largest[0] = larger_magnitude(larger_magnitude(largest[0], b[i]), true_residual(A, x, b, i)); });
    write_part<LargestMagnitude>(largest, parts, 1);
  }

  /** x += scale e, e = 0. */
  template <typename Number>
  __global__ void __launch_bounds__(krylov_threads) add_correction(int n, Number *x, Number *e, const KrylovState *state)
  {
    const double scale = state->scale;
    for_entries(n, [&](long i) {
      x[i] = static_cast<Number>(static_cast<double>(x[i]) + scale * static_cast<double>(e[i]));
      e[i] = 0;
    });
  }

  /** r = (b - A x) / scale, and parts of r . r and b . b. */
  template <typename Number>
  __global__ void __launch_bounds__(krylov_threads) find_residual(
    const __grid_constant__ device::CrsView<Number> A, const Number *x, const Number *b, Number *r, const KrylovState *state, double *parts)
  {
    const double inverse_scale = state->inverse_scale;
    double       sums[2]       = {0., 0.};
    for_entries(A.n_rows, [&](long i) {
      const double r_i = inverse_scale * true_residual(A, x, b, i);
      r[i]             = static_cast<Number>(r_i);
      sums[0] += square(r_i);
      sums[1] += square(inverse_scale * static_cast<double>(b[i]));
    });
    write_part<Addition>(sums, parts, 2);
  }

  /**
   * Parts of w . v_j for n_vectors vectors, one every `stride` numbers; the thread block's at parts[block * n_sums +
   * j].
   */
  template <typename Number>
  __device__ void write_products(int n, const Number *w, const Number *vectors, int n_vectors, double *parts, int n_sums)
  {
    constexpr int     at_once = 8;
    __shared__ double shared[32 * at_once];
    for (int first = 0; first < n_vectors; first += at_once)
      {
        double        sums[at_once] = {};
        const Number *v             = vectors + static_cast<std::size_t>(first) * n;
        for_entries(n, [&](long i) {
          const double w_i = w[i];
#pragma unroll
          for (int q = 0; q < at_once; ++q)
            if (first + q < n_vectors)
              sums[q] += w_i * static_cast<double>(v[static_cast<std::size_t>(q) * n + i]);
        });
        merge_over_block<Addition>(sums, shared);
        if (threadIdx.x == 0)
          for (int q = 0; q < at_once && first + q < n_vectors; ++q)
            parts[static_cast<std::size_t>(blockIdx.x) * n_sums + first + q] = sums[q];
      }
  }

  /** The sum of column j of the parts, by a thread block; valid in thread 0. */
  static __device__ double sum_of_column(const double *parts, int n_parts, int n_sums, int j)
  {
    __shared__ double shared[32];
    double            sum = 0.;
    for (int i = threadIdx.x; i < n_parts; i += krylov_threads)
      sum += parts[static_cast<std::size_t>(i) * n_sums + j];
    return sum_over_block(sum, shared);
  }

  /**
   * The frame of a Krylov method on the device, a graph:
   *
   *   begin; check; while (more) { step; if (checking) check }
   *
   * where a check adds the correction to x, computes the residual from x, and decides. Of several ranks each has such a
   * graph, and all decide the same: what they decide on is gathered from all ranks and merged in the same order on
   * each.
   * @tparam State the method's scalars, a KrylovState with begin().
   */
  template <typename Number, typename State>
  class CudaKrylov : public KrylovSolver<Number>
  {
  public:
    int         n_rows() const override { return n; }
    MemorySpace memory_space() const override { return MemorySpace::device; }

    void update_values(const Number *values) override
    {
      A.update_values(values);
      record();
    }

    const KrylovLimits &limits() const override { return usual_limits; }

    using KrylovSolver<Number>::solve;
    KrylovResult solve(Number *user_x, const Number *user_b, const KrylovLimits &of_this) override
    {
      check_limits(of_this);
      KrylovState result = initial;
      if (n == 0)
        {
          result.check(0., 0.);
          return result_of(result);
        }
      const std::size_t n_bytes = n * sizeof(Number);
      device::copy_on_device(x.data(), user_x, n_bytes);
      device::copy_on_device(b.data(), user_b, n_bytes);
      set_limits<<<1, 1>>>(solve_limits.data(), of_this);
      if (ranks.are_several()) // whose kernels wait for one another: on a GPU that they share no copy may wait before or behind these
        {
          device::wait();
          wait_for_ranks();
          graph.launch();
          device::wait();
        }
      else
        graph.launch();
      device::copy_on_device(user_x, x.data(), n_bytes);
      device::sleep_until_done();
      LEOPARD_CHECK(cudaMemcpyAsync(&result, common(), sizeof(KrylovState), cudaMemcpyDeviceToHost, cudaStreamPerThread));
      LEOPARD_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
      KrylovResult report = result_of(result);
      if (history.size() > 0)
        {
          report.history.resize(std::min<std::size_t>(report.n_iterations, history.size()));
          device::copy_to_host(report.history.data(), history.data(), report.history.size() * sizeof(double));
        }
      return report;
    }

  protected:
    /**
     * @param A_ a CrsMatrix, or a DeviceCrs that is shared. @param n_sums_ that the method adds up at once. Whoever
     * derives from this calls record() when made.
     */
    template <typename Matrix>
    CudaKrylov(const Matrix                 &A_,
               const KrylovOptions          &options,
               const State                  &state_,
               PreconditionerPointer<Number> preconditioner_,
               int                           n_sums_,
               const RanksOnDevice<Number>  &ranks_ = {})
      : n(A_.n_rows)
      , n_with_ghosts(A_.n_columns)
      , n_sums(std::max(2, n_sums_))
      , n_blocks(std::max(1, std::min((n + krylov_threads - 1) / krylov_threads, 8 * device::n_multiprocessors())))
      , ranks(ranks_)
      , A(A_)
      , preconditioner(std::move(preconditioner_))
      , history(options.keep_history ? std::min(options.max_iterations, 1 << 20) : 0)
      , usual_limits(options)
      , initial(initial_of(options, history))
      , state(std::vector<State>{state_})
      , solve_limits(1)
      , parts(static_cast<std::size_t>(n_blocks) * n_sums)
      , of_ranks(ranks.are_several() ? static_cast<std::size_t>(ranks.ranks->n_ranks()) * n_sums : 0)
      , x(zeros(n_with_ghosts))
      , b(zeros(n))
      , r(zeros(n))
      , e(zeros(n))
      , z(zeros(n_with_ghosts))
      , q(zeros(n))
    {
    }

    static KrylovState initial_of(const KrylovOptions &options, device::Array<double> &history)
    {
      KrylovState result  = initial_state<Number>(options);
      result.history      = history.size() > 0 ? history.data() : nullptr;
      result.history_size = static_cast<int>(history.size());
      return result;
    }

    static device::Array<Number> zeros(std::size_t n)
    {
      device::Array<Number> result(n);
      if (n > 0)
        device::set_zero(result.data(), n * sizeof(Number));
      return result;
    }

    /** @throws InvalidInput. */
    virtual void check_limits(const KrylovLimits &limits) const { limits.validate(); }

    /** Queues a step; its last kernel calls set_conditions(). */
    virtual void queue_step(cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking) = 0;
    /** Queues what makes e, unless the steps have. */
    virtual void queue_correction() {}
    /** After State::begin(), with r. */
    virtual void queue_begin() {}

    /** Queued: of several ranks the ghosts of v, which has room for them. */
    void update_ghosts(Number *v) const
    {
      if (ranks.are_several())
        ranks.communication->update_ghosts(v, MemorySpace::device);
    }

    /** Queued, after a kernel that has written n numbers a thread block: summed() are those to be merged. */
    template <typename Merger>
    void put_together(int n_now)
    {
      if (!ranks.are_several())
        return;
      const std::vector<int> offsets = ranks.ranks->offsets(n_now);
      merge_of_rank<Merger><<<n_now, krylov_threads>>>(parts.data(), n_blocks, n_now, of_ranks.data() + offsets[ranks.ranks->rank]);
      ranks.ranks->transport->gather(of_ranks.data(), offsets);
    }

    /** What is to be merged, of n_summed() thread blocks, or ranks. */
    const double *summed() const { return ranks.are_several() ? of_ranks.data() : parts.data(); }
    int           n_summed() const { return ranks.are_several() ? ranks.ranks->n_ranks() : n_blocks; }

    void record()
    {
      graph.forget();
      if (n == 0)
        return;
      if (!preconditioner->is_queued()) // any more: a multigrid whose new values are those of a singular problem, say
        throw InvalidInput(this->name() + ": the preconditioner " + preconditioner->name() + " waits for the host\n  expected: one that is queued");
      // libraries set themselves up at the first use, which must not be recorded
      preconditioner->apply(z.data(), r.data());
      A.multiply(q.data(), z.data());
      if (ranks.are_several()) // its code is loaded here, not while kernels wait
        merge_of_rank<Addition><<<1, krylov_threads>>>(parts.data(), n_blocks, 1, of_ranks.data());
      device::synchronize();
      if (ranks.are_several())
        {
          wait_for_ranks();
          update_ghosts(z.data());
          put_together<Addition>(1);
          device::synchronize();
          wait_for_ranks(); // what is made next may wait for the whole device, which several ranks may share
        }

      using device::ConditionalGraph;
      const cudaGraph_t whole = graph.begin();
      const auto        more  = ConditionalGraph::new_condition(whole);
      cudaGraphNode_t   node  = ConditionalGraph::record(whole, nullptr, [&] {
        begin_solve<<<1, 1>>>(common(), initial, solve_limits.data());
        update_ghosts(x.data());
        find_largest<<<n_blocks, krylov_threads>>>(A.view(), x.data(), b.data(), parts.data());
        put_together<LargestMagnitude>(1);
        choose_scale<<<1, krylov_threads>>>(common(), summed(), n_summed());
        queue_check(more);
      });
      const cudaGraph_t loop  = ConditionalGraph::add_condition(whole, node, more, cudaGraphCondTypeWhile, 1)[0];

      const auto checking   = ConditionalGraph::new_condition(loop);
      node                  = ConditionalGraph::record(loop, nullptr, [&] { queue_step(more, checking); });
      const cudaGraph_t end = ConditionalGraph::add_condition(loop, node, checking, cudaGraphCondTypeIf, 1)[0];
      ConditionalGraph::record(end, nullptr, [&] {
        queue_correction();
        add_correction<<<n_blocks, krylov_threads>>>(n, x.data(), e.data(), common());
        queue_check(more);
      });
      graph.complete();
    }

    KrylovState *common() const { return state.data(); }

    const int                           n, n_with_ghosts; ///< own entries of a vector; all of those that are multiplied
    const int                           n_sums, n_blocks; ///< numbers of a thread block in parts at most; thread blocks
    const RanksOnDevice<Number>         ranks;
    device::DeviceMatrix<Number>        A;
    const PreconditionerPointer<Number> preconditioner;
    device::Array<double>               history; ///< if it is kept, of max_iterations steps
    const KrylovLimits                  usual_limits;
    const KrylovState                   initial;
    device::Array<State>                state;
    device::Array<KrylovLimits>         solve_limits;    ///< of the solve that goes on
    device::Array<double>               parts, of_ranks; ///< the latter of several ranks, n_sums each at most
    device::Array<Number>               x, b;
    device::Array<Number>               r, e; ///< residual and correction, in units of the scale; e is zero between solves
    device::Array<Number>               z, q; ///< what the preconditioner returns, and A times a direction

  private:
    void queue_check(cudaGraphConditionalHandle more)
    {
      update_ghosts(x.data());
      find_residual<<<n_blocks, krylov_threads>>>(A.view(), x.data(), b.data(), r.data(), common(), parts.data());
      put_together<Addition>(2);
      check_residual<<<1, krylov_threads>>>(state.data(), summed(), n_summed(), more);
      queue_begin();
    }

    void wait_for_ranks() const { ranks.communication->sum(0.); }

    device::ConditionalGraph graph;
  };
} // namespace leopard
