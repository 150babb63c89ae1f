// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * The chlorite-iodide-malonic acid reaction (CIMA) by Lengyel and Epstein, Science 251 (1991) 650: u is iodide, the
     * activator, v is chlorite. A complex former in the gel slows iodide down: v reacts and diffuses sigma times as
     * fast. Their kappa is sigma c with c = 1.2 or so.
     */
    struct LengyelEpstein : BuiltInKinetics
    {
      LengyelEpstein()
        : BuiltInKinetics({{"a", "supply of iodide", 12.}, {"b", "consumption of chlorite", 0.31}, {"sigma", "retardation of iodide", 20.}},
                          "a - u - 4*u*v/(1 + u^2)",
                          "sigma*b*(u - u*v/(1 + u^2))")
      {
      }

      double              default_kappa() const override { return 24.; }
      std::vector<double> steady_state_guess() const override
      {
        const double u = value("a") / 5.; // exact
        return {u, 1. + u * u};
      }
    };

    const RegisterKinetics<LengyelEpstein> entry("Lengyel-Epstein");
  } // namespace
} // namespace leopard
