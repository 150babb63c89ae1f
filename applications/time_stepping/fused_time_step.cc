// SPDX-License-Identifier: Apache-2.0
#include "fused_steps.h"
#include "time_integrator.h"

#include <applications/base/log.h>
#include <applications/base/stop_signal.h>
#include <applications/discretization/semi_discrete_system.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/problems/problem.h>
#include <solvers/base/errors.h>

#include <cmath>

// TimeIntegrator: steps by the fused time loop

namespace leopard
{
  using reaction_diffusion::StopReason;

  void StepReport::count_earlier(const StepReport &before)
  {
    if (before.step_size == 0.) // of no step
      return;
    earlier_steps += before.earlier_steps + 1;
    earlier_newton_steps += before.earlier_newton_steps + before.newton_steps;
    earlier_linear_iterations += before.earlier_linear_iterations + before.linear_iterations;
    earlier_rejected += before.earlier_rejected + before.rejected;
    multigrid += before.multigrid;
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
           (next >= parameters.smallest_step ? ", which is too small to advance the time,"
                                             : ", below 'Time stepping/Smallest step' = " + format("%g", parameters.smallest_step) + ",");
  }

  void TimeIntegrator::use_fused_steps(std::unique_ptr<FusedSteps> fused_)
  {
    fused        = std::move(fused_);
    fused_loaded = false;
  }

  StepReport TimeIntegrator::fused_steps(const StepBatch &batch)
  {
    const long         first    = fused->stepper.totals().steps;
    const unsigned int n_before = n_steps;
    try
      {
        return advance_together(batch);
      }
    catch (const ConvergenceFailure &)
      {
        fused_loaded = false;
        if (n_steps > n_before || fused->stepper.totals().steps <= first + 1)
          throw; // the solution here is the one before the step that failed
      }
    // the solution after several steps cannot be used: one at a time from where they began, as far as it can
    StepReport sum;
    for (long left = fused->stepper.totals().steps - first; left > 0; --left)
      {
        const unsigned int n_here = n_steps;
        StepReport         report = advance_together({batch.stop_time, batch.slack, 1});
        if (n_steps == n_here)
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
      fused->load({static_cast<long>(n_steps), t, dt, std::vector<double>(steps.begin(), steps.begin() + n_levels - 1)}, levels);
    fused_loaded          = true;
    const auto     before = stepper.totals();
    const MPI_Comm comm   = u_new.get_mpi_communicator();
    const auto     reason = stepper.advance(batch.stop_time, batch.max_steps, batch.slack, [comm] { return stop_requested(comm); });
    StepReport     report;
    if (stepper.totals().steps > before.steps)
      take_over_steps(before, report);
    else if (reason == StopReason::asked_to_stop)
      throw_if_stop_requested(comm);
    if (reason == StopReason::newton_failure || reason == StopReason::linear_failure || reason == StopReason::step_underflow ||
        reason == StopReason::blow_up)
      throw ConvergenceFailure(why_it_failed(reason) + " in the step from time " + format("%.8g", t) + " with step size " +
                               format("%.4g", stepper.attempted_step_size()) + growth_of_solution(inspect(levels[0], n_fields).largest) +
                               "\n  to try: a smaller step, 'Time stepping/Step control = error-controlled' or a larger error tolerance, 'Time "
                               "stepping/Engine = general' with "
                               "gmres; a solution may blow up in finite time");
    return report;
  }

  void TimeIntegrator::take_over_steps(const reaction_diffusion::Totals &before, StepReport &report)
  {
    const reaction_diffusion::Stepper     &stepper = fused->stepper;
    const reaction_diffusion::StepFigures &last    = stepper.last_step();
    const auto                             totals  = stepper.totals();
    const auto                             now     = stepper.state();
    fused->store(0, u_new);
    report.step_size = last.step_size;
    check_values(now.time - last.step_size, last.step_size, report);
    n_levels = now.step_sizes.size() + 1;
    levels[0].swap(u_new);
    for (unsigned int l = 1; l < n_levels; ++l)
      fused->store(static_cast<int>(l), levels[l]);
    std::copy(now.step_sizes.begin(), now.step_sizes.end(), steps.begin());
    last_order = n_levels <= 2 ? 1 : parameters.order();
    t          = now.time;
    dt         = now.next_step_size;
    n_steps    = static_cast<unsigned int>(now.step);

    // with an explicit reaction the corrections of a step are parts of one linear solve
    report.newton_steps      = parameters.explicit_reaction() ? 1 : last.newton_steps;
    report.linear_iterations = last.sweeps + last.cycles;
    report.rejected          = last.rejected;
    report.error_estimate    = last.error_estimate;
    report.rate_of_change    = last.rate_of_change;
    // the library divides G by (a + s) m / k; its weights are 1 where m is largest
    const GrowthFactors factors = growth.factors(t);
    report.residual =
      last.residual * (coefficients(steps[0], steps[1], last_order).a + factors.dilution) / factors.diffusion * system.lumped_mass.linfty_norm();
    report.bound = parameters.follows_bound()
                     ? last.bound
                     : Controller::asynchronous_bound(
                         implicit_system.dominant_mass_factor(levels[1], growth.factors(t - steps[0]), t - steps[0]), last_order, steps[1]);
    if (parameters.explicit_reaction())
      extrapolate_reaction(coefficients(steps[0], steps[1], last_order));
    if (totals.multigrid_steps > 0 && !told_bound)
      report.notes.push_back(
        format("from about step %u on steps are too long for block-asynchronous sweeps alone: multigrid with these sweeps as smoother", n_steps));
    told_bound       = told_bound || totals.multigrid_steps > 0;
    report.multigrid = static_cast<unsigned int>(totals.multigrid_steps - before.multigrid_steps);

    report.earlier_steps = static_cast<unsigned int>(totals.steps - before.steps - 1);
    report.earlier_newton_steps =
      parameters.explicit_reaction() ? report.earlier_steps : totals.newton_steps - before.newton_steps - last.newton_steps;
    report.earlier_linear_iterations = totals.sweeps + totals.cycles - before.sweeps - before.cycles - report.linear_iterations;
    report.earlier_rejected          = totals.rejected - before.rejected - last.rejected;
  }

  void TimeIntegrator::extrapolate_reaction(const Coefficients &factors)
  {
    implicit_system.reaction(levels[1], explicit_rates, t - steps[0]);
    explicit_rates *= factors.p;
    if (factors.q != 0.)
      {
        implicit_system.reaction(levels[2], rates[1], t - steps[0] - steps[1]);
        explicit_rates.add(factors.q, rates[1]);
      }
  }
} // namespace leopard
