// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

namespace leopard
{
  namespace
  {
    /**
     * Gray and Scott 1984; Pearson 1993. u is the autocatalyst (the activator), v the feed chemical: in Pearson's letters
     * our u is V and our v is U. The homogeneous state (0, 1) is stable, so patterns start from a perturbed patch.
     */
    struct GrayScott : BuiltInKinetics
    {
      GrayScott()
        : BuiltInKinetics({{"F", "feed rate", 0.035}, {"k", "kill rate", 0.06}}, "u^2*v - (F + k)*u", "-u^2*v + F*(1 - v)")
      {
      }

      bool                has_positive_steady_state() const override { return false; }
      std::vector<double> steady_state_guess() const override { return {0., 1.}; }
    };

    const RegisterKinetics<GrayScott> entry("Gray-Scott");
  } // namespace
} // namespace leopard
