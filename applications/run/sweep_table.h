// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sweep.h"

#include <applications/base/run_directory.h>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace leopard
{
  /** Whether a run with this status (of run.json) is complete. */
  bool has_ended(const std::string &status);

  /**
   * The files sweep.csv and sweep.txt: a row a run with its folder, the values of the varied entries, its status, its
   * wall-clock time in seconds and its final measures, as run.json in the run's folder has them; a failure as the file
   * in claims/ says it.
   */
  class SweepTable
  {
  public:
    /** The arguments must outlive it. */
    SweepTable(const RunDirectory &directory, const std::vector<SweepAxis> &axes, const std::vector<SweepRun> &runs);
    ~SweepTable();

    /** As it is now; of runs that have ended run.json is read once. Local. @throws std::runtime_error. */
    void write();

  private:
    const RunDirectory           &directory;
    const std::vector<SweepAxis> &axes;
    const std::vector<SweepRun>  &runs;
    std::vector<nlohmann::json>   results; ///< of each run
  };
} // namespace leopard
