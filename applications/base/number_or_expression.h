// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/symbolic/differentiate.h>

#include <deal.II/base/patterns.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * Pattern of an entry that is a number from a least one on, which may be written as arithmetic, or an expression that
   * names some of x, y, z, t and further names.
   */
  class NumberOrExpression : public dealii::Patterns::PatternBase
  {
  public:
    /** @param variables of the expressions, "x, y, z" or "x, y, z, t", for messages. */
    explicit NumberOrExpression(double least, std::vector<std::string> names_ = {}, std::string variables_ = "x, y, z, t")
      : number(least)
      , names(std::move(names_))
      , variables(std::move(variables_))
    {
    }

    bool match(const std::string &text) const override
    {
      return number.match(text) || names_coordinate_or_time(text) ||
             std::any_of(names.begin(), names.end(), [&](const std::string &name) { return is_named(name, text); });
    }
    std::string description(const OutputStyle /*style*/ = Machine) const override
    {
      const std::string text = number.description(Machine);
      return text.substr(0, text.rfind(']')) + " or an expression in " + variables + "]";
    }
    std::unique_ptr<PatternBase> clone() const override { return std::make_unique<NumberOrExpression>(*this); }

  private:
    const dealii::Patterns::Double number;
    const std::vector<std::string> names;
    const std::string              variables;
  };
} // namespace leopard
