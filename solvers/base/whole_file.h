// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /** Writes PATH.tmp and renames it when it is complete and on disk: PATH is whole or what it was. @throws Error if it cannot be written. */
  void write_whole(const std::string &path, const std::string &text);

  /**
   * Finds out whether a file that is written like this can be written there, before time is spent on what is to be written. Leaves nothing behind.
   * @throws Error naming the path and the reason: no such folder, no permission, or something there that is not a regular file.
   */
  void check_can_be_written(const std::string &path);
} // namespace leopard
