// SPDX-License-Identifier: Apache-2.0
#include "translator.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace leopard
{
  namespace
  {
    const std::map<std::string, Operation> &functions_of_one_argument()
    {
      static const std::map<std::string, Operation> table = {{"exp", Operation::exp},
                                                             {"log", Operation::log},
                                                             {"sqrt", Operation::sqrt},
                                                             {"sin", Operation::sin},
                                                             {"cos", Operation::cos},
                                                             {"tan", Operation::tan},
                                                             {"asin", Operation::asin},
                                                             {"acos", Operation::acos},
                                                             {"atan", Operation::atan},
                                                             {"sinh", Operation::sinh},
                                                             {"cosh", Operation::cosh},
                                                             {"tanh", Operation::tanh},
                                                             {"asinh", Operation::asinh},
                                                             {"acosh", Operation::acosh},
                                                             {"atanh", Operation::atanh},
                                                             {"abs_", Operation::abs},
                                                             {"csgn", Operation::sign}};
      return table;
    }

    const std::map<std::string, Operation> &functions_of_two_arguments()
    {
      static const std::map<std::string, Operation> table = {{"atan2", Operation::atan2},
                                                             {"less_", Operation::less},
                                                             {"less_equal_", Operation::less_equal},
                                                             {"equal_", Operation::equal},
                                                             {"min_", Operation::minimum},
                                                             {"max_", Operation::maximum},
                                                             {"when_", Operation::when},
                                                             {"unless_", Operation::unless}};
      return table;
    }

    NotTranslatable no_derivative(const std::string &function)
    {
      return {"its derivative cannot be formed, as '" + function + "' has none", function};
    }
  } // namespace

  Translator::Translator(const std::vector<GiNaC::realsymbol> &variables)
    : builder(variables.size())
  {
    for (unsigned int i = 0; i < variables.size(); ++i)
      inputs[variables[i].get_name()] = i;
  }

  bool Translator::is_constant(const GiNaC::ex &e)
  {
    if (GiNaC::is_a<GiNaC::symbol>(e))
      return false;
    for (const GiNaC::ex &operand : e)
      if (!is_constant(operand))
        return false;
    return true;
  }

  double Translator::number(const GiNaC::ex &e)
  {
    const GiNaC::ex value = e.evalf();
    if (!GiNaC::is_a<GiNaC::numeric>(value) || !GiNaC::ex_to<GiNaC::numeric>(value).is_real())
      throw NotTranslatable{"a part of it is not a real number"};
    const double result = GiNaC::ex_to<GiNaC::numeric>(value).to_double();
    if (!std::isfinite(result))
      throw NotTranslatable{"a part of it is not a finite number"};
    return result;
  }

  /** The same text for the same expression in every run. */
  std::string Translator::key(const GiNaC::ex &e)
  {
    std::ostringstream text;
    text.precision(17);
    if (is_constant(e))
      text << number(e);
    else if (GiNaC::is_a<GiNaC::symbol>(e))
      text << GiNaC::ex_to<GiNaC::symbol>(e).get_name();
    else
      {
        std::vector<std::string> operands;
        for (const GiNaC::ex &operand : e)
          operands.push_back(key(operand));
        const bool commutes = GiNaC::is_a<GiNaC::add>(e) || GiNaC::is_a<GiNaC::mul>(e);
        if (commutes)
          std::sort(operands.begin(), operands.end());
        text << (GiNaC::is_a<GiNaC::add>(e)        ? "+"
                 : GiNaC::is_a<GiNaC::mul>(e)      ? "*"
                 : GiNaC::is_a<GiNaC::power>(e)    ? "^"
                 : GiNaC::is_a<GiNaC::function>(e) ? GiNaC::ex_to<GiNaC::function>(e).get_name()
                                                   : "?")
             << '(';
        for (const std::string &operand : operands)
          text << operand << ' ';
        text << ')';
      }
    return text.str();
  }

  std::vector<GiNaC::ex> Translator::sorted_operands(const GiNaC::ex &e)
  {
    std::vector<std::pair<std::string, GiNaC::ex>> keyed;
    for (const GiNaC::ex &operand : e)
      keyed.emplace_back(key(operand), operand);
    std::sort(keyed.begin(), keyed.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<GiNaC::ex> operands;
    for (const auto &[unused, operand] : keyed)
      operands.push_back(operand);
    return operands;
  }

  /** Each subexpression once, as often as derivatives repeat it. */
  Translator::Register Translator::translate(const GiNaC::ex &e)
  {
    const auto found = known.find(e);
    return found != known.end() ? found->second : known[e] = translate_anew(e);
  }

  Translator::Register Translator::translate_anew(const GiNaC::ex &e)
  {
    if (is_constant(e))
      return builder.constant(number(e));
    if (GiNaC::is_a<GiNaC::symbol>(e))
      return builder.input(inputs.at(GiNaC::ex_to<GiNaC::symbol>(e).get_name()));
    if (GiNaC::is_a<GiNaC::add>(e))
      return translate_sum(e);
    if (GiNaC::is_a<GiNaC::mul>(e))
      return translate_product(e);
    if (GiNaC::is_a<GiNaC::power>(e))
      return translate_power(e.op(0), e.op(1));
    return translate_function(e);
  }

  /** The sign of a term's constant factors. */
  double Translator::sign(const GiNaC::ex &term)
  {
    double result = 1.;
    if (is_constant(term))
      result = number(term);
    else if (GiNaC::is_a<GiNaC::mul>(term))
      for (const GiNaC::ex &factor : term)
        if (is_constant(factor))
          result *= number(factor) < 0. ? -1. : 1.;
    return result;
  }

  Translator::Register Translator::translate_sum(const GiNaC::ex &e)
  {
    std::vector<Register> positive, negative;
    for (const GiNaC::ex &term : sorted_operands(e))
      {
        const bool is_negative = sign(term) < 0.;
        (is_negative ? negative : positive).push_back(translate(is_negative ? -term : term));
      }
    Register sum = -1;
    for (const Register term : positive)
      sum = sum < 0 ? term : builder.apply(Operation::add, sum, term);
    for (const Register term : negative)
      sum = sum < 0 ? builder.apply(Operation::negate, term, term) : builder.apply(Operation::subtract, sum, term);
    return sum;
  }

  Translator::Register Translator::translate_product(const GiNaC::ex &e)
  {
    double   coefficient = 1.;
    Register above = -1, below = -1;
    for (const GiNaC::ex &factor : sorted_operands(e))
      {
        if (is_constant(factor))
          {
            coefficient *= number(factor);
            continue;
          }
        const bool is_divisor = GiNaC::is_a<GiNaC::power>(factor) && is_constant(factor.op(1)) && number(factor.op(1)) < 0.;
        Register  &product    = is_divisor ? below : above;
        const auto next       = is_divisor ? translate_power(factor.op(0), -factor.op(1)) : translate(factor);
        product               = product < 0 ? next : builder.apply(Operation::multiply, product, next);
      }
    if (above < 0)
      above = builder.constant(coefficient);
    else if (coefficient == -1.)
      above = builder.apply(Operation::negate, above, above);
    else if (coefficient != 1.)
      above = builder.apply(Operation::multiply, builder.constant(coefficient), above);
    return below < 0 ? above : builder.apply(Operation::divide, above, below);
  }

  Translator::Register Translator::translate_power(const GiNaC::ex &base, const GiNaC::ex &exponent)
  {
    const double p = is_constant(exponent) ? number(exponent) : 1.;
    if (p < 0.)
      return builder.apply(Operation::divide, builder.constant(1.), translate_power(base, -exponent));
    const Register x = translate(base); // once: continued fractions are nested in it
    if (!is_constant(exponent))
      return builder.apply(Operation::power, x, translate(exponent));
    if (p == std::floor(p) && p <= 32.)
      return integer_power(x, static_cast<unsigned int>(p));
    if (2. * p == std::floor(2. * p) && p <= 8.)
      return integer_power(builder.apply(Operation::sqrt, x, x), static_cast<unsigned int>(2. * p));
    return builder.apply(Operation::power, x, builder.constant(p));
  }

  /** x^n by repeated squaring. */
  Translator::Register Translator::integer_power(Register x, unsigned int n)
  {
    Register result = -1;
    for (; n > 0; n /= 2)
      {
        if (n % 2 == 1)
          result = result < 0 ? x : builder.apply(Operation::multiply, result, x);
        if (n > 1)
          x = builder.apply(Operation::multiply, x, x);
      }
    return result < 0 ? builder.constant(1.) : result;
  }

  Translator::Register Translator::translate_function(const GiNaC::ex &e)
  {
    if (GiNaC::is_a<GiNaC::fderivative>(e))
      throw no_derivative(GiNaC::ex_to<GiNaC::function>(e).get_name());
    if (!GiNaC::is_a<GiNaC::function>(e))
      throw NotTranslatable{"a part of it is no real expression"};
    const std::string name = GiNaC::ex_to<GiNaC::function>(e).get_name();
    const Register    x    = translate(e.op(0));
    if (const auto two = functions_of_two_arguments().find(name); two != functions_of_two_arguments().end())
      return builder.apply(two->second, x, translate(e.op(1)));
    const auto one = functions_of_one_argument().find(name);
    if (one == functions_of_one_argument().end())
      throw no_derivative(name); // step of a variable
    return builder.apply(one->second, x, x);
  }
} // namespace leopard
