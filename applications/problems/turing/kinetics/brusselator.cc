// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

namespace leopard
{
  namespace
  {
    /** The Brusselator: Prigogine and Lefever 1968. */
    struct Brusselator : TwoSpecies<Brusselator>
    {
      double a = 4.5, b = 6.75;

      std::string formula() const override { return "f = A - (B + 1) u + u^2 v, g = B u - u^2 v"; }

      std::vector<Parameter> parameters() override { return {{"A", "feed", &a}, {"B", "conversion", &b}}; }

      std::array<double, 2> rates(double u, double v) const { return {a - (b + 1.) * u + u * u * v, b * u - u * u * v}; }

      std::array<double, 4> jacobian(double u, double v) const { return {-(b + 1.) + 2. * u * v, u * u, b - 2. * u * v, -u * u}; }

      std::array<double, 2> steady_state() const { return {a, b / a}; }
    };

    const RegisterKinetics<Brusselator> entry("Brusselator");
  } // namespace
} // namespace leopard
