// SPDX-License-Identifier: Apache-2.0
#include "ilu0.h"

#include "../base/errors.h"
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
      HostIlu0(const CrsMatrix<Number> &A_, double omega_)
        : HostRelaxation<Number>(A_)
        , omega(static_cast<Number>(omega_))
        , factors(A, {FactorKind::ilu, 0, 0., false})
        , correction(A.n_rows)
      {
      }

      std::string name() const override { return "ILU(0)"; }
      bool        is_symmetric_map() const override { return true; }

      void iterate(Number *x, const Number *b, int n_iterations) override
      {
        for (int n = 0; n < n_iterations; ++n)
          {
            for (int i = 0; i < A.n_rows; ++i)
              correction[i] = residual_of_row(i, x, b);
            factors.solve(correction.data());
            for (int i = 0; i < A.n_rows; ++i)
              x[i] += omega * correction[i];
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

      const Number              omega;
      IncompleteFactors<Number> factors;
      std::vector<Number>       correction;
    };
  } // namespace

  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega)
  {
    if (!(omega > 0. && omega < 2.))
      throw InvalidInput("ILU(0): omega is " + short_text(omega) + "\n  expected: a number between 0 and 2");
    return std::make_unique<HostIlu0<Number>>(A, omega);
  }

#define INSTANTIATE(Number) template std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
