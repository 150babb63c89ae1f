// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

#include <limits>

namespace leopard
{
  namespace
  {
    /**
     * Excitable media by Barkley, Physica D 49 (1991) 61: waves and spirals of the excitation u with the slow recovery
     * v, which does not diffuse there and hardly does here, as a diffusion coefficient must be positive. The rest state
     * (0, 0) is stable: a wave starts from a stimulus in the initial values.
     */
    struct Barkley : BuiltInKinetics
    {
      Barkley()
        : BuiltInKinetics({{"a", "duration of the excitation", 0.75, 1e-12},
                           {"b", "threshold of the excitation", 0.06, std::numeric_limits<double>::lowest()},
                           {"epsilon", "rate of the recovery against the excitation", 0.02, 1e-12}},
                          "u*(1 - u)*(u - (v + b)/a)/epsilon",
                          "u - v")
      {
      }

      // values slightly below zero belong to the model
      bool                are_concentrations() const override { return false; }
      double              default_kappa() const override { return 0.01; }
      std::vector<double> steady_state_guess() const override { return {0., 0.}; }
    };

    const RegisterKinetics<Barkley> entry("Barkley");
  } // namespace
} // namespace leopard
