// SPDX-License-Identifier: Apache-2.0
#include "kind_of_file.h"

#include <filesystem>

namespace leopard
{
  std::string why_no_regular_file(const std::string &path)
  {
    std::error_code ignored;
    switch (std::filesystem::status(path, ignored).type())
      {
        case std::filesystem::file_type::directory:
          return "a folder";
        case std::filesystem::file_type::block:
        case std::filesystem::file_type::character:
          return "a device";
        case std::filesystem::file_type::fifo:
          return "a pipe";
        case std::filesystem::file_type::socket:
          return "a socket";
        default:
          return "";
      }
  }
} // namespace leopard
