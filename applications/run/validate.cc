// SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include "analyze_problem.h"
#include "choices.h"
#include "mesh_check.h"
#include "run.h"
#include "unused_entries.h"

namespace leopard
{
  std::string validate(const RunRequest &request, MPI_Comm comm)
  {
    const Parameters parameters(request.file, request.overrides, comm);
    std::string      text = request.file + " is valid: " + parameters.description(comm);
    parameters.locating([&] {
      text += analyze_problem(parameters, comm);
      for (const std::string &line : choices(parameters))
        text += "\n" + line;
      if (const std::string line = expected_time_loop(parameters); !line.empty())
        text += "\n" + line;
      if (parameters.sweep.axes.empty()) // a sweep may replace the mesh, and no run has that of the file
        {
          check_mesh(parameters, comm);
          check_fields_of_files(parameters, comm);
        }
    });
    check_sweep(request, parameters, comm);
    text += unused_entries_before_the_run(parameters);
    if (!parameters.sweep.axes.empty())
      text += "\na sweep of " + std::to_string(parameters.sweep.runs().size()) + " runs";
    return text;
  }
} // namespace leopard
