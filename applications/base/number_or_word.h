// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deal.II/base/patterns.h>

#include <memory>
#include <string>

namespace leopard
{
  /** Pattern of an entry that is a number, which may be written as arithmetic, or one word that asks to compute it. */
  class NumberOrWord : public dealii::Patterns::PatternBase
  {
  public:
    explicit NumberOrWord(const std::string &word_)
      : word(word_)
    {
    }

    bool                         match(const std::string &text) const override { return text == word || dealii::Patterns::Double().match(text); }
    std::string                  description(const OutputStyle /*style*/ = Machine) const override { return "[Double or " + word + "]"; }
    std::unique_ptr<PatternBase> clone() const override { return std::make_unique<NumberOrWord>(word); }

  private:
    const std::string word;
  };
} // namespace leopard
