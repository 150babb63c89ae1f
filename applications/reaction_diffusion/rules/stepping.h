// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes.h"

#include <solvers/base/norms.h>

namespace leopard::reaction_diffusion
{
  enum class LinearMethod
  {
    automatic, ///< sweeps where they contract well enough, multigrid elsewhere; decided anew for each step
    sweeps,    ///< block-asynchronous sweeps of the coupled system
    multigrid  ///< cycles with these sweeps as smoother
  };

  enum class StopReason
  {
    none,
    step_limit,      ///< as many steps as were asked for
    time_reached,    ///< the time that was asked for
    steady_state,    ///< the rate of change has fallen below SteppingOptions::steady_tolerance
    newton_failure,  ///< Newton's method did not converge in a step of fixed size; the last good solution is kept
    linear_failure,  ///< nor did it, since the linear solver did not reach its tolerance
    step_underflow,  ///< the step fell below SteppingOptions::smallest_step or the rounding of the time; the last good solution is kept
    blow_up,         ///< values that are not finite, or beyond 1e150, in a step of fixed size; the last good solution is kept
    negative_values, ///< a field became negative and SteppingOptions::stop_at_negative_values is set
    asked_to_stop    ///< by whom advance() was told to ask; a step that was under way is lost, the last good solution is kept
  };

  /** How the steps are made. Plain numbers, the same on host and GPU; times are dimensionless. */
  struct SteppingOptions
  {
    Scheme scheme           = Scheme::bdf2;
    bool   error_controlled = true;
    double step_size        = 1e-4;  ///< fixed: the step; error-controlled: the first one
    double error_tolerance  = 1e-3;  ///< of the estimated local error, relative to the fields
    double smallest_step    = 1e-12; ///< error-controlled
    double largest_step     = 1e30;  ///< error-controlled, and steps at the asynchronous bound
    double bound_fraction   = 0.;    ///< not 0: the step is this times SchemeStep::asynchronous_bound(), computed anew for each step
    double steady_tolerance = 0.;    ///< stop when the RMS of du/dt falls below; 0: never
    double newton_tolerance = 1e-8;  ///< of the residual norm against that of the first guess
    double newton_floor     = 1e-12; ///< of the residual norm against that of the old values: the level of rounding
    double newton_error_fraction =
      0.01; ///< error-controlled: the residual may be this part of what the error may be, see Controller::newton_goal(); 0: no matter
    int          max_newton_steps        = 20;
    LinearMethod linear_method           = LinearMethod::automatic; ///< as in all runs; tests and benchmarks compare the others
    double       omega                   = 1.;                      ///< relaxation factor of the sweeps
    int          max_sweeps              = 400;                     ///< in a Newton step
    int          max_cycles              = 20;                      ///< in a Newton step
    bool         stop_at_negative_values = false;
    double       end_time = 0.; ///< of steps that vary: the one time that is hit, others are passed by less than a step; 0: all are hit

    /** @param rate_of_change RMS of du/dt. */
    LEOPARD_HOST_DEVICE bool is_steady(double rate_of_change) const { return steady_tolerance > 0. && reached(rate_of_change, steady_tolerance); }
  };

  /** How many attempts at steps were thrown away, and why. */
  struct Rejections
  {
    long error         = 0; ///< the estimated error was too large
    long linear_solver = 0; ///< Newton's method did not converge, since the linear solver did not reach its tolerance
    long newton        = 0; ///< it did not converge though the linear solver did
    long not_finite    = 0; ///< the solution or the reaction there was not finite

    LEOPARD_HOST_DEVICE long        total() const { return error + linear_solver + newton + not_finite; }
    LEOPARD_HOST_DEVICE Rejections &operator+=(const Rejections &other)
    {
      error += other.error;
      linear_solver += other.linear_solver;
      newton += other.newton;
      not_finite += other.not_finite;
      return *this;
    }
    friend Rejections operator+(Rejections a, const Rejections &b) { return a += b; }
    friend Rejections operator-(const Rejections &a, const Rejections &b)
    {
      return {a.error - b.error, a.linear_solver - b.linear_solver, a.newton - b.newton, a.not_finite - b.not_finite};
    }
  };

  /** What one accepted step has cost and found. */
  struct StepFigures
  {
    double     step_size    = 0.;
    int        order        = 0; ///< of the scheme in this step
    int        newton_steps = 0;
    int        sweeps       = 0;    ///< of the coupled system on the finest grid, those in multigrid cycles not counted
    int        cycles       = 0;    ///< of multigrid
    Rejections rejected;            ///< attempts before it
    double     first_residual = 0.; ///< ||G||_2 at the first guess, see Controller
    double     residual       = 0.; ///< Newton's last ||G||_2
    double     error_estimate = 0.; ///< of the local error against the tolerance; 0 where there is none
    double     rate_of_change = 0.; ///< RMS of (u_n+1 - u_n) / dt
    double     n_negative     = 0.; ///< values below zero
    double     bound          = 0.; ///< StepControl::bound
  };

  struct Totals
  {
    long       steps = 0, newton_steps = 0, sweeps = 0, cycles = 0, multigrid_steps = 0, negative_steps = 0;
    Rejections rejected;
    double     worst_reduction = 0.; ///< largest final residual against its goal; at most 1 if all steps converged
  };
} // namespace leopard::reaction_diffusion
