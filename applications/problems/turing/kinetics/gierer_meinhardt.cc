// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <solvers/reaction_diffusion/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * Gierer and Meinhardt 1972, activator and inhibitor, in the dimensionless form of Murray, Mathematical Biology II,
     * section 2.2, with saturation K.
     */
    struct GiererMeinhardt : TwoSpecies<reaction_diffusion::GiererMeinhardt>
    {
      GiererMeinhardt()
        : TwoSpecies({0.1, 1., 0.})
      {
      }

      std::string formula() const override { return "f = a - b u + u^2 / (v (1 + K u^2)), g = u^2 - v"; }

      std::vector<Parameter> parameters() override
      {
        return {{"a", "basic production of the activator", &reaction.a},
                {"b", "decay of the activator", &reaction.b},
                {"K", "saturation of the activator's production", &reaction.saturation}};
      }

      std::vector<double> steady_state_guess() const override
      {
        const double u = (reaction.a + 1.) / reaction.b; // exact without saturation
        return {u, u * u};
      }
    };

    const RegisterKinetics<GiererMeinhardt> entry("Gierer-Meinhardt");
  } // namespace
} // namespace leopard
