// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <solvers/reaction_diffusion/kinetics.h>

#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    /** FitzHugh 1961, Nagumo 1962; fields may be negative. */
    struct FitzHughNagumo : TwoSpecies<reaction_diffusion::FitzHughNagumo>
    {
      FitzHughNagumo()
        : TwoSpecies({0., 1., 1.})
      {
      }

      std::string formula() const override { return "f = u - u^3 - v, g = epsilon (u - b v + a)"; }

      bool are_concentrations() const override { return false; }

      std::vector<Parameter> parameters() override
      {
        constexpr double any = std::numeric_limits<double>::lowest();
        return {{"a", "offset of the recovery", &reaction.a, any},
                {"b", "decay of the recovery", &reaction.b},
                {"epsilon", "rate of the recovery against the excitation", &reaction.epsilon}};
      }

      std::vector<double> steady_state_guess() const override
      {
        const double a = reaction.a, b = reaction.b;
        if (b == 0.)
          return {-a, a * a * a - a};
        const double u = -std::cbrt(a / b); // exact for b = 1
        return {u, (u + a) / b};
      }
    };

    const RegisterKinetics<FitzHughNagumo> entry("FitzHugh-Nagumo");
  } // namespace
} // namespace leopard
