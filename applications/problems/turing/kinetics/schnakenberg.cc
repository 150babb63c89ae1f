// SPDX-License-Identifier: Apache-2.0
#include "../kinetics.h"

namespace leopard
{
  namespace
  {
    /** Schnakenberg 1979 in the form of the thesis, equations (4.25), (4.26), where a and b are called alpha and beta. */
    struct Schnakenberg : TwoSpecies<Schnakenberg>
    {
      double a = 0.126779, b = 0.792366;

      std::string formula() const override { return "f = a - u + u^2 v, g = b - u^2 v"; }

      std::vector<Parameter> parameters() override { return {{"a", "production of the activator", &a}, {"b", "production of the substrate", &b}}; }

      std::array<double, 2> rates(double u, double v) const { return {a - u + u * u * v, b - u * u * v}; }

      std::array<double, 4> jacobian(double u, double v) const { return {-1. + 2. * u * v, u * u, -2. * u * v, -u * u}; }

      std::array<double, 2> steady_state() const { return {a + b, b / ((a + b) * (a + b))}; }
    };

    const RegisterKinetics<Schnakenberg> entry("Schnakenberg");
  } // namespace
} // namespace leopard
