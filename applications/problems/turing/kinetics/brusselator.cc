// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

namespace leopard
{
  namespace
  {
    /** The Brusselator: Prigogine and Lefever 1968. */
    struct Brusselator : BuiltInKinetics
    {
      Brusselator()
        : BuiltInKinetics({{"A", "feed", 4.5}, {"B", "conversion", 6.75}}, "A - (B + 1)*u + u^2*v", "B*u - u^2*v")
      {
      }

      std::vector<double> steady_state_guess() const override { return {value("A"), value("B") / value("A")}; }
    };

    const RegisterKinetics<Brusselator> entry("Brusselator");
  } // namespace
} // namespace leopard
