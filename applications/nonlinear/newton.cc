// SPDX-License-Identifier: Apache-2.0
#include "newton.h"

#include "implicit_system.h"

#include <applications/base/log.h>
#include <applications/discretization/level_source.h>
#include <applications/linear_solvers/linear_correction.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/parameter_handler.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  void NewtonParameters::declare(ParameterHandler &prm)
  {
    using namespace Patterns;
    prm.enter_subsection("Newton");
    prm.declare_entry("Max steps", "20", Integer(1), "Newton steps after which the method has failed. Dimensionless.");
    prm.declare_entry("Relative tolerance", "1e-8", Double(0., 1.), "Residual at which to stop, against that of the first guess. Dimensionless.");
    prm.declare_entry("Absolute tolerance",
                      "1e-12",
                      Double(0.),
                      "Residual at which to stop, against the norm of the right-hand side (sources and, in a time step, old values): the level of "
                      "rounding errors. Dimensionless.");
    prm.declare_entry("Error fraction",
                      "0.01",
                      Double(0., 1.),
                      "Error-controlled steps: residual at which to stop, too, against the norm of old values, as a part of 'Time stepping/Error "
                      "tolerance', and a hundredth of that of the first guess at most. In each step it leaves about this part of the error that the "
                      "step may have, also in the mass balance. 0: the two tolerances alone. Dimensionless.");
    prm.declare_entry("Forcing",
                      "relative tolerance",
                      Selection("fixed iterations|relative tolerance|Eisenstat-Walker"),
                      "How exactly the linear systems are solved: a fixed number of linear iterations, a fixed relative tolerance, or one that "
                      "follows Newton's convergence.");
    prm.declare_entry("Linear iterations", "100", Integer(1), "Forcing 'fixed iterations': linear iterations a Newton step. Dimensionless.");
    prm.declare_entry(
      "Linear tolerance",
      "1e-3",
      Double(1e-15, 1.),
      "Forcing 'relative tolerance': linear residual against the Newton residual; 'Eisenstat-Walker': the first and largest one. Dimensionless.");
    prm.declare_entry("Line search", "true", Bool(), "Halve a step until the residual decreases.");
    prm.leave_subsection();
  }

  void NewtonParameters::read(ParameterHandler &prm, const LinearSolverParameters &linear)
  {
    prm.enter_subsection("Newton");
    max_steps          = prm.get_integer("Max steps");
    relative_tolerance = prm.get_double("Relative tolerance");
    absolute_tolerance = prm.get_double("Absolute tolerance");
    error_fraction     = prm.get_double("Error fraction");
    forcing            = prm.get("Forcing");
    linear_iterations  = prm.get_integer("Linear iterations");
    linear_tolerance   = prm.get_double("Linear tolerance");
    line_search        = prm.get_bool("Line search");
    prm.leave_subsection();
    if (linear.method == "direct" && forcing == "fixed iterations")
      throw Error(
        "'Newton/Forcing' is fixed iterations, but 'Linear solver/Method' is direct, which does not iterate\n  expected: another forcing or method");
    if (relative_tolerance == 0. && absolute_tolerance == 0.)
      throw Error("'Newton/Relative tolerance' and 'Newton/Absolute tolerance' are both 0\n  expected: at least one positive number");
  }

  std::string NewtonResult::table() const
  {
    const bool  refines = std::any_of(history.begin(), history.end(), [](const NewtonStep &step) { return step.corrections > 0; });
    std::string text =
      std::string("  step      residual  linear iterations") + (refines ? "  corrections" : "") + "   asked for  damping   seconds\n";
    for (unsigned int i = 0; i < history.size(); ++i)
      text += format("  %4u  %12.4e  %17d", i, history[i].residual, history[i].linear_iterations) +
              (refines ? format("  %11d", history[i].corrections) : "") +
              format("  %10.1e  %7.4f  %8.4f\n", history[i].linear_tolerance, history[i].damping, history[i].seconds);
    return text;
  }

  Newton::Newton(const NewtonParameters       &parameters_,
                 const LinearSolverParameters &linear_parameters_,
                 ImplicitSystem               &system_,
                 unsigned int                  n_components_,
                 LevelSource                  *levels_,
                 MPI_Comm                      comm_)
    : parameters(parameters_)
    , linear_parameters(linear_parameters_)
    , alternative_parameters(linear_parameters_)
    , system(system_)
    , n_components(n_components_)
    , levels(levels_)
    , comm(comm_)
  {
    alternative_parameters.method         = "gmres";
    alternative_parameters.preconditioner = "async";
    alternative_parameters.precision      = "double";
    residual.reinit(system.jacobian().locally_owned_range_indices(), comm);
    update.reinit(residual);
    trial.reinit(residual);
    result.history.reserve(parameters.max_steps + 1);
  }

  LinearTarget Newton::target_for(double norm, double previous_norm, double previous_tolerance) const
  {
    LinearTarget target;
    target.max_iterations = linear_parameters.max_iterations;
    if (parameters.forcing == "fixed iterations")
      target.max_iterations = parameters.linear_iterations;
    else if (parameters.forcing == "relative tolerance" || previous_norm == 0.)
      target.relative_tolerance = parameters.linear_tolerance;
    else
      {
        // choice 2 with its safeguard against a tolerance that falls too fast
        constexpr double gamma     = 0.9;
        const double     ratio     = norm / previous_norm;
        const double     safeguard = gamma * previous_tolerance * previous_tolerance;
        double           eta       = gamma * ratio * ratio;
        if (safeguard > 0.1)
          eta = std::max(eta, safeguard);
        target.relative_tolerance = std::min(parameters.linear_tolerance, std::max(eta, 1e-12));
      }
    return target;
  }

  void Newton::use_alternative(bool use)
  {
    if (use && alternative == nullptr)
      alternative = std::make_unique<LinearSolver>(alternative_parameters, system.jacobian(), n_components, levels, comm);
    uses_alternative = use;
  }

  LinearSolver &Newton::linear_solver()
  {
    if (solver == nullptr)
      solver = std::make_unique<LinearSolver>(linear_parameters, system.jacobian(), n_components, levels, comm);
    return *solver;
  }

  LinearSolver &Newton::active()
  {
    return uses_alternative ? *alternative : linear_solver();
  }

  double Newton::update_with_line_search(HostVector &u, const HostVector *history, double norm, double &damping)
  {
    constexpr double smallest = 1. / 256.;
    for (damping = 1.; damping >= smallest; damping /= 2.)
      {
        trial = u;
        trial.add(damping, update);
        system.residual(trial, history, residual);
        const double trial_norm = l2_norm(residual);
        if (!parameters.line_search || trial_norm <= (1. - 1e-4 * damping) * norm)
          {
            u = trial;
            return trial_norm;
          }
      }
    damping = 0.;
    return norm;
  }

  const std::vector<double> &Newton::places_of_nodes() const
  {
    static const std::vector<double> unknown;
    return levels != nullptr ? levels->nodes() : unknown;
  }

  void NewtonResult::clear()
  {
    history.clear();
    note.clear();
    failure    = {};
    converged  = false;
    missed     = false;
    not_finite = false;
    n_steps = linear_iterations = corrections = 0;
  }

  ValueComplaint Newton::where_not_finite(const std::string &what, const HostVector &u, const HostVector &r)
  {
    ValueComplaint complaint = system.where_not_finite(u, r, places_of_nodes());
    complaint.text.insert(0, what + " is not finite: that ");
    return complaint;
  }

  ValueComplaint Newton::where_derivatives_fail(const HostVector &u, int n_steps)
  {
    const std::string which = complaint_of_reaction(u, system.time_of_step(), true);
    return {std::string("a derivative of the reaction") + (system.has_transport() ? ", of cross-diffusion or advection" : "") +
              " is not finite at the values of step " + std::to_string(n_steps) + (which.empty() ? "" : ": " + which),
            !which.empty()};
  }

  std::string Newton::complaint_of_reaction(const HostVector &u, double t, bool derivatives)
  {
    const std::string text = system.complaint_of_reaction(u, t, {}, derivatives);
    return text.empty() ? text : system.complaint_of_reaction(u, t, places_of_nodes(), derivatives);
  }

  bool Newton::is_of_solution(const HostVector &u, double norm, double previous_norm, double scale)
  {
    const double part = std::max(1e-4, parameters.relative_tolerance);
    if (reached(norm, 0.01 * previous_norm) || reached(norm, part * scale))
      return true;
    if (!system.linearize(u))
      return false;
    system.row_sums(trial);
    return reached(norm, part * l2_norm(trial) * u.linfty_norm());
  }

  const NewtonResult &Newton::solve(HostVector &u, const HostVector *history, double error_tolerance)
  {
    using Clock = std::chrono::steady_clock;
    result.clear();
    const double scale = system.scale(history, trial), floor = std::max(parameters.absolute_tolerance * scale, system.rounding(u));
    system.residual(u, history, residual);
    double   norm = l2_norm(residual), previous_norm = 0., tolerance = 0.;
    int      missed = 0; ///< linear solves
    Progress last_miss;
    result.history.push_back({norm, 0, 0., 1., 0.});
    // a hundredth of the first one at most, so that disturbances smaller than the error are followed, too
    const double by_error = std::min(parameters.error_fraction * error_tolerance * scale, 0.01 * norm),
                 goal     = std::max({parameters.relative_tolerance * norm, floor, by_error});

    const auto has_converged = [&] { return reached(norm, goal) && (result.n_steps == 0 || is_of_solution(u, norm, previous_norm, scale)); };

    while (!(result.converged = has_converged()) && result.n_steps < parameters.max_steps && std::isfinite(norm))
      {
        const auto start = Clock::now();
        if (!system.linearize(u))
          {
            result.failure    = where_derivatives_fail(u, result.n_steps);
            result.not_finite = true;
            break;
          }
        active().update_values();
        const LinearTarget target      = target_for(norm, previous_norm, tolerance);
        tolerance                      = target.relative_tolerance;
        update                         = 0.;
        const LinearSolveResult linear = active().solve(update, residual, target);
        result.missed                  = !linear.converged;
        result.note += linear.note;
        if (result.missed)
          {
            ++missed;
            last_miss = linear.progress(norm, target.relative_tolerance * norm);
          }

        double damping = 1.;
        previous_norm  = norm;
        norm           = update_with_line_search(u, history, norm, damping);
        ++result.n_steps;
        result.linear_iterations += linear.n_iterations;
        result.corrections += linear.n_corrections;
        result.history.push_back(
          {norm, linear.n_iterations, tolerance, damping, std::chrono::duration<double>(Clock::now() - start).count(), linear.n_corrections});
        if (damping == 0.)
          break;
      }
    result.residual = norm;
    if (!std::isfinite(norm))
      {
        result.failure    = where_not_finite("the residual", u, residual);
        result.not_finite = true;
      }
    else if (!result.converged && result.failure.text.empty())
      result.failure.text = "Newton's method does not converge" +
                            (missed == 0 ? ""
                                         : ": in " + std::to_string(missed) + " of its " + std::to_string(result.n_steps) +
                                             " steps the linear solver " + active().description() + " has missed its tolerance; of the last one, " +
                                             judgement(last_miss) + ", better: " + advice(last_miss, linear_parameters));
    return result;
  }

  const NewtonResult &Newton::solve_linear(HostVector &u, const HostVector *history)
  {
    if (known_version != system.matrix_version())
      active().update_values();
    known_version = system.matrix_version();
    system.residual(u, history, residual);
    const double first = l2_norm(residual);
    if (!std::isfinite(first))
      throw NotFinite(where_not_finite("the residual", u, residual));
    // the right-hand side of the update shrinks with a good first guess; the tolerance is against the load all the same
    const LinearCorrection correction{
      active(), linear_parameters.relative_tolerance, system.scale(history, trial), linear_parameters.max_iterations, "a smaller time step"};
    const auto linear        = correction(u, residual, update, [&] { system.residual(u, history, residual); });
    result.failure           = {};
    result.note              = linear.note;
    result.converged         = true;
    result.n_steps           = 1;
    result.linear_iterations = linear.n_iterations;
    result.corrections       = linear.n_corrections;
    result.residual          = linear.final_residual;
    result.history.assign(1, {first, 0, 0., 1., 0.});
    result.history.push_back({result.residual, linear.n_iterations, correction.tolerance, 1., 0., linear.n_corrections});
    return result;
  }
} // namespace leopard
