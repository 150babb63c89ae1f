// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/patterns.h>

#include <memory>
#include <string>

namespace leopard
{
  /**
   * Pattern of an entry that is a number, from a least one on if there is one, which may be written as arithmetic, or
   * one word that asks to compute it.
   */
  class NumberOrWord : public dealii::Patterns::PatternBase
  {
  public:
    explicit NumberOrWord(const std::string &word_, double least = dealii::Patterns::Double::min_double_value)
      : word(word_)
      , number(least)
      , any(least == dealii::Patterns::Double::min_double_value)
    {
    }

    bool        match(const std::string &text) const override { return text == word || number.match(text); }
    std::string description(const OutputStyle /*style*/ = Machine) const override
    {
      const std::string text = any ? "[Double]" : number.description(Machine);
      return text.substr(0, text.rfind(']')) + " or " + word + "]";
    }
    std::unique_ptr<PatternBase> clone() const override { return std::make_unique<NumberOrWord>(*this); }

  private:
    const std::string              word;
    const dealii::Patterns::Double number;
    const bool                     any;
  };
} // namespace leopard
