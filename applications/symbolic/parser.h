// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ginac/ginac.h>

#include <map>
#include <string>

namespace leopard::symbolic
{
  /** Thrown for what cannot be read. */
  struct Misread
  {
    std::size_t position; ///< of the first wrong character, from 0; may be the end
    std::string reason;
  };

  /** Whether expressions may call a function of this name. */
  bool is_function(const std::string &name);

  /**
   * Reads an expression as muParser does: numbers, names, + - * / ^, parentheses, < <= > >= == != && || !, and
   * functions, if(CONDITION, YES, NO), min and max among them. Not too deep, see why_too_deep(). @param names what
   * names mean. @param kind_of_names "species or constant", for messages. @throws Misread.
   */
  GiNaC::ex parse(const std::string &text, const std::map<std::string, GiNaC::ex> &names, const std::string &kind_of_names);
} // namespace leopard::symbolic
