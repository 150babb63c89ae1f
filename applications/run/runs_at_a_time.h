// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leopard
{
  class Parameters;

  /** How many runs of a sweep a rank does side by side (in_turns()). */
  class RunsAtATime
  {
  public:
    /**
     * @param asked 'Run/Sweep runs at a time'; 0: as many as pay. @param ranks_per_run that share a run. @throws Error
     * if more than one is asked for and a run has several ranks.
     */
    RunsAtATime(int asked, int ranks_per_run);

    /** To be called for each run, its backend chosen. */
    void look_at(const Parameters &run);

    int         n() const;         ///< at least 1
    int         n_threads() const; ///< host threads of each run
    bool        on_gpu() const { return gpu; }
    std::string warning() const; ///< empty: none

  private:
    const int   asked, ranks_per_run;
    int         n_runs = 0, threads = 1, fewest_threads = 1 << 30;
    bool        gpu = false, sizes_are_known = true;
    double      largest = 0.; ///< unknowns
    std::string why_general;  ///< why a run has the general time loop or none; empty: all have the fused one
  };
} // namespace leopard
