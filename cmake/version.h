// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leopard
{
  /** "0.1.0". */
  const char *version();
  /** What `git describe --always --dirty` said when the program was built, or "unknown". */
  const char *git_commit();
} // namespace leopard
