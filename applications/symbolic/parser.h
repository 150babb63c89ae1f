// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "misreading.h"

#include <ginac/ginac.h>

#include <map>
#include <string>

namespace leopard::symbolic
{
  /** Whether expressions may call a function of this name. */
  bool is_function(const std::string &name);

  /**
   * Reads an expression as muParser does: numbers, names, + - * / ^, parentheses, < <= > >= == != && || !, A ? B : C,
   * and functions, if(CONDITION, YES, NO), min and max among them. Not too deep, see why_too_deep(), and nothing that
   * refuse_misreadings() refuses. @param names what names mean. @param kind_of_names "species or constant", for
   * messages. @throws Misread.
   */
  GiNaC::ex parse(const std::string &text, const std::map<std::string, GiNaC::ex> &names, const std::string &kind_of_names);
} // namespace leopard::symbolic
