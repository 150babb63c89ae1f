// SPDX-License-Identifier: Apache-2.0
#include "real_matrices.h"

#include <cstdlib>
#include <filesystem>

namespace leopard
{
  std::string real_matrix_file(const std::string &name)
  {
    std::string folder = LEOPARD_MATRICES_DEFAULT;
    if (const char *variable = std::getenv("LEOPARD_MATRICES"))
      folder = variable;
    const std::string file = folder + "/" + name + ".mtx.gz";
    return !folder.empty() && std::filesystem::exists(file) ? file : "";
  }
} // namespace leopard
