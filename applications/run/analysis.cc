// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include "parameters.h"

#include <nlohmann/json.hpp>

namespace leopard
{
  std::string analyze_problem(const Parameters &parameters, MPI_Comm comm, nlohmann::json *run_json)
  {
    if (parameters.study != "none" || !parameters.problem->has_analysis())
      return "";
    const Domain   domain = parameters.mesh.is_surface() ? describe_domain<2, 3>(parameters.mesh, comm)
                            : parameters.dimension == 2  ? describe_domain<2, 2>(parameters.mesh, comm)
                                                         : describe_domain<3, 3>(parameters.mesh, comm);
    std::string    text;
    nlohmann::json report;
    parameters.problem->analyze(domain, text, report);
    if (run_json != nullptr)
      (*run_json)["analysis"] = report;
    return "\n" + text;
  }
} // namespace leopard
