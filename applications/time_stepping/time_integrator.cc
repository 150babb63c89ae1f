// SPDX-License-Identifier: Apache-2.0
#include "time_integrator.h"

#include "fused_steps.h"

#include <applications/base/log.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/problem.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  TimeIntegrator::TimeIntegrator(const TimeParameters       &parameters_,
                                 const Problem              &problem_,
                                 SemiDiscreteSystem         &system_,
                                 ImplicitSystem             &implicit_system_,
                                 Newton                     &newton_,
                                 const Growth               &growth_,
                                 double                      mesh_size,
                                 std::function<void(double)> update_load_)
    : parameters(parameters_)
    , problem(problem_)
    , system(system_)
    , implicit_system(implicit_system_)
    , newton(newton_)
    , growth(growth_)
    , update_load(std::move(update_load_))
    , n_fields(problem_.fields().size())
    , dt(parameters_.step_control == "multiple of h^2" ? parameters_.step_factor * mesh_size * mesh_size : parameters_.step_size)
    , levels(3, HostVector(system_.load))
    , steps(2, 0.)
    , u_new(system_.load)
    , prediction(system_.load)
    , history(system_.load)
    , combination(system_.load)
  {
    if (!parameters.variable_steps())
      parameters.check_fixed_step(dt);
    if (parameters.explicit_reaction())
      {
        rates.assign(3, HostVector(system.load));
        explicit_rates.reinit(system.load);
      }
  }

  TimeIntegrator::~TimeIntegrator() = default;

  void TimeIntegrator::start(const HostVector &u)
  {
    levels[0]    = u;
    n_levels     = 1;
    n_steps      = 0;
    t            = 0.;
    start_size   = inspect(u, n_fields).largest;
    fused_loaded = false;
    if (parameters.explicit_reaction())
      implicit_system.reaction(u, rates[0], t);
  }

  TimeIntegrator::State TimeIntegrator::state() const
  {
    return {n_steps, t, dt, std::vector<double>(steps.begin(), steps.begin() + n_levels - 1), start_size};
  }

  void TimeIntegrator::resume(const State &state, const std::vector<HostVector> &solutions)
  {
    n_steps      = state.step;
    t            = state.time;
    dt           = state.next_step_size;
    start_size   = state.start_size;
    fused_loaded = false;
    n_levels     = solutions.size();
    std::copy(state.step_sizes.begin(), state.step_sizes.end(), steps.begin());
    for (unsigned int l = 0; l < n_levels; ++l)
      {
        levels[l] = solutions[l];
        if (parameters.explicit_reaction() && l < 2)
          implicit_system.reaction(levels[l], rates[l], l == 0 ? t : t - steps[0]);
      }
  }

  TimeIntegrator::Coefficients TimeIntegrator::coefficients(double step_size, double previous_step_size, int order)
  {
    if (order == 1)
      return {1. / step_size, 1. / step_size, 0., 1., 0.};
    const double w = step_size / previous_step_size;
    return {(1. + 2. * w) / (1. + w) / step_size, (1. + w) / step_size, -w * w / (1. + w) / step_size, 1. + w, -w};
  }

  void TimeIntegrator::follow_bound(double mass_factor)
  {
    const int    order = std::min<int>(parameters.order(), n_levels);
    const double bound = Controller::asynchronous_bound(mass_factor, order, steps[0]);
    if (!(bound > 0.))
      throw ConvergenceFailure("no step size makes rho(|B|) < 1 certain at time " + format("%.8g", t) +
                               "\n  expected: a lumped mass matrix for 'Time stepping/Step control = asynchronous bound', or another step control");
    dt = std::isfinite(bound) ? parameters.bound_fraction * bound : n_steps > 0 ? parameters.largest_step : parameters.step_size;
    dt = std::min({dt, parameters.largest_step, n_levels > 1 ? largest_growth * steps[0] : dt});
  }

  void TimeIntegrator::choose_solver(double step_size, StepReport &report)
  {
    if (parameters.explicit_reaction() || !newton.has_alternative())
      return;
    const bool exceeds = step_size > report.bound;
    if (parameters.adaptive())
      {
        newton.use_alternative(exceeds);
        report.alternative = exceeds;
      }
    if (exceeds && !told_bound)
      {
        report.notes.push_back(
          parameters.adaptive()
            ? format("the step %.3e exceeds %.3e, up to which every asynchronous iteration converges: such steps are solved by %s",
                     step_size,
                     report.bound,
                     newton.alternative_description().c_str())
            : format("warning: the step %.3e exceeds %.3e, up to which every asynchronous iteration converges: beyond it %s need not converge",
                     step_size,
                     report.bound,
                     newton.linear_solver().description().c_str()));
        told_bound = true;
      }
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

  double TimeIntegrator::estimate_error(double step_size, int order) const
  {
    // The corrector's error is C y, the predictor's is P y with the same derivative y, so that the error is C/(C+P)
    // times the difference.
    double corrector = step_size, predictor = step_size + steps[0];
    if (order == 2)
      {
        const double ratio = step_size / steps[0];
        corrector          = step_size * (1. + ratio) / (1. + 2. * ratio);
        predictor          = step_size + steps[0] + steps[1];
      }
    const double factor = corrector / (corrector + predictor);
    // The error of an explicit reaction comes on top: e = C y + d, d = (r_extrapolated - r) / a, and u - prediction =
    // (C + P) y + d.
    const double explicit_factor = rates.empty() ? 0. : (1. - factor) / coefficients(step_size, steps[0], order).a;

    // small entries are measured against the size of the whole
    const double rms = l2_norm(u_new) / std::sqrt(static_cast<double>(u_new.size()));
    double       sum = 0.;
    for (unsigned int i = 0; i < u_new.locally_owned_size(); ++i)
      {
        const double u     = u_new.begin()[i];
        const double scale = parameters.error_tolerance * std::max(std::abs(u), std::max(rms, 1e-100));
        double       e     = factor * (u - prediction.begin()[i]);
        if (explicit_factor != 0.)
          e += explicit_factor * (explicit_rates.begin()[i] - rates[2].begin()[i]);
        sum += (e / scale) * (e / scale);
      }
    return std::sqrt(Utilities::MPI::sum(sum, u_new.get_mpi_communicator()) / static_cast<double>(u_new.size()));
  }

  double TimeIntegrator::rate_of_change(double step_size, const HostVector &u)
  {
    combination = u;
    combination.add(-1., levels[0]);
    return l2_norm(combination) / (step_size * std::sqrt(static_cast<double>(u.size())));
  }

  void TimeIntegrator::evaluate_new_reaction(double new_time)
  {
    if (parameters.negative_values != "clip")
      {
        implicit_system.reaction(u_new, rates[2], new_time);
        return;
      }
    combination = u_new; // as it will be if the step is accepted
    clip_negative_values(combination);
    implicit_system.reaction(combination, rates[2], new_time);
  }

  std::string TimeIntegrator::attempt(double step_size, int order, StepReport &report)
  {
    const Coefficients factors = coefficients(step_size, steps[0], order);
    combination.equ(factors.b, levels[0]);
    if (order == 2)
      combination.add(factors.c, levels[1]);
    system.mass.vmult(history, combination);
    if (!rates.empty())
      {
        explicit_rates.equ(factors.p, rates[0]);
        if (order == 2)
          explicit_rates.add(factors.q, rates[1]);
        combination = explicit_rates;
        combination.scale(system.lumped_mass);
        history.add(1., combination);
      }
    if (update_load)
      update_load(t + step_size);
    implicit_system.set_time(t + step_size);
    implicit_system.set_mass_factor(factors.a, growth.factors(t + step_size));

    if (n_levels > 1)
      extrapolate(step_size, prediction);
    else
      prediction = levels[0];
    u_new                      = prediction;
    const NewtonResult &result = rates.empty() ? newton.solve(u_new, &history) : newton.solve_linear(u_new, &history);
    report.newton_steps += result.n_steps;
    report.linear_iterations += result.linear_iterations;
    report.residual = result.residual;
    if (!result.converged)
      return result.failure + (parameters.adaptive() ? "" : "\n" + result.table());
    if ((parameters.adaptive() || !rates.empty()) && !inspect(u_new, n_fields).finite)
      return "the solution is not finite";
    if (rates.empty())
      return "";
    evaluate_new_reaction(t + step_size);
    return inspect(rates[2], n_fields).finite
             ? ""
             : "the reaction at the new values is not finite: that " + implicit_system.where_not_finite(u_new, rates[2]);
  }
} // namespace leopard
