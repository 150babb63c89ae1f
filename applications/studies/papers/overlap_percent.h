// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study.h"

#include <string>

namespace leopard::studies
{
  /**
   * Overlap in percent of blocks of 256 rows, as on a GPU: L of IC(0) of LAP (overlap paper, Table 1, Figure 9). @param
   * side nodes a side.
   */
  void study_lap(int side, const CrsMatrix<double> &A, const Settings &settings, Report &report);

  /**
   * The same with L and U of another matrix, in the place of the collection's (Figure 8): factors of IC(0) if A is
   * symmetric and of ILU(0) otherwise, in reverse Cuthill-McKee order; overlap towards the dependencies (of L
   * bottom-up, of U top-down), uniform, and the other way.
   */
  void study_percent(const std::string &name, const CrsMatrix<double> &A, const Settings &settings, Report &report);
} // namespace leopard::studies
