// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

#include <cmath>

namespace leopard
{
  namespace
  {
    /**
     * The Belousov-Zhabotinsky reaction: the Oregonator of Field and Noyes 1974 in two variables, Tyson and Fife,
     * Journal of Chemical Physics 73 (1980) 2224. u is bromous acid, v the oxidized catalyst. With the f below the
     * medium is excitable: its state is stable and waves run through it; with 0.5 < f < 2.4 or so it oscillates.
     */
    struct Oregonator : BuiltInKinetics
    {
      Oregonator()
        : BuiltInKinetics({{"f", "stoichiometric factor", 3.}, {"q", "ratio of rates", 0.002, 1e-12}, {"epsilon", "ratio of times", 0.01, 1e-12}},
                          "(u - u^2 - f*v*(u - q)/(u + q))/epsilon",
                          "u - v")
      {
      }

      double              default_kappa() const override { return 0.6; }
      std::vector<double> steady_state_guess() const override
      {
        // u = v and (1 - u) (u + q) = f (u - q), exact
        const double f = value("f"), q = value("q"), p = 1. - f - q;
        const double u = 0.5 * (p + std::sqrt(p * p + 4. * q * (1. + f)));
        return {u, u};
      }
    };

    const RegisterKinetics<Oregonator> entry("Oregonator");
  } // namespace
} // namespace leopard
