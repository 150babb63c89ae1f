// SPDX-License-Identifier: Apache-2.0
#include "analyze_problem.h"

#include "initial_values.h"
#include "parameters.h"
#include "start_check.h"

#include <nlohmann/json.hpp>

namespace leopard
{
  std::string analyze_problem(const Parameters &parameters, MPI_Comm comm, nlohmann::json *run_json, bool starts_anew)
  {
    if (parameters.study != "none")
      return "";
    const Domain domain = parameters.mesh.is_surface() ? describe_domain<2, 3>(parameters.mesh, comm)
                          : parameters.dimension == 2  ? describe_domain<2, 2>(parameters.mesh, comm)
                                                       : describe_domain<3, 3>(parameters.mesh, comm);
    if (starts_anew)
      check_source_of_initial_values(parameters, comm);
    std::string lines;
    Forecast    forecast;
    if (parameters.problem->has_analysis())
      {
        std::string    text;
        nlohmann::json report;
        forecast = parameters.problem->analyze(domain, text, report);
        lines    = "\n" + text;
        if (run_json != nullptr && !report.is_null()) // nothing is reported where the reaction depends on the place
          (*run_json)["analysis"] = report;
      }
    for (const std::string &warning : start_warnings(parameters, domain, forecast, starts_anew))
      {
        lines += "\nwarning: " + warning;
        if (run_json != nullptr)
          (*run_json)["warnings"].push_back(warning);
      }
    return lines;
  }
} // namespace leopard
