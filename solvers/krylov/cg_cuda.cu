// SPDX-License-Identifier: Apache-2.0
#include "krylov_cuda.cuh"

namespace leopard
{
  namespace
  {
    /** Parts of r . z and z . q. */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      multiply_by_preconditioned(int n, const Number *r, const Number *z, const Number *q, double *parts)
    {
      double sums[2] = {0., 0.};
      for_entries(n, [&](long i) {
        const double z_i = z[i];
        sums[0] += z_i * static_cast<double>(r[i]);
        sums[1] += z_i * static_cast<double>(q[i]);
      });
      write_part<Addition>(sums, parts, 2);
    }

    __global__ void __launch_bounds__(krylov_threads) find_direction(CgState *state, const double *parts, int n_parts)
    {
      with_merged<Addition, 2>(parts, n_parts, [&](const double *sums) { state->find_direction(sums[0], sums[1]); });
    }

    /** p = z + beta p */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads) update_direction(int n, const Number *z, Number *p, const CgState *state)
    {
      const Number beta = static_cast<Number>(state->beta);
      for_entries(n, [&](long i) { p[i] = beta == Number(0) ? z[i] : z[i] + beta * p[i]; });
    }

    /** Parts of p . q. */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads) multiply_direction(int n, const Number *p, const Number *q, double *parts)
    {
      double sum[1] = {0.};
      for_entries(n, [&](long i) { sum[0] += static_cast<double>(p[i]) * static_cast<double>(q[i]); });
      write_part<Addition>(sum, parts, 1);
    }

    __global__ void __launch_bounds__(krylov_threads) find_step(CgState *state, const double *parts, int n_parts)
    {
      with_merged<Addition, 1>(parts, n_parts, [&](const double *sum) { state->find_step(sum[0]); });
    }

    /**
     * e += alpha p, r -= alpha q; parts of r . r, and of how many ranks are late. With alpha = 0 the direction, which
     * may be no number, is not read.
     */
    template <typename Number>
    __global__ void __launch_bounds__(krylov_threads)
      follow_direction(int n, const Number *p, const Number *q, Number *e, Number *r, const CgState *state, double *parts)
    {
      const Number alpha   = static_cast<Number>(state->alpha);
      double       sums[2] = {0., late_here(*state)};
      if (alpha != Number(0))
        for_entries(n, [&](long i) {
          const Number r_i = r[i] - alpha * q[i];
          e[i] += alpha * p[i];
          r[i] = r_i;
          sums[0] += static_cast<double>(r_i) * static_cast<double>(r_i);
        });
      write_part<Addition>(sums, parts, 2);
    }

    __global__ void __launch_bounds__(krylov_threads)
      count_step(CgState *state, const double *parts, int n_parts, cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking)
    {
      with_merged<Addition, 2>(parts, n_parts, [&](const double *sums) {
        state->count_step(sums[0], sums[1]);
        set_conditions(*state, more, checking);
      });
    }

    template <typename Number>
    class CudaCg : public CudaKrylov<Number, CgState>
    {
      using Base = CudaKrylov<Number, CgState>;

    public:
      template <typename Matrix>
      CudaCg(const Matrix                        &A_,
             const CgOptions                     &options,
             const PreconditionerPointer<Number> &preconditioner_,
             const RanksOnDevice<Number>         &ranks_ = {})
        : Base(A_, options, scalars(*preconditioner_, ranks_), preconditioner_, 2, ranks_)
        , p(Base::zeros(n_with_ghosts))
      {
        Base::record();
      }

      std::string name() const override { return "CG"; }

    private:
      static CgState scalars(const Preconditioner<Number> &preconditioner, const RanksOnDevice<Number> &ranks)
      {
        CgState result;
        result.symmetric = preconditioner.is_symmetric_map();
        if (ranks.are_several())
          result.symmetric = ranks.communication->max(result.symmetric ? 0. : 1.) == 0.;
        return result;
      }

      void queue_step(cudaGraphConditionalHandle more, cudaGraphConditionalHandle checking) override
      {
        preconditioner->apply(z.data(), r.data());
        multiply_by_preconditioned<<<n_blocks, krylov_threads>>>(n, r.data(), z.data(), q.data(), parts.data());
        Base::template put_together<Addition>(2);
        find_direction<<<1, krylov_threads>>>(state.data(), Base::summed(), Base::n_summed());
        update_direction<<<n_blocks, krylov_threads>>>(n, z.data(), p.data(), state.data());
        Base::update_ghosts(p.data());
        A.multiply(q.data(), p.data());
        multiply_direction<<<n_blocks, krylov_threads>>>(n, p.data(), q.data(), parts.data());
        Base::template put_together<Addition>(1);
        find_step<<<1, krylov_threads>>>(state.data(), Base::summed(), Base::n_summed());
        follow_direction<<<n_blocks, krylov_threads>>>(n, p.data(), q.data(), e.data(), r.data(), state.data(), parts.data());
        Base::template put_together<Addition>(2);
        count_step<<<1, krylov_threads>>>(state.data(), Base::summed(), Base::n_summed(), more, checking);
      }

      using Base::A;
      using Base::e;
      using Base::n;
      using Base::n_blocks;
      using Base::n_with_ghosts;
      using Base::parts;
      using Base::preconditioner;
      using Base::q;
      using Base::r;
      using Base::state;
      using Base::z;

      device::Array<Number> p; ///< the direction
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(const CrsMatrix<Number>             &A,
                                                         const CgOptions                     &options,
                                                         const PreconditionerPointer<Number> &preconditioner,
                                                         const RanksOnDevice<Number>         &ranks)
  {
    return std::make_unique<CudaCg<Number>>(A, options, preconditioner, ranks);
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_cuda_krylov(const device::DeviceCrs<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner)
  {
    return std::make_unique<CudaCg<Number>>(A, options, preconditioner);
  }

#define INSTANTIATE(Number)                                                                                                                         \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                                                  \
    const CrsMatrix<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner, const RanksOnDevice<Number> &ranks); \
  template std::unique_ptr<KrylovSolver<Number>> make_cuda_krylov(                                                                                  \
    const device::DeviceCrs<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
