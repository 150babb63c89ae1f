// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include "provenance.h"

#include <applications/base/log.h>
#include <applications/base/parameter_file.h>
#include <applications/problems/turing/kinetics.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace leopard
{
  namespace
  {
    /**
     * Whether an entry of a problem is of the reaction, of noise, or of the beginning, which no matrix knows. What is
     * not named here counts for matrices, so that a new entry makes new ones.
     */
    bool is_in_no_matrix(const std::string &entry)
    {
      const auto  begins  = [&](const std::string &name) { return entry.rfind("Turing/" + name, 0) == 0; };
      const char *names[] = {"gamma", "Reaction ", "Noise ", "Initial value", "Steady state", "Start from steady state", "Perturbation", "Seed"};
      return std::any_of(std::begin(names), std::end(names), begins) ||
             std::any_of(kinetics_registry().begin(), kinetics_registry().end(), [&](const auto &kinetics) { return begins(kinetics.first + " "); });
    }
  } // namespace

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

  std::string text_of_shared_system(const RunContext &context, const std::string &mesh_text)
  {
    const Parameters &parameters = context.parameters;
    const Problem    &problem    = *parameters.problem;
    if (mesh_text.empty() || problem.load_depends_on_time())
      return "";
    const bool  is_derived = !problem.derived.empty(); // from an exact solution, and then of the reaction, too
    std::string entries;
    for (const auto &[entry, value] : assignments_of(parameters.all_entries))
      if (entry.rfind("Discretization/", 0) == 0 ||
          (entry.rfind(problem.name() + "/", 0) == 0 && entry != problem.name() + "/Constants" && (is_derived || !is_in_no_matrix(entry))))
        entries += "\n" + entry + " = " + value;
    std::string text = mesh_text + entries + (parameters.discretization.finite_differences ? "\nfinite differences" : "");
    for (const auto &[name, value] : problem.constants)
      if (is_derived || is_named(name, entries))
        text += format("\n%s = %.17g", name.c_str(), value);
    if (problem.pictures != nullptr)
      text += "\n" + context.provenance.json()
                       .value("pictures", nlohmann::json())
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); // with checksums
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
