// SPDX-License-Identifier: Apache-2.0
#include "failing_values.h"
#include "time_integrator.h"

#include <applications/base/log.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/found_value.h>
#include <applications/problems/problem.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>

// TimeIntegrator: whether a step is accepted, and what follows

namespace leopard
{
  using namespace dealii;

  double TimeIntegrator::first_step_of_reaction()
  {
    constexpr double any  = std::numeric_limits<double>::infinity();
    const MPI_Comm   comm = u_new.get_mpi_communicator();
    implicit_system.reaction(levels[0], combination, control.time);
    for (unsigned int i = 0; i < combination.locally_owned_size(); ++i)
      if (problem.is_quasi_stationary(i % n_fields))
        combination.begin()[i] = 0.;
    const double size = l2_norm(levels[0]), rate = l2_norm(combination);
    if (!(size > 0.) || !(rate > 0.) || !std::isfinite(rate))
      return any;
    const double apart = 1e-5 * size / rate, rms = size / std::sqrt(n_free);
    u_new = levels[0];
    u_new.add(apart, combination);
    implicit_system.reaction(u_new, prediction, control.time + apart);
    double sum = 0., largest = 0.;
    for (unsigned int i = 0; i < u_new.locally_owned_size(); ++i)
      {
        if (problem.is_quasi_stationary(i % n_fields))
          continue;
        const double second = (prediction.begin()[i] - combination.begin()[i]) / apart / reaction_diffusion::error_scale(levels[0].begin()[i], rms);
        sum += second * second;
        largest = larger_or_nan(second * second, largest);
      }
    const double tolerance = parameters.stepping.error_tolerance, mean = std::sqrt(Utilities::MPI::sum(sum, comm) / n_free),
                 most = std::sqrt(Utilities::MPI::max(largest, comm)) / 30.;
    const double step = std::sqrt(2. * tolerance / std::max(mean, most));
    return step > 0. ? step : any; // nor if it is no number
  }

  std::string TimeIntegrator::limit_first_step()
  {
    if (!parameters.adaptive() || parameters.exponential())
      return "";
    const double wanted = control.next_step, smallest = std::min(wanted, parameters.stepping.smallest_step), by_reaction = first_step_of_reaction(),
                 by_end = TimeParameters::part_of_first_step * parameters.end_time, step = std::min(by_reaction, by_end);
    if (!(step < wanted))
      return "";
    control.next_step = std::max(step, smallest);
    if (step < smallest)
      return format("warning: the first step is 'Time stepping/Smallest step' = %g, longer than %.3g, as long as the error tolerance lets the "
                    "reaction at the initial values act, and nothing tells its error\n  to try: a smaller 'Smallest step'",
                    smallest,
                    step);
    return format("the first step is %.3g and not 'Time stepping/Step size' = %g, ", step, wanted) +
           (by_reaction <= by_end ? "as long as the error tolerance lets the reaction at the initial values act"
                                  : "a hundredth of the run, so that there are steps whose error can be told");
  }

  StepReport TimeIntegrator::step(double stop_time)
  {
    StepReport   report;
    const double mass_factor = implicit_system.dominant_mass_factor(levels[0], growth.factors(control.time), control.time);
    StepFailure  failure;
    control.rejected = {};
    while (true)
      {
        if (!control.begin_step(stop_time, mass_factor))
          throw_underflow(failure.why);
        report.bound = control.scheme_step().asynchronous_bound(mass_factor);
        choose_solver(report);
        failure = try_step(report);
        if (failure.why.text.empty())
          {
            report.error_estimate = control.can_estimate() ? estimate_error() : 0.;
            if (control.is_accurate(report.error_estimate))
              break;
            failure = {{"the estimated local error is " + format("%.3g", report.error_estimate) + " times the tolerance"},
                       StopReason::step_underflow};
          }
        if (!control.reject_step(failure.cause))
          throw_underflow(failure.why);
      }
    check_values(control.time, control.step_size, report);
    combination = u_new;
    combination.add(-1., levels[0]);
    leave_out_constrained(combination);
    report.step_size      = control.step_size;
    report.rejected       = control.rejected;
    report.rate_of_change = l2_norm(combination) / (control.step_size * std::sqrt(n_free));
    std::rotate(levels.begin(), levels.end() - 1, levels.end());
    levels[0].swap(u_new);
    if (!rates.empty())
      {
        rates[2].swap(rates[1]);
        rates[1].swap(rates[0]);
      }
    control.accept_step();
    return report;
  }

  TimeIntegrator::StepFailure TimeIntegrator::try_step(StepReport &report)
  {
    StepFailure failed;
    try
      {
        failed = attempt(report);
      }
    catch (const DeviceError &)
      {
        throw; // a shorter step does not mend that
      }
    catch (const NotFinite &error)
      {
        failed = {{error.what(), error.blames_entry}, StopReason::blow_up};
      }
    catch (const ConvergenceFailure &error)
      {
        failed = {{error.what()}, StopReason::linear_failure};
      }
    catch (const EntryError &error)
      {
        failed = {{error.what(), true}, StopReason::blow_up};
      }
    catch (const Error &error) // whatever else cannot be done with the values of the attempt
      {
        failed = {{error.what()}, StopReason::blow_up};
      }
    const std::string &failure = failed.why.text;
    if (failure.empty() || parameters.adaptive())
      return failed;
    const std::size_t line = std::min(failure.find('\n'), failure.size());
    throw ConvergenceFailure(failure.substr(0, line) + " in the step from time " + format("%.8g", control.time) + " with step size " +
                             format("%.4g", control.step_size) + growth_of_solution() + noise_as_reason(control.step_size) + failure.substr(line) +
                             (failed.why.blames_entry
                                ? advice_on_values(parameters, problem)
                                : std::string("\n  to try: a smaller step ('Time stepping/Step size' or 'Step factor'), more linear iterations or a "
                                              "smaller 'Newton/Linear tolerance'") +
                                    (problem.has_noise() ? "" : ", or 'Step control = error-controlled'")));
  }

  std::string TimeIntegrator::growth_of_solution() const
  {
    const double largest = inspect(levels[0], n_fields).largest;
    if (!(largest > 10. * std::max(start_size, 1e-100)))
      return "";
    return format(" (the largest |u| has grown from %.3g at the start to %.3g: the solution may blow up)", start_size, largest);
  }

  std::string TimeIntegrator::noise_as_reason(double step_size)
  {
    constexpr double small = 0.1;
    if (!problem.has_noise())
      return "";
    make_forces(levels[0], control.time, control.step, step_size);
    double change = 0.;
    for (unsigned int i = 0; i < forces.locally_owned_size(); ++i)
      if (const double mass = system.lumped_mass.begin()[i]; mass != 0.)
        change = std::max(change, std::abs(step_size / mass * forces.begin()[i]));
    change = Utilities::MPI::max(change, forces.get_mpi_communicator());
    if (change <= small * start_size)
      return "";
    return format(
      " (the noise of the step, '%s/Noise ...', changes a field by up to %.3g, and at the start the largest |u| was %.3g: it may be the reason)",
      problem.name().c_str(),
      change,
      start_size);
  }

  void TimeIntegrator::check_values(double start, double step_size, StepReport &report)
  {
    const FieldInspection values = inspect(u_new, n_fields);
    if (!values.finite || !(values.largest <= parameters.blow_up_factor * std::max(1., start_size)))
      throw ConvergenceFailure("the solution blows up in the step from time " + format("%.8g", start) + " with step size " +
                               format("%.4g", step_size) + ": the largest |u| is " + (values.finite ? format("%.3g", values.largest) : "not finite") +
                               ", at the start it was " + format("%.3g", start_size) + noise_as_reason(step_size) + "\n  to try: " +
                               (parameters.adaptive() ? "a smaller 'Time stepping/Error tolerance'"
                                : problem.has_noise() ? "a smaller step"
                                                      : "a smaller step or 'Time stepping/Step control = error-controlled'") +
                               ", if the true solution stays bounded; "
                               "kinetics with saturation; a larger 'Time stepping/Blow-up factor', if such values are right");
    check_negative_values(values, start, step_size, report);
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        lowest[c]  = std::min(lowest[c], values.minimum[c]);
        highest[c] = std::max(highest[c], values.maximum[c]);
      }
  }

  void TimeIntegrator::throw_underflow(const ValueComplaint &reason) const
  {
    const std::string at = format("%.8g", control.time);
    if (control.follows_bound() && !(control.bound > 0.))
      throw ConvergenceFailure("no step size makes rho(|B|) < 1 certain at time " + at +
                               "\n  expected: a lumped mass matrix for 'Time stepping/Step control = asynchronous bound', or another step control");
    const bool        below  = control.is_below_smallest();
    HostVector        change = levels[0], values = levels[0];
    const std::string cause =
      reason.blames_entry
        ? reason.text
        : reaction_that_fails(
            newton, implicit_system, problem, {levels, control.n_levels, control.time, control.steps[0], control.step_size}, change, values);
    if (!cause.empty())
      {
        const std::size_t line = std::min(cause.find('\n'), cause.size());
        throw ConvergenceFailure(cause.substr(0, line) + ", in the steps from time " + at +
                                 format(", however short they are (%.3e at last)", control.step_size) + growth_of_solution() + cause.substr(line) +
                                 advice_on_values(parameters, problem));
      }
    throw ConvergenceFailure("the step size underflows at time " + at + growth_of_solution() + ": " +
                             (below ? format("%.3e is below 'Time stepping/Smallest step' = %g", control.next_step, parameters.stepping.smallest_step)
                                    : format("%.3e is too small to advance the time", control.step_size)) +
                             (reason.text.empty() ? "" : "\n  last reason: " + reason.text) + "\n  to try: " +
                             (below ? "a larger 'Time stepping/Error tolerance' (of error-controlled steps), a smaller 'Smallest step'"
                                    : "a larger step size, 'Time stepping/Error tolerance' or 'Smallest step'") +
                             ", a stronger linear solver, or a look at the fields: a solution may blow up in finite time");
  }

  std::vector<double> TimeIntegrator::integrated_reaction_of_exponential_step()
  {
    std::vector<double> integral(n_fields, 0.);
    const double        dt = control.steps[0], time = control.time;
    const auto          add = [&](const HostVector &u, double t, double weight) {
      if (update_load)
        update_load(t);
      implicit_system.reaction(u, combination, t);
      for (unsigned int c = 0; c < n_fields; ++c)
        integral[c] += weight * system.sources[c];
      for (unsigned int i = 0; i < combination.locally_owned_size(); ++i)
        integral[i % n_fields] += weight * system.lumped_mass.begin()[i] * combination.begin()[i];
    };
    const HostVector &middle = solution_at(time - dt / 2.);
    add(middle, time - dt / 2., 4. * dt / 6.);
    add(levels[1], time - dt, dt / 6.);
    add(levels[0], time, dt / 6.); // the last one, so that the load is that of the present time afterwards
    Utilities::MPI::sum(std::vector<double>(integral), combination.get_mpi_communicator(), integral);
    return integral;
  }

  std::vector<MassBalance> TimeIntegrator::mass_balance()
  {
    std::vector<double> of_exponential_step;
    if (parameters.exponential() && control.order > 0 && control.n_levels > 1)
      of_exponential_step = integrated_reaction_of_exponential_step();
    // m weighs the entries of every mass, since M and m have the same row sums
    if (rates.empty())
      implicit_system.reaction(levels[0], combination, control.time);
    else
      combination = explicit_rates;
    constexpr int       n_levels = reaction_diffusion::max_levels, n_sums = n_levels + 3;
    std::vector<double> sums(n_sums * n_fields, 0.);
    for (unsigned int c = 0; c < n_fields; ++c)
      sums[c * n_sums + n_levels + 2] = system.sources[c];
    for (unsigned int i = 0; i < combination.locally_owned_size(); ++i)
      {
        const double  m   = system.lumped_mass.begin()[i];
        double *const sum = &sums[i % n_fields * n_sums];
        for (int l = 0; l < control.n_levels; ++l)
          sum[l] += m * levels[l].begin()[i];
        sum[n_levels] += m * combination.begin()[i];
        sum[n_levels + 1] += problem.has_noise() ? forces.begin()[i] : 0.;
      }
    std::vector<double> of_all(sums.size());
    Utilities::MPI::sum(sums, combination.get_mpi_communicator(), of_all);

    std::vector<MassBalance> balances(n_fields);
    for (unsigned int c = 0; c < n_fields; ++c)
      {
        const double *sum = &of_all[n_sums * c];
        balances[c].mass  = sum[0];
        if (control.order == 0) // no step was done
          continue;
        if (parameters.exponential())
          {
            balances[c].change   = of_exponential_step.empty() ? 0. : sum[0] - sum[1];
            balances[c].reaction = of_exponential_step.empty() ? 0. : of_exponential_step[c];
            continue;
          }
        const auto   factors = last_step().coefficients();
        const double dt      = control.steps[0];
        double       old     = 0.;
        for (int l = 0; l < n_levels - 1; ++l)
          old += factors.history[l] * sum[l + 1];
        balances[c].change = problem.is_quasi_stationary(c) ? 0. : dt / factors.implicit * (sum[0] - old);
        balances[c].reaction =
          dt * (sum[n_levels] + sum[n_levels + 1] + sum[n_levels + 2] - (problem.absorption(c) + growth.factors(control.time).dilution) * sum[0]);
      }
    return balances;
  }
} // namespace leopard
