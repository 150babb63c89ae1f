// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace leopard::symbolic
{
  /** Thrown for what cannot be read. */
  struct Misread
  {
    std::size_t position; ///< of the first wrong character, from 0; may be the end
    std::string reason;
  };

  /**
   * Refuses what parsers of expressions understand in different ways, or in another way than it was meant: a comma that
   * stands between no arguments, as in 1,5, a single =, a power of a power and a comparison of a comparison. muParser
   * takes them without a word. All else is left to the parser. @throws Misread.
   */
  void refuse_misreadings(const std::string &text);
} // namespace leopard::symbolic
