// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study_report.h"

#include <string>
#include <vector>

namespace leopard::studies
{
  /** What the runs of one matrix and set-up say. */
  struct Varied
  {
    double              factor, synchronous_factor; ///< of the residual in a global iteration
    double              largest, first, last;       ///< spread of the residuals in parts of their mean: at most, and at these samples
    std::string         schedule;                   ///< in words
    std::vector<double> synchronous;                ///< residuals of that schedule; empty: they are not those of the printed set-up
  };

  /** Thesis, Tables 4.1 and 4.2, and what they are reconstructed from; of other matrices nothing. */
  void judge_variation(const std::string &matrix, const std::string &set_up, const Varied &found, Report &report);

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
