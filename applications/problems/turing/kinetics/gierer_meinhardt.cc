// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

#include <cmath>

namespace leopard
{
  namespace
  {
    /**
     * Gierer and Meinhardt 1972, activator and inhibitor, in the dimensionless form of Murray, Mathematical Biology II,
     * section 2.2, with saturation K.
     */
    struct GiererMeinhardt : TwoSpecies<GiererMeinhardt>
    {
      double a = 0.1, b = 1., saturation = 0.;

      std::string formula() const override { return "f = a - b u + u^2 / (v (1 + K u^2)), g = u^2 - v"; }

      std::vector<Parameter> parameters() override
      {
        return {{"a", "basic production of the activator", &a},
                {"b", "decay of the activator", &b},
                {"K", "saturation of the activator's production", &saturation}};
      }

      std::array<double, 2> rates(double u, double v) const { return {a - b * u + u * u / (v * (1. + saturation * u * u)), u * u - v}; }

      std::array<double, 4> jacobian(double u, double v) const
      {
        const double s = 1. + saturation * u * u;
        return {-b + 2. * u / (v * s * s), -u * u / (v * v * s), 2. * u, -1.};
      }

      std::array<double, 2> steady_state() const
      {
        const double u = (a + 1.) / b; // exact without saturation
        return {u, u * u};
      }
    };

    const RegisterKinetics<GiererMeinhardt> entry("Gierer-Meinhardt");
  } // namespace
} // namespace leopard
