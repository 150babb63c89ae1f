// SPDX-License-Identifier: Apache-2.0
#include "analyze_problem.h"

#include "initial_values.h"
#include "parameters.h"
#include "start_check.h"
#include "vtu_source.h"

#include <applications/base/log.h>

#include <nlohmann/json.hpp>

namespace leopard
{
  namespace
  {
    /** Over the box around the domain in x and y. */
    void stretch(Pictures &pictures, const Parameters &parameters, const Domain &domain)
    {
      const MeshParameters &mesh = parameters.mesh;
      std::vector<double>   half; // of what is round, whose coarse mesh lies within
      if (mesh.domain == "ball" || mesh.domain == "sphere" || (mesh.domain == "cylinder" && parameters.dimension == 2))
        half = {mesh.radius, mesh.radius};
      else if (mesh.domain == "cylinder")
        half = {mesh.half_length, mesh.radius}; // along x
      else if (mesh.domain == "torus")
        half = {mesh.radius + mesh.tube_radius, mesh.tube_radius}; // around y
      if (half.empty())
        pictures.set_box(domain.lower, domain.upper);
      else
        pictures.set_box({-half[0], -half[1]}, half);
    }
  } // namespace

  std::string analyze_problem(const Parameters &parameters, MPI_Comm comm, nlohmann::json *run_json, bool starts_anew)
  {
    read_fields_of_images(parameters, comm);
    if (parameters.study != "none")
      return "";
    const Domain domain = parameters.mesh.is_surface() ? describe_domain<2, 3>(parameters.mesh, comm)
                          : parameters.dimension == 2  ? describe_domain<2, 2>(parameters.mesh, comm)
                                                       : describe_domain<3, 3>(parameters.mesh, comm);
    std::string  lines;
    Forecast     forecast;
    const auto   warn = [&](const std::string &warning) {
      lines += "\nwarning: " + warning;
      if (run_json != nullptr)
        (*run_json)["warnings"].push_back(warning);
    };
    if (Pictures *const pictures = parameters.problem->pictures.get(); pictures != nullptr)
      {
        stretch(*pictures, parameters, domain);
        for (std::size_t i = 0; i < pictures->names().size(); ++i)
          {
            lines += "\n" + pictures->description(i);
            if (pictures->is_picture(i) && pictures->stretch(i) > 1.1)
              warn(format("the picture %s is stretched: its pixels are %.3g times as long in one direction as in the other"
                          "\n  to try: a picture of the domain's shape, or a domain of the picture's",
                          pictures->names()[i].c_str(),
                          pictures->stretch(i)));
          }
      }
    if (starts_anew)
      check_source_of_initial_values(parameters, comm);
    if (parameters.problem->has_analysis())
      {
        std::string    text;
        nlohmann::json report;
        forecast = parameters.problem->analyze(domain, text, report);
        lines += "\n" + text;
        if (run_json != nullptr && !report.is_null()) // nothing is reported where the reaction depends on the place
          (*run_json)["analysis"] = report;
      }
    if (const std::string note = note_on_changes_in_time(parameters); !note.empty())
      lines += "\n" + note;
    for (const std::string &warning : start_warnings(parameters, domain, forecast, starts_anew))
      warn(warning);
    return lines;
  }
} // namespace leopard
