// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /**
   * "a folder", "a device" (which may never end, as /dev/zero), "a pipe" or "a socket" (which may never begin), if that
   * is at PATH; empty for a regular file, which may be read whole, and for nothing, of which whoever opens it says so.
   */
  std::string why_no_regular_file(const std::string &path);
} // namespace leopard
