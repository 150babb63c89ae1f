// SPDX-License-Identifier: Apache-2.0
#include "time_integrator.h"

#include <applications/base/log.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/problem.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>

// TimeIntegrator: whether a step is accepted, and what follows

namespace leopard
{
  using namespace dealii;

  StepReport TimeIntegrator::step(double max_step_size)
  {
    StepReport   report;
    const double mass_factor = implicit_system.dominant_mass_factor(levels[0], growth.factors(t), t);
    if (parameters.follows_bound())
      follow_bound(mass_factor);
    while (true)
      {
        const double step_size = std::min(dt, max_step_size);
        if (!(t + step_size > t))
          throw ConvergenceFailure(
            "the step size " + format("%.3e", step_size) + " is too small to advance the time " + format("%.8g", t) +
            growth_of_solution(inspect(levels[0], n_fields).largest) +
            "\n  to try: a larger step size, error tolerance or 'Time stepping/Smallest step'; a solution may blow up in finite time");
        const int order = std::min<int>(parameters.order(), n_levels);
        report.bound    = Controller::asynchronous_bound(mass_factor, order, steps[0]);
        choose_solver(step_size, report);
        long Rejections::*cause   = nullptr;
        const std::string failure = try_step(step_size, order, report, cause);
        if (!failure.empty())
          {
            reject_step(step_size, 0.25, failure, cause, report);
            continue;
          }
        // with too few old solutions there is no estimate: these few steps are as small as the user made the first one
        const bool can_estimate = static_cast<int>(n_levels) > order;
        report.error_estimate   = can_estimate ? estimate_error(step_size, order) : 0.;
        if (parameters.adaptive() && !(report.error_estimate <= 1.))
          {
            const double shorter = 0.85 * std::pow(report.error_estimate, -1. / (order + 1));
            reject_step(step_size,
                        shorter > 0.2 ? shorter : 0.2,
                        "the estimated local error is " + format("%.3g", report.error_estimate) + " times the tolerance",
                        &Rejections::error,
                        report);
            continue;
          }
        check_values(t, step_size, report);
        finish_step(step_size, order, can_estimate, report);
        return report;
      }
  }

  std::string TimeIntegrator::try_step(double step_size, int order, StepReport &report, long Rejections::*&cause)
  {
    std::string failure;
    cause = &Rejections::newton;
    try
      {
        failure = attempt(step_size, order, report);
      }
    catch (const DeviceError &)
      {
        throw; // a shorter step does not mend that
      }
    catch (const Error &error) // whatever cannot be done with the values of the attempt
      {
        failure = error.what();
        cause   = dynamic_cast<const ConvergenceFailure *>(&error) != nullptr ? &Rejections::linear_solver : &Rejections::not_finite;
      }
    if (failure.find("not finite") != std::string::npos) // whoever found that
      cause = &Rejections::not_finite;
    if (failure.empty() || parameters.adaptive())
      return failure;
    const std::size_t line = std::min(failure.find('\n'), failure.size());
    throw ConvergenceFailure(failure.substr(0, line) + " in the step from time " + format("%.8g", t) + " with step size " +
                             format("%.4g", step_size) + growth_of_solution(inspect(levels[0], n_fields).largest) + failure.substr(line) +
                             "\n  to try: a smaller step ('Time stepping/Step size' or 'Step factor'), more linear iterations or a smaller "
                             "'Newton/Linear tolerance', or 'Step control = error-controlled'");
  }

  std::string TimeIntegrator::growth_of_solution(double largest) const
  {
    if (!(largest > 10. * std::max(start_size, 1e-100)))
      return "";
    return format(" (the largest |u| has grown from %.3g at the start to %.3g: the solution may blow up)", start_size, largest);
  }

  namespace
  {
    /** Whether negative values matter that are `part` of the field's largest |u|. */
    std::string weight_of_negative(double part, double size, bool grave)
    {
      return format(" (%.2g %% of its largest value, %.3g: ", 100. * part, size) +
             (grave ? "more than the errors that the tolerance allows; do not trust the result unless a smaller 'Error tolerance' or a finer mesh "
                      "takes them away)"
                    : "no more than the errors that the tolerance allows, and harmless unless the reaction is singular near 0)");
    }
  } // namespace

  void TimeIntegrator::check_values(double start, double step_size, StepReport &report)
  {
    const FieldInspection values = inspect(u_new, n_fields);
    if (!values.finite || !(values.largest <= parameters.blow_up_factor * std::max(1., start_size)))
      throw ConvergenceFailure("the solution blows up in the step from time " + format("%.8g", start) + " with step size " +
                               format("%.4g", step_size) + ": the largest |u| is " + (values.finite ? format("%.3g", values.largest) : "not finite") +
                               ", at the start it was " + format("%.3g", start_size) +
                               "\n  to try: a smaller step or 'Time stepping/Step control = error-controlled', if the true solution stays bounded; "
                               "kinetics with saturation; a larger 'Time stepping/Blow-up factor', if such values are right");
    const int field = values.negative_field();
    if (field < 0 || (parameters.negative_values == "ignore" && !problem.fields_are_concentrations()))
      return;
    const double      part = -values.minimum[field] / values.size[field], harmless = parameters.adaptive() ? parameters.error_tolerance : 1e-3;
    const std::string found = problem.fields()[field] + " becomes negative, " + format("%.3g", values.minimum[field]) +
                              weight_of_negative(part, values.size[field], part > harmless) + ", in the step from time " + format("%.8g", start);
    if (parameters.negative_values == "stop")
      throw ConvergenceFailure(
        found + " with step size " + format("%.4g", step_size) +
        ", and 'Time stepping/Negative values' is stop\n  to try: a smaller step or error tolerance, other kinetics or initial "
        "values; 'Negative values' = clip or ignore");
    if (told_negative == 0. || (part > harmless && told_negative <= harmless))
      report.notes.push_back("warning: " + found + (parameters.negative_values == "clip" ? "; such values are set to zero" : "; the run goes on") +
                             " ('Time stepping/Negative values', " + (part > harmless ? "said once)" : "said again only if it is more)"));
    told_negative = std::max(told_negative, part);
    if (parameters.negative_values == "clip")
      {
        report.clipped = clip_negative_values(u_new);
        if (!rates.empty())
          implicit_system.reaction(u_new, rates[2], start + step_size);
      }
  }

  void TimeIntegrator::finish_step(double step_size, int order, bool can_estimate, StepReport &report)
  {
    report.step_size      = step_size;
    report.rate_of_change = rate_of_change(step_size, u_new);
    if (parameters.adaptive() && can_estimate)
      {
        const double growth = std::min(largest_growth, 0.85 * std::pow(std::max(report.error_estimate, 1e-8), -1. / (order + 1)));
        // a new step size costs a new matrix; a step cut short to hit a time says little about the next one, and one
        // that was just rejected is no time to grow
        if (growth < 1. || (growth > 1.2 && step_size == dt && report.rejected.total() == 0))
          dt = std::min(step_size * growth, parameters.largest_step);
      }
    levels[2].swap(levels[1]);
    levels[1].swap(levels[0]);
    levels[0].swap(u_new);
    if (!rates.empty())
      {
        rates[2].swap(rates[1]);
        rates[1].swap(rates[0]);
      }
    n_levels   = std::min(n_levels + 1, 3u);
    steps[1]   = steps[0];
    steps[0]   = step_size;
    last_order = order;
    t += step_size;
    ++n_steps;
  }

  void TimeIntegrator::reject_step(double step_size, double growth, const std::string &reason, long Rejections::*cause, StepReport &report)
  {
    ++(report.rejected.*cause);
    dt                  = step_size * growth;
    const bool advances = t + dt > t;
    if (!(dt >= parameters.smallest_step) || !advances)
      throw ConvergenceFailure("the step size underflows at time " + format("%.8g", t) + growth_of_solution(inspect(levels[0], n_fields).largest) +
                               ": " + format("%.3e", dt) +
                               (advances ? " is below 'Time stepping/Smallest step' = " + format("%g", parameters.smallest_step)
                                         : std::string(" is too small to advance the time")) +
                               "\n  last reason: " + reason +
                               "\n  to try: a larger 'Time stepping/Error tolerance', a stronger linear solver, or a look at the fields: a "
                               "solution may blow up in finite time");
  }

  std::vector<MassBalance> TimeIntegrator::mass_balance()
  {
    // m weighs the entries of every mass, since M and m have the same row sums
    if (rates.empty())
      implicit_system.reaction(levels[0], combination, t);
    else
      combination = explicit_rates;
    std::vector<double> sums(5 * n_fields, 0.);
    for (unsigned int i = 0; i < combination.locally_owned_size(); ++i)
      {
        const double  m   = system.lumped_mass.begin()[i];
        double *const sum = &sums[i % n_fields * 5];
        for (unsigned int l = 0; l < n_levels; ++l)
          sum[l] += m * levels[l].begin()[i];
        sum[3] += m * combination.begin()[i];
        sum[4] += system.load.begin()[i];
      }
    std::vector<double> of_all(sums.size());
    Utilities::MPI::sum(sums, combination.get_mpi_communicator(), of_all);

    std::vector<MassBalance> balances(n_fields);
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        const double *sum = &of_all[5 * c];
        balances[c].mass  = sum[0];
        if (last_order == 0)
          continue;
        const Coefficients factors = coefficients(steps[0], steps[1], last_order);
        balances[c].change         = steps[0] * (factors.a * sum[0] - factors.b * sum[1] - factors.c * sum[2]);
        balances[c].reaction       = steps[0] * (sum[3] + sum[4] - (problem.absorption(c) + growth.factors(t).dilution) * sum[0]);
      }
    return balances;
  }
} // namespace leopard
