// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard::command_line
{
  /**
   * A message of the library in the words of the command line: names of fields and functions (relative_tolerance,
   * write_choice()) become options (--tolerance, --tune with --choice). What stands in quotes, or is a part of a path,
   * stays.
   * @param of_choice fields stay: the message may speak of a file that --choice reads, which has them as keys.
   */
  std::string in_options(const std::string &message, bool of_choice = false);
} // namespace leopard::command_line
