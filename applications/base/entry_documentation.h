// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dealii
{
  class ParameterHandler;
}

namespace leopard
{
  /** All that is declared of an entry. */
  struct DeclaredEntry
  {
    std::vector<std::string> path; ///< sections, then its name
    std::string              value, default_value, documentation, pattern;

    /** "Section/Entry". */
    std::string name() const;
  };

  /** In the order of their declaration, those without section first. */
  std::vector<DeclaredEntry> entries_of(dealii::ParameterHandler &prm);

  /** deal.II's description of a pattern in plain words: "one of: a | b", "a number above 0"; empty for any text. */
  std::string in_words(const std::string &pattern);

  /** The choices of an entry whose pattern is a selection, or true and false; empty for others. */
  std::vector<std::string> choices_of(const std::string &pattern);

  /** All entries with values, documentation and what is allowed, in parseable form. */
  std::string all_parameters(dealii::ParameterHandler &prm);
} // namespace leopard
