// SPDX-License-Identifier: Apache-2.0
#include "krylov_host.h"

namespace leopard
{
  namespace
  {
    template <typename Number>
    class HostGcr : public HostKrylov<Number>
    {
    public:
      HostGcr(const CrsMatrix<Number> &A_, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner_)
        : HostKrylov<Number>(A_, options, preconditioner_, 1)
        , n_directions(options.n_directions)
      {
        gcr.allocate(space, A_.n_rows, n_directions);
      }

      std::string name() const override { return "GCR(" + std::to_string(n_directions) + ")"; }

    private:
      KrylovState &scalars() override { return state; }
      void         begin() override {}
      void         check_limits(const KrylovLimits &limits) const override
      {
        limits.validate();
        refuse_clock(limits);
      }

      /** All steps until the goal by GCR's own residual, or until it finds nothing any more. */
      void step() override
      {
        const int most = state.max_iterations - state.iteration;
        const int n    = gcr.solve(
          space,
          e,
          r,
          state.goal / state.residual,
          most,
          [&](const std::vector<Number> &v, std::vector<Number> &result) { this->multiply(result.data(), v.data()); },
          [&](std::vector<Number> &z, const std::vector<Number> &residual) { preconditioner->apply(z.data(), residual.data()); });
        double own_squared = 0.;
        space.sum_over(1, &own_squared, [&](long begin, long end, double *part) { part[0] = product_over_range(r.data(), r.data(), begin, end); });
        state.iteration += n;
        if (n < most && !gcr.is_finite())
          state.stop(KrylovReason::not_finite);
        else
          state.finish(n < most && !reached(std::sqrt(own_squared), 1.01 * state.goal) ? KrylovReason::breakdown : KrylovReason::stagnated);
      }

      using HostKrylov<Number>::preconditioner;
      using HostKrylov<Number>::space;
      using HostKrylov<Number>::r;
      using HostKrylov<Number>::e;

      const int               n_directions;
      KrylovState             state;
      Gcr<HostPieces, Number> gcr;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_host_krylov(const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner)
  {
    return std::make_unique<HostGcr<Number>>(A, options, preconditioner);
  }

#define INSTANTIATE(Number)                                        \
  template std::unique_ptr<KrylovSolver<Number>> make_host_krylov( \
    const CrsMatrix<Number> &A, const GcrOptions &options, const PreconditionerPointer<Number> &preconditioner);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
