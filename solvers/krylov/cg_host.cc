// SPDX-License-Identifier: Apache-2.0
#include "krylov_host.h"
#include "krylov_over_ranks.h"

namespace leopard
{
  namespace
  {
    template <typename Number>
    class HostCg : public HostKrylov<Number>
    {
    public:
      template <typename... Ranks>
      HostCg(const CrsMatrix<Number> &A_, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner_, const Ranks &...ranks)
        : HostKrylov<Number>(A_, options, preconditioner_, 2, ranks...)
        , p(A_.n_rows)
        , q(A_.n_rows)
        , z(A_.n_rows)
      {
      }

      std::string name() const override { return "CG"; }

    private:
      KrylovState &scalars() override { return state; }

      void begin() override
      {
        state.symmetric = communication->max(preconditioner->is_symmetric_map() ? 0. : 1.) == 0.;
        state.begin();
      }

      void step() override
      {
        double sums[2];
        preconditioner->apply(z.data(), r.data());
        this->sum_over(2, sums, [&](long begin, long end, double *part) {
          part[0] = product_over_range(r.data(), z.data(), begin, end);
          part[1] = product_over_range(z.data(), q.data(), begin, end);
        });
        state.find_direction(sums[0], sums[1]);
        if (state.checking)
          return;
        const Number beta = static_cast<Number>(state.beta);
        space.for_ranges([&](long begin, long end, int /*piece*/) {
          for (long i = begin; i < end; ++i)
            p[i] = beta == Number(0) ? z[i] : z[i] + beta * p[i];
        });
        this->multiply(q.data(), p.data());
        this->sum_over(1, sums, [&](long begin, long end, double *part) { part[0] = product_over_range(p.data(), q.data(), begin, end); });
        state.find_step(sums[0]);
        if (state.checking)
          return;
        const Number alpha = static_cast<Number>(state.alpha);
        sums[1]            = 0.;
        this->sum_over(this->n_last_sums(), sums, [&](long begin, long end, double *part) {
          for (long i = begin; i < end; ++i)
            {
              e[i] += alpha * p[i];
              r[i] -= alpha * q[i];
            }
          part[0] = product_over_range(r.data(), r.data(), begin, end);
          part[1] = this->late_in(begin);
        });
        state.count_step(sums[0], sums[1]);
      }

      using HostKrylov<Number>::preconditioner;
      using HostKrylov<Number>::communication;
      using HostKrylov<Number>::space;
      using HostKrylov<Number>::r;
      using HostKrylov<Number>::e;

      CgState             state;
      std::vector<Number> p, q, z; ///< direction, A p, preconditioned residual
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_host_krylov(const CrsMatrix<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner)
  {
    return std::make_unique<HostCg<Number>>(A, options, preconditioner);
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_cg(const CrsMatrix<Number>                     &A,
                                                const CgOptions                             &options,
                                                std::shared_ptr<Preconditioner<Number>>      preconditioner,
                                                std::shared_ptr<const Communication<Number>> communication,
                                                std::shared_ptr<const Ranks>                 ranks)
  {
    const PreconditionerPointer<Number> M = checked_on_ranks("CG", A, options, std::move(preconditioner), *communication, ranks.get());
    if (options.backend == Backend::cuda)
      return make_cuda_krylov(A, options, M, RanksOnDevice<Number>{std::move(communication), std::move(ranks)});
    return std::make_unique<HostCg<Number>>(A, options, M, communication);
  }

#define INSTANTIATE(Number)                                                                                           \
  template std::unique_ptr<KrylovSolver<Number>> make_host_krylov(                                                    \
    const CrsMatrix<Number> &A, const CgOptions &options, const PreconditionerPointer<Number> &preconditioner);       \
  template std::unique_ptr<KrylovSolver<Number>> make_cg(const CrsMatrix<Number>                     &A,              \
                                                         const CgOptions                             &options,        \
                                                         std::shared_ptr<Preconditioner<Number>>      preconditioner, \
                                                         std::shared_ptr<const Communication<Number>> communication,  \
                                                         std::shared_ptr<const Ranks>                 ranks);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
