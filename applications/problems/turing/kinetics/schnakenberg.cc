// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <solvers/reaction_diffusion/kinetics.h>

namespace leopard
{
  namespace
  {
    /** Schnakenberg 1979 in the form of the thesis, equations (4.25), (4.26), where a and b are called alpha and beta. */
    struct Schnakenberg : TwoSpecies<reaction_diffusion::Schnakenberg>
    {
      Schnakenberg()
        : TwoSpecies({0.126779, 0.792366})
      {
      }

      std::string formula() const override { return "f = a - u + u^2 v, g = b - u^2 v"; }

      std::vector<Parameter> parameters() override
      {
        return {{"a", "production of the activator", &reaction.a}, {"b", "production of the substrate", &reaction.b}};
      }

      std::vector<double> steady_state_guess() const override
      {
        const double u = reaction.a + reaction.b;
        return {u, reaction.b / (u * u)};
      }
    };

    const RegisterKinetics<Schnakenberg> entry("Schnakenberg");
  } // namespace
} // namespace leopard
