// SPDX-License-Identifier: Apache-2.0
#include "contradictions.h"

namespace leopard::command_line
{
  void contradiction(const std::string &option, const std::string &with, const std::string &expected)
  {
    throw UsageError(option + " is given with " + with + "\n  expected: " + expected);
  }

  void refuse(const Arguments &a, std::initializer_list<const char *> options, const std::string &with, const std::string &expected)
  {
    for (const char *option : options)
      if (a.has(option))
        contradiction(option, with, expected);
  }

  std::string words_of_method(const Arguments &a)
  {
    return "--method " + a.method_name + (a.is_krylov() ? " --preconditioner " + a.preconditioner : "") +
           (a.has_multigrid() && a.has("--smoother") ? " --smoother " + a.smoother : "");
  }

  std::string words_of_smoother(const Arguments &a)
  {
    return words_of_method(a) + (a.has_multigrid() && !a.has("--smoother") ? ", whose smoother is " + a.smoother : "");
  }
} // namespace leopard::command_line
