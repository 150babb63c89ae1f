// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "field_inspection.h"
#include "time_parameters.h"

#include <applications/discretization/growth.h>
#include <applications/nonlinear/newton.h>
#include <applications/reaction_diffusion/rules/controller.h>
#include <solvers/dealii/trilinos_matrix.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  class FusedSteps;
  class Problem;
  struct SemiDiscreteSystem;

  using reaction_diffusion::Rejections;

  /** What one accepted step has cost and found. */
  struct StepReport
  {
    double             step_size         = 0.;
    int                newton_steps      = 0;
    int                linear_iterations = 0;
    Rejections         rejected;               ///< attempts that were thrown away
    double             residual       = 0.;    ///< Newton's last ||G||_2
    double             error_estimate = 0.;    ///< of the local error against the tolerance; 0 where there is none
    double             rate_of_change = 0.;    ///< RMS of (u_n+1 - u_n) / dt
    double             bound          = 0.;    ///< the largest step for which every asynchronous iteration converges; may be infinite
    bool               alternative    = false; ///< whether gmres was used since the step exceeds the bound
    unsigned long long clipped        = 0;     ///< negative values that were set to zero

    unsigned int earlier_steps             = 0; ///< fused steps: those of the call before this one, and what they took
    long         earlier_newton_steps      = 0;
    long         earlier_linear_iterations = 0;
    Rejections   earlier_rejected;
    unsigned int multigrid = 0; ///< of all steps of the call: solved by multigrid

    std::vector<std::string> notes; ///< what the log should say once

    /** Adds the steps of an earlier report to the earlier ones of this. */
    void count_earlier(const StepReport &before);
  };

  /** How far fused steps may go in one call. */
  struct StepBatch
  {
    double stop_time = 0.; ///< no step beyond this time: hit by error-controlled steps, the nearest step otherwise
    double slack     = 0.; ///< a time this close counts as reached
    long   max_steps = 1;
  };

  /**
   * The balance of one field's mass over the last step, M(u) = integral of u over the mesh, the domain before it grows;
   * dimensionless.
   */
  struct MassBalance
  {
    double mass     = 0.; ///< M(u_n+1)
    double change   = 0.; ///< of the mass, as the scheme has it: M(u_n+1) - M(u_n) for implicit Euler
    double reaction = 0.; ///< dt times the integral of reaction, sources, absorption and dilution by growth, as the scheme takes them

    /**
     * Zero up to the tolerance of the solver, since no field flows through the boundary; and what clipping has added.
     */
    double residual() const { return change - reaction; }
  };

  /**
   * One-step and two-step schemes for M du/dt + K u = F(t) + m r(u), with w = dt_n+1 / dt_n:
   *
   *   implicit Euler:  M (u_n+1 - u_n) / dt + K u_n+1 = F_n+1 + m r(u_n+1)
   *   BDF2:            M ((1+2w)/(1+w) u_n+1 - (1+w) u_n + w^2/(1+w) u_n-1) / dt + K u_n+1 = F_n+1 + m r(u_n+1)
   *   SBDF2:           the same with m ((1+w) r(u_n) - w r(u_n-1)) on the right
   *
   * where on a domain that grows K and M u_n+1 have the factors of Growth at t_n+1. (SBDF2: Ascher, Ruuth, Wetton 1995;
   * recommended for patterns by Ruuth 1995; with variable steps Wang, Ruuth 2008.) The first step of the schemes of
   * order 2 is of order 1. The local error is estimated from the difference between the solution and the polynomial
   * extrapolation of the old ones (Milne's device), with SBDF2 also from that between the reaction and its
   * extrapolation. Where the error controls the step, a step beyond the asynchronous bound
   * (ImplicitSystem::dominant_mass_factor()) is solved by gmres instead of a relaxation. No vector is allocated in a
   * step.
   */
  class TimeIntegrator
  {
  public:
    /**
     * @param growth of the domain; @param update_load recomputes system.load at a time, or empty if the load is
     * constant. Keeps references.
     */
    TimeIntegrator(const TimeParameters       &parameters,
                   const Problem              &problem,
                   SemiDiscreteSystem         &system,
                   ImplicitSystem             &implicit_system,
                   Newton                     &newton,
                   const Growth               &growth,
                   double                      mesh_size,
                   std::function<void(double)> update_load);
    ~TimeIntegrator();

    /** Starts at time zero with these values. */
    void start(const HostVector &u);

    /**
     * Does one step of at most max_step_size (so as to hit a time). The solution stays as it was if it throws. Where
     * the error controls the step, every failure in it (Newton, the linear solver, values, rates or sources that are
     * not finite) makes it shorter.
     * @throws ConvergenceFailure if such a failure strikes a fixed step, if the error-controlled step size underflows
     * or a step is too short to advance the time, if the solution blows up, or becomes negative and the user wants to
     * stop then.
     */
    StepReport step(double max_step_size);

    /** From now on steps are done by the fused time loop, many in one call of fused_steps(). */
    void use_fused_steps(std::unique_ptr<FusedSteps> fused);
    bool is_fused() const { return fused != nullptr; }
    /** As step(); @return the report of the last step, with the sums of the others. */
    StepReport fused_steps(const StepBatch &batch);

    /** Of the last step, for each field. Collective. */
    std::vector<MassBalance> mass_balance();

    double            time() const { return t; }
    unsigned int      step_number() const { return n_steps; }
    double            next_step_size() const { return dt; }
    const HostVector &solution() const { return levels[0]; }

    /**
     * All that a checkpoint must hold: solutions at the present and earlier times (newest first) and the numbers beside
     * them.
     */
    struct State
    {
      unsigned int        step = 0;
      double              time = 0., next_step_size = 0.;
      std::vector<double> step_sizes;      ///< of the last steps, newest first; one fewer than there are solutions
      double              start_size = 0.; ///< the largest |u| at time zero
    };
    State                          state() const;
    const std::vector<HostVector> &solutions() const { return levels; }
    unsigned int                   n_solutions() const { return n_levels; }
    /** Continues from a state; `solutions` are state.step_sizes.size() + 1 vectors. */
    void resume(const State &state, const std::vector<HostVector> &solutions);

  private:
    using Controller                       = reaction_diffusion::Controller; ///< the rules of step sizes
    static constexpr double largest_growth = Controller::largest_growth;

    /**
     * The factors of a step: (M (a u_n+1 - b u_n - c u_n-1)) and the reaction p r(u_n) + q r(u_n-1) where it is
     * explicit.
     */
    struct Coefficients
    {
      double a, b, c, p, q;
    };
    static Coefficients coefficients(double step_size, double previous_step_size, int order);

    /** @param mass_factor ImplicitSystem::dominant_mass_factor(). */
    void        follow_bound(double mass_factor);
    void        choose_solver(double step_size, StepReport &report);
    void        extrapolate(double step_size, HostVector &prediction) const;
    double      estimate_error(double step_size, int order) const;
    double      rate_of_change(double step_size, const HostVector &u);
    std::string attempt(double step_size, int order, StepReport &report);
    /** @return why it has failed, empty if it has not; then `cause` is the entry of Rejections that counts it. */
    std::string try_step(double step_size, int order, StepReport &report, long Rejections::*&cause);
    void        evaluate_new_reaction(double new_time);
    void        check_values(double start, double step_size, StepReport &report);
    void        finish_step(double step_size, int order, bool can_estimate, StepReport &report);
    void        reject_step(double step_size, double growth, const std::string &reason, long Rejections::*cause, StepReport &report);
    std::string growth_of_solution(double largest) const;
    /** explicit_rates of the step that led from levels[1] to levels[0]. */
    void       extrapolate_reaction(const Coefficients &factors);
    StepReport advance_together(const StepBatch &batch);
    void       take_over_steps(const reaction_diffusion::Totals &before, StepReport &report);
    /** Of the last call of the fused steps, for a message. */
    std::string why_it_failed(reaction_diffusion::StopReason reason) const;

    const TimeParameters             &parameters;
    const Problem                    &problem;
    SemiDiscreteSystem               &system;
    ImplicitSystem                   &implicit_system;
    Newton                           &newton;
    const Growth                     &growth;
    const std::function<void(double)> update_load;
    const unsigned int                n_fields;

    unsigned int                n_steps    = 0;
    unsigned int                n_levels   = 0; ///< solutions that are known, at most levels.size()
    int                         last_order = 0; ///< of the last step; 0: there was none
    double                      t = 0., dt = 0.;
    double                      start_size    = 0.; ///< the largest |u| at time zero
    bool                        told_bound    = false;
    double                      told_negative = 0.; ///< the largest share of its field that a negative value had when it was told of
    std::vector<HostVector>     levels;             ///< u_n, u_n-1, u_n-2
    std::vector<double>         steps;              ///< t_n - t_n-1, t_n-1 - t_n-2
    std::vector<HostVector>     rates;              ///< explicit reaction: r(u_n), r(u_n-1), and at last r(u_n+1); else empty
    HostVector                  explicit_rates;     ///< what the last step has taken as the reaction
    std::unique_ptr<FusedSteps> fused;
    bool                        fused_loaded = false;
    HostVector                  u_new, prediction, history, combination;
  };
} // namespace leopard
