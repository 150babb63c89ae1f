// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

namespace leopard
{
  /** Bytes of the machine's memory, also of what is in use; 0: not known. */
  inline double machine_memory()
  {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size) : 0.;
  }
} // namespace leopard
