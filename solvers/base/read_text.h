// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace leopard
{
  /** A file in memory. */
  struct Text
  {
    std::unique_ptr<char[]> data;
    std::size_t             size     = 0;
    std::size_t             capacity = 0;

    /** Makes room; what is there stays. */
    void reserve(std::size_t new_capacity);
  };

  /**
   * Reads a file, decompressed if it is compressed with gzip, whatever its name; one that is not by
   * usable_cores() threads. @param expected for messages: "a readable file in ... format". @throws InvalidInput where
   * it cannot be read, std::bad_alloc.
   */
  Text read_text(const std::string &path, const std::string &expected);
} // namespace leopard
