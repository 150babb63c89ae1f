// SPDX-License-Identifier: Apache-2.0
#include "helmholtz.h"

#include <deal.II/base/parameter_handler.h>

namespace leopard
{
  std::string Helmholtz::description() const
  {
    return "Helmholtz: -laplace u + delta u = b with delta = " + dealii::Patterns::Tools::to_string(delta) + ", b = " + source[0].description();
  }

  void Helmholtz::declare_parameters(dealii::ParameterHandler &prm)
  {
    prm.declare_entry("Delta",
                      "1",
                      dealii::Patterns::Double(0.),
                      "Coefficient delta of the zero-order term; with delta >= 0 the problem is positive definite. Dimensionless.");
    declare_common_parameters(prm);
  }

  void Helmholtz::read_parameters(dealii::ParameterHandler &prm)
  {
    read_constants_of(prm);
    delta = prm.get_double("Delta");
    read_common_parameters(prm);
  }
} // namespace leopard
