// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/reaction_diffusion/kinetics/expression_tape.h>

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
   * Reads expressions, differentiates them symbolically by each variable (with GiNaC) and compiles values and
   * derivatives. They are written with + - * / ^, parentheses, numbers, pi, the names of variables and constants,
   * comparisons, && || !, and the functions exp, log, ln, log2, log10, sqrt, sin, cos, tan, asin, acos, atan, atan2,
   * sinh, cosh, tanh, asinh, acosh, atanh, abs, sign, pow, step, min, max and if(CONDITION, YES, NO), whose derivative
   * is that of what is chosen. The order of the operations may differ between processes, and with it the rounding:
   * GiNaC sorts terms by addresses.
   *
   * @param parameters further inputs, after the variables; expressions are not differentiated by them
   * @throws Error naming entry and position: an unknown name, a syntax error, a value that is not real and finite, a
   * derivative that cannot be formed (of step).
   */
  DifferentiatedExpressions differentiate(const std::vector<NamedExpression> &expressions,
                                          const std::vector<std::string>     &variables,
                                          const Constants                    &constants,
                                          const std::vector<std::string>     &parameters = {});

  /** One expression without its derivatives. @throws Error naming entry and position. */
  reaction_diffusion::ExpressionTape
  compile(const NamedExpression &expression, const std::vector<std::string> &variables, const Constants &constants);

  /** The value of an expression without variables, finite. @throws Error naming entry and position. */
  double value_of(const NamedExpression &number, const Constants &constants = {});

  /**
   * An exact solution u_1 ... u_n in x, y, z, t of du_c/dt = div(a_c grad u_c) - delta_c u_c + s_c + factor r_c(u) +
   * sum_d div(C_cd grad u_d) - div(v_c u_c), by fields.
   */
  struct ManufacturedSolution
  {
    /** Of cross-diffusion and advection; the expression as of reactions. */
    struct Coefficient
    {
      unsigned int    field, index; ///< index: d of C_cd, or the component of v_c
      NamedExpression expression;
    };

    std::vector<std::string>                  fields; ///< their names in the reactions
    std::vector<NamedExpression>              exact;
    std::vector<std::vector<NamedExpression>> diffusion;          ///< a_c in x, y, z, or the entries of a matrix in the order of tensor_entry()
    std::vector<double>                       absorption;         ///< delta_c
    std::vector<NamedExpression>              reaction;           ///< r_c in the fields and x, y, z, t; none if there is no reaction
    std::vector<Coefficient>                  cross_diffusion;    ///< all C_cd, of whatever fields
    std::vector<Coefficient>                  advection;          ///< all components of v_c
    Constants                                 reaction_constants; ///< that reactions know beside those of all expressions
    double                                    reaction_factor = 1.;
    bool                                      time_dependent  = false;
    unsigned int                              dimension       = 2; ///< derivatives by so many of x, y, z count
    std::vector<unsigned int>                 quasi_stationary;    ///< fields without a time derivative all the same
  };

  /** Where the entry d, e of a symmetric matrix with n rows stands among those of its upper triangle: xx, xy, yy. */
  inline unsigned int tensor_entry(unsigned int d, unsigned int e, unsigned int n)
  {
    return d <= e ? d * n - d * (d + 1) / 2 + e : tensor_entry(e, d, n);
  }

  /** The sources s_c that belong to it, each a tape with the inputs x, y, z, t. @throws Error. */
  std::vector<reaction_diffusion::ExpressionTape> sources_of(const ManufacturedSolution &solution, const Constants &constants);

  /** A number as an expression, with all its digits. */
  std::string to_expression(double value);

  /** Whether a name stands in an expression. */
  bool is_named(const std::string &name, const std::string &text);

  /** x, y, z and t, by which expressions name places and times. */
  const std::vector<std::string> &coordinates_and_time();

  /** Whether an expression names one of these. */
  bool names_coordinate_or_time(const std::string &text);

  /** Why `name` cannot be the name of a variable or constant of an expression, or nothing if it can. */
  std::string why_no_name(const std::string &name);

  /** The parts of a text, without blanks at their ends; separators in parentheses are none. */
  std::vector<std::string> split_outside_parentheses(const std::string &text, char separator);

  /**
   * Reads "a: 0.1, b: 1 - a". @param known constants that numbers may use, beside those before them. @throws Error
   * naming the entry, for another form, a name that is none or stands twice, and what is no number.
   */
  Constants read_constants(const std::string &entry, const std::string &text, const Constants &known = {});
} // namespace leopard
