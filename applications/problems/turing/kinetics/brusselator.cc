// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <solvers/reaction_diffusion/kinetics.h>

namespace leopard
{
  namespace
  {
    /** The Brusselator: Prigogine and Lefever 1968. */
    struct Brusselator : TwoSpecies<reaction_diffusion::Brusselator>
    {
      Brusselator()
        : TwoSpecies({4.5, 6.75})
      {
      }

      std::string formula() const override { return "f = A - (B + 1) u + u^2 v, g = B u - u^2 v"; }

      std::vector<Parameter> parameters() override { return {{"A", "feed", &reaction.feed}, {"B", "conversion", &reaction.conversion}}; }

      std::vector<double> steady_state_guess() const override { return {reaction.feed, reaction.conversion / reaction.feed}; }
    };

    const RegisterKinetics<Brusselator> entry("Brusselator");
  } // namespace
} // namespace leopard
