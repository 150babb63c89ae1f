// SPDX-License-Identifier: Apache-2.0
#include "laplace.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

namespace leopard
{
  std::string Laplace::description() const
  {
    return "Laplace: " + (tensor ? "-" + tensor->description("u") + " = f" : "-div(a grad u) = f with a = " + coefficient.expression()) +
           ", f = " + source[0].description();
  }

  void Laplace::declare_parameters(dealii::ParameterHandler &prm)
  {
    prm.declare_entry("Coefficient", "1", dealii::Patterns::Anything(), "Diffusion coefficient a, a positive expression in x, y, z. Dimensionless.");
    prm.declare_entry(
      "Coefficient tensor",
      "",
      dealii::Patterns::Anything(),
      "In the place of the coefficient a symmetric positive definite matrix a: its entries a_xx, a_xy, a_yy, in space and on surfaces "
      "a_xx, a_xy, a_xz, a_yy, a_yz, a_zz, each a number or an expression in x, y, z. Empty: none. Dimensionless.");
    declare_common_parameters(prm);
  }

  void Laplace::read_parameters(dealii::ParameterHandler &prm)
  {
    read_constants_of(prm);
    coefficient = Expression("Laplace/Coefficient", prm.get("Coefficient"), constants);
    if (const std::string text = prm.get("Coefficient tensor"); !text.empty())
      {
        if (coefficient.expression() != "1")
          throw Error("'Laplace/Coefficient' and 'Laplace/Coefficient tensor' are given\n  expected: one of the two");
        tensor = Diffusion::tensor("Laplace/Coefficient tensor", text, constants, dimension);
      }
    read_common_parameters(prm);
  }

  bool Laplace::has_constant_coefficients() const
  {
    return !tensor && coefficient.expression().find_first_of("xyz") == std::string::npos;
  }

  ManufacturedSolution Laplace::manufactured() const
  {
    ManufacturedSolution result = Problem::manufactured();
    result.diffusion = {tensor ? tensor->expressions() : std::vector<NamedExpression>{{coefficient.entry_name(), coefficient.description()}}};
    return result;
  }

  double Laplace::diffusion(unsigned int /*c*/, const dealii::Point<3> &x) const
  {
    return coefficient.value(x);
  }
} // namespace leopard
