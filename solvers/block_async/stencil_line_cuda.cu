// SPDX-License-Identifier: Apache-2.0
#include "../device/device.h"
#include "inverted_diagonal.cuh"
#include "monitor_cuda.cuh"
#include "stencil_engine.h"
#include "stencil_kernels.cuh"

namespace leopard
{
  namespace
  {
    // One-dimensional grids. A thread holds four neighbouring nodes in registers; neighbours beyond them come from the
    // lanes beside by shuffles, and between warps through shared memory. A global iteration moves b, x in and x out,
    // three Numbers a node.
    constexpr int nodes_a_thread = 4, n_threads = 128, n_warps = n_threads / 32, tile_size = nodes_a_thread * n_threads;

    template <typename Number>
    struct LineView
    {
      int           n;
      Number        left, right;       ///< -c_j, times omega / c_0 if the diagonal is constant
      Number        keep;              ///< 1 - omega
      Number        inverse_diagonal;  ///< omega / c_0; 1 if the diagonal varies
      const Number *inverse_diagonals; ///< omega / d_i, or null
      bool          has_sweep_weights; ///< omega is 1 then
      Number        sweep_weights[most_sweep_weights];
    };

    template <typename Number>
    using Nodes = Number[nodes_a_thread];

    /** Four values; zero beyond the grid. */
    template <typename Number>
    __device__ void load_nodes(const Number *v, int first, int n, Nodes<Number> &values)
    {
      if (first + nodes_a_thread <= n && reinterpret_cast<unsigned long long>(v) % (2 * sizeof(Number)) == 0)
        for (int e = 0; e < nodes_a_thread; e += 2)
          {
            const auto pair = __ldcs(reinterpret_cast<const typename PairOf<Number>::Type *>(v + first + e));
            values[e]       = pair.x;
            values[e + 1]   = pair.y;
          }
      else
        for (int e = 0; e < nodes_a_thread; ++e)
          values[e] = first + e < n ? __ldcs(v + first + e) : Number(0);
    }

    /**
     * The values beside the thread's own; zero beyond the tile. @param edges [warp][left, right], a buffer that the
     * last sweep did not read.
     */
    template <typename Number>
    __device__ void neighbours(const Nodes<Number> &y, Number (*edges)[2], Number &before, Number &behind)
    {
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
      if (lane == 0)
        edges[warp][0] = y[0];
      if (lane == 31)
        edges[warp][1] = y[nodes_a_thread - 1];
      before = __shfl_up_sync(0xffffffffu, y[nodes_a_thread - 1], 1);
      behind = __shfl_down_sync(0xffffffffu, y[0], 1);
      __syncthreads();
      if (lane == 0)
        before = warp > 0 ? edges[warp - 1][1] : Number(0);
      if (lane == 31)
        behind = warp < n_warps - 1 ? edges[warp + 1][0] : Number(0);
    }

    /** Relaxes a tile k times and writes it, or for k = 0 stores the tile's part of ||b - A x||^2 in parts. */
    template <typename Number>
    __global__ void __launch_bounds__(n_threads)
      relax_line_kernel(const LineView<Number> A, Number *x, const Number *off_tile, const Number *b, int k, double *parts)
    {
      __shared__ Number edges[2][n_warps][2];
      __shared__ double partial[32];
      const int         tile = blockIdx.x * tile_size, first = tile + threadIdx.x * nodes_a_thread;
      Nodes<Number>     y, s, inverse;
      load_nodes(x, first, A.n, y);
      load_nodes(b, first, A.n, s);
      if (A.inverse_diagonals != nullptr)
        load_nodes(A.inverse_diagonals, first, A.n, inverse);
      for (int e = 0; e < nodes_a_thread; ++e)
        {
          s[e] *= A.inverse_diagonal;
          if (A.inverse_diagonals == nullptr)
            inverse[e] = Number(1);
        }
      if (threadIdx.x == 0 && tile > 0)
        s[0] += A.left * load(off_tile + tile - 1);
      if (threadIdx.x == n_threads - 1 && tile + tile_size < A.n)
        s[nodes_a_thread - 1] += A.right * load(off_tile + tile + tile_size);

      double norm = 0.;
      for (int sweep = 0; sweep < (k > 0 ? k : 1); ++sweep)
        {
          Number       before, behind;
          const Number weight = k > 0 && A.has_sweep_weights ? A.sweep_weights[sweep] : Number(1);
          const Number keep   = k > 0 && A.has_sweep_weights ? Number(1) - weight : A.keep;
          neighbours(y, edges[sweep % 2], before, behind);
          Nodes<Number> next;
          for (int e = 0; e < nodes_a_thread; ++e)
            {
              const Number sum = s[e] + A.left * (e > 0 ? y[e > 0 ? e - 1 : 0] : before) +
                                 A.right * (e < nodes_a_thread - 1 ? y[e < nodes_a_thread - 1 ? e + 1 : e] : behind);
              next[e] = first + e < A.n ? keep * y[e] + weight * inverse[e] * sum : Number(0);
            }
          for (int e = 0; e < nodes_a_thread; ++e)
            {
              const Number scale  = A.inverse_diagonals != nullptr ? inverse[e] : A.inverse_diagonal;
              const Number change = first + e < A.n ? (next[e] - y[e]) / scale : Number(0);
              if (k == 0)
                norm += square(change);
              y[e] = next[e];
            }
        }
      if (k == 0)
        {
          norm = sum_over_block(norm, partial);
          if (threadIdx.x == 0)
            parts[blockIdx.x] = norm;
          return;
        }
      if (first + nodes_a_thread <= A.n && reinterpret_cast<unsigned long long>(x) % (2 * sizeof(Number)) == 0)
        for (int e = 0; e < nodes_a_thread; e += 2)
          store_pair(x + first + e, {y[e], y[e + 1]});
      else
        for (int e = 0; e < nodes_a_thread; ++e)
          if (first + e < A.n)
            store(x + first + e, y[e]);
    }

    template <typename Number>
    class StencilLineCudaEngine : public StencilEngine<Number>
    {
    public:
      StencilLineCudaEngine(const Stencil<Number> &stencil, const BlockAsyncOptions &options_)
        : StencilEngine<Number>(options_)
        , options(options_)
        , inverse_diagonals(stencil.diagonal.size())
        , n_tiles((stencil.n_x + tile_size - 1) / tile_size)
        , old_x(options_.schedule == Schedule::synchronous ? stencil.n_x : 0)
        , monitor(n_tiles)
      {
        if (options.execution == Execution::persistent)
          throw InvalidInput(
            "block-asynchronous iteration: execution is persistent for a one-dimensional stencil\n  expected: execution automatic or launch");
        view.n                 = stencil.n_x;
        view.inverse_diagonals = inverse_diagonals.data();
        StencilLineCudaEngine::update_stencil(stencil);
      }

      MemorySpace memory_space() const override { return MemorySpace::device; }
      bool        is_fixed_linear_map() const override { return options.schedule == Schedule::synchronous || n_tiles == 1; }

      std::string description() const override
      {
        return std::to_string(n_tiles) + " tiles of " + std::to_string(tile_size) + " nodes, stencil form, launch, no stored matrix";
      }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        const bool synchronous = options.schedule == Schedule::synchronous;
        for (int n = 0; n < n_iterations; ++n)
          {
            if (synchronous)
              device::copy_on_device(old_x.data(), x, old_x.size() * sizeof(Number));
            queue(x, synchronous ? old_x.data() : x, b, options.local_iterations);
          }
      }

      double residual_norm_squared(const Number *x, const Number *b) override
      {
        queue(const_cast<Number *>(x), x, b, 0); // which only reads x
        return monitor.sum_of_parts();
      }

      double norm_squared(const Number *b) override { return monitor.norm_squared(b, view.n); }

      void update_stencil(const Stencil<Number> &stencil) override
      {
        const double scale    = scale_of(stencil, this->omega);
        view.inverse_diagonal = static_cast<Number>(scale);
        view.left             = static_cast<Number>(-stencil.coefficient(-1, 0, 0) * scale);
        view.right            = static_cast<Number>(-stencil.coefficient(1, 0, 0) * scale);
        view.keep             = static_cast<Number>(1. - this->omega);
        copy_inverted(inverse_diagonals, stencil.diagonal, this->omega);
        view.has_sweep_weights = !this->sweep_weights.empty();
        for (std::size_t s = 0; s < this->sweep_weights.size(); ++s)
          view.sweep_weights[s] = static_cast<Number>(this->sweep_weights[s]);
      }

    private:
      void queue(Number *x, const Number *off_tile, const Number *b, int k)
      {
        relax_line_kernel<<<n_tiles, n_threads>>>(view, x, off_tile, b, k, monitor.parts());
        LEOPARD_CHECK(cudaGetLastError());
      }

      const BlockAsyncOptions options;
      device::Array<Number>   inverse_diagonals;
      const int               n_tiles;
      device::Array<Number>   old_x; ///< synchronous schedule only
      CudaMonitor             monitor;
      LineView<Number>        view = {};
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_line_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options)
  {
    return std::make_unique<StencilLineCudaEngine<Number>>(stencil, options);
  }

#define INSTANTIATE(Number) \
  template std::unique_ptr<BlockAsyncEngine<Number>> make_stencil_line_cuda_engine(const Stencil<Number> &stencil, const BlockAsyncOptions &options);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
