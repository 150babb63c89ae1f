// SPDX-License-Identifier: Apache-2.0
#include "differentiate.h"

#include "nesting.h"
#include "powers.h"
#include "translator.h"

#include <solvers/base/errors.h>

#include <deal.II/base/utilities.h>

#include <ginac/parser.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace leopard
{
  namespace
  {
    bool starts_name(char c)
    {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
    }

    std::size_t end_of_name(const std::string &text, std::size_t begin)
    {
      std::size_t end = begin;
      while (end < text.size() && (starts_name(text[end]) || std::isdigit(static_cast<unsigned char>(text[end])) != 0))
        ++end;
      return end;
    }

    /** One expression's text with what is needed to report mistakes in it. */
    class Reader
    {
    public:
      Reader(const NamedExpression &expression_, const std::vector<std::string> &variables_, const Constants &constants_)
        : expression(expression_)
        , variables(variables_)
        , constants(constants_)
      {
      }

      /** @throws Error with the position. Names are looked up first: GiNaC does not say where an unknown one stands. */
      GiNaC::ex read(const GiNaC::symtab &symbols) const
      {
        if (const std::string reason = why_too_deep(expression.text); !reason.empty())
          fail(0, reason);
        check_names();
        if (const LargePower power = find_large_power(expression.text, constants); !power.reason.empty())
          fail(power.position, power.reason);
        std::istringstream stream(expression.text);
        try
          {
            GiNaC::symtab copy(symbols);
            return GiNaC::parser(copy, true)(stream).subs(GiNaC::abs(GiNaC::wild()) == absolute_value_of(GiNaC::wild()));
          }
        catch (const std::exception &exception)
          {
            std::string reason = exception.what();
            reason             = reason.substr(0, reason.find('\n'));
            for (const auto &[theirs, ours] : {std::pair<std::string, std::string>("GiNaC: parse error at line 0, column 0: ", ""),
                                               {"expected EOF", "an operator or the end is expected"},
                                               {"EOF", "the end"},
                                               {"make_binop_expr: power should have exactly 2 operands", "a power of a power needs parentheses"},
                                               {"power::eval(): ", ""}})
              if (const auto found = reason.find(theirs); found != std::string::npos)
                reason.replace(found, theirs.size(), ours);
            stream.clear();
            const auto read_so_far = static_cast<std::size_t>(std::max<std::streamoff>(stream.tellg(), 1));
            fail(std::min(read_so_far, expression.text.size()) - 1, reason);
          }
      }

      /** @param position of the first wrong character, counted from 0. */
      [[noreturn]] void fail(std::size_t position, const std::string &reason) const
      {
        while (position > 0 && std::isspace(static_cast<unsigned char>(expression.text[position])) != 0)
          --position;
        throw Error("the expression '" + shortened(expression.text) + "' of the entry '" + expression.entry + "' cannot be used, at position " +
                    std::to_string(position + 1) + (expression.text.empty() ? "" : ", '" + shortened(expression.text.substr(position)) + "'") + ": " +
                    reason + "\n  expected: " + expected());
      }

      /** Reports what has gone wrong with a whole expression; at the first use of `name` if there is one. */
      [[noreturn]] void fail(const std::string &reason, const std::string &name = "") const
      {
        for (std::size_t i = 0; i < expression.text.size(); ++i)
          if (starts_name(expression.text[i]))
            {
              const std::size_t end = end_of_name(expression.text, i);
              if (expression.text.substr(i, end - i) == name)
                fail(i, reason);
              i = end - 1;
            }
        fail(0, reason);
      }

    private:
      std::string expected() const
      {
        std::string text = "an expression in ";
        for (const std::string &variable : variables)
          text += (variable == variables.front() ? "" : ", ") + variable;
        if (!constants.empty())
          text += " with the constants ";
        for (const auto &constant : constants)
          text += (constant == constants.front() ? "" : ", ") + constant.first;
        return text + "; pi, + - * / ^ and differentiable functions (exp, log, sqrt, sin, tanh, pow, ...)";
      }

      void check_names() const
      {
        const std::string &text = expression.text;
        if (text.find_first_not_of(" \t") == std::string::npos)
          fail(0, "it is empty");
        for (std::size_t i = 0; i < text.size();)
          {
            if (std::isdigit(static_cast<unsigned char>(text[i])) != 0 || text[i] == '.')
              {
                char *end = nullptr;
                errno     = 0;
                std::strtod(text.c_str() + i, &end);
                // GiNaC's numbers are exact and as long as they must be
                if (errno == ERANGE)
                  fail(i, "the number is beyond the range of double precision");
                i = std::max<std::size_t>(end - text.c_str(), i + 1);
              }
            else if (starts_name(text[i]))
              {
                const std::size_t end = end_of_name(text, i);
                check_name(text.substr(i, end - i), i, text.find_first_not_of(" \t", end));
                i = end;
              }
            else if (std::string(" \t+-*/^(),").find(text[i]) == std::string::npos)
              fail(i, "an expression has no such sign");
            else
              ++i;
          }
      }

      /** How many arguments stand between the parenthesis at a position and its partner, or the end. */
      int n_arguments(std::size_t opening) const
      {
        int  depth = 0, n_commas = 0;
        bool is_empty = true;
        for (std::size_t i = opening; i < expression.text.size(); ++i)
          {
            const char c = expression.text[i];
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth == 0)
              break;
            n_commas += c == ',' && depth == 1 ? 1 : 0;
            is_empty = is_empty && (i == opening || c == ' ' || c == '\t');
          }
        return is_empty ? 0 : n_commas + 1;
      }

      void check_name(const std::string &name, std::size_t position, std::size_t next) const
      {
        const bool is_called = next != std::string::npos && expression.text[next] == '(';
        if (is_called)
          {
            if (!is_function(name))
              fail(position, "there is no function '" + name + "'");
            const int found = n_arguments(next), expected = name == "pow" || name == "atan2" ? 2 : 1;
            if (found != expected) // GiNaC crashes on none
              fail(position, "'" + name + "' has " + std::to_string(found) + " arguments and takes " + std::to_string(expected));
            return;
          }
        const bool known = name == "pi" || std::find(variables.begin(), variables.end(), name) != variables.end() ||
                           std::any_of(constants.begin(), constants.end(), [&](const auto &constant) { return constant.first == name; });
        if (!known)
          fail(position, "there is no species or constant '" + name + "'");
      }

      const NamedExpression          &expression;
      const std::vector<std::string> &variables;
      const Constants                &constants;
    };

  } // namespace

  DifferentiatedExpressions
  differentiate(const std::vector<NamedExpression> &expressions, const std::vector<std::string> &variables, const Constants &constants)
  {
    GiNaC::symtab                  symbols;
    std::vector<GiNaC::realsymbol> x;
    for (const std::string &variable : variables)
      symbols[variable] = x.emplace_back(variable);
    // integers as such, so that powers with them are products
    for (const auto &[name, value] : constants)
      symbols[name] = value == std::floor(value) && std::abs(value) < 1e9 ? GiNaC::numeric(static_cast<long>(value)) : GiNaC::numeric(value);
    symbols["pi"] = GiNaC::Pi;

    Translator             values(x), derivatives(x), both(x);
    std::vector<GiNaC::ex> all_derivatives;
    for (const NamedExpression &expression : expressions)
      {
        const Reader    reader(expression, variables, constants);
        const GiNaC::ex f = reader.read(symbols);
        try
          {
            values.add_output(f);
            both.add_output(f);
            for (const GiNaC::realsymbol &variable : x)
              {
                all_derivatives.push_back(f.diff(variable));
                derivatives.add_output(all_derivatives.back());
              }
          }
        catch (const NotTranslatable &problem)
          {
            reader.fail(problem.reason, problem.function);
          }
        catch (const std::exception &exception) // of GiNaC: a pole, an overflow
          {
            reader.fail(std::string(exception.what()));
          }
      }
    for (const GiNaC::ex &derivative : all_derivatives)
      both.add_output(derivative);
    return {values.tape(), derivatives.tape(), both.tape()};
  }

  std::string why_no_name(const std::string &name)
  {
    if (name.empty())
      return "a name is missing";
    if (!starts_name(name[0]) || end_of_name(name, 0) != name.size())
      return "'" + name + "' is no name: letters, digits and _, a letter first";
    if (is_function(name) || name == "pi")
      return "'" + name + "' has a meaning in expressions already";
    return "";
  }

  Constants read_constants(const std::string &entry, const std::string &text)
  {
    Constants  constants;
    const auto fail = [&](const std::string &item, const std::string &reason) {
      throw Error("the entry '" + entry + "' has the item '" + item + "': " + reason +
                  "\n  expected: NAME: NUMBER, NAME: NUMBER, ..., for example 'a: 0.1, b: 0.9'");
    };
    for (const std::string &item : dealii::Utilities::split_string_list(text, ','))
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
        char        *end   = nullptr;
        const double value = std::strtod(number.c_str(), &end);
        if (number.empty() || *end != '\0' || !std::isfinite(value))
          fail(item, "'" + number + "' is no number");
        constants.emplace_back(name, value);
      }
    return constants;
  }
} // namespace leopard
