// SPDX-License-Identifier: Apache-2.0
#include "reaction_diffusion.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <cmath>

namespace leopard
{
  using dealii::Patterns::Tools::to_string;

  std::string ReactionDiffusion::description() const
  {
    return "Reaction-diffusion: -laplace u = f(u) + s, f(u) = " +
           (built_in ? "-(" + to_string(alpha) + " + " + to_string(beta) + " u^2)" : f.expression());
  }

  void ReactionDiffusion::declare_parameters(dealii::ParameterHandler &prm)
  {
    using namespace dealii::Patterns;
    prm.declare_entry("Reaction",
                      "quadratic",
                      Selection("quadratic|expression"),
                      "quadratic: f(u) = -(alpha + beta u^2); expression: f(u) from the entries 'f' and 'Derivative of f'.");
    prm.declare_entry("alpha", "1", Double(), "Coefficient alpha of the quadratic reaction. Dimensionless.");
    prm.declare_entry("beta", "2", Double(), "Coefficient beta of the quadratic reaction. Dimensionless.");
    prm.declare_entry("f", "", Anything(), "Reaction f(u), an expression in u. Dimensionless.");
    prm.declare_entry("Derivative of f", "", Anything(), "f'(u), an expression in u. Dimensionless.");
    declare_common_parameters(prm);
  }

  void ReactionDiffusion::read_parameters(dealii::ParameterHandler &prm)
  {
    alpha    = prm.get_double("alpha");
    beta     = prm.get_double("beta");
    built_in = prm.get("Reaction") == "quadratic";
    if (built_in == !prm.get("f").empty())
      throw Error(
        built_in ? "'Reaction-diffusion/f' is given, but 'Reaction-diffusion/Reaction' is quadratic\n  expected: set Reaction = expression, or no f"
                 : "'Reaction-diffusion/Reaction' is expression, but 'Reaction-diffusion/f' is empty\n  expected: an expression in u");
    if (!built_in)
      {
        f          = Expression("Reaction-diffusion/f", prm.get("f"), "u,v,w");
        derivative = Expression("Reaction-diffusion/Derivative of f", prm.get("Derivative of f"), "u,v,w");
        check_derivative();
      }
    read_common_parameters(prm);
  }

  void ReactionDiffusion::check_derivative() const
  {
    for (const double u : {-0.7, 0.3, 1.1})
      {
        constexpr double h        = 1e-5;
        const double     quotient = (f.value(u + h) - f.value(u - h)) / (2. * h);
        const double     given    = derivative.value(u);
        if (!std::isfinite(given) && std::isfinite(quotient))
          throw Error("'Reaction-diffusion/Derivative of f' = " + derivative.expression() + " is not finite at u = " + to_string(u) +
                      ", where f = " + f.expression() + " has a derivative\n  expected: the derivative of f; Newton's method would not converge");
        if (std::isfinite(quotient) && !(std::abs(quotient - given) <= 1e-4 * (1. + std::abs(quotient))))
          throw Error("'Reaction-diffusion/Derivative of f' = " + derivative.expression() + " is " + to_string(given) + " at u = " + to_string(u) +
                      ", but the difference quotient of f = " + f.expression() + " is " + to_string(quotient) +
                      "\n  expected: the derivative of f; Newton's method would not converge");
      }
  }

  void ReactionDiffusion::reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian) const
  {
    for (unsigned int i = 0; i < n_nodes; ++i)
      {
        if (rates != nullptr)
          rates[i] = built_in ? -(alpha + beta * u[i] * u[i]) : f.value(u[i]);
        if (jacobian != nullptr)
          jacobian[i] = built_in ? -2. * beta * u[i] : derivative.value(u[i]);
      }
  }
} // namespace leopard
