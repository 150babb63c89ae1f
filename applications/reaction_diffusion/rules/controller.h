// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "step_control.h"
#include "sums.h"
#include "uniform_growth.h"

namespace leopard::reaction_diffusion
{
  /** What the engine is to do next. */
  enum class Action
  {
    predict, ///< u = sum of prediction[l] times level l; evaluate G and its Jacobian
    correct, ///< solve J d = -G from d = 0 by n_sweeps, or by cycles until `reduction` is reached, n_cycles at most (which is set to their number);
             ///< u += d; evaluate G and its Jacobian
    stop
  };

  /**
   * The fused time loop without fields: Newton's test and stopping, besides schemes and step sizes, which it has from
   * StepControl. Host threads, a persistent kernel and single-thread kernels between others run the same code:
   *
   *   for (Action action = start(); action != Action::stop; action = next(sums)) sums = perform(action);
   *
   * Fields are kept in n_slots() slots, one more than there are levels: level l, the solution l steps ago, is in slot
   * newest - l modulo their number, the new one in slot newest + 1, so that accepting a step moves nothing. Divided by
   * the lumped mass m,
   *
   *   G(u) = u - sum over l of history[l] u_n-l - implicit (diffusion_c laplace u_c + reaction_factor r_c(u)),
   *   J = dG/du,
   *
   * where in the IMEX scheme r is taken at the old levels with weights `reaction`. On a domain that grows all is
   * divided by 1 + dt dilution (dt: what implicit would be without growth), so that implicit = dt diffusion / (1 + dt
   * dilution); diffusion_factor = diffusion and reaction_factor = 1 / diffusion are UniformGrowth::factors() at the new
   * time. The error estimate is that of SchemeStep, from e = u - prediction, in the IMEX scheme plus reaction_error
   * times (the extrapolated reaction - r(u)). Every step does at least one Newton step, but those of an exponential
   * scheme (ExponentialStep): there `predict` is the whole step, and the sums are those after `correct`.
   */
  struct Controller : StepControl, SchemeCoefficients
  {
    UniformGrowth growth;
    double        rate_bound         = 0.;    ///< max_c diffusion_c times the sum of the absolute values of a row's off-diagonal entries of -laplace
    double        excess_bound       = 0.;    ///< max_c diffusion_c times the largest NodeRow::excess; zero on grids
    bool          has_multigrid      = false; ///< whether the engine can do cycles
    double        smallest_reduction = 1e-10; ///< that a linear solve can reach: the precision of the corrections

    // where the computation is
    int    newest   = 0;
    double row_rate = -1.; ///< Sums::row_rate of the present solution; -1: not known, since nothing was evaluated there

    // how far this call goes
    long   last_step = 0;  ///< stop after this step
    double stop_time = 0.; ///< stop at this time: hit by error-controlled steps, the nearest step otherwise
    double slack     = 0.; ///< a time this close counts as reached

    // the attempt under way
    double     diffusion_factor = 1., reaction_factor = 1., prediction[max_levels] = {0., 0., 0., 0.}, reaction_error = 0.;
    SchemeStep planned{Scheme::bdf2, 0, 0., {0., 0., 0.}}; ///< what these are of
    int        n_planned_levels = 0;
    double     row_sum          = 0.; ///< row_sum_bound() of the step
    int        n_sweeps = 0, n_cycles = 0;
    double     rms  = 0.; ///< of the prediction: small values are measured against it
    double     norm = 0., goal = 0.;
    double     scale          = 0.;                                           ///< of the old values, as Sums::history has them after a prediction
    bool       uses_multigrid = false, predicting = false, measuring = false; ///< measuring: the row_rate of the present solution is being found out
    double     sweep_rate   = 0.;                                             ///< contraction of the residual in a sweep as of the last solve
    double     slowest_rate = slow_sweeps;                                    ///< that sweeps are thought to have
    double     last_ratio   = 1.;                                             ///< of the residuals after and before the last correction
    double     first_ratio  = 0.;                                             ///< likewise, of the first correction of the last step
    double     reduction    = 0.;                                             ///< of the residual, that the linear solve is to reach
    double     n_unknowns   = 0.;

    StepFigures figures; ///< of the last accepted step
    StepFigures attempt_figures;
    Totals      totals;
    StopReason  stop_reason = StopReason::none;

    /** Of the row sums of |I - D^-1 A| without reaction. @param diffusion_number, excess implicit times the bounds. */
    static LEOPARD_HOST_DEVICE double row_sum_bound(double diffusion_number, double excess)
    {
      return diffusion_number / (1. + diffusion_number - excess);
    }
    /** Where sweeps contract no faster than this, multigrid takes over, if there is any. */
    static constexpr double slow_bound = 0.87;
    /** Sweeps that seem to contract no faster are taken for these, unless the row sums allow for slower ones. */
    static constexpr double slow_sweeps = 0.98;
    /** More than these cost more than the further Newton step that fewer would make necessary. */
    static constexpr double many_sweeps = 40.;

    LEOPARD_HOST_DEVICE bool explicit_reaction() const { return has_explicit_reaction(options.scheme); }
    LEOPARD_HOST_DEVICE int  n_slots() const { return levels_kept(options.scheme) + 1; }
    LEOPARD_HOST_DEVICE int  slot(int level) const { return (newest + n_slots() - level) % n_slots(); }

    /** Begins with the step from the present state, unless there is nothing to do. */
    LEOPARD_HOST_DEVICE Action start()
    {
      stop_reason     = StopReason::none;
      attempt_figures = StepFigures();
      rejected        = Rejections();
      if (finished())
        return Action::stop;
      return follows_bound() && row_rate < 0. ? measure_row_rate() : begin_attempt();
    }

    /** The loop. perform(action) returns the Sums; it is never asked to stop. */
    template <typename Perform>
    void run(const Perform &perform)
    {
      Sums sums;
      for (Action action = start(); action != Action::stop; action = next(sums))
        sums = perform(action);
    }

    LEOPARD_HOST_DEVICE Action next(const Sums &sums)
    {
      return measuring ? after_measurement(sums) : predicting ? after_prediction(sums) : after_correction(sums);
    }

  private:
    LEOPARD_HOST_DEVICE Action stop(StopReason reason)
    {
      stop_reason = reason;
      return Action::stop;
    }

    LEOPARD_HOST_DEVICE bool finished()
    {
      if (time >= stop_time - slack)
        stop_reason = StopReason::time_reached;
      else if (step >= last_step)
        stop_reason = StopReason::step_limit;
      return stop_reason != StopReason::none;
    }

    /** Has the present solution evaluated, as a prediction, since the first step's size depends on it. */
    LEOPARD_HOST_DEVICE Action measure_row_rate()
    {
      step_size = 0.;
      order     = 1;
      set_scheme();
      prediction[0] = 1.;
      for (int l = 1; l < max_levels; ++l)
        prediction[l] = 0.;
      uses_multigrid = false;
      measuring = predicting = true;
      return Action::predict;
    }

    LEOPARD_HOST_DEVICE Action after_measurement(const Sums &sums)
    {
      measuring = false;
      if (!(sums.squares < 1e300))
        return stop(StopReason::blow_up);
      row_rate = sums.row_rate;
      return begin_attempt();
    }

    LEOPARD_HOST_DEVICE Action begin_attempt()
    {
      if (!begin_step(stop_time, follows_bound() ? row_rate - growth.factors(time).dilution : 0.))
        return stop(StopReason::step_underflow);
      if (!is_as_planned()) // divisions count in short steps on a GPU
        {
          set_scheme();
          planned.predict(n_levels, prediction);
          row_sum = row_sum_bound(implicit * rate_bound, implicit * excess_bound);
        }
      const bool slow = !(row_sum <= slow_bound);
      uses_multigrid =
        has_multigrid && (options.linear_method == LinearMethod::multigrid || (options.linear_method == LinearMethod::automatic && slow));
      slowest_rate = larger(row_sum, slow_sweeps);
      sweep_rate   = sweep_rate == 0. ? row_sum : smaller(sweep_rate, larger(row_sum, 0.05));
      predicting   = true;
      return Action::predict;
    }

    /** Whether coefficients and prediction are those of the attempt before, as with fixed steps. */
    LEOPARD_HOST_DEVICE bool is_as_planned() const
    {
      return growth.law == GrowthLaw::none && n_planned_levels == n_levels && planned == scheme_step();
    }

    LEOPARD_HOST_DEVICE void set_scheme()
    {
      planned                                  = scheme_step();
      n_planned_levels                         = n_levels;
      static_cast<SchemeCoefficients &>(*this) = planned.coefficients();
      if (growth.law != GrowthLaw::none)
        {
          const GrowthFactors factors = growth.factors(time + step_size);
          const double        divisor = 1. + implicit * factors.dilution;
          implicit *= factors.diffusion / divisor;
          diffusion_factor = factors.diffusion;
          reaction_factor  = 1. / factors.diffusion;
          for (double &weight : history)
            weight /= divisor;
        }
      reaction_error = can_estimate() ? planned.reaction_error(implicit) : 0.;
    }

    /** What the rounding of u leaves in G, relative to the old values: the longer the step, the more. */
    LEOPARD_HOST_DEVICE double rounding() const { return 2.2e-16 * (1. + implicit * rate_bound); }

    LEOPARD_HOST_DEVICE Action after_prediction(const Sums &sums)
    {
      if (is_exponential(options.scheme)) // the whole step is done
        return sums.are_finite() ? judge(sums) : reject(StopReason::blow_up);
      predicting                     = false;
      last_ratio                     = 1.;
      norm                           = std::sqrt(sums.residual);
      rms                            = std::sqrt(sums.squares / n_unknowns);
      scale                          = std::sqrt(sums.history);
      goal                           = newton_goal();
      attempt_figures.newton_steps   = 0;
      attempt_figures.first_residual = norm;
      if (!sums.are_finite())
        return reject(StopReason::blow_up);
      if (!(goal < 1e300)) // the step is so long that rounding is all there is
        return reject(StopReason::newton_failure);
      return plan_correction();
    }

    /**
     * The residual that is as good as none. G is the new solution less something, so that what a small residual leaves
     * of the error is no more than that where no mode grows: where the error is controlled, a part of what it may be
     * will do. But it must be a hundredth of the first one, so that a disturbance that is smaller than that part, from
     * which a pattern is to grow, is followed, too.
     */
    LEOPARD_HOST_DEVICE double newton_goal() const
    {
      const double by_error = options.error_controlled && !explicit_reaction() ? options.newton_error_fraction * options.error_tolerance * scale : 0.;
      const double against  = explicit_reaction() ? larger(scale, norm) : scale; // what a step from zero brings is all reaction
      return larger(larger(options.newton_tolerance * norm, smaller(by_error, 0.01 * norm)), larger(options.newton_floor, rounding()) * against);
    }

    /** Sweeps for a reduction of the residual by the contraction seen last; all there may be where there is none. */
    LEOPARD_HOST_DEVICE double sweeps_for(double wanted) const
    {
      const float rate = static_cast<float>(sweep_rate); // 1 after rounding in steps far too long for sweeps
      return rate < 1.F ? std::log(static_cast<float>(wanted)) / std::log(rate) : options.max_sweeps;
    }

    /**
     * As many sweeps as should bring the residual to its goal, by the contraction seen last; or the reduction that
     * cycles are to reach.
     */
    LEOPARD_HOST_DEVICE Action plan_correction()
    {
      const double enough = uses_multigrid ? 1e-3 : smallest_reduction; // a cycle is dear, a Newton step is not
      // below the goal, but far from a solution: as much as is_of_solution() wants to see
      const double most = reached(norm, goal) && !reached(norm, small_part() * scale) ? 0.005 : 0.5;
      reduction         = larger(norm > 0. ? smaller(0.3 * goal / norm, most) : most, larger(enough, smallest_reduction));
      reduction         = larger(reduction, smaller(0.1 * left_by_newton(), 1e-3));
      double needed     = sweeps_for(reduction);
      if (needed > many_sweeps && reduction < 1e-3 && !explicit_reaction()) // as with cycles: Newton's method squares what is left
        {
          reduction = 1e-3;
          needed    = sweeps_for(reduction);
        }
      const int sweeps = static_cast<int>(smaller(needed + 1., options.max_sweeps));
      n_sweeps         = uses_multigrid ? 0 : (sweeps < 2 ? 2 : sweeps);
      n_cycles         = uses_multigrid ? options.max_cycles : 0;
      return Action::correct;
    }

    /**
     * What Newton's method is thought to leave of the residual in the next correction, however exactly the linear
     * system is solved: of the first one as much as in the step before, then the square of what the last one has left.
     * Zero where it leaves nothing, and in the last correction that is allowed.
     */
    LEOPARD_HOST_DEVICE double left_by_newton() const
    {
      if (explicit_reaction() || attempt_figures.newton_steps + 1 >= options.max_newton_steps)
        return 0.;
      return attempt_figures.newton_steps == 0 ? first_ratio : last_ratio * last_ratio;
    }

    /**
     * Whether a residual that has reached its goal is that of a solution. Where the first guess is far away, it falls
     * by orders of magnitude on the way there: r(u) = -u^3 makes two thirds of u in a step of Newton's method. G is
     * the new solution less something, so that a residual small against old and new values is that of a solution, and
     * so is one that the last correction has brought to a hundredth, since G is almost linear there.
     */
    LEOPARD_HOST_DEVICE bool is_of_solution(double old_norm, const Sums &sums) const
    {
      return explicit_reaction() || reached(norm, 0.01 * old_norm) || reached(norm, small_part() * larger(scale, std::sqrt(sums.squares)));
    }

    /** Of the equation's terms, that a residual is small against. */
    LEOPARD_HOST_DEVICE double small_part() const { return larger(larger(1e-4, options.newton_tolerance), rounding()); }

    /**
     * What sweeps leave of the residual and what Newton's method leaves, since J is not G, are seen together. The
     * latter goes down with the square; a residual that does so says nothing against the sweeps, nor does one far below
     * the goal, which may be rounding. Whatever is faster than was thought is believed.
     */
    LEOPARD_HOST_DEVICE void learn_rate(double new_norm)
    {
      if (uses_multigrid || !(norm > 0.) || !(new_norm > 0.))
        return;
      const double ratio = new_norm / norm, seen = std::exp(std::log(static_cast<float>(ratio)) / static_cast<float>(n_sweeps));
      const bool   by_sweeps = explicit_reaction() || !(ratio <= smaller(0.5, 2. * last_ratio * last_ratio));
      if (seen < sweep_rate || (by_sweeps && !reached(new_norm, 0.1 * goal)))
        sweep_rate = smaller(larger(seen, 0.02), slowest_rate);
      last_ratio = ratio;
      if (attempt_figures.newton_steps == 1)
        first_ratio = ratio;
    }

    LEOPARD_HOST_DEVICE Action after_correction(const Sums &sums)
    {
      const double new_norm = std::sqrt(sums.residual);
      ++attempt_figures.newton_steps;
      attempt_figures.sweeps += n_sweeps;
      attempt_figures.cycles += n_cycles;
      if (!sums.are_finite()) // with an explicit reaction: nor is the reaction at the new values
        return reject(StopReason::blow_up);
      learn_rate(new_norm);
      const bool   used_up  = uses_multigrid ? n_cycles >= options.max_cycles : n_sweeps >= options.max_sweeps; // by the linear solver
      const bool   diverges = attempt_figures.newton_steps > 1 && new_norm > norm, hopeless = used_up && too_slow(norm, new_norm);
      const double old_norm = norm;
      norm                  = new_norm;
      if (reached(norm, goal) && is_of_solution(old_norm, sums))
        return judge(sums);
      if (diverges || hopeless || attempt_figures.newton_steps >= options.max_newton_steps)
        return reject(used_up || sweeps_fail(sums) ? StopReason::linear_failure : StopReason::newton_failure);
      return plan_correction();
    }

    /**
     * Whether a step that has failed is the sweeps' fault: the step is one linear solve, or the residual falls no
     * faster than the slowest sweeps and nothing makes them certain to converge, since J is not dominant.
     */
    LEOPARD_HOST_DEVICE bool sweeps_fail(const Sums &sums) const
    {
      return explicit_reaction() || (!uses_multigrid && sweep_rate >= slowest_rate && !(implicit * reaction_factor * sums.row_rate < 1.));
    }

    /** Whether the corrections that are left, if all reduce the residual as the last one did, miss the goal. */
    LEOPARD_HOST_DEVICE bool too_slow(double old_norm, double new_norm) const
    {
      const int left = options.max_newton_steps - attempt_figures.newton_steps;
      return attempt_figures.newton_steps > 1 && !(std::log(new_norm / goal) + left * std::log(new_norm / old_norm) <= 0.);
    }

    /** Newton has converged: accept the step or not. */
    LEOPARD_HOST_DEVICE Action judge(const Sums &sums)
    {
      attempt_figures.error_estimate = error_estimate(sums.history / n_unknowns, sums.largest);
      return is_accurate(attempt_figures.error_estimate) ? accept(sums) : reject(StopReason::step_underflow);
    }

    LEOPARD_HOST_DEVICE Action accept(const Sums &sums)
    {
      attempt_figures.step_size      = step_size;
      attempt_figures.order          = order;
      attempt_figures.residual       = norm;
      attempt_figures.n_negative     = sums.negative;
      attempt_figures.rate_of_change = std::sqrt(sums.change / n_unknowns) / step_size;
      attempt_figures.rejected       = rejected;
      attempt_figures.bound          = bound;
      figures                        = attempt_figures;
      attempt_figures                = StepFigures();
      ++totals.steps;
      totals.newton_steps += figures.newton_steps;
      totals.sweeps += figures.sweeps;
      totals.cycles += figures.cycles;
      totals.rejected += figures.rejected;
      totals.multigrid_steps += uses_multigrid ? 1 : 0;
      totals.negative_steps += figures.n_negative > 0. ? 1 : 0;
      totals.worst_reduction = larger(totals.worst_reduction, goal > 0. ? norm / goal : 0.);

      newest   = slot(-1);
      row_rate = sums.row_rate;
      accept_step();
      if (options.stop_at_negative_values && figures.n_negative > 0.)
        return stop(StopReason::negative_values);
      if (finished())
        return Action::stop;
      if (options.is_steady(figures.rate_of_change))
        return stop(StopReason::steady_state);
      return begin_attempt();
    }

    LEOPARD_HOST_DEVICE Action reject(StopReason reason)
    {
      sweep_rate = 0.;
      if (reject_step(reason))
        return begin_attempt();
      return stop(options.error_controlled ? StopReason::step_underflow : reason);
    }
  };
} // namespace leopard::reaction_diffusion
