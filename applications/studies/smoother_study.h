// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/run/simulation.h>

#include <string>

namespace leopard
{
  /**
   * What is to be known before the run directory is touched. @throws Error on several ranks, and for a run to resume.
   */
  void check_smoother_study(OpenMode mode, MPI_Comm comm);

  /**
   * Runs all combinations of the cases of a smoother study. After each competition (problem, size, levels) it writes
   * study.csv and study_history.csv to the run directory, at the end study.txt (tables, winners) and, where findings of
   * the thesis are compared, study_findings.csv.
   * @return the status for the log and run.json. @throws Error for what no row can do anything about.
   */
  std::string run_smoother_study(const RunContext &context);
} // namespace leopard
