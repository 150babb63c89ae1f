// SPDX-License-Identifier: Apache-2.0
#include "unused_entries.h"

#include "entries.h"
#include "parameters.h"
#include "provenance.h"
#include "simulation.h"
#include "unused_constants.h"

#include <applications/base/log.h>

#include <deal.II/base/mpi.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace leopard
{
  std::vector<UnusedEntries> unused_entries(const RunKind &run)
  {
    std::vector<UnusedEntries> result;
    const auto                 add = [&](const std::string &entry, const std::string &why) {
      auto group = std::find_if(result.begin(), result.end(), [&](const UnusedEntries &u) { return u.why == why; });
      if (group == result.end())
        group = result.insert(result.end(), {why, {}});
      group->entries.push_back(entry);
    };
    for (const auto &[entry, where] : run.parameters.given)
      if (const std::string why = why_not_used(entry, run); !why.empty())
        add(entry, why);
    for (const UnusedConstant &constant : unused_constants(run.parameters))
      add(constant.entry, constant.why);
    return result;
  }

  std::string to_text(const UnusedEntries &unused)
  {
    std::string names;
    for (const std::string &entry : unused.entries)
      names += (names.empty() ? "'" : ", '") + entry + "'";
    return "not used: " + names + " (" + unused.why + ")";
  }

  std::string unused_entries_before_the_run(const Parameters &parameters)
  {
    std::string text;
    const auto  of_fused = unused_entries({parameters, true});
    const auto  by_fused = [&](const std::string &entry) {
      return std::none_of(of_fused.begin(), of_fused.end(), [&](const UnusedEntries &unused) {
        return std::find(unused.entries.begin(), unused.entries.end(), entry) != unused.entries.end();
      });
    };
    for (UnusedEntries unused : unused_entries({parameters, false}))
      {
        unused.entries.erase(std::remove_if(unused.entries.begin(), unused.entries.end(), by_fused), unused.entries.end());
        if (!unused.entries.empty())
          text += "\n" + to_text(unused);
      }
    return text;
  }

  void report_unused_entries(const RunContext &context, bool fused, bool has_cycles)
  {
    nlohmann::json &report = context.provenance.json();
    if (report.contains("not_used"))
      return; // a convergence study comes here for each of its runs
    report["not_used"] = nlohmann::json::array();
    if (!context.parameters.sweep.writes_files())
      context.log.line(std::string("neither fields nor checkpoints are written: ") + keeps_measures);
    for (const UnusedEntries &unused : unused_entries({context.parameters, fused, dealii::Utilities::MPI::n_mpi_processes(context.comm), has_cycles}))
      {
        for (const std::string &entry : unused.entries)
          report["not_used"].push_back({{"entry", entry}, {"why", unused.why}});
        context.log.line(to_text(unused));
      }
  }
} // namespace leopard
