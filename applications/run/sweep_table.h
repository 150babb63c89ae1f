// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sweep.h"

#include <applications/base/run_directory.h>

#include <string>
#include <vector>

namespace leopard
{
  /** Whether a run with this status (of run.json) is complete. */
  bool has_ended(const std::string &status);

  /**
   * Writes sweep.csv and sweep.txt: a row a run with its folder, the values of the varied entries, its status, its
   * wall-clock time in seconds and its final measures, as run.json in the run's folder has them; a failure as the file
   * in claims/ says it. Local. @throws std::runtime_error.
   */
  void write_sweep_table(const RunDirectory &directory, const std::vector<SweepAxis> &axes, const std::vector<SweepRun> &runs);
} // namespace leopard
