// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <applications/nonlinear/newton.h>
#include <solvers/dealii/trilinos_matrix.h>

#include <functional>
#include <string>
#include <vector>

namespace leopard
{
  struct SemiDiscreteSystem;

  /** Section "Time stepping" of the parameter file. Times are dimensionless. */
  struct TimeParameters
  {
    std::string scheme           = "BDF2";
    std::string step_control     = "error-controlled";
    double      step_size        = 1e-4; ///< fixed: the step; error-controlled: the first one
    double      step_factor      = 0.1;  ///< "multiple of h^2": the step is this times h^2
    double      error_tolerance  = 1e-3; ///< of the estimated local error, relative to the fields
    double      smallest_step    = 1e-12;
    double      largest_step     = 1e30;
    double      end_time         = 1.;
    double      steady_tolerance = 0.; ///< stop when the RMS of du/dt falls below; 0: never

    void declare(dealii::ParameterHandler &prm);
    void read(dealii::ParameterHandler &prm);
    bool adaptive() const { return step_control == "error-controlled"; }
    int  order() const { return scheme == "BDF2" ? 2 : 1; }
  };

  /** What one accepted step has cost and found. */
  struct StepReport
  {
    double step_size         = 0.;
    int    newton_steps      = 0;
    int    linear_iterations = 0;
    int    rejected          = 0;  ///< attempts that were thrown away
    double residual          = 0.; ///< Newton's last ||G||_2
    double error_estimate    = 0.; ///< of the local error against the tolerance; 0 where there is none
    double rate_of_change    = 0.; ///< RMS of (u_n+1 - u_n) / dt
  };

  /**
   * Implicit Euler and variable-step BDF2 for M du/dt + K u = F(t) + m r(u), each step solved by Newton's method. A step's local error
   * is estimated from the difference between the solution and the polynomial extrapolation of the old solutions (Milne's device).
   * The first step is implicit Euler's. Nothing is allocated in a step.
   */
  class TimeIntegrator
  {
  public:
    /** @param update_load recomputes system.load at a time, or empty if the load is constant. Keeps references. */
    TimeIntegrator(const TimeParameters       &parameters,
                   SemiDiscreteSystem         &system,
                   ImplicitSystem             &implicit_system,
                   Newton                     &newton,
                   double                      mesh_size,
                   std::function<void(double)> update_load);

    /** Starts at time zero with these values. */
    void start(const HostVector &u);

    /**
     * Does one step of at most max_step_size (so as to hit a time). @throws ConvergenceFailure if Newton fails with a fixed step
     * (with its history) or if the error-controlled step size underflows.
     */
    StepReport step(double max_step_size);

    double            time() const { return t; }
    unsigned int      step_number() const { return n_steps; }
    double            next_step_size() const { return dt; }
    const HostVector &solution() const { return levels[0]; }

    /** All that a checkpoint must hold: solutions at the present and earlier times (newest first) and the numbers beside them. */
    struct State
    {
      unsigned int        step = 0;
      double              time = 0., next_step_size = 0.;
      std::vector<double> step_sizes; ///< of the last steps, newest first; one fewer than there are solutions
    };
    State                          state() const;
    const std::vector<HostVector> &solutions() const { return levels; }
    unsigned int                   n_solutions() const { return n_levels; }
    /** Continues from a state; `solutions` are state.step_sizes.size() + 1 vectors. */
    void resume(const State &state, const std::vector<HostVector> &solutions);

  private:
    void   extrapolate(double step_size, HostVector &prediction) const;
    double estimate_error(double step_size, const HostVector &prediction, const HostVector &u, int order) const;
    double rate_of_change(double step_size, const HostVector &u);
    bool   attempt(double step_size, int order, StepReport &report);
    void   accept(double step_size);

    const TimeParameters             &parameters;
    SemiDiscreteSystem               &system;
    ImplicitSystem                   &implicit_system;
    Newton                           &newton;
    const std::function<void(double)> update_load;

    unsigned int            n_steps  = 0;
    unsigned int            n_levels = 0; ///< solutions that are known, at most levels.size()
    double                  t = 0., dt = 0.;
    std::vector<HostVector> levels; ///< u_n, u_n-1, u_n-2
    std::vector<double>     steps;  ///< t_n - t_n-1, t_n-1 - t_n-2
    HostVector              u_new, prediction, history, combination;
  };
} // namespace leopard
