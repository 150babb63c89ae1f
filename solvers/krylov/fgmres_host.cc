// SPDX-License-Identifier: Apache-2.0
#include "krylov_host.h"
#include "krylov_over_ranks.h"

namespace leopard
{
  namespace
  {
    template <typename Number>
    class HostFgmres : public HostKrylov<Number>
    {
    public:
      template <typename... Ranks>
      HostFgmres(const CrsMatrix<Number>             &A_,
                 const FgmresOptions                 &options,
                 const PreconditionerPointer<Number> &preconditioner_,
                 const Ranks &...ranks)
        : HostKrylov<Number>(A_, options, preconditioner_, options.restart + 1, ranks...)
        , basis(options.restart + 1, std::vector<Number>(A_.n_rows))
        , directions(options.restart, std::vector<Number>(A_.n_rows))
        , numbers(FgmresState::n_numbers(options.restart))
      {
        state.restart = options.restart;
        state.use(numbers.data());
      }

      std::string name() const override { return "FGMRES(" + std::to_string(state.restart) + ")"; }

    private:
      KrylovState &scalars() override { return state; }

      void begin() override
      {
        state.begin();
        scale_into(basis[0], r);
      }

      void step() override
      {
        const int            j = state.column;
        std::vector<Number> &w = basis[j + 1];
        preconditioner->apply(directions[j].data(), basis[j].data());
        this->multiply(w.data(), directions[j].data());
        find_components(state.components, w, j + 1);
        double sums[2] = {0., 0.};
        subtract(w, state.components, j + 1, 1, sums);
        find_components(state.remainders(), w, j + 1);
        subtract(w, state.remainders(), j + 1, this->n_last_sums(), sums);
        state.rotate(sums[0], sums[1]);
        if (!state.checking)
          scale_into(w, w);
      }

      void find_correction() override
      {
        state.solve_triangle();
        space.for_ranges([&](long begin, long end, int /*piece*/) {
          for (int j = 0; j < state.column; ++j)
            {
              const Number y = static_cast<Number>(state.y[j]);
              for (long i = begin; i < end; ++i)
                e[i] += y * directions[j][i];
            }
        });
      }

      /** components[j] = w . v_j for n vectors of the basis. */
      void find_components(double *components, const std::vector<Number> &w, int n)
      {
        this->sum_over(n, components, [&](long begin, long end, double *part) {
          for (int j = 0; j < n; ++j)
            part[j] = product_over_range(w.data(), basis[j].data(), begin, end);
        });
      }

      /** w less its n components. @param sums receives its square and, if there are two, whether it is late. */
      void subtract(std::vector<Number> &w, const double *components, int n, int n_sums, double *sums)
      {
        this->sum_over(n_sums, sums, [&](long begin, long end, double *part) {
          for (int j = 0; j < n; ++j)
            {
              const Number h = static_cast<Number>(components[j]);
              for (long i = begin; i < end; ++i)
                w[i] -= h * basis[j][i];
            }
          part[0] = product_over_range(w.data(), w.data(), begin, end);
          part[1] = this->late_in(begin);
        });
      }

      void scale_into(std::vector<Number> &v, const std::vector<Number> &w) const
      {
        const Number factor = static_cast<Number>(state.inverse_norm);
        space.for_ranges([&](long begin, long end, int /*piece*/) {
          for (long i = begin; i < end; ++i)
            v[i] = factor * w[i];
        });
      }

      using HostKrylov<Number>::preconditioner;
      using HostKrylov<Number>::space;
      using HostKrylov<Number>::r;
      using HostKrylov<Number>::e;

      FgmresState                      state;
      std::vector<std::vector<Number>> basis, directions; ///< v_j, orthonormal, and z_j = M v_j
      std::vector<double>              numbers;           ///< the state's arrays
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>>
  make_host_krylov(const CrsMatrix<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner)
  {
    return std::make_unique<HostFgmres<Number>>(A, options, preconditioner);
  }

  template <typename Number>
  std::unique_ptr<KrylovSolver<Number>> make_fgmres(const CrsMatrix<Number>                     &A,
                                                    const FgmresOptions                         &options,
                                                    std::shared_ptr<Preconditioner<Number>>      preconditioner,
                                                    std::shared_ptr<const Communication<Number>> communication,
                                                    std::shared_ptr<const Ranks>                 ranks)
  {
    const PreconditionerPointer<Number> M = checked_on_ranks("FGMRES", A, options, std::move(preconditioner), *communication, ranks.get());
    if (options.backend == Backend::cuda)
      return make_cuda_krylov(A, options, M, RanksOnDevice<Number>{std::move(communication), std::move(ranks)});
    return std::make_unique<HostFgmres<Number>>(A, options, M, communication);
  }

#define INSTANTIATE(Number)                                                                                               \
  template std::unique_ptr<KrylovSolver<Number>> make_host_krylov(                                                        \
    const CrsMatrix<Number> &A, const FgmresOptions &options, const PreconditionerPointer<Number> &preconditioner);       \
  template std::unique_ptr<KrylovSolver<Number>> make_fgmres(const CrsMatrix<Number>                     &A,              \
                                                             const FgmresOptions                         &options,        \
                                                             std::shared_ptr<Preconditioner<Number>>      preconditioner, \
                                                             std::shared_ptr<const Communication<Number>> communication,  \
                                                             std::shared_ptr<const Ranks>                 ranks);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
