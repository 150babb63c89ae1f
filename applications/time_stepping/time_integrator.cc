// SPDX-License-Identifier: Apache-2.0
#include "time_integrator.h"

#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/run/log.h>
#include <solvers/base/errors.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_handler.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  void TimeParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Time stepping");
    prm.declare_entry("Scheme", "BDF2", Selection("implicit Euler|BDF2"), "Order 1 or 2; BDF2 starts with one step of implicit Euler.");
    prm.declare_entry("Step control",
                      "error-controlled",
                      Selection("fixed|multiple of h^2|error-controlled"),
                      "fixed: 'Step size'; multiple of h^2: 'Step factor' times the square of the shortest cell edge; error-controlled: "
                      "from an estimate of the local error.");
    prm.declare_entry("Step size", "1e-4", Double(1e-300), "The step (fixed), or the first one (error-controlled). Dimensionless time.");
    prm.declare_entry("Step factor", "0.1", Double(1e-300), "Step over h^2. Dimensionless.");
    prm.declare_entry(
      "Error tolerance", "1e-3", Double(1e-14, 1.), "Local error that a step may have, relative to the size of the fields. Dimensionless.");
    prm.declare_entry("Smallest step", "1e-12", Double(0.), "Error-controlled: step size below which the run is given up. Dimensionless time.");
    prm.declare_entry("Largest step", "1e30", Double(1e-300), "Error-controlled: limit of the step size. Dimensionless time.");
    prm.declare_entry("End time", "1", Double(1e-300), "Where the run ends. Dimensionless time.");
    prm.declare_entry(
      "Steady tolerance", "0", Double(0.), "The run ends when the root mean square of du/dt falls below this; 0: never. Dimensionless.");
    prm.leave_subsection();
  }

  void TimeParameters::read(ParameterHandler &prm)
  {
    prm.enter_subsection("Time stepping");
    scheme           = prm.get("Scheme");
    step_control     = prm.get("Step control");
    step_size        = prm.get_double("Step size");
    step_factor      = prm.get_double("Step factor");
    error_tolerance  = prm.get_double("Error tolerance");
    smallest_step    = prm.get_double("Smallest step");
    largest_step     = prm.get_double("Largest step");
    end_time         = prm.get_double("End time");
    steady_tolerance = prm.get_double("Steady tolerance");
    prm.leave_subsection();
    if (adaptive() && !(smallest_step <= step_size && step_size <= largest_step))
      throw Error("'Time stepping/Step size' is " + format("%g", step_size) + "\n  expected: a number between 'Smallest step' = " +
                  format("%g", smallest_step) + " and 'Largest step' = " + format("%g", largest_step));
  }

  TimeIntegrator::TimeIntegrator(const TimeParameters       &parameters_,
                                 SemiDiscreteSystem         &system_,
                                 ImplicitSystem             &implicit_system_,
                                 Newton                     &newton_,
                                 double                      mesh_size,
                                 std::function<void(double)> update_load_)
    : parameters(parameters_)
    , system(system_)
    , implicit_system(implicit_system_)
    , newton(newton_)
    , update_load(std::move(update_load_))
    , dt(parameters_.step_control == "multiple of h^2" ? parameters_.step_factor * mesh_size * mesh_size : parameters_.step_size)
    , levels(3, HostVector(system_.load))
    , steps(2, 0.)
    , u_new(system_.load)
    , prediction(system_.load)
    , history(system_.load)
    , combination(system_.load)
  {
  }

  void TimeIntegrator::start(const HostVector &u)
  {
    levels[0] = u;
    n_levels  = 1;
    n_steps   = 0;
    t         = 0.;
  }

  TimeIntegrator::State TimeIntegrator::state() const
  {
    return {n_steps, t, dt, std::vector<double>(steps.begin(), steps.begin() + n_levels - 1)};
  }

  void TimeIntegrator::resume(const State &state, const std::vector<HostVector> &solutions)
  {
    n_steps  = state.step;
    t        = state.time;
    dt       = state.next_step_size;
    n_levels = solutions.size();
    std::copy(state.step_sizes.begin(), state.step_sizes.end(), steps.begin());
    for (unsigned int l = 0; l < n_levels; ++l)
      levels[l] = solutions[l];
  }

  void TimeIntegrator::extrapolate(double step_size, HostVector &result) const
  {
    // Lagrange's polynomials for the nodes t_n, t_n-1, t_n-2, as far as known, at t_n + step_size
    double distance[3] = {step_size, step_size + steps[0], step_size + steps[0] + steps[1]};
    // as many points as the error estimate of the scheme needs: order + 1
    const unsigned int points = std::min(n_levels, static_cast<unsigned int>(parameters.order()) + 1);
    result                    = 0.;
    for (unsigned int l = 0; l < points; ++l)
      {
        double weight = 1.;
        for (unsigned int m = 0; m < points; ++m)
          if (m != l)
            weight *= distance[m] / (distance[m] - distance[l]);
        result.add(weight, levels[l]);
      }
  }

  double TimeIntegrator::estimate_error(double step_size, const HostVector &predicted, const HostVector &u, int order) const
  {
    // The corrector's error is C y, the predictor's is P y with the same derivative y, so that the error is C/(C+P) times the difference.
    double corrector = step_size, predictor = step_size + steps[0];
    if (order == 2)
      {
        const double ratio = step_size / steps[0];
        corrector          = step_size * (1. + ratio) / (1. + 2. * ratio);
        predictor          = step_size + steps[0] + steps[1];
      }
    const double factor = corrector / (corrector + predictor);

    // small entries are measured against the size of the whole
    const double rms = u.l2_norm() / std::sqrt(static_cast<double>(u.size()));
    double       sum = 0.;
    for (unsigned int i = 0; i < u.locally_owned_size(); ++i)
      {
        const double scale = parameters.error_tolerance * std::max(std::abs(u.begin()[i]), std::max(rms, 1e-100));
        const double e     = factor * (u.begin()[i] - predicted.begin()[i]) / scale;
        sum += e * e;
      }
    return std::sqrt(Utilities::MPI::sum(sum, u.get_mpi_communicator()) / static_cast<double>(u.size()));
  }

  double TimeIntegrator::rate_of_change(double step_size, const HostVector &u)
  {
    combination = u;
    combination.add(-1., levels[0]);
    return combination.l2_norm() / (step_size * std::sqrt(static_cast<double>(u.size())));
  }

  bool TimeIntegrator::attempt(double step_size, int order, StepReport &report)
  {
    double a    = 1. / step_size;
    combination = levels[0];
    if (order == 2)
      {
        const double ratio = step_size / steps[0];
        a                  = (1. + 2. * ratio) / (1. + ratio) / step_size;
        combination.sadd(1. + ratio, -ratio * ratio / (1. + ratio), levels[1]);
      }
    combination *= 1. / step_size;
    system.mass.vmult(history, combination);
    if (update_load)
      update_load(t + step_size);
    implicit_system.set_mass_factor(a);

    if (n_levels > 1)
      extrapolate(step_size, prediction);
    else
      prediction = levels[0];
    u_new                      = prediction;
    const NewtonResult &result = newton.solve(u_new, &history);
    report.newton_steps += result.n_steps;
    report.linear_iterations += result.linear_iterations;
    report.residual = result.residual;
    if (!result.converged && !parameters.adaptive())
      throw ConvergenceFailure("Newton's method does not converge in the step from time " + format("%.8g", t) + " with step size " +
                               format("%.4g", step_size) + ":\n" + result.table() +
                               "  to try: a smaller step ('Time stepping/Step size' or 'Step factor'), more linear iterations or a smaller "
                               "'Newton/Linear tolerance', or 'Step control = error-controlled'");
    return result.converged;
  }

  void TimeIntegrator::accept(double step_size)
  {
    levels[2].swap(levels[1]);
    levels[1].swap(levels[0]);
    levels[0].swap(u_new);
    n_levels = std::min(n_levels + 1, 3u);
    steps[1] = steps[0];
    steps[0] = step_size;
    t += step_size;
    ++n_steps;
  }

  StepReport TimeIntegrator::step(double max_step_size)
  {
    StepReport report;
    while (true)
      {
        const double step_size = std::min(dt, max_step_size);
        const int    order     = std::min<int>(parameters.order(), n_levels);
        std::string  failure   = "Newton's method does not converge";
        bool         solved    = false;
        try
          {
            solved = attempt(step_size, order, report);
          }
        catch (const ConvergenceFailure &exception)
          {
            if (!parameters.adaptive())
              throw;
            failure = exception.what();
          }

        double growth = 0.25;
        if (solved)
          {
            // with too few old solutions there is no estimate: these few steps are as small as the user made the first one
            const bool can_estimate = static_cast<int>(n_levels) > order;
            report.error_estimate   = can_estimate ? estimate_error(step_size, prediction, u_new, order) : 0.;
            if (!parameters.adaptive() || report.error_estimate <= 1.)
              {
                report.step_size      = step_size;
                report.rate_of_change = rate_of_change(step_size, u_new);
                if (parameters.adaptive() && can_estimate)
                  {
                    growth = std::min(1.6, 0.85 * std::pow(std::max(report.error_estimate, 1e-8), -1. / (order + 1)));
                    // a new step size costs a new matrix; a step cut short to hit a time says little about the next one, and one
                    // that was just rejected is no time to grow
                    if (growth < 1. || (growth > 1.2 && step_size == dt && report.rejected == 0))
                      dt = std::min(step_size * growth, parameters.largest_step);
                  }
                accept(step_size);
                return report;
              }
            growth  = std::max(0.2, 0.85 * std::pow(report.error_estimate, -1. / (order + 1)));
            failure = "the estimated local error is " + format("%.3g", report.error_estimate) + " times the tolerance";
          }
        ++report.rejected;
        dt = step_size * growth;
        if (dt < parameters.smallest_step)
          throw ConvergenceFailure("the step size underflows at time " + format("%.8g", t) + ": " + format("%.3e", dt) +
                                   " is below 'Time stepping/Smallest step' = " + format("%g", parameters.smallest_step) +
                                   "\n  last reason: " + failure +
                                   "\n  to try: a larger 'Time stepping/Error tolerance', a stronger linear solver, or a look at the fields: a "
                                   "solution may blow up in finite time");
      }
  }
} // namespace leopard
