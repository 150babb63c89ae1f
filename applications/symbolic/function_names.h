// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard::symbolic
{
  /** The functions that expressions may call which are differentiated, see parse(): "abs, acos, ...". */
  std::string known_functions();

  /** The same of expressions that muParser evaluates, see Expression: some more, and no step. */
  std::string functions_of_muparser();
} // namespace leopard::symbolic
