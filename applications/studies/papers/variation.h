// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

namespace leopard::studies
{
  /** How much the runs on a matrix differ. */
  struct Spread
  {
    std::string matrix;
    double      relative; ///< the largest of (largest - smallest residual) / mean over the iterations
  };

  /**
   * Thesis, section 4.3: runs differ more where more weight is outside of the diagonal blocks (strong). Largest values
   * of some runs within a factor of 2 decide nothing.
   */
  void judge_spreads(const std::string &set_up, const Spread &weak, const Spread &strong, Report &report);
} // namespace leopard::studies
