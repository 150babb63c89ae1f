// SPDX-License-Identifier: Apache-2.0
#include "transport_check.h"

#include "simulation.h"

#include <applications/base/log.h>
#include <applications/problems/diffusion_matrix.h>
#include <applications/problems/field_transport.h>
#include <applications/problems/found_value.h>
#include <solvers/base/errors.h>

#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr unsigned int most_refinements = 12; ///< that are worth a proposal

    /** "'Mesh/Global refinements' = 8, where it is 4 now": cells that are shorter by a factor, or nothing. */
    std::string text_of_refinements(const MeshParameters &mesh, double factor)
    {
      const double more = std::ceil(std::log2(factor) - 1e-9), all = mesh.global_refinements + std::max(1., more);
      if (!(all <= most_refinements))
        return "";
      return format("'Mesh/Global refinements' = %g, where it is %u now", all, mesh.global_refinements);
    }

    /** What is added to the diffusion of a field, and what to do; empty where that is little. */
    std::string smeared(const Parameters &parameters, const TransportFindings::Advection &found, unsigned int dimension)
    {
      if (!(found.peclet > 1.))
        return "";
      const std::string field = parameters.problem->fields()[found.field], place = place_text(&found.place[0], dimension);
      const bool        none = !(found.own > 0.);
      const std::string numbers =
        none ? "with no diffusion of its own, most of all at " + place + ": a diffusion of " + format("%.3g", found.added)
             : format("the cell Peclet number |V| h / (2 D) is up to %.3g, at ", found.peclet) + place +
                 format(": there a diffusion of %.3g, %.3g times the field's own %.3g,", found.added, found.added / found.own, found.own);
      std::string text =
        "advection of " + field + " is strong against its diffusion on a cell, " + numbers +
        " is added along the flow, so that the field does not oscillate; it smears fronts and peaks, and the error is of first order";
      const std::string refinements = none ? "" : text_of_refinements(parameters.mesh, found.peclet);
      text += refinements.empty() ? "\n  to try: a finer mesh, each refinement of which halves what is added"
                                  : "\n  to try: " + refinements + ": then it is below a third of the field's own";
      return text + "; where the field is smooth, 'Discretization/Degree' = 2, which adds none";
    }
  } // namespace

  template <int dim, int spacedim>
  void check_transport(const RunContext                    &context,
                       const Discretization<dim, spacedim> &discretization,
                       TransportTerms                      &transport,
                       const HostVector                    &u,
                       double                               t,
                       bool                                 warns)
  {
    const Parameters &parameters = context.parameters;
    if (const std::string complaint = transport.complaint(u, t); !complaint.empty())
      throw Error(complaint);
    if (parameters.time.explicit_reaction() && discretization.on_simplices() && parameters.discretization.degree == 2)
      throw Error("'Time stepping/Scheme' is " + parameters.time.scheme +
                  ", which divides cross-diffusion and advection by the lumped mass of a node, and of triangles of degree 2 vertices have none"
                  "\n  expected: an implicit scheme, or 'Discretization/Degree' = 1");
    const TransportFindings found = transport.findings(u, t, parameters.growth.length(t));
    if (const auto &wrong = found.diffusion; !wrong.eigenvalues.empty())
      {
        const DiffusionMatrix matrix(*parameters.problem);
        const std::string     where = at_place({&wrong.place[0], spacedim, t}, 0);
        if (!matrix.depends_on_fields())
          throw Error(matrix.message(wrong.eigenvalues, where));
        if (warns)
          context.log.warning(
            matrix.message(wrong.eigenvalues, where + where_fields_are(parameters.problem->fields(), wrong.fields.data()), "to try"));
      }
    if (warns)
      if (const std::string text = smeared(parameters, found.advection, spacedim); !text.empty())
        context.log.warning(text);
  }

  template void check_transport(const RunContext &, const Discretization<2, 2> &, TransportTerms &, const HostVector &, double, bool);
  template void check_transport(const RunContext &, const Discretization<3, 3> &, TransportTerms &, const HostVector &, double, bool);
  template void check_transport(const RunContext &, const Discretization<2, 3> &, TransportTerms &, const HostVector &, double, bool);
} // namespace leopard
