// SPDX-License-Identifier: Apache-2.0
#include "ilu0.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/incomplete_factors.h"
#include "host_relaxation.h"

#include <string>

namespace leopard
{
  namespace
  {
    template <typename Number>
    class HostIlu0 : public HostRelaxation<Number>
    {
    public:
      HostIlu0(const CrsMatrix<Number> &A_, double omega_, int n_threads)
        : HostRelaxation<Number>(A_)
        , omega(static_cast<Number>(omega_))
        , factors(A, options(n_threads))
        , correction(A.n_rows)
        , pool(shared_thread_pool(A.n_rows < 2 * rows_of_part ? 1 : n_threads))
      {
      }

      std::string name() const override { return "ILU(0)"; }
      bool        is_symmetric_map() const override { return true; }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          {
            parallel_for(*pool, A.n_rows, rows_of_part, [&](long begin, long end) {
              for (int i = static_cast<int>(begin); i < static_cast<int>(end); ++i)
                correction[i] = residual_of_row(i, x, b);
            });
            factors.solve(correction.data());
            parallel_for(*pool, A.n_rows, rows_of_part, [&](long begin, long end) {
              for (long i = begin; i < end; ++i)
                x[i] += omega * correction[i];
            });
          }
      }

      void update_values(const Number *values) override
      {
        HostRelaxation<Number>::update_values(values);
        factors.factorize(A.values.data());
      }

    private:
      using HostRelaxation<Number>::A;
      using HostRelaxation<Number>::residual_of_row;

      static constexpr long rows_of_part = 4096;

      static FactorOptions options(int n_threads)
      {
        FactorOptions result;
        result.smallest_pivot = 0.;
        result.shift          = false;
        result.n_threads      = n_threads;
        return result;
      }

      const Number                      omega;
      IncompleteFactors<Number>         factors;
      std::vector<Number>               correction;
      const std::shared_ptr<ThreadPool> pool;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega, int n_threads)
  {
    if (!(omega > 0. && omega < 2.))
      throw InvalidInput("ILU(0): omega is " + short_text(omega) + "\n  expected: a number between 0 and 2");
    return std::make_unique<HostIlu0<Number>>(A, omega, n_threads);
  }

#define INSTANTIATE(Number) template std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
