// SPDX-License-Identifier: Apache-2.0
#include "differentiate.h"

#include "parser.h"
#include "reader.h"
#include "translator.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace leopard
{
  using symbolic::Names;

  namespace
  {
    /** Calls translate() and says which expression is to blame if that fails. */
    template <typename Translate>
    void translate_for(const Names &names, const NamedExpression &expression, const Translate &translate)
    {
      try
        {
          translate();
        }
      catch (const NotTranslatable &problem)
        {
          names.fail(expression, problem.reason, problem.function);
        }
      catch (const Error &)
        {
          throw;
        }
      catch (const std::exception &exception) // of GiNaC: a pole, an overflow
        {
          names.fail(expression, exception.what());
        }
    }

    std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string> &b)
    {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    }
  } // namespace

  DifferentiatedExpressions differentiate(const std::vector<NamedExpression> &expressions,
                                          const std::vector<std::string>     &variables,
                                          const Constants                    &constants,
                                          const std::vector<std::string>     &parameters)
  {
    const Names            names(joined(variables, parameters), constants);
    Translator             values(names.symbols), derivatives(names.symbols), both(names.symbols);
    std::vector<GiNaC::ex> all_derivatives;
    for (const NamedExpression &expression : expressions)
      {
        const GiNaC::ex f = names.read(expression);
        translate_for(names, expression, [&] {
          values.add_output(f);
          both.add_output(f);
          for (unsigned int i = 0; i < variables.size(); ++i)
            {
              all_derivatives.push_back(f.diff(names.variable(i)));
              derivatives.add_output(all_derivatives.back());
            }
        });
      }
    for (const GiNaC::ex &derivative : all_derivatives)
      both.add_output(derivative);
    return {values.tape(), derivatives.tape(), both.tape()};
  }

  ExpressionTape compile(const NamedExpression &expression, const std::vector<std::string> &variables, const Constants &constants)
  {
    const Names     names(variables, constants);
    Translator      translator(names.symbols);
    const GiNaC::ex e = names.read(expression);
    translate_for(names, expression, [&] { translator.add_output(e); });
    return translator.tape();
  }

  double value_of(const NamedExpression &number, const Constants &constants)
  {
    const Names names({}, constants, "constant");
    double      value = 0.;
    const auto  e     = names.read(number);
    translate_for(names, number, [&] {
      Translator translator(names.symbols);
      translator.add_output(e);
      translator.tape().evaluate(1, nullptr, &value);
    });
    return value;
  }

  std::vector<ExpressionTape> sources_of(const ManufacturedSolution &solution, const Constants &constants)
  {
    const std::vector<std::string> &places = coordinates_and_time();
    const Names                     names(places, constants, "variable or constant");
    Constants                       all = constants;
    all.insert(all.end(), solution.reaction_constants.begin(), solution.reaction_constants.end()); // the later ones count
    const Names            with_fields(joined(solution.fields, places), all);
    const auto             x = [&](unsigned int d) { return names.variable(d); };
    std::vector<GiNaC::ex> exact;
    GiNaC::exmap           meaning; // of the symbols of with_fields
    for (const NamedExpression &expression : solution.exact)
      exact.push_back(names.read(expression));
    for (unsigned int c = 0; c < exact.size(); ++c)
      meaning[with_fields.variable(c)] = exact[c];
    for (unsigned int d = 0; d < 4; ++d)
      meaning[with_fields.variable(exact.size() + d)] = x(d);

    std::vector<ExpressionTape> sources;
    for (unsigned int c = 0; c < exact.size(); ++c)
      translate_for(names, solution.exact[c], [&] {
        const GiNaC::ex       &u = exact[c];
        std::vector<GiNaC::ex> a; // one, or those of a matrix
        for (const NamedExpression &entry : solution.diffusion[c])
          a.push_back(names.read(entry));
        const unsigned int n      = solution.dimension;
        GiNaC::ex          source = GiNaC::numeric(solution.absorption[c]) * u;
        for (unsigned int d = 0; d < n; ++d)
          for (unsigned int e = 0; e < n; ++e)
            if (a.size() > 1 || d == e)
              source -= ((a.size() > 1 ? a[tensor_entry(d, e, n)] : a[0]) * u.diff(x(e))).diff(x(d));
        const auto &still = solution.quasi_stationary;
        if (solution.time_dependent && std::find(still.begin(), still.end(), c) == still.end())
          source += u.diff(x(3));
        if (!solution.reaction.empty())
          source -= GiNaC::numeric(solution.reaction_factor) * with_fields.read(solution.reaction[c]).subs(meaning);
        for (const auto &C : solution.cross_diffusion)
          for (unsigned int d = 0; d < (C.field == c ? n : 0); ++d)
            source -= (with_fields.read(C.expression).subs(meaning) * exact[C.index].diff(x(d))).diff(x(d));
        for (const auto &v : solution.advection)
          if (v.field == c && v.index < n)
            source += (with_fields.read(v.expression).subs(meaning) * u).diff(x(v.index));
        Translator translator(names.symbols);
        translator.add_output(source.expand().is_zero() ? GiNaC::ex(0) : source);
        sources.push_back(translator.tape());
      });
    return sources;
  }

  std::string to_expression(double value)
  {
    char text[40];
    for (int digits = 6; digits <= 17; ++digits)
      {
        std::snprintf(text, sizeof(text), value < 0. ? "(%.*g)" : "%.*g", digits, value);
        if (std::strtod(text + (value < 0. ? 1 : 0), nullptr) == value)
          break;
      }
    return text;
  }

  bool is_named(const std::string &name, const std::string &text)
  {
    const auto continues = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t i = text.find(name); i != std::string::npos; i = text.find(name, i + 1))
      if ((i == 0 || !continues(text[i - 1])) && !continues(text[i + name.size()]))
        return true;
    return false;
  }

  const std::vector<std::string> &coordinates_and_time()
  {
    static const std::vector<std::string> names = {"x", "y", "z", "t"};
    return names;
  }

  bool names_coordinate_or_time(const std::string &text)
  {
    const std::vector<std::string> &names = coordinates_and_time();
    return std::any_of(names.begin(), names.end(), [&](const std::string &name) { return is_named(name, text); });
  }

  std::string why_no_name(const std::string &name)
  {
    if (name.empty())
      return "a name is missing";
    const auto is_sign = [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; };
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 || std::any_of(name.begin(), name.end(), is_sign))
      return "'" + name + "' is no name: letters, digits and _, a letter first";
    if (symbolic::is_function(name) || name == "pi")
      return "'" + name + "' has a meaning in expressions already";
    return "";
  }

  std::vector<std::string> split_outside_parentheses(const std::string &text, char separator)
  {
    std::vector<std::string> parts(1);
    int                      depth = 0;
    for (const char c : text)
      {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == separator && depth == 0)
          parts.emplace_back();
        else
          parts.back() += c;
      }
    for (std::string &part : parts)
      part = dealii::Utilities::trim(part);
    return parts;
  }

  Constants read_constants(const std::string &entry, const std::string &text, const Constants &known)
  {
    Constants  constants, all = known;
    const auto fail = [&](const std::string &item, const std::string &reason) {
      throw Error("the entry '" + entry + "' has the item '" + item + "': " + reason +
                  "\n  expected: NAME: NUMBER, NAME: NUMBER, ..., for example 'a: 0.1, b: 1 - a', where a number may use the constants before it");
    };
    for (const std::string &item : split_outside_parentheses(text, ','))
      {
        if (item.empty())
          continue;
        const auto        colon  = item.find(':');
        const std::string name   = dealii::Utilities::trim(item.substr(0, colon)),
                          number = colon == std::string::npos ? "" : dealii::Utilities::trim(item.substr(colon + 1));
        if (const std::string reason = why_no_name(name); !reason.empty())
          fail(item, reason);
        if (std::any_of(constants.begin(), constants.end(), [&](const auto &constant) { return constant.first == name; }))
          fail(item, "'" + name + "' stands there twice");
        if (number.empty())
          fail(item, "a number is missing");
        constants.emplace_back(name, value_of({entry + ", " + name, number}, all));
        all.push_back(constants.back());
      }
    return constants;
  }
} // namespace leopard
