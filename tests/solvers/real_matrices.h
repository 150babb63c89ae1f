// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  /**
   * The file of a real matrix; they are beside the project, in the folder that LEOPARD_MATRICES names. Empty if it is
   * not there.
   */
  std::string real_matrix_file(const std::string &name);
} // namespace leopard
