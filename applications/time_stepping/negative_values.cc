// SPDX-License-Identifier: Apache-2.0
#include "time_integrator.h"

#include <applications/base/log.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/field_transport.h>
#include <applications/problems/problem.h>
#include <solvers/base/errors.h>
#include <solvers/base/words.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>

// TimeIntegrator: fields below zero, and what takes them there

namespace leopard
{
  using namespace dealii;

  void TimeIntegrator::look_for_negative_fields(const FieldInspection &values)
  {
    const std::vector<double> &steady = problem.steady_state();
    may_be_negative.clear();
    begins_at_zero.clear();
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        may_be_negative.push_back(values.is_negative(c) || (!steady.empty() && steady[c] < 0.));
        begins_at_zero.push_back(values.minimum[c] <= 1e-8 * values.size[c]);
      }
  }

  bool TimeIntegrator::has_negative_boundary_values(unsigned int c)
  {
    if (!distribute || !problem.has_boundary_values())
      return false;
    prediction = 0.; // of which hanging nodes and periodic copies are zero, too
    distribute(prediction);
    return inspect(prediction, n_fields).minimum[c] < 0.;
  }

  std::string TimeIntegrator::what_acts_at_zero(unsigned int c, const FieldInspection &values, double start, double step_size)
  {
    const double   end  = start + step_size;
    const MPI_Comm comm = u_new.get_mpi_communicator();
    if (update_load)
      update_load(end);
    const unsigned int  n_nodes   = u_new.locally_owned_size() / n_fields;
    const unsigned int  dimension = n_nodes > 0 ? noise_places.size() / n_nodes : 0;
    std::vector<double> strengths(n_fields, 0.);
    double              most_negative_rate = 0., largest_noise = 0.;
    for (const double sign : {1., -1.}) // of fields with both signs, which may have had the other one in a step before
      {
        for (unsigned int i = 0; i < u_new.locally_owned_size(); ++i)
          {
            const unsigned int d  = i % n_fields;
            const double       u  = u_new.begin()[i];
            prediction.begin()[i] = d != c && may_be_negative[d] ? sign * u : std::max(u, 0.); // else it is an error
          }
        implicit_system.reaction(prediction, combination, end);
        for (unsigned int node = 0; node < n_nodes; ++node)
          {
            const unsigned int i    = node * n_fields + c;
            const double       mass = system.lumped_mass.begin()[i];
            if (mass == 0. || !(u_new.begin()[i] < -1e-8 * values.size[c]))
              continue;
            most_negative_rate = std::min(most_negative_rate, combination.begin()[i] + system.load.begin()[i] / mass);
            if (!problem.has_noise())
              continue;
            problem.noise_strength(
              1, prediction.begin() + node * n_fields, strengths.data(), {noise_places.data() + std::size_t(node) * dimension, dimension, end});
            largest_noise = std::max(largest_noise, std::abs(strengths[c]));
          }
      }
    if (Utilities::MPI::max(largest_noise, comm) > 0.)
      return "noise acts where it is zero, whatever the steps are";
    if (Utilities::MPI::max(-most_negative_rate, comm) * step_size > 1e-8 * values.size[c])
      return "its reaction, sources or fluxes take it there from zero, and not an error of the steps";
    return "";
  }

  std::string TimeIntegrator::what_may_undershoot(unsigned int c) const
  {
    std::vector<std::string> reasons;
    if (const FieldTransport *const transport = problem.transport(); transport != nullptr)
      {
        const auto &advection = transport->advection_terms();
        const auto &cross     = transport->cross_terms();
        if (std::any_of(advection.begin(), advection.end(), [c](const auto &term) { return term.field == c; }))
          reasons.emplace_back("advection");
        if (std::any_of(cross.begin(), cross.end(), [c](const auto &term) { return term.field == c; }))
          reasons.emplace_back("cross-diffusion");
      }
    if (has_consistent_mass())
      reasons.emplace_back("the consistent mass matrix");
    if (problem.has_noise())
      reasons.emplace_back("noise");
    reasons.emplace_back("long steps");
    return joined(reasons, ", ", " or ");
  }

  bool TimeIntegrator::has_consistent_mass() const
  {
    const IndexSet own   = u_new.locally_owned_elements();
    double         apart = 0.;
    for (unsigned int i = 0; i < u_new.locally_owned_size(); ++i)
      if (const double lumped = system.lumped_mass.begin()[i]; lumped != 0. && !problem.is_quasi_stationary(i % n_fields))
        apart = std::max(apart, std::abs(system.mass.diag_element(own.nth_index_in_set(i)) / lumped - 1.));
    return Utilities::MPI::max(apart, u_new.get_mpi_communicator()) > 1e-6;
  }

  std::string TimeIntegrator::text_of_negative(unsigned int c, const FieldInspection &values, double start, double step_size)
  {
    const double      part   = -values.minimum[c] / values.size[c];
    const std::string errors = parameters.adaptive() ? "the errors that the tolerance allows" : "a thousandth";
    const std::string cause  = what_acts_at_zero(c, values, start, step_size);
    return problem.fields()[c] + (may_be_negative[c] ? " is negative, " : " becomes negative, ") +
           format("%.3g (%.2g %% of its largest value, %.3g: ", values.minimum[c], 100. * part, values.size[c]) +
           (!cause.empty() ? cause
            : !(part > harmless_negative())
              ? "no more than " + errors + ", and harmless unless the reaction is singular near 0"
              : "more than " + errors + ", which " + what_may_undershoot(c) + " may cause; do not trust the result unless a smaller '" +
                  (parameters.adaptive() ? "Error tolerance" : "Step size") + "' or a finer mesh" +
                  (has_consistent_mass() ? " or 'Discretization/Mass matrix' = lumped" : "") + " takes them away") +
           "), in the step from time " + format("%.8g", start);
  }

  int TimeIntegrator::field_below_zero(const FieldInspection &found, double start, double step_size)
  {
    FieldInspection values = found;
    if (parameters.negative_values != "ignore")
      return values.negative_field();
    if (!problem.fields_are_concentrations())
      return -1;
    int field = -1;
    while ((field = values.negative_field()) >= 0)
      {
        may_be_negative[field] = may_be_negative[field] || has_negative_boundary_values(field) ||
                                 (begins_at_zero[field] && !what_acts_at_zero(field, values, start, step_size).empty());
        if (!may_be_negative[field])
          break;
        values.minimum[field] = 0.;
      }
    return field;
  }

  void TimeIntegrator::check_negative_values(const FieldInspection &values, double start, double step_size, StepReport &report)
  {
    if (parameters.negative_values == "ignore" && told_negative > harmless_negative()) // all is said
      return;
    const int field = field_below_zero(values, start, step_size);
    if (field < 0)
      return;
    const double part  = -values.minimum[field] / values.size[field];
    const bool   grave = part > harmless_negative();
    if (parameters.negative_values == "stop")
      throw ConvergenceFailure(
        text_of_negative(field, values, start, step_size) + " with step size " + format("%.4g", step_size) +
        ", and 'Time stepping/Negative values' is stop\n  to try: a smaller step or error tolerance, other kinetics or initial "
        "values; 'Negative values' = " +
        (parameters.exponential() ? "ignore" : "clip or ignore"));
    if (told_negative == 0. || (grave && told_negative <= harmless_negative()))
      report.notes.push_back("warning: " + text_of_negative(field, values, start, step_size) +
                             (parameters.negative_values == "clip" ? "; such values are set to zero" : "; the run goes on") +
                             " ('Time stepping/Negative values', " + (grave ? "said once)" : "said again only if it is more)"));
    told_negative = std::max(told_negative, part);
    if (parameters.negative_values == "clip")
      report.clipped = clip_negative_values(u_new); // the reaction is that of the clipped values already
  }
} // namespace leopard
