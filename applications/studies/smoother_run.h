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
   * Solves the problem from zero with each of the combinations, as often as the study repeats, and profiles a cycle of
   * each. They take turns, repetition r of all, then r + 1, so that other work on the machine disturbs all of them
   * alike. For that their multigrid methods are in memory at once; where there is not enough of it, groups of them that
   * fit come one after the other. Whatever strikes a combination alone (a smoother that diverges or cannot be made, too
   * little memory) is in its row's status and note, and no exception.
   * @param study with the backend chosen. @param n_threads of the host backend.
   * @return a row for each combination, in their order; if the program is asked to stop, of the groups that have ended.
   */
  std::vector<SmootherRow> run_smoothers(const StudyProblem                     &problem,
                                         const std::vector<SmootherCombination> &combinations,
                                         const SmootherStudyParameters          &study,
                                         int                                     n_threads);
} // namespace leopard
