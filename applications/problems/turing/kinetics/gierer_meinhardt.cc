// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * Gierer and Meinhardt 1972, activator and inhibitor, in the dimensionless form of Murray, Mathematical Biology II,
     * section 2.2, with saturation K.
     */
    struct GiererMeinhardt : BuiltInKinetics
    {
      GiererMeinhardt()
        : BuiltInKinetics({{"a", "basic production of the activator", 0.1},
                           {"b", "decay of the activator", 1.},
                           {"K", "saturation of the activator's production", 0.}},
                          "a - b*u + u^2/(v*(1 + K*u^2))",
                          "u^2 - v")
      {
      }

      std::vector<double> steady_state_guess() const override
      {
        const double u = (value("a") + 1.) / value("b"); // exact without saturation
        return {u, u * u};
      }
    };

    const RegisterKinetics<GiererMeinhardt> entry("Gierer-Meinhardt");
  } // namespace
} // namespace leopard
