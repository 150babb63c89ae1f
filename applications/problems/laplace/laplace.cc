// SPDX-License-Identifier: Apache-2.0
#include "laplace.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

namespace leopard
{
  std::string Laplace::description() const
  {
    return "Laplace: -div(a grad u) = f with a = " + coefficient.expression() + ", f = " + source[0].description();
  }

  void Laplace::declare_parameters(dealii::ParameterHandler &prm)
  {
    prm.declare_entry("Coefficient", "1", dealii::Patterns::Anything(), "Diffusion coefficient a, a positive expression in x, y, z. Dimensionless.");
    declare_common_parameters(prm);
  }

  void Laplace::read_parameters(dealii::ParameterHandler &prm)
  {
    read_constants_of(prm);
    coefficient = Expression("Laplace/Coefficient", prm.get("Coefficient"), constants);
    read_common_parameters(prm);
  }

  bool Laplace::has_constant_coefficients() const
  {
    return coefficient.expression().find_first_of("xyz") == std::string::npos;
  }

  ManufacturedSolution Laplace::manufactured() const
  {
    ManufacturedSolution result = Problem::manufactured();
    result.diffusion            = {{{coefficient.entry_name(), coefficient.description()}}};
    return result;
  }

  double Laplace::diffusion(unsigned int /*c*/, const dealii::Point<3> &x) const
  {
    return coefficient.value(x);
  }
} // namespace leopard
