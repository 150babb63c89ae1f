// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leopard
{
  struct Parameters;
  struct RunContext;
  struct RunKind;

  /** Entries that are given and not used for the same reason. */
  struct UnusedEntries
  {
    std::string              why;
    std::vector<std::string> entries;
  };

  /** "not used: 'Output/Interval' (why)". */
  std::string to_text(const UnusedEntries &unused);

  /** What the parameter file or --set gives and the run does not use; of a study, in none of its cases. */
  std::vector<UnusedEntries> unused_entries(const RunKind &run);

  /** "\nnot used: ..." for each reason that holds whoever does the steps, as far as it is known before the run. */
  std::string unused_entries_before_the_run(const Parameters &parameters);

  /**
   * Names them in the log and in run.json ("not_used"), once a run, and says so where it writes no fields. @param
   * fused, has_cycles as of RunKind.
   */
  void report_unused_entries(const RunContext &context, bool fused, bool has_cycles = true);
} // namespace leopard
