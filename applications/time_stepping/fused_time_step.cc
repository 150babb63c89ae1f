// SPDX-License-Identifier: Apache-2.0
#include "failing_values.h"
#include "fused_steps.h"
#include "time_integrator.h"

#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/found_value.h>
#include <applications/problems/problem.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/dealii/vector_norm.h>

#include <algorithm>
#include <cmath>
#include <utility>

// TimeIntegrator: steps by the fused time loop

namespace leopard
{
  void StepReport::count_earlier(const StepReport &before)
  {
    if (before.step_size == 0.) // of no step
      return;
    earlier_steps += before.earlier_steps + 1;
    earlier_newton_steps += before.earlier_newton_steps + before.newton_steps;
    earlier_linear_iterations += before.earlier_linear_iterations + before.linear_iterations;
    earlier_rejected += before.earlier_rejected + before.rejected;
    multigrid += before.multigrid;
    seconds += before.seconds;
    notes.insert(notes.begin(), before.notes.begin(), before.notes.end());
  }

  std::string TimeIntegrator::why_it_failed(StopReason reason) const
  {
    if (reason == StopReason::newton_failure)
      return "Newton's method does not converge";
    if (reason == StopReason::linear_failure)
      return "Newton's method does not converge, since the linear solver does not reach its tolerance";
    if (reason == StopReason::blow_up)
      return "the solution, or the reaction there, is not finite";
    const double next = fused->stepper.next_step_size();
    return "the step size underflows, to " + format("%.3e", next) +
           (next >= parameters.stepping.smallest_step
              ? ", which is too small to advance the time,"
              : ", below 'Time stepping/Smallest step' = " + format("%g", parameters.stepping.smallest_step) + ",");
  }

  void TimeIntegrator::use_fused_steps(std::unique_ptr<FusedSteps> fused_)
  {
    fused        = std::move(fused_);
    fused_loaded = false;
  }

  bool TimeIntegrator::fused_has_cycles() const
  {
    return is_fused() && fused->stepper.has_multigrid();
  }

  StepReport TimeIntegrator::fused_steps(const StepBatch &batch)
  {
    if (!fused_failure.empty())
      throw ConvergenceFailure(std::exchange(fused_failure, ""));
    const long first    = fused->stepper.totals().steps;
    const long n_before = control.step;
    try
      {
        return advance_together(batch);
      }
    catch (const ConvergenceFailure &)
      {
        fused_loaded = false;
        if (control.step > n_before || fused->stepper.totals().steps <= first + 1)
          throw; // the solution here is the one before the step that failed
      }
    // the solution after several steps cannot be used: one at a time from where they began, as far as it can
    StepReport sum;
    for (long left = fused->stepper.totals().steps - first; left > 0; --left)
      {
        const long n_here = control.step;
        StepReport report;
        try
          {
            report = advance_together({batch.stop_time, batch.slack, 1});
          }
        catch (const ConvergenceFailure &failure)
          {
            if (sum.step_size == 0.)
              throw;
            fused_loaded  = false;
            fused_failure = failure.what();
          }
        catch (const Stopped &) // the time loop sees that, too
          {
            if (sum.step_size == 0.)
              throw;
          }
        if (control.step == n_here)
          break;
        report.count_earlier(sum);
        sum = report;
      }
    return sum;
  }

  StepReport TimeIntegrator::advance_together(const StepBatch &batch)
  {
    reaction_diffusion::Stepper &stepper = fused->stepper;
    if (!fused_loaded)
      fused->load(control.state(), levels);
    fused_loaded      = true;
    const auto before = stepper.totals();
    StepReport report;
    const auto reason = fused->advance(batch.stop_time, batch.max_steps, batch.slack, report.seconds);
    if (stepper.totals().steps > before.steps)
      take_over_steps(before, report);
    else if (reason == StopReason::asked_to_stop)
      throw_if_stop_requested(u_new.get_mpi_communicator());
    if (reason == StopReason::newton_failure || reason == StopReason::linear_failure || reason == StopReason::step_underflow ||
        reason == StopReason::blow_up)
      {
        std::string cause = load_that_fails(stepper.attempted_step_size());
        if (cause.empty() && problem.has_noise())
          cause = make_forces(levels[0], control.time, control.step, stepper.attempted_step_size());
        if (cause.empty())
          cause = reaction_that_fails(newton,
                                      implicit_system,
                                      problem,
                                      {levels, control.n_levels, control.time, control.steps[0], stepper.attempted_step_size()},
                                      u_new,
                                      prediction);
        const bool        underflows = reason == StopReason::step_underflow && stepper.next_step_size() < parameters.stepping.smallest_step;
        const std::size_t line       = std::min(cause.find('\n'), cause.size()); // what a coefficient is expected to be stands behind it
        fused_failure =
          (cause.empty() ? why_it_failed(reason) : cause.substr(0, line) + ",") + " in the step from time " + format("%.8g", control.time) +
          " with step size " + format("%.4g", stepper.attempted_step_size()) + growth_of_solution() + noise_as_reason(stepper.attempted_step_size()) +
          (cause.empty() ? std::string("\n  to try: ") +
                             (parameters.adaptive() ? reason == StopReason::blow_up ? "a smaller error tolerance, "
                                                      : underflows ? "a larger error tolerance, a smaller 'Time stepping/Smallest step', "
                                                                   : "a larger error tolerance, "
                              : problem.has_noise() ? "a smaller step, "
                                                    : "a smaller step, 'Time stepping/Step control = error-controlled', ") +
                             (parameters.exponential() ? "the scheme BDF2" : "'Time stepping/Engine = general' with gmres") +
                             "; a solution may blow up in finite time"
                         : (line < cause.size() ? cause.substr(line) : expected_everywhere()) + advice_on_values(parameters, problem));
      }
    if (!fused_failure.empty() && stepper.totals().steps == before.steps)
      throw ConvergenceFailure(std::exchange(fused_failure, ""));
    return report;
  }

  std::string TimeIntegrator::load_that_fails(double attempted_step)
  {
    std::string cause;
    for (const double part : {1., 0.5}) // where steps evaluate it
      try
        {
          if (update_load && cause.empty())
            update_load(control.time + part * attempted_step);
        }
      catch (const Error &error)
        {
          cause = error.what();
        }
    if (update_load)
      update_load(control.time);
    return cause;
  }

  void TimeIntegrator::store_fused(int level, double time, HostVector &u)
  {
    fused->store(level, u);
    if (!distribute)
      return;
    if (update_load && problem.has_boundary_values())
      update_load(time);
    distribute(u);
  }

  std::string TimeIntegrator::what_limits(const StepReport &report) const
  {
    if (!parameters.exponential())
      return "";
    const double tolerance = parameters.stepping.error_tolerance, error = report.error_estimate * tolerance;
    if (!parameters.adaptive())
      return error <= 0.1
               ? ""
               : format("warning: in the step to t = %.6g the estimated error is %.2g of the fields: fixed steps of %g are too long for %s",
                        control.time,
                        error,
                        report.step_size,
                        parameters.scheme.c_str());
    const double size = l2_norm(levels[0]) / std::sqrt(n_free), change = report.rate_of_change * report.step_size;
    if (!(reached(change, 0.3 * tolerance * size) && report.error_estimate >= 0.1))
      return "";
    return format(
      "at t = %.6g steps are limited by the stability of %s and not by accuracy, as the fields hardly change: BDF2 or BDF3 would take longer "
      "ones from here on ('Time stepping/Scheme', --resume)",
      control.time,
      parameters.scheme.c_str());
  }

  void TimeIntegrator::take_over_steps(const reaction_diffusion::Totals &before, StepReport &report)
  {
    const reaction_diffusion::Stepper     &stepper = fused->stepper;
    const reaction_diffusion::StepFigures &last    = stepper.last_step();
    const auto                             totals  = stepper.totals();
    const auto                             now     = stepper.state();
    store_fused(0, now.time, u_new);
    static_cast<reaction_diffusion::StepFigures &>(report) = last;
    check_values(now.time - last.step_size, last.step_size, report);
    control.resume(now);
    control.order = last.order;
    levels[0].swap(u_new);
    double old_time = now.time;
    for (int l = 1; l < control.n_levels; ++l)
      {
        old_time -= control.steps[l - 1];
        store_fused(l, old_time, levels[l]);
      }
    if (update_load)
      update_load(now.time);

    // with an explicit reaction the corrections of a step are parts of one linear solve
    report.newton_steps      = parameters.explicit_reaction() ? 1 : last.newton_steps;
    report.linear_iterations = last.sweeps + last.cycles;
    // the library divides G by (a + s) m / k; its weights are 1 where m is largest
    const auto factors = last_step().coefficients();
    const auto growing = growth.factors(control.time);
    old_time           = control.time - control.steps[0];
    report.residual    = last.residual * (1. / factors.implicit + growing.dilution) / growing.diffusion * system.lumped_mass.linfty_norm();
    if (!parameters.follows_bound())
      report.bound = last_step().asynchronous_bound(implicit_system.dominant_mass_factor(levels[1], growth.factors(old_time), old_time));
    if (parameters.explicit_reaction()) // for the mass balance; what the step has taken stayed there
      {
        implicit_system.reaction(levels[1], rates[0], old_time);
        if (control.n_levels > 2)
          implicit_system.reaction(levels[2], rates[1], old_time - control.steps[1]);
        extrapolate_reaction(factors);
      }
    if (problem.has_noise()) // for the mass balance, likewise
      make_forces(levels[1], old_time, control.step - 1, control.steps[0]);
    if (const std::string note = told_limit ? "" : what_limits(report); !note.empty())
      {
        told_limit = true;
        report.notes.push_back(note);
      }
    if (totals.multigrid_steps > 0 && !told_bound)
      report.notes.push_back(format(
        "from about step %u on steps are too long for block-asynchronous sweeps alone: multigrid with these sweeps as smoother", step_number()));
    told_bound       = told_bound || totals.multigrid_steps > 0;
    report.multigrid = static_cast<unsigned int>(totals.multigrid_steps - before.multigrid_steps);

    report.earlier_steps = static_cast<unsigned int>(totals.steps - before.steps - 1);
    report.earlier_newton_steps =
      parameters.explicit_reaction() ? report.earlier_steps : totals.newton_steps - before.newton_steps - last.newton_steps;
    report.earlier_linear_iterations = totals.sweeps + totals.cycles - before.sweeps - before.cycles - report.linear_iterations;
    report.earlier_rejected          = totals.rejected - before.rejected - last.rejected;
  }
} // namespace leopard
