// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /**
   * Writes content to PATH.tmp, syncs it to the disk and renames it, so that PATH is never half written. Local, not collective.
   * @throws std::runtime_error with path and reason; PATH.tmp is removed then and PATH is what it was.
   */
  void write_file_atomically(const std::string &path, const std::string &content);

  /** Syncs a folder's entries to the disk, so that a rename in it outlives a crash of the machine. */
  void sync_folder(const std::string &folder);
} // namespace leopard
