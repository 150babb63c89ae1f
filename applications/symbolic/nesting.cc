// SPDX-License-Identifier: Apache-2.0
#include "nesting.h"

#include <algorithm>

namespace leopard
{
  std::string why_too_deep(const std::string &expression)
  {
    constexpr std::size_t most_characters = 20000;
    constexpr int         most_levels     = 100;
    if (expression.size() > most_characters)
      return "it has " + std::to_string(expression.size()) + " characters, and " + std::to_string(most_characters) + " are possible";
    int depth = 0, n_signs = 0, deepest = 0; // signs one after the other are nested, too
    for (const char c : expression)
      {
        depth += c == '(' || c == '?' ? 1 : c == ')' ? -1 : 0; // a ? holds what comes after its :, too
        n_signs = std::string("+-^!").find(c) != std::string::npos ? n_signs + 1 : c == ' ' || c == '\t' ? n_signs : 0;
        deepest = std::max(deepest, depth + n_signs);
      }
    return deepest > most_levels ? "parentheses, signs and conditions are nested " + std::to_string(deepest) + " deep, and " +
                                     std::to_string(most_levels) + " levels are possible"
                                 : "";
  }

  std::string shortened(const std::string &expression)
  {
    constexpr std::size_t most = 150;
    return expression.size() <= most ? expression : expression.substr(0, most) + " ...";
  }
} // namespace leopard
