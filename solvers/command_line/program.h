// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.h"

namespace leopard::command_line
{
  /**
   * Does what the command line asks for, and says it on the standard output. @return the exit code. @throws UsageError,
   * Error.
   */
  int run(const Arguments &arguments);
} // namespace leopard::command_line
