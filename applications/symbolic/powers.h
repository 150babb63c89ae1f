// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace leopard
{
  /** A power of an expression whose exact value, which GiNaC would compute at once, is too long. */
  struct LargePower
  {
    std::size_t position = 0; ///< of the sign ^ or of pow
    std::string reason;       ///< empty: there is none
  };

  /**
   * The first power in an expression with an exponent, made of numbers and constants, beyond 100000, or of numbers alone with a value beyond double
   * precision. What is no expression is left to the parser. @param expression not too deep, as why_too_deep() says.
   */
  LargePower find_large_power(const std::string &expression, const std::vector<std::pair<std::string, double>> &constants);
} // namespace leopard
