// SPDX-License-Identifier: Apache-2.0
#include <applications/problems/turing/kinetics.h>

namespace leopard
{
  namespace
  {
    /**
     * Schnakenberg 1979 in the form of the thesis, equations (4.25), (4.26), where a and b are called alpha and beta.
     */
    struct Schnakenberg : BuiltInKinetics
    {
      Schnakenberg()
        : BuiltInKinetics(
            {{"a", "production of the activator", 0.126779}, {"b", "production of the substrate", 0.792366}}, "a - u + u^2*v", "b - u^2*v")
      {
      }

      std::vector<double> steady_state_guess() const override
      {
        const double u = value("a") + value("b");
        return {u, value("b") / (u * u)};
      }
    };

    const RegisterKinetics<Schnakenberg> entry("Schnakenberg");
  } // namespace
} // namespace leopard
