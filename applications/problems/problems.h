// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.h"

#include <memory>
#include <vector>

namespace leopard
{
  /** A problem that a parameter file can name. A new one is a folder beside this file, and its row in problems.cc. */
  struct NamedProblem
  {
    const char *name, *equation; ///< as the parameter file and its documentation have them
    std::unique_ptr<Problem> (*make)();
  };

  const std::vector<NamedProblem> &problems();
} // namespace leopard
