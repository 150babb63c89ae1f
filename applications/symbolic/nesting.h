// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /**
   * Why an expression is refused before a parser sees it, or nothing: parsers call themselves at each parenthesis and
   * sign, so that many thousands of them exhaust the stack, and derivatives of deeply nested functions grow with the
   * square of the depth.
   */
  std::string why_too_deep(const std::string &expression);

  /** An expression as a message shows it: of a long one the beginning. */
  std::string shortened(const std::string &expression);
} // namespace leopard
