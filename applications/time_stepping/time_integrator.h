// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "field_inspection.h"
#include "time_parameters.h"

#include <applications/base/value_errors.h>
#include <applications/discretization/growth.h>
#include <applications/nonlinear/newton.h>
#include <applications/reaction_diffusion/rules/step_control.h>
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

  /** Of the last step. */
  struct StepReport : reaction_diffusion::StepFigures
  {
    int                linear_iterations = 0;
    int                corrections       = 0;     ///< of refinements, whose inner iterations the linear ones are
    bool               alternative       = false; ///< whether gmres was used since the step exceeds the bound
    unsigned long long clipped           = 0;     ///< negative values that were set to zero

    unsigned int earlier_steps             = 0; ///< fused steps: those of the call before this one, and what they took
    long         earlier_newton_steps      = 0;
    long         earlier_linear_iterations = 0;
    Rejections   earlier_rejected;
    unsigned int multigrid = 0;  ///< of all steps of the call: solved by multigrid
    double       seconds   = 0.; ///< of all steps of the call, without what it waited for other runs

    std::vector<std::string> notes; ///< what the log should say once

    /** Adds the steps of an earlier report to the earlier ones of this. */
    void count_earlier(const StepReport &before);
  };

  /** How far fused steps may go in one call. */
  struct StepBatch
  {
    double stop_time = 0.; ///< the steps end here, at the nearest one if they are fixed, else at or behind it
    double slack     = 0.; ///< a time this close counts as reached
    long   max_steps = 1;
  };

  /**
   * The balance of one field's mass over the last step, M(u) = integral of u over the mesh, the domain before it grows;
   * dimensionless.
   */
  struct MassBalance
  {
    double mass   = 0.; ///< M(u_n+1), as all here without the nodes whose values are prescribed
    double change = 0.; ///< of the mass, as the scheme has it: M(u_n+1) - M(u_n) for implicit Euler
    /**
     * dt times the integral of reaction, sources, given fluxes, absorption and dilution by growth, as the scheme takes
     * them. Exponential steps take them at stages that are gone: by Simpson's rule at both ends of the step and in its
     * middle, where solution_at() has the fields.
     */
    double reaction = 0.;

    /**
     * Zero up to the tolerance of the solver, but for what flows in from nodes with prescribed values (given fluxes are
     * among the sources) and what clipping has added; of exponential steps up to the error of Simpson's rule with
     * that field, of the order of dt^5. The steps themselves integrate a mean linear reaction exactly, so that it may
     * be larger than theirs.
     */
    double residual() const { return change - reaction; }
  };

  /**
   * Steps for M du/dt + K u = F(t) + m r(u) by the schemes and rules of the fused time loop (SchemeStep, StepControl),
   * with w = dt_n+1 / dt_n:
   *
   *   implicit Euler:  M (u_n+1 - u_n) / dt + K u_n+1 = F_n+1 + m r(u_n+1)
   *   BDF2:            M ((1+2w)/(1+w) u_n+1 - (1+w) u_n + w^2/(1+w) u_n-1) / dt + K u_n+1 = F_n+1 + m r(u_n+1)
   *   BDF3:            likewise through the new and three old solutions
   *   SBDF2:           BDF2 with m ((1+w) r(u_n) - w r(u_n-1)) on the right
   *
   * where on a domain that grows K and M u_n+1 have the factors of Growth at t_n+1. Where the error controls the step,
   * one beyond the asynchronous bound (ImplicitSystem::dominant_mass_factor()) is solved by gmres instead of a
   * relaxation. No vector is allocated in a step.
   */
  class TimeIntegrator
  {
  public:
    /**
     * @param growth of the domain; @param update_load recomputes system.load and system.sources at a time, and takes
     * the boundary values then; empty if both are constant; @param distribute sets constrained unknowns from the
     * others; empty if there are none. Keeps references.
     */
    TimeIntegrator(const TimeParameters             &parameters,
                   const Problem                    &problem,
                   SemiDiscreteSystem               &system,
                   ImplicitSystem                   &implicit_system,
                   Newton                           &newton,
                   const Growth                     &growth,
                   double                            mesh_size,
                   std::function<void(double)>       update_load,
                   std::function<void(HostVector &)> distribute);
    ~TimeIntegrator();

    /**
     * Of a problem with noise: where the own nodes are, as LevelSource::nodes() gives them. The force of a step from
     * t_n at a node with the lumped mass m is m sigma(u_n, x, t_n) xi / sqrt(m dt), xi = normal_at() the place for
     * field, step and the problem's seed (Euler and Maruyama, the drift implicit; Kloeden and Platen, Numerical
     * Solution of Stochastic Differential Equations, 12.2): strong order 1 where sigma does not depend on u, otherwise
     * 1/2, on a fixed mesh. @param shortest_edge of the mesh. @throws Error if random numbers do not tell its nodes
     * apart.
     */
    void set_noise(const std::vector<double> &nodes, double shortest_edge);

    /**
     * Starts at time zero with these values, constrained ones included; those of quasi-stationary fields are where the
     * search for values begins that satisfy their equations. @throws ConvergenceFailure if it finds none. Collective.
     */
    void start(const HostVector &u);

    /**
     * To be called after start(): shortens the first step where the error controls steps but has no estimate of the
     * first ones, to h with h^2/2 |du'/dt|, the local error of Euler's method by the reaction r, within the tolerance;
     * du'/dt = (r(u + e r, t + e) - r(u, t)) / e, and to a hundredth of the run. What diffuses only decays. @return a
     * line for the log, or nothing. Collective.
     */
    std::string limit_first_step();

    /** To be called before the first step. @throws Error, on all ranks, if the noise that begins it is not finite. */
    void check_noise();

    /**
     * Does one step; one that is not fixed does not go beyond the end time, nor, if exponential, beyond stop_time.
     * Where the error controls the step, every failure in it (Newton, the linear solver, values, rates or sources that
     * are not finite) makes it shorter. The solution stays as it was if it throws.
     * @throws ConvergenceFailure if such a failure strikes a fixed step, if the error-controlled step size underflows
     * or a step is too short to advance the time, if the solution blows up, or becomes negative and the user wants to
     * stop then.
     */
    StepReport step(double stop_time);

    /** From now on steps are done by the fused time loop, many in one call of fused_steps(). */
    void use_fused_steps(std::unique_ptr<FusedSteps> fused);
    bool is_fused() const { return fused != nullptr; }
    bool fused_has_cycles() const; ///< whether these steps have multigrid for what is too long for sweeps
    /**
     * As step(); @return the report of the last step, with the sums of the others. If a step fails after others, the
     * report is of these, and the next call throws.
     */
    StepReport fused_steps(const StepBatch &batch);

    /** Of the last step, for each field. Collective. */
    std::vector<MassBalance> mass_balance();

    double            time() const { return control.time; }
    unsigned int      step_number() const { return static_cast<unsigned int>(control.step); }
    double            next_step_size() const { return control.next_step; }
    bool              is_steady(const StepReport &report) const { return control.options.is_steady(report.rate_of_change); }
    const HostVector &solution() const { return levels[0]; }
    /** Largest less smallest value of each field at the beginning and after the steps of each call since. */
    std::vector<double> spans() const;
    /**
     * The solution at a time within the last step, valid until the next one: the polynomial through this and earlier
     * solutions that the next step's first guess is of, whose error is of the order of the local error. Of exponential
     * steps, of which there are two solutions, the cubic polynomial with their rates of change, too (Hermite), of order
     * 4; in the first step, from values that may be rough and change at any rate, the parabola with that at its end.
     */
    const HostVector &solution_at(double t);

    /**
     * All that a checkpoint must hold: solutions at the present and earlier times (newest first) and the numbers beside
     * them.
     */
    struct State : reaction_diffusion::StepState
    {
      double start_size = 0.; ///< the largest |u| at time zero
    };
    State                          state() const;
    const std::vector<HostVector> &solutions() const { return levels; }
    unsigned int                   n_solutions() const { return control.n_levels; }
    /** Continues from a state; `solutions` are state.step_sizes.size() + 1 vectors. */
    void resume(const State &state, const std::vector<HostVector> &solutions);

  private:
    using SchemeStep = reaction_diffusion::SchemeStep;
    using StopReason = reaction_diffusion::StopReason;

    /** Of the last step. */
    SchemeStep last_step() const { return {control.options.scheme, control.order, control.steps[0], {control.steps[1], control.steps[2], 0.}}; }
    void       find_quasi_stationary();
    /** See limit_first_step(); infinite where the reaction says nothing. */
    double first_step_of_reaction();
    /** Of levels[0], where steps begin. */
    void   look_at_fields();
    void   choose_solver(StepReport &report);
    double estimate_error();
    /** Zero in constrained unknowns, which norms and the history of a step leave out. */
    void leave_out_constrained(HostVector &v) const;
    /** Why a step has failed; its text is empty if it has not. */
    struct StepFailure
    {
      ValueComplaint why;
      StopReason     cause = StopReason::none; ///< for StepControl::reject_step()
    };
    StepFailure attempt(StepReport &report);
    StepFailure try_step(StepReport &report);
    /** What of sources, fluxes and boundary values is not finite where an attempt has taken them; or nothing. */
    std::string load_that_fails(double attempted_step);
    /** A solution of the fused steps, with the boundary values of its time. */
    void store_fused(int level, double time, HostVector &u);
    void check_values(double start, double step_size, StepReport &report);
    /** What fields have below zero and at zero where steps begin, and in the steady state. */
    void look_for_negative_fields(const FieldInspection &values);
    /** Of u_new, `values` of which are given: stops, clips or warns as 'Negative values' says. Collective. */
    void check_negative_values(const FieldInspection &values, double start, double step_size, StepReport &report);
    /**
     * The field for check_negative_values(), -1: none. Left out, as such values are meant, are fields that have been
     * negative from the start, and those whose boundary values are, or that begin at zero, from where their equation or
     * noise takes them below.
     */
    int field_below_zero(const FieldInspection &values, double start, double step_size);
    /** "u becomes negative, -0.1 (2 % of ...), in the step from time 0", with the cause as far as it is known. */
    std::string text_of_negative(unsigned int c, const FieldInspection &values, double start, double step_size);
    /**
     * What takes field c of u_new below zero where it is negative and every step would find: noise or rates that are
     * there for u_c = 0, too; empty: nothing, so that it is an error of the discretization. Overwrites `combination`
     * and `prediction`.
     */
    std::string what_acts_at_zero(unsigned int c, const FieldInspection &values, double start, double step_size);
    /** "advection or long steps", what there is that may give field c a value below zero that is an error. */
    std::string what_may_undershoot(unsigned int c) const;
    bool        has_negative_boundary_values(unsigned int c);
    bool        has_consistent_mass() const;
    /** The part of a field's largest value that values below zero may be as an error of the steps. */
    double harmless_negative() const { return parameters.adaptive() ? parameters.stepping.error_tolerance : 1e-3; }
    /** @param reason why the attempts before have failed, without a text if there were none. */
    [[noreturn]] void throw_underflow(const ValueComplaint &reason) const;
    std::string       growth_of_solution() const;
    /**
     * Where the noise of a step is as large as the solution: how large it is, for messages of a failure; else nothing.
     * Collective.
     */
    std::string noise_as_reason(double step_size);
    /**
     * forces of a step. @param u_n, time where it begins, @param step its number. @return why they cannot be taken, or
     * nothing.
     */
    std::string make_forces(const HostVector &u_n, double time, long step, double step_size);
    /** u becomes SchemeStep::predict() of the levels; a step back interpolates. */
    void extrapolate(const SchemeStep &step, HostVector &u) const;
    /** du/dt = (F - K u) / m + r(u), with the load of time t; zero in constrained unknowns. */
    void rate_of_change(const HostVector &u, double t, HostVector &rate);
    /** explicit_rates from rates[0] and rates[1]. */
    void extrapolate_reaction(const reaction_diffusion::SchemeCoefficients &factors);
    /** MassBalance::reaction of the last step, of all fields. Collective. */
    std::vector<double> integrated_reaction_of_exponential_step();
    StepReport          advance_together(const StepBatch &batch);
    void                take_over_steps(const reaction_diffusion::Totals &before, StepReport &report);
    /**
     * What the log should say of an exponential step: that a fixed one is too long; or that one which changes the
     * fields by less than a third of the tolerance is said to be a third of that off, which no accurate step can be:
     * its part that is explicit is at the end of its stability. Empty: nothing.
     */
    std::string what_limits(const StepReport &report) const;
    /** Of the last call of the fused steps, for a message. */
    std::string why_it_failed(StopReason reason) const;

    const TimeParameters                   &parameters;
    const Problem                          &problem;
    SemiDiscreteSystem                     &system;
    ImplicitSystem                         &implicit_system;
    Newton                                 &newton;
    const Growth                           &growth;
    const std::function<void(double)>       update_load;
    const std::function<void(HostVector &)> distribute;
    const unsigned int                      n_fields;
    double                                  n_free = 0.; ///< unknowns of all ranks that are not constrained

    reaction_diffusion::StepControl control;         ///< its order is 0 before the first step
    double                          start_size = 0.; ///< the largest |u| at time zero
    std::vector<double>             lowest, highest; ///< of each field, see spans()
    std::vector<bool>               may_be_negative; ///< fields whose negative values are meant, as far as is known
    std::vector<bool>               begins_at_zero;  ///< fields that are not above zero everywhere at the start
    bool                            told_bound = false, told_limit = false;
    bool                            told_values   = false; ///< of the linear solver's matrix
    double                          told_negative = 0.;    ///< the largest share of its field that a negative value had when it was told of
    std::vector<HostVector>         levels;                ///< u_n, u_n-1, ...
    std::vector<HostVector>         rates;                 ///< explicit reaction: r(u_n), r(u_n-1), and at last r(u_n+1); else empty
    HostVector                      explicit_rates;        ///< what the last step has taken as the reaction
    std::unique_ptr<FusedSteps>     fused;
    std::vector<double>             noise_places; ///< coordinates of the own nodes; empty without noise
    HostVector                      forces;       ///< of noise, in the last step, times m
    bool                            fused_loaded = false;
    std::string                     fused_failure; ///< of the step after the last one, not yet thrown
    HostVector                      u_new, prediction, history, combination;
    long                            step_of_rates = -1; ///< exponential steps: whose ends have the rates of change in prediction and history
  };
} // namespace leopard
