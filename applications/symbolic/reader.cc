// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include "function_names.h"
#include "nesting.h"
#include "parser.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace leopard::symbolic
{
  namespace
  {
    bool continues_name(char c)
    {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    }
  } // namespace

  Names::Names(const std::vector<std::string> &variables, const Constants &constants, const std::string &kind_)
    : kind(kind_)
    , expected("an expression")
  {
    for (const std::string &variable : variables)
      {
        meanings[variable] = symbols.emplace_back(variable);
        expected += (variable == variables.front() ? " in " : ", ") + variable;
      }
    // integers as such, so that powers with them are products
    for (const auto &[name, value] : constants)
      {
        if (std::find(variables.begin(), variables.end(), name) != variables.end())
          throw Error("the constant '" + name + "' has the name of a variable of its expressions\n  expected: another name for it");
        meanings[name] = value == std::floor(value) && std::abs(value) < 1e9 ? GiNaC::numeric(static_cast<long>(value)) : GiNaC::numeric(value);
        expected += (name == constants.front().first ? " with the constants " : ", ") + name;
      }
    meanings["pi"] = GiNaC::Pi;
    expected += "; pi, + - * / ^, < <= > >= == != && || !, A ? B : C, and the functions " + known_functions();
  }

  GiNaC::ex Names::read(const NamedExpression &expression) const
  {
    if (const std::string reason = why_too_deep(expression.text); !reason.empty())
      fail_at(expression, 0, reason);
    try
      {
        return parse(expression.text, meanings, kind);
      }
    catch (const Misread &misread)
      {
        fail_at(expression, misread.position, misread.reason);
      }
  }

  void Names::fail(const NamedExpression &expression, const std::string &reason, const std::string &name) const
  {
    const std::string &text = expression.text;
    for (std::size_t i = name.empty() ? std::string::npos : text.find(name); i != std::string::npos; i = text.find(name, i + 1))
      if ((i == 0 || !continues_name(text[i - 1])) && !continues_name(text[i + name.size()]))
        fail_at(expression, i, reason);
    fail_at(expression, 0, reason);
  }

  void Names::fail_at(const NamedExpression &expression, std::size_t position, const std::string &reason) const
  {
    const std::string &text = expression.text;
    position                = std::min(position, std::max<std::size_t>(text.size(), 1) - 1);
    while (position > 0 && std::isspace(static_cast<unsigned char>(text[position])) != 0)
      --position;
    throw Error("the expression '" + shortened(text) + "' of the entry '" + expression.entry + "' cannot be used, at position " +
                std::to_string(position + 1) + (text.empty() ? "" : ", '" + shortened(text.substr(position)) + "'") + ": " + reason +
                "\n  expected: " + expected);
  }
} // namespace leopard::symbolic
