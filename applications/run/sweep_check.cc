// SPDX-License-Identifier: Apache-2.0
#include "sweep_check.h"

#include "choices.h"
#include "initial_values.h"
#include "mesh_check.h"
#include "vtu_source.h"

#include <applications/base/parameter_file.h>
#include <applications/base/stop_signal.h>
#include <solvers/base/words.h>

#include <limits>
#include <set>

namespace leopard
{
  RunRequest request_for(const RunRequest &request, const Parameters &parameters, const SweepRun &run)
  {
    RunRequest single = request;
    single.overrides.insert(single.overrides.end(), run.overrides.begin(), run.overrides.end());
    single.overrides.emplace_back("Run/Sweep=");
    single.overrides.emplace_back("Run/Sweep ranks per run=0");
    single.overrides.emplace_back("Run/Sweep runs at a time=0");
    single.overrides.push_back("Run/Directory=" + parameters.directory + "/runs/" + run.folder);
    return single;
  }

  Parameters parameters_for(const RunRequest &single, const SweepRun &run, MPI_Comm comm)
  {
    return naming(run, [&] {
      Parameters own(single.file, single.overrides, comm);
      own.sweep.is_one_run = true;
      if (!own.sweep.writes_files()) // steps are not interrupted for what is not written
        {
          own.time_loop.output_times.clear();
          own.time_loop.output_interval    = 0.;
          own.time_loop.checkpoint_minutes = std::numeric_limits<double>::infinity();
          own.time_loop.checkpoint_steps   = 0;
        }
      return own;
    });
  }

  bool is_one_off(const SweepRun &first, const SweepRun &run)
  {
    int n_other = 0;
    for (std::size_t i = 0; i < run.values.size(); ++i)
      n_other += run.values[i] != first.values[i] ? 1 : 0;
    return n_other <= 1;
  }

  namespace
  {
    /** What a run reads, and the mesh that it is read for. */
    std::string files_of(const Parameters &own)
    {
      const Problem &problem = *own.problem;
      std::string    text    = joined(problem.fields()) + '\n' + problem.initial_from;
      for (const auto &[entry, value] : assignments_of(own.all_entries))
        if (entry == "Dimension" || entry == "Discretization/Degree" || entry.rfind("Mesh/", 0) == 0)
          text += '\n' + value;
      if (problem.pictures != nullptr)
        for (std::size_t i = 0; i < problem.pictures->paths().size(); ++i)
          text += '\n' + problem.pictures->paths()[i] + ": " + problem.pictures->field(i);
      return text;
    }
  } // namespace

  void
  check_sweep(const RunRequest &request, const Parameters &parameters, MPI_Comm comm, const std::function<void(const SweepRun &, Parameters &)> &then)
  {
    const std::vector<SweepRun> runs = parameters.sweep.axes.empty() ? std::vector<SweepRun>() : parameters.sweep.runs();
    std::set<std::string>       read; // files_of() the runs
    for (const SweepRun &run : runs)
      {
        throw_if_stop_requested(comm);
        Parameters own = parameters_for(request_for(request, parameters, run), run, comm);
        naming(run, [&] {
          own.locating([&] {
            expected_time_loop(own);
            const bool has_new_files = read.insert(files_of(own)).second;
            if (has_new_files || is_one_off(runs.front(), run))
              check_mesh(own, comm);
            if (!has_new_files || request.mode == OpenMode::resume) // what runs have begun with is not needed any more
              return;
            check_source_of_initial_values(own, comm);
            read_fields_of_images(own, comm);
            check_fields_of_files(own, comm);
          });
        });
        if (then)
          then(run, own);
      }
  }
} // namespace leopard
