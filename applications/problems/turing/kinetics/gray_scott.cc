// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * Gray and Scott 1984; Pearson, Science 261 (1993) 189, equations (2), in his letters: u is the feed chemical (the
     * substrate), v the autocatalyst (the activator). The homogeneous state (1, 0) is stable, so patterns start from a
     * perturbed patch. He has the diffusion coefficients 2e-5 and 1e-5 on a square of 2.5 x 2.5.
     */
    struct GrayScott : BuiltInKinetics
    {
      GrayScott()
        : BuiltInKinetics({{"F", "feed rate", 0.035}, {"k", "kill rate", 0.06}}, "-u*v^2 + F*(1 - u)", "u*v^2 - (F + k)*v")
      {
      }

      bool                has_positive_steady_state() const override { return false; }
      std::vector<double> steady_state_guess() const override { return {1., 0.}; }
      double              default_kappa() const override { return 0.5; }
      unsigned int        pattern_species() const override { return 1; }
    };

    const RegisterKinetics<GrayScott> entry("Gray-Scott");
  } // namespace
} // namespace leopard
