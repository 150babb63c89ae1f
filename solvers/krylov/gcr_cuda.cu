// SPDX-License-Identifier: Apache-2.0
#include "gcr_kernels.cuh"
#include "krylov_cuda.cuh"

namespace leopard
{
  namespace
  {
    constexpr int most_directions = 128;

    template <typename Number>
    struct GcrState : KrylovState
    {
      GcrScalars<Number, most_directions> gcr;
      double                              products[most_directions]; ///< A z . q_j

      LEOPARD_HOST_DEVICE void begin() { gcr.begin(goal * goal); }
    };

    /** See gcr_kernels.cuh. Vectors are one after the other. */
    template <typename Number>
    struct GcrVectors
    {
      using Entry                   = Number;
      using Scalars                 = GcrScalars<Number, most_directions>;
      static constexpr int  threads = krylov_threads, n_sums = 2;
      static constexpr bool clears = false;

      int     n, n_directions;
      Number *e, *r, *z, *q, *directions, *images;
      double *parts;

      template <typename F>
      __device__ void for_entries(const F &f) const
      {
        leopard::for_entries(n, f);
      }
      __device__ int     n_kept() const { return n_directions; }
      __device__ Number *solution() const { return e; }
      __device__ Number *residual() const { return r; }
      __device__ Number *found() const { return z; }
      __device__ Number *multiplied(int /*k*/) const { return q; }
      __device__ Number *direction(int k) const { return directions + static_cast<std::size_t>(k) * n; }
      __device__ Number *image(int k) const { return images + static_cast<std::size_t>(k) * n; }

      static __device__ double product(Number a, Number b) { return static_cast<double>(a) * static_cast<double>(b); }
      static __device__ Number sum_of(Number a, Number s, Number b) { return a + s * b; }
      static __device__ Number zero() { return 0; }

      __device__ int n_filled(const Scalars &gcr) const { return min(gcr.iteration, n_directions); }
      __device__ int newest(const Scalars &gcr) const { return gcr.iteration % n_directions; }
    };

    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      find_products(const __grid_constant__ GcrVectors<Number> v, const GcrState<Number> *state, double *parts, int n_sums)
    {
      write_products(v.n, v.q, v.images, v.n_filled(state->gcr), parts, n_sums);
    }

    /** A thread block a direction. */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      sum_products(const __grid_constant__ GcrVectors<Number> v, GcrState<Number> *state, const double *parts, int n_parts, int n_sums)
    {
      const int j = blockIdx.x;
      if (j >= v.n_filled(state->gcr))
        return;
      const double sum = sum_of_column(parts, n_parts, n_sums, j);
      if (threadIdx.x == 0)
        state->products[j] = sum;
    }

    template <typename Number>
    __global__ void find_components(const __grid_constant__ GcrVectors<Number> v, GcrState<Number> *state)
    {
      state->gcr.find_components(v.n_filled(state->gcr), state->products);
    }

    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      find_step(const __grid_constant__ GcrVectors<Number> v, GcrState<Number> *state, const double *parts, int n_parts)
    {
      with_merged<Addition, 2>(parts, n_parts, [&](const double *sums) {
        auto     &gcr    = state->gcr;
        const int k      = v.newest(gcr);
        double    before = sums[0]; // A z . A z
        for (int j = 0; j < v.n_filled(gcr); ++j)
          if (j != k)
            before += static_cast<double>(gcr.beta[j]) * static_cast<double>(gcr.beta[j]) * gcr.squares[j];
        gcr.find_step(k, sums[0], sums[1], state->rounding * state->rounding * before, 1e300);
        if (!is_finite(sums[0]) || !is_finite(sums[1]))
          {
            gcr.alpha = 0;
            state->stop(KrylovReason::not_finite);
          }
        else if (gcr.stuck)
          state->finish(KrylovReason::breakdown);
      });
    }

    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      count_step(GcrState<Number> *state, const double *parts, int n_parts, cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking)
    {
      with_merged<Addition, 2>(parts, n_parts, [&](const double *sums) {
        if (!state->checking)
          {
            ++state->gcr.iteration;
            state->count(std::sqrt(sums[0]), false);
          }
        set_conditions(*state, more, checking);
      });
    }

    template <typename Number>
    class CudaGcr : public CudaKrylov<Number, GcrState<Number>>
    {
      using Base = CudaKrylov<Number, GcrState<Number>>;

    public:
      CudaGcr(const CrsMatrix<Number> &A_, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner_)
        : Base(A_, options, GcrState<Number>(), preconditioner_, options.n_directions)
        , n_directions(options.n_directions)
        , pairs(Base::zeros(2 * static_cast<std::size_t>(n) * n_directions))
        , vectors{n,
                  n_directions,
                  e.data(),
                  r.data(),
                  z.data(),
                  q.data(),
                  pairs.data(),
                  pairs.data() + static_cast<std::size_t>(n) * n_directions,
                  parts.data()}
      {
        Base::record();
      }

      std::string name() const override { return "GCR(" + std::to_string(n_directions) + ")"; }

    private:
      void check_limits(const KrylovLimits &limits) const override
      {
        limits.validate();
        refuse_clock(limits);
      }

      void queue_step(cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking) override
      {
        preconditioner->apply(z.data(), r.data());
        A.multiply(q.data(), z.data());
        find_products<<<n_blocks, krylov_threads>>>(vectors, state.data(), parts.data(), n_sums);
        sum_products<<<n_directions, krylov_threads>>>(vectors, state.data(), parts.data(), n_blocks, n_sums);
        find_components<<<1, 1>>>(vectors, state.data());
        orthogonalize_direction<<<n_blocks, krylov_threads>>>(vectors, &state.data()->gcr);
        find_step<<<1, krylov_threads>>>(vectors, state.data(), parts.data(), n_blocks);
        follow_direction<<<n_blocks, krylov_threads>>>(vectors, &state.data()->gcr);
        count_step<<<1, krylov_threads>>>(state.data(), parts.data(), n_blocks, more, checking);
      }

      using Base::A;
      using Base::e;
      using Base::n;
      using Base::n_blocks;
      using Base::n_sums;
      using Base::parts;
      using Base::preconditioner;
      using Base::q;
      using Base::r;
      using Base::state;
      using Base::z;

      const int                   n_directions;
      const device::Array<Number> pairs; ///< directions, then their images
      const GcrVectors<Number>    vectors;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner)
  {
    return std::make_unique<CudaGcr<Number>>(A, options, preconditioner);
  }

#define INSTANTIATE(Number)                                        \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov( \
    const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
