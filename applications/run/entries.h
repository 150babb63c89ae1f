// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  struct Parameters;

  /** What --resume allows for an entry. */
  enum class OnResume
  {
    free,         ///< it says where, how long and by whom is computed: it may change
    further,      ///< it says how far the run goes: it may change to what is not done yet
    takes_effect, ///< it may change, from the checkpoint on; not in a sweep, whose runs are compared
    fixed         ///< what is in the checkpoint depends on it: another value is an error
  };

  /** What decides who reads an entry. */
  struct RunKind
  {
    const Parameters &parameters;
    bool              fused      = false; ///< whether steps are done by the fused time loop
    unsigned int      n_ranks    = 0;     ///< of the run; 0: not known yet
    bool              has_cycles = true;  ///< whether the fused time loop has multigrid; not where it is one kernel for short steps
  };

  /**
   * "Section/Entry" of each row of the table in entries_of_problem.cc and entries_of_solution.cc, which alone know the
   * answers below; a star at the end stands for all that begin so.
   */
  std::vector<std::string> rows_of_entries();

  /** @param entry "Section/Entry". @throws an exception of deal.II if no row stands for it. */
  OnResume on_resume(const std::string &entry, bool time_dependent);

  /** Why the run does not read the entry; empty if it does. */
  std::string why_not_used(const std::string &entry, const RunKind &run);
} // namespace leopard
