// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    /** FitzHugh 1961, Nagumo 1962; fields may be negative. */
    struct FitzHughNagumo : TwoSpecies<FitzHughNagumo>
    {
      double a = 0., b = 1., epsilon = 1.;

      std::string formula() const override { return "f = u - u^3 - v, g = epsilon (u - b v + a)"; }

      bool are_concentrations() const override { return false; }

      std::vector<Parameter> parameters() override
      {
        constexpr double any = std::numeric_limits<double>::lowest();
        return {{"a", "offset of the recovery", &a, any},
                {"b", "decay of the recovery", &b},
                {"epsilon", "rate of the recovery against the excitation", &epsilon}};
      }

      std::array<double, 2> rates(double u, double v) const { return {u - u * u * u - v, epsilon * (u - b * v + a)}; }

      std::array<double, 4> jacobian(double u, double /*v*/) const { return {1. - 3. * u * u, -1., epsilon, -epsilon * b}; }

      std::array<double, 2> steady_state() const
      {
        if (b == 0.)
          return {-a, a * a * a - a};
        const double u = -std::cbrt(a / b); // exact for b = 1
        return {u, (u + a) / b};
      }
    };

    const RegisterKinetics<FitzHughNagumo> entry("FitzHugh-Nagumo");
  } // namespace
} // namespace leopard
