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
    struct GrayScott : TwoSpecies<GrayScott>
    {
      double feed = 0.035, kill = 0.06;

      std::string formula() const override { return "f = u^2 v - (F + k) u, g = -u^2 v + F (1 - v)"; }

      bool has_positive_steady_state() const override { return false; }

      std::vector<Parameter> parameters() override { return {{"F", "feed rate", &feed}, {"k", "kill rate", &kill}}; }

      std::array<double, 2> rates(double u, double v) const { return {u * u * v - (feed + kill) * u, -u * u * v + feed * (1. - v)}; }

      std::array<double, 4> jacobian(double u, double v) const { return {2. * u * v - (feed + kill), u * u, -2. * u * v, -u * u - feed}; }

      std::array<double, 2> steady_state() const { return {0., 1.}; }
    };

    const RegisterKinetics<GrayScott> entry("Gray-Scott");
  } // namespace
} // namespace leopard
