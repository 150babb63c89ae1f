// SPDX-License-Identifier: Apache-2.0
#include "time_integrator.h"

#include "fused_steps.h"

#include <applications/base/log.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/coefficient.h>
#include <applications/problems/found_value.h>
#include <applications/problems/problem.h>
#include <applications/reaction_diffusion/rules/random_numbers.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  using namespace dealii;

  TimeIntegrator::TimeIntegrator(const TimeParameters             &parameters_,
                                 const Problem                    &problem_,
                                 SemiDiscreteSystem               &system_,
                                 ImplicitSystem                   &implicit_system_,
                                 Newton                           &newton_,
                                 const Growth                     &growth_,
                                 double                            mesh_size,
                                 std::function<void(double)>       update_load_,
                                 std::function<void(HostVector &)> distribute_)
    : parameters(parameters_)
    , problem(problem_)
    , system(system_)
    , implicit_system(implicit_system_)
    , newton(newton_)
    , growth(growth_)
    , update_load(std::move(update_load_))
    , distribute(std::move(distribute_))
    , n_fields(problem_.fields().size())
    , levels(levels_kept(parameters_.stepping.scheme), HostVector(system_.load))
    , u_new(system_.load)
    , prediction(system_.load)
    , history(system_.load)
    , combination(system_.load)
  {
    const double step_size =
      parameters.step_control == "multiple of h^2" ? parameters.step_factor * mesh_size * mesh_size : parameters.stepping.step_size;
    if (!parameters.variable_steps())
      parameters.check_fixed_step(step_size);
    for (const double m : system.lumped_mass)
      n_free += m != 0. ? 1. : 0.;
    n_free                    = std::max(1., Utilities::MPI::sum(n_free, u_new.get_mpi_communicator()));
    control.options           = parameters.stepping_to_end();
    control.options.step_size = control.next_step = step_size;
    if (parameters.explicit_reaction())
      {
        rates.assign(3, HostVector(system.load));
        explicit_rates.reinit(system.load);
      }
  }

  TimeIntegrator::~TimeIntegrator() = default;

  void TimeIntegrator::rate_of_change(const HostVector &u, double t, HostVector &rate)
  {
    if (update_load)
      update_load(t);
    system.stiffness.vmult(rate, u);
    implicit_system.reaction(u, combination, t);
    for (unsigned int i = 0; i < rate.locally_owned_size(); ++i)
      if (const double m = system.lumped_mass.begin()[i]; m != 0.)
        rate.begin()[i] = (system.load.begin()[i] - rate.begin()[i]) / m + combination.begin()[i];
      else
        rate.begin()[i] = 0.;
  }

  namespace
  {
    /** Of the solutions and of h times their rates of change at the ends of a step of length h. */
    struct Hermite
    {
      double end, begin, rate_at_end, rate_at_begin;
    };

    /** The cubic polynomial of all four, s steps before the end. */
    Hermite cubic(double s)
    {
      return {(1. - s) * (1. - s) * (1. + 2. * s), s * s * (3. - 2. * s), -s * (1. - s) * (1. - s), s * s * (1. - s)};
    }

    /** The parabola without the rate at the beginning. */
    Hermite parabola(double s)
    {
      return {1. - s * s, s * s, -s * (1. - s), 0.};
    }
  } // namespace

  const HostVector &TimeIntegrator::solution_at(double t)
  {
    if (parameters.exponential())
      {
        const double h = control.steps[0];
        if (step_of_rates != control.step) // several times within one step
          {
            rate_of_change(levels[1], control.time - h, prediction);
            rate_of_change(levels[0], control.time, history);
            step_of_rates = control.step;
          }
        const double  s       = (control.time - t) / h;
        const Hermite weights = control.step == 1 ? parabola(s) : cubic(s);
        u_new.equ(weights.end, levels[0]);
        u_new.add(weights.begin, levels[1]);
        u_new.add(h * weights.rate_at_end, history);
        if (weights.rate_at_begin != 0.) // else it may be anything
          u_new.add(h * weights.rate_at_begin, prediction);
        if (distribute)
          distribute(u_new);
        return u_new;
      }
    extrapolate({control.options.scheme, control.order, t - control.time, {control.steps[0], control.steps[1], control.steps[2]}}, u_new);
    return u_new;
  }

  void TimeIntegrator::extrapolate(const SchemeStep &step, HostVector &u) const
  {
    double weights[reaction_diffusion::max_levels];
    step.predict(control.n_levels, weights);
    u.equ(weights[0], levels[0]);
    for (int l = 1; l < control.n_levels; ++l)
      if (weights[l] != 0.)
        u.add(weights[l], levels[l]);
  }

  void TimeIntegrator::set_noise(const std::vector<double> &nodes, double shortest_edge)
  {
    using reaction_diffusion::resolution_of_places;
    if (!(shortest_edge >= 10. * resolution_of_places)) // or neighbours would have the same noise
      throw Error(format("'%s/Noise ...' is given, and the shortest edge of the mesh is %.2g: noise tells places apart to %.0e\n  expected: edges of "
                         "%.0e at least, as in another unit of length, or no noise",
                         problem.name().c_str(),
                         shortest_edge,
                         resolution_of_places,
                         10. * resolution_of_places));
    forces.reinit(system.load);
    noise_places = nodes;
  }

  namespace
  {
    /** The first force that is not finite: "of u at (1, 0), where u = 1: the expression ... is inf". Collective. */
    std::string not_finite_noise(const Problem &problem, const HostVector &u, const HostVector &forces, const Places &places)
    {
      const unsigned int n = problem.fields().size();
      std::string        text;
      for (unsigned int i = 0; i < forces.locally_owned_size() && text.empty(); ++i)
        if (!std::isfinite(forces.begin()[i]))
          {
            const double *const here = u.begin() + i / n * n;
            const Places        place{places.coordinates + static_cast<std::size_t>(i / n) * places.dimension, places.dimension, places.time};
            const auto          entry = problem.noise_entry(i % n);
            std::vector<double> strengths(n);
            problem.noise_strength(1, here, strengths.data(), place);
            text = "of " + problem.fields()[i % n] + at_place(place, 0) + where_fields_are(problem.fields(), here) + ": " +
                   expression_of_entry(entry.text, entry.entry) + is_value(strengths[i % n]);
          }
      for (const std::string &of_rank : Utilities::MPI::all_gather(u.get_mpi_communicator(), text))
        if (!of_rank.empty())
          return of_rank;
      return text;
    }
  } // namespace

  std::string TimeIntegrator::make_forces(const HostVector &u_n, double time, long step, double step_size)
  {
    using namespace reaction_diffusion;
    const unsigned int n_nodes = forces.locally_owned_size() / n_fields, dimension = n_nodes > 0 ? noise_places.size() / n_nodes : 0;
    const Places       places = {noise_places.data(), dimension, time};
    problem.noise_strength(n_nodes, u_n.begin(), forces.begin(), places);
    for (unsigned int i = 0; i < n_nodes * n_fields; ++i)
      {
        const double mass = system.lumped_mass.begin()[i];
        if (mass == 0.) // constrained
          {
            forces.begin()[i] = 0.;
            continue;
          }
        const Point<3> x = point_of(places, i / n_fields);
        forces.begin()[i] *=
          std::sqrt(mass / step_size) * normal_at(rounded({x[0], x[1], x[2]}), i % n_fields, static_cast<std::uint64_t>(step), problem.seed);
      }
    return inspect(forces, n_fields).finite ? "" : "the noise is not finite: that " + not_finite_noise(problem, u_n, forces, places);
  }

  void TimeIntegrator::check_noise()
  {
    if (!problem.has_noise())
      return;
    if (const std::string complaint = make_forces(solution(), time(), control.step, next_step_size()); !complaint.empty())
      throw Error(complaint + ", where the run begins\n  expected: a finite number everywhere");
  }

  void TimeIntegrator::start(const HostVector &u)
  {
    resume({{0, 0., control.next_step, {}}, inspect(u, n_fields).largest}, {u});
    if (problem.quasi_stationary().empty())
      return;
    find_quasi_stationary();
    start_size = inspect(levels[0], n_fields).largest;
    look_at_fields();
  }

  void TimeIntegrator::look_at_fields()
  {
    const FieldInspection values = inspect(levels[0], n_fields);
    lowest                       = values.minimum;
    highest                      = values.maximum;
    look_for_negative_fields(values);
  }

  std::vector<double> TimeIntegrator::spans() const
  {
    std::vector<double> result;
    for (unsigned int c = 0; c < n_fields; ++c)
      result.push_back(highest[c] - lowest[c]);
    return result;
  }

  void TimeIntegrator::find_quasi_stationary()
  {
    implicit_system.set_time(0.);
    implicit_system.set_mass_factor(0., growth.factors(0.));
    implicit_system.hold_evolving(true);
    std::string failure;
    const auto  solve = [&](HostVector &u) {
      try
        {
          const NewtonResult &result = newton.solve(u, nullptr);
          if (!result.converged)
            failure = result.failure.text + "\n" + result.table();
        }
      catch (const DeviceError &)
        {
          throw;
        }
      catch (const Error &error)
        {
          failure = error.what() + std::string("\n");
        }
    };
    solve(levels[0]);
    // from values beside them Newton's method must come back
    const double aside = 1e-5 * std::max(inspect(levels[0], n_fields).largest, 1e-100);
    if (failure.empty())
      {
        u_new = levels[0];
        for (unsigned int i = 0; i < u_new.locally_owned_size(); ++i)
          if (problem.is_quasi_stationary(i % n_fields) && system.lumped_mass.begin()[i] != 0.)
            u_new.begin()[i] += i / n_fields % 2 == 0 ? aside : 0.5 * aside;
        solve(u_new);
        u_new.add(-1., levels[0]);
        leave_out_constrained(u_new);
        if (const double apart = u_new.linfty_norm(); failure.empty() && !(apart <= 0.1 * aside))
          failure = "their equations do not determine them: from values that differ by " + format("%.1e", aside) +
                    " from those found Newton's method comes to others, which differ by " + format("%.1e", apart) + "\n";
      }
    implicit_system.hold_evolving(false);
    if (!failure.empty())
      throw ConvergenceFailure("no values of the quasi-stationary species are found at time zero: " + failure +
                               "  to try: equations that determine them, initial values of them that are nearer to what these ask for");
    if (distribute)
      distribute(levels[0]);
  }

  TimeIntegrator::State TimeIntegrator::state() const
  {
    return {control.state(), start_size};
  }

  void TimeIntegrator::resume(const State &state, const std::vector<HostVector> &solutions)
  {
    control.resume(state);
    control.order = 0;
    start_size    = state.start_size;
    fused_loaded  = false;
    fused_failure.clear();
    for (int l = 0; l < control.n_levels; ++l)
      {
        levels[l] = solutions[l];
        if (parameters.explicit_reaction() && l < 2)
          {
            const double t = l == 0 ? control.time : control.time - control.steps[0];
            implicit_system.explicit_rates(levels[l], rates[l], t, growth.factors(t));
          }
      }
    look_at_fields();
  }

  void TimeIntegrator::leave_out_constrained(HostVector &v) const
  {
    if (!distribute)
      return;
    const double *m = system.lumped_mass.begin();
    for (unsigned int i = 0; i < v.locally_owned_size(); ++i)
      if (m[i] == 0.)
        v.begin()[i] = 0.;
  }

  void TimeIntegrator::choose_solver(StepReport &report)
  {
    if (parameters.explicit_reaction() || !newton.has_alternative())
      return;
    const bool exceeds = control.step_size > report.bound;
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
                     control.step_size,
                     report.bound,
                     newton.alternative_description().c_str())
            : format("warning: the step %.3e exceeds %.3e, up to which every asynchronous iteration converges: beyond it %s need not converge",
                     control.step_size,
                     report.bound,
                     newton.linear_solver().description().c_str()));
        told_bound = true;
      }
  }

  double TimeIntegrator::estimate_error()
  {
    const SchemeStep step     = control.scheme_step();
    const double     dilution = growth.factors(control.time + control.step_size).dilution;
    leave_out_constrained(prediction);
    const bool clips = parameters.negative_values == "clip"; // the error is that of the clipped values, which go on
    if (clips)
      clip_negative_values(prediction);
    const double reaction_error = step.reaction_error(1. / (1. / step.coefficients().implicit + dilution)),
                 rms            = l2_norm(prediction) / std::sqrt(n_free);
    double sum = 0., largest = 0.;
    for (unsigned int i = 0; i < u_new.locally_owned_size(); ++i)
      {
        if (system.lumped_mass.begin()[i] == 0.)
          continue;
        const double u = clips ? std::max(u_new.begin()[i], 0.) : u_new.begin()[i];
        double       e = u - prediction.begin()[i];
        if (clips && u == 0. && e == 0.) // zero before and after, whatever the reaction would take away
          continue;
        if (reaction_error != 0.)
          e += reaction_error * (explicit_rates.begin()[i] - rates[2].begin()[i]);
        e /= reaction_diffusion::error_scale(u, rms);
        sum += e * e;
        largest = larger_or_nan(e * e, largest);
      }
    const MPI_Comm comm = u_new.get_mpi_communicator();
    return control.error_estimate(Utilities::MPI::sum(sum, comm) / n_free, Utilities::MPI::max(largest, comm));
  }

  void TimeIntegrator::extrapolate_reaction(const reaction_diffusion::SchemeCoefficients &factors)
  {
    explicit_rates.equ(factors.reaction[0], rates[0]);
    if (factors.reaction[1] != 0.)
      explicit_rates.add(factors.reaction[1], rates[1]);
  }

  namespace
  {
    reaction_diffusion::StopReason cause_of(const NewtonResult &failed)
    {
      using reaction_diffusion::StopReason;
      return failed.not_finite ? StopReason::blow_up : failed.missed ? StopReason::linear_failure : StopReason::newton_failure;
    }
  } // namespace

  TimeIntegrator::StepFailure TimeIntegrator::attempt(StepReport &report)
  {
    const SchemeStep step     = control.scheme_step();
    const auto       factors  = step.coefficients();
    const double     new_time = control.time + control.step_size, a = 1. / factors.implicit;
    combination.equ(a * factors.history[0], levels[0]);
    for (int l = 1; l < reaction_diffusion::max_levels - 1; ++l)
      if (factors.history[l] != 0.)
        combination.add(a * factors.history[l], levels[l]);
    leave_out_constrained(combination);
    system.mass.vmult(history, combination);
    if (!rates.empty())
      {
        extrapolate_reaction(factors);
        combination = explicit_rates;
        combination.scale(system.lumped_mass);
        history.add(1., combination);
      }
    if (problem.has_noise())
      {
        if (const std::string failure = make_forces(levels[0], control.time, control.step, control.step_size); !failure.empty())
          return {{failure, true}, StopReason::blow_up};
        history.add(1., forces);
      }
    if (update_load)
      update_load(new_time);
    implicit_system.set_time(new_time);
    if (problem.coefficients_depend_on_time())
      implicit_system.check_coefficients();
    implicit_system.set_mass_factor(a, growth.factors(new_time));
    extrapolate(step, prediction);
    u_new                               = prediction;
    const double        error_tolerance = parameters.adaptive() ? parameters.stepping.error_tolerance : 0.;
    const NewtonResult &result          = rates.empty() ? newton.solve(u_new, &history, error_tolerance) : newton.solve_linear(u_new, &history);
    if (distribute)
      distribute(u_new);
    if (!result.note.empty())
      report.notes.push_back(result.note);
    if (newton.linear_solver().tells_of_values() && !told_values)
      if (const std::string details = newton.linear_solver().details(); !details.empty()) // else it has not solved yet
        {
          report.notes.push_back((control.step == 0 ? "of the first step " : format("of the step to t = %.6g ", control.time + control.step_size)) +
                                 details);
          told_values = true;
        }
    report.newton_steps += result.n_steps;
    report.linear_iterations += result.linear_iterations;
    report.corrections += result.corrections;
    report.residual = result.residual;
    if (!result.converged)
      return {{result.failure.text + (parameters.adaptive() ? "" : "\n" + result.table()), result.failure.blames_entry}, cause_of(result)};
    if ((parameters.adaptive() || !rates.empty()) && !inspect(u_new, n_fields).finite)
      return {{"the solution is not finite"}, StopReason::blow_up};
    if (rates.empty())
      return {};
    const bool clips = parameters.negative_values == "clip";
    if (clips)
      {
        combination = u_new; // as it will be if the step is accepted
        clip_negative_values(combination);
      }
    implicit_system.explicit_rates(clips ? combination : u_new, rates[2], new_time, growth.factors(new_time));
    return inspect(rates[2], n_fields).finite
             ? StepFailure()
             : StepFailure{newton.where_not_finite("the reaction at the new values", u_new, rates[2]), StopReason::blow_up};
  }
} // namespace leopard
