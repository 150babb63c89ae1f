// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * Thomas 1975, in the dimensionless form of Murray, Mathematical Biology II, section 2.2: a reaction between oxygen
     * and uric acid that the enzyme uricase catalyses, with inhibition by the substrate. The constants are Murray's,
     * with the steady state (10, 9), nearly.
     */
    struct Thomas : BuiltInKinetics
    {
      Thomas()
        : BuiltInKinetics({{"a", "supply of u", 92.},
                           {"b", "supply of v", 64.},
                           {"alpha", "exchange of v against that of u", 1.5},
                           {"rho", "rate of the reaction", 18.5},
                           {"K", "inhibition by the substrate", 0.1}},
                          "a - u - rho*u*v/(1 + u + K*u^2)",
                          "alpha*(b - v) - rho*u*v/(1 + u + K*u^2)")
      {
      }

      std::vector<double> steady_state_guess() const override { return {0.11 * value("a"), 0.14 * value("b")}; }
    };

    const RegisterKinetics<Thomas> entry("Thomas");
  } // namespace
} // namespace leopard
