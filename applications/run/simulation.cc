// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include "provenance.h"

#include <applications/base/parameter_file.h>

#include <nlohmann/json.hpp>

namespace leopard
{
  std::string text_of_shared_mesh(const RunContext &context)
  {
    if (context.mesh == nullptr || context.beginning.checkpoint || context.parameters.verification.refinements > 0)
      return "";
    std::string text = context.provenance.json().at("mesh_file").dump(); // with its checksum
    text += context.parameters.discretization.multigrid ? ", with levels" : "";
    for (const auto &[entry, value] : assignments_of(context.parameters.all_entries))
      if (entry == "Dimension" || entry == "Discretization/Degree" || entry.rfind("Mesh/", 0) == 0)
        text += "\n" + entry + " = " + value;
    return text;
  }

  std::string run_simulation(const RunContext &context)
  {
    if (context.parameters.study == "smoothers")
      return context.study.run(context);
    const bool time_dependent = context.parameters.problem->time_dependent();
    if (context.parameters.mesh.is_surface())
      return time_dependent ? run_time_dependent<2, 3>(context) : run_stationary<2, 3>(context);
    if (context.parameters.dimension == 2)
      return time_dependent ? run_time_dependent<2, 2>(context) : run_stationary<2, 2>(context);
    return time_dependent ? run_time_dependent<3, 3>(context) : run_stationary<3, 3>(context);
  }
} // namespace leopard
