// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard::command_line
{
  /**
   * A message of the library in the words of the command line: names of fields and functions (relative_tolerance,
   * write_choice()) become options (--tolerance, --tune with --choice). What stands in quotes, or is a part of a path,
   * stays. Rows count as in the file, see as_in_file().
   * @param of_choice fields stay: the message may speak of a file that --choice reads, which has them as keys.
   */
  std::string in_options(const std::string &message, bool of_choice = false);

  /**
   * A message of the library, whose rows and columns count from 0, "row 3 (the first row is 0)", as the user's file
   * counts them, from 1: "row 4". @param is_permuted they are in the order of blocks, which the file does not have:
   * then the message says so, and in_options() lets it be.
   */
  std::string as_in_file(const std::string &message, bool is_permuted = false);
} // namespace leopard::command_line
