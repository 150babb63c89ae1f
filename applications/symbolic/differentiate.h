// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/reaction_diffusion/expression_tape.h>

#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /** n expressions in m variables, and their derivatives, ready to be evaluated. */
  struct DifferentiatedExpressions
  {
    reaction_diffusion::ExpressionTape values;      ///< n outputs f_i
    reaction_diffusion::ExpressionTape derivatives; ///< n m outputs, df_i/dx_j at position i m + j
    reaction_diffusion::ExpressionTape both;        ///< the outputs of `values`, then those of `derivatives`
  };

  /** An expression and the entry of the parameter file that has it, for messages. */
  struct NamedExpression
  {
    std::string entry, text;
  };

  using Constants = std::vector<std::pair<std::string, double>>;

  /**
   * Reads expressions, differentiates them symbolically by each variable (with GiNaC) and compiles values and derivatives. They are
   * written with + - * / ^, parentheses, numbers, pi, the names of variables and constants, and the functions exp, log, sqrt, sin, cos,
   * tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, abs, pow and step. The order of the operations
   * may differ between processes, and with it the rounding: GiNaC sorts terms by addresses.
   *
   * @throws Error naming entry and position: an unknown name, a syntax error, a value that is not real and finite, a derivative that
   * cannot be formed (of step).
   */
  DifferentiatedExpressions
  differentiate(const std::vector<NamedExpression> &expressions, const std::vector<std::string> &variables, const Constants &constants);

  /** Why `name` cannot be the name of a variable or constant of an expression, or nothing if it can. */
  std::string why_no_name(const std::string &name);

  /**
   * Reads "a: 0.1, b: 0.9". @throws Error naming the entry, for another form, a name that is none or stands twice, and what is no number.
   */
  Constants read_constants(const std::string &entry, const std::string &text);
} // namespace leopard
