// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    /** FitzHugh 1961, Nagumo 1962; fields may be negative. */
    struct FitzHughNagumo : BuiltInKinetics
    {
      FitzHughNagumo()
        : BuiltInKinetics({{"a", "offset of the recovery", 0., std::numeric_limits<double>::lowest()},
                           {"b", "decay of the recovery", 1.},
                           {"epsilon", "rate of the recovery against the excitation", 1.}},
                          "u - u^3 - v",
                          "epsilon*(u - b*v + a)")
      {
      }

      bool are_concentrations() const override { return false; }

      std::vector<double> steady_state_guess() const override
      {
        const double a = value("a"), b = value("b");
        if (b == 0.)
          return {-a, a * a * a - a};
        const double u = -std::cbrt(a / b); // exact for b = 1
        return {u, (u + a) / b};
      }
    };

    const RegisterKinetics<FitzHughNagumo> entry("FitzHugh-Nagumo");
  } // namespace
} // namespace leopard
