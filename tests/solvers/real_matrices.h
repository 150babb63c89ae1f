// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace leopard
{
  /**
   * The file of a real matrix; they are beside the project, in the folder that LEOPARD_MATRICES names. Empty if it is
   * not there.
   */
  inline std::string real_matrix_file(const std::string &name)
  {
#ifdef LEOPARD_MATRICES_DEFAULT
    std::string folder = LEOPARD_MATRICES_DEFAULT;
#else
    std::string folder;
#endif
    if (const char *variable = std::getenv("LEOPARD_MATRICES"))
      folder = variable;
    const std::string file = folder + "/" + name + ".mtx.gz";
    return !folder.empty() && std::filesystem::exists(file) ? file : "";
  }
} // namespace leopard
