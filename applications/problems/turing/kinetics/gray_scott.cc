// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <solvers/reaction_diffusion/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * Gray and Scott 1984; Pearson 1993. u is the autocatalyst (the activator), v the feed chemical: in Pearson's letters
     * our u is V and our v is U. The homogeneous state (0, 1) is stable, so patterns start from a perturbed patch.
     */
    struct GrayScott : TwoSpecies<reaction_diffusion::GrayScott>
    {
      GrayScott()
        : TwoSpecies({0.035, 0.06})
      {
      }

      std::string formula() const override { return "f = u^2 v - (F + k) u, g = -u^2 v + F (1 - v)"; }

      bool has_positive_steady_state() const override { return false; }

      std::vector<Parameter> parameters() override { return {{"F", "feed rate", &reaction.feed}, {"k", "kill rate", &reaction.kill}}; }

      std::vector<double> steady_state_guess() const override { return {0., 1.}; }
    };

    const RegisterKinetics<GrayScott> entry("Gray-Scott");
  } // namespace
} // namespace leopard
