// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/symbolic/differentiate.h>

#include <string>

namespace leopard
{
  /** An entry whose number was written as arithmetic. */
  struct ComputedNumber
  {
    std::string entry, written, value;
  };

  /** Whether an entry with this pattern of deal.II takes a number, or a list of numbers. */
  bool is_numeric(const std::string &pattern);

  /**
   * The number, or the numbers of a list, that arithmetic stands for; empty if it stands for none.
   * @param pattern the entry's, in deal.II's words. @param why_not gets a reason, if there is one to tell.
   */
  std::string
  computed_value(const std::string &pattern, const std::string &entry, const std::string &text, const Constants &constants, std::string &why_not);

  /** A number that is written as arithmetic, as a plain one; any other text as it is. */
  std::string plain_number(const std::string &text, const Constants &constants);
} // namespace leopard
