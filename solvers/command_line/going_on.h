// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conclusion.h"

namespace leopard::command_line
{
  /**
   * Of a method that its limit has ended, whose residual has fallen so steadily that n_more iterations should do:
   * solves for what is left with the same, without another set-up. Otherwise found stays. @param found with x in the
   * order of its blocks. @param system, b in the order of the file.
   */
  void go_on(Solution &found, const CrsMatrix<double> &system, const std::vector<double> &b, int n_more, StoppingCriteria criteria);
} // namespace leopard::command_line
