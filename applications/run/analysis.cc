// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include "parameters.h"

#include <nlohmann/json.hpp>

namespace leopard
{
  std::string analyze_problem(const Parameters &parameters, MPI_Comm comm, nlohmann::json &run_json)
  {
    if (!parameters.problem->has_analysis())
      return "";
    const Domain domain = parameters.dimension == 2 ? describe_domain<2>(parameters.mesh, comm) : describe_domain<3>(parameters.mesh, comm);
    std::string  text;
    parameters.problem->analyze(domain, text, run_json["analysis"]);
    return "\n" + text;
  }
} // namespace leopard
