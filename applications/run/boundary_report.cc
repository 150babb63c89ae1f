// SPDX-License-Identifier: Apache-2.0
#include "boundary_report.h"

#include "boundary_check.h"
#include "layer_check.h"
#include "provenance.h"
#include "simulation.h"

#include <applications/base/log.h>
#include <applications/discretization/mesh.h>
#include <applications/discretization/mesh_gaps.h>
#include <applications/problems/problem.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Boundary ids that have the same condition. */
    struct Part
    {
      std::string condition; ///< "u = 0", "flux = 1"; empty: nothing is given
      std::string ids;       ///< "0, 2"
    };

    std::string condition_on(const std::string &field, const BoundaryConditions &conditions, unsigned int id)
    {
      const auto shortened = [](const std::string &text) { return text.size() <= 80 ? text : text.substr(0, 77) + "..."; };
      if (const Expression *value = conditions.value(id); value != nullptr)
        return field + " = " + shortened(value->description());
      if (const Expression *flux = conditions.flux(id); flux != nullptr)
        return "flux = " + shortened(flux->description());
      return "";
    }

    /** "u = 0 on 0; nothing is given for 1, 2, 3: no flux". */
    std::string
    text_of(const std::string &field, const BoundaryConditions &conditions, const std::set<types::boundary_id> &ids, const BoundaryNames &names)
    {
      std::vector<Part> parts;
      std::string       without;
      for (const unsigned int id : ids)
        {
          const std::string condition = condition_on(field, conditions, id);
          const auto        same      = std::find_if(parts.begin(), parts.end(), [&](const Part &part) { return part.condition == condition; });
          if (condition.empty())
            without += (without.empty() ? "" : ", ") + names.described(id);
          else if (same != parts.end())
            same->ids += ", " + names.described(id);
          else
            parts.push_back({condition, names.described(id)});
        }
      std::string text;
      for (const Part &part : parts)
        text += (text.empty() ? "" : "; ") + part.condition + " on " + part.ids;
      if (!without.empty())
        text += (text.empty() ? "" : "; ") + ("nothing is given for " + without) + ": no flux";
      return text;
    }
  } // namespace

  template <int dim, int spacedim>
  void report_boundary(const RunContext &context, const Discretization<dim, spacedim> &discretization, double end_time)
  {
    const Problem                     &problem   = *context.parameters.problem;
    const MeshParameters              &mesh      = context.parameters.mesh;
    const bool                         from_file = mesh.domain == "file" || mesh.domain == "surface file";
    const std::set<types::boundary_id> ids       = boundary_ids(discretization.triangulation);
    const auto                         fields    = problem.fields();
    if (from_file)
      if (const std::string text = gaps_of(discretization.triangulation); !text.empty())
        context.log.warning(text);
    if (!context.beginning.checkpoint)
      if (const std::string text = boundary_contradiction(discretization, mesh, problem, end_time); !text.empty())
        context.log.warning(text);
    if (const std::string text = thin_layers(discretization, context.parameters); !text.empty() && !context.beginning.checkpoint)
      context.log.warning(text);
    if (ids.empty() || (problem.time_dependent() && !problem.has_boundary_conditions()))
      return;
    for (unsigned int c = 0; c < fields.size(); ++c)
      {
        const BoundaryConditions &conditions = problem.boundary(c);
        const std::string         text       = text_of(fields[c], conditions, ids, context.parameters.boundary_names);
        context.log.line("boundary" + (fields.size() > 1 ? " of " + fields[c] : std::string()) + ": " + text);
        context.provenance.json()["boundary"][fields[c]] = text;
        if (from_file && !conditions.empty() && ids.count(0) == 1 && condition_on(fields[c], conditions, 0).empty())
          context.log.warning(
            "sides at the boundary of '" + mesh.file + "' are in no physical group (boundary id 0), and neither '" + problem.name() + "/" +
            problem.entry_for("Boundary values", fields[c]) + "' nor '" + problem.entry_for("Boundary fluxes", fields[c]) +
            "' gives something for these: no flux there\n  to try: 'leopard --describe-mesh' says how many there are; 0 or * in one of "
            "the entries, or a Physical " +
            (dim == 2 ? "Curve" : "Surface") + " of Gmsh for them");
      }
  }

  template void report_boundary(const RunContext &, const Discretization<2, 2> &, double);
  template void report_boundary(const RunContext &, const Discretization<3, 3> &, double);
  template void report_boundary(const RunContext &, const Discretization<2, 3> &, double);
} // namespace leopard
