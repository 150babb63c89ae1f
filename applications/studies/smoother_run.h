// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "smoother_row.h"
#include "study_problem.h"

namespace leopard
{
  /** What one row of a study runs, beside its problem. */
  struct SmootherCombination
  {
    const SmootherChoice *smoother = nullptr;
    int                   steps    = 2;
    CycleType             cycle    = CycleType::v;
    std::string           solver   = "multigrid";
  };

  /**
   * Solves the problem from zero as often as the study repeats, and profiles a cycle. Whatever strikes this combination
   * alone (a smoother that diverges or cannot be made, too little memory) is in the row's status and note, and no
   * exception.
   * @param study with the backend chosen. @param n_threads of the host backend.
   */
  SmootherRow run_smoother(const StudyProblem &problem, const SmootherCombination &combination, const SmootherStudyParameters &study, int n_threads);
} // namespace leopard
