// SPDX-License-Identifier: Apache-2.0
#include "backend.h"

namespace leopard
{
  std::string to_string(Backend backend)
  {
    switch (backend)
      {
        case Backend::reference:
          return "reference";
        case Backend::host:
          return "host";
        case Backend::cuda:
          return "cuda";
      }
    return "unknown";
  }
} // namespace leopard
