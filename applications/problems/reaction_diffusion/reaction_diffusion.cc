// SPDX-License-Identifier: Apache-2.0
#include "reaction_diffusion.h"

#include <solvers/base/errors.h>

#include <deal.II/base/parameter_handler.h>

#include <cmath>
#include <limits>

namespace leopard
{
  using dealii::Patterns::Tools::to_string;

  std::string ReactionDiffusion::description() const
  {
    return "Reaction-diffusion: -laplace u = f(u) + s, f(u) = " + (built_in ? "-(" + to_string(alpha) + " + " + to_string(beta) + " u^2)" : f) +
           (source[0].is_zero() ? "" : ", s = " + source[0].description());
  }

  void ReactionDiffusion::declare_parameters(dealii::ParameterHandler &prm)
  {
    using namespace dealii::Patterns;
    prm.declare_entry(
      "Reaction", "quadratic", Selection("quadratic|expression"), "quadratic: f(u) = -(alpha + beta u^2); expression: f(u) from the entry 'f'.");
    prm.declare_entry("alpha", "1", Double(), "Coefficient alpha of the quadratic reaction. Dimensionless.");
    prm.declare_entry("beta", "2", Double(), "Coefficient beta of the quadratic reaction. Dimensionless.");
    prm.declare_entry("f", "", Anything(), "Reaction f(u), an expression in u, x, y, z. Dimensionless.");
    prm.declare_entry("Derivative of f", "", Anything(), "f'(u), an expression as f. Empty: it is derived. Dimensionless.");
    declare_common_parameters(prm);
  }

  void ReactionDiffusion::read_parameters(dealii::ParameterHandler &prm)
  {
    read_constants_of(prm);
    alpha    = prm.get_double("alpha");
    beta     = prm.get_double("beta");
    built_in = prm.get("Reaction") == "quadratic";
    f        = prm.get("f");
    if (built_in == !f.empty())
      throw Error(
        built_in ? "'Reaction-diffusion/f' is given, but 'Reaction-diffusion/Reaction' is quadratic\n  expected: set Reaction = expression, or no f"
                 : "'Reaction-diffusion/Reaction' is expression, but 'Reaction-diffusion/f' is empty\n  expected: an expression in u");
    if (!built_in)
      {
        const NamedExpression reaction = {"Reaction-diffusion/f", f}, derivative = {"Reaction-diffusion/Derivative of f", prm.get("Derivative of f")};
        const bool            on_place =
          is_named("x", f + " " + derivative.text) || is_named("y", f + " " + derivative.text) || is_named("z", f + " " + derivative.text);
        const std::vector<std::string> variables = {"u"}, places = on_place ? std::vector<std::string>{"x", "y", "z"} : std::vector<std::string>();
        std::vector<std::string>       all = variables;
        all.insert(all.end(), places.begin(), places.end());
        if (derivative.text.empty())
          compiled = differentiate({reaction}, variables, constants, places);
        else
          {
            compiled.values      = compile(reaction, all, constants);
            compiled.derivatives = compile(derivative, all, constants);
            check_derivative(derivative.text);
          }
      }
    read_common_parameters(prm);
  }

  void ReactionDiffusion::check_derivative(const std::string &given) const
  {
    const auto value = [&](const reaction_diffusion::ExpressionTape &tape, double u) {
      double result = 0.;
      evaluate(tape, 1, &u, {}, &result);
      return result;
    };
    // at kinks both sides are right, and steps of one length may be those of a wave: most places and one step are to
    // agree
    constexpr double places[] = {-1.618, -0.7321, -0.2679, 0.1213, 0.3027, 0.618, 1.1447, 2.2361};
    std::string      complaint;
    int              n_wrong = 0, n_places = 0;
    for (const double u : places)
      {
        const double found    = value(compiled.derivatives, u);
        double       quotient = std::numeric_limits<double>::quiet_NaN(); // that comes nearest
        for (const double h : {1e-5, 1e-7, 1e-9})
          if (const double q = (value(compiled.values, u + h) - value(compiled.values, u - h)) / (2. * h);
              std::isfinite(q) && !(std::abs(quotient - found) <= std::abs(q - found)))
            quotient = q;
        if (!std::isfinite(quotient))
          continue;
        ++n_places;
        if (std::abs(quotient - found) <= 1e-4 * (1. + std::abs(quotient)))
          continue;
        ++n_wrong;
        if (complaint.empty())
          complaint = "'Reaction-diffusion/Derivative of f' = " + given +
                      (std::isfinite(found) ? " is " + to_string(found) + " at u = " + to_string(u) + ", but the difference quotient of f = " + f +
                                                " is " + to_string(quotient)
                                            : " is not finite at u = " + to_string(u) + ", where f = " + f + " has a derivative") +
                      "\n  expected: the derivative of f, or none: it is derived then; Newton's method would not converge";
      }
    if (n_wrong > 0 && 4 * n_wrong >= n_places)
      throw Error(complaint);
  }

  ManufacturedSolution ReactionDiffusion::manufactured() const
  {
    ManufacturedSolution result = Problem::manufactured();
    result.reaction             = {{"Reaction-diffusion/f", built_in ? "-(" + to_expression(alpha) + " + " + to_expression(beta) + "*u^2)" : f}};
    return result;
  }

  void ReactionDiffusion::evaluate(
    const reaction_diffusion::ExpressionTape &tape, unsigned int n_nodes, const double *u, const Places &places, double *values) const
  {
    if (tape.n_inputs == 1)
      {
        tape.evaluate(n_nodes, u, values);
        return;
      }
    static thread_local std::vector<double> inputs;
    inputs.assign(4 * static_cast<std::size_t>(n_nodes), 0.);
    for (unsigned int i = 0; i < n_nodes; ++i)
      {
        inputs[4 * i] = u[i];
        for (unsigned int d = 0; d < (places.coordinates != nullptr ? places.dimension : 0); ++d)
          inputs[4 * i + 1 + d] = places.coordinates[i * places.dimension + d];
      }
    tape.evaluate(n_nodes, inputs.data(), values);
  }

  NamedExpression ReactionDiffusion::reaction_entry(unsigned int /*c*/) const
  {
    return built_in ? NamedExpression{"Reaction-diffusion/Reaction", "-(alpha + beta*u^2)"} : NamedExpression{"Reaction-diffusion/f", f};
  }

  bool ReactionDiffusion::reaction_depends_on_fields() const
  {
    if (built_in)
      return beta != 0.;
    const reaction_diffusion::ExpressionTape &derivative = compiled.derivatives; // a register that no instruction writes: a number, or an input
    const std::size_t                         constant   = static_cast<std::size_t>(derivative.outputs[0]) - derivative.n_inputs;
    return !(derivative.outputs[0] >= derivative.n_inputs && constant < derivative.constants.size() && derivative.constants[constant] == 0.);
  }

  void ReactionDiffusion::reaction(unsigned int n_nodes, const double *u, double *rates, double *jacobian, const Places &places) const
  {
    if (!built_in)
      {
        if (rates != nullptr)
          evaluate(compiled.values, n_nodes, u, places, rates);
        if (jacobian != nullptr)
          evaluate(compiled.derivatives, n_nodes, u, places, jacobian);
        return;
      }
    for (unsigned int i = 0; i < n_nodes; ++i)
      {
        if (rates != nullptr)
          rates[i] = -(alpha + beta * u[i] * u[i]);
        if (jacobian != nullptr)
          jacobian[i] = -2. * beta * u[i];
      }
  }
} // namespace leopard
