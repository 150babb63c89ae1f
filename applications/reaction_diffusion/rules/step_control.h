// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schemes.h"
#include "stepping.h"
#include "sums.h"

#include <algorithm>
#include <vector>

namespace leopard::reaction_diffusion
{
  /** All that a checkpoint holds beside the solutions. */
  struct StepState
  {
    long                step = 0;
    double              time = 0., next_step_size = 0.;
    std::vector<double> step_sizes;      ///< of the last steps, newest first; one fewer than there are solutions
    double              ceiling = 1e300; ///< StepControl::ceiling
  };

  /**
   * Where a computation stands in time, and how long its steps are: the rules of both time loops. An attempt at a step
   * is begin_step(), what the loop does, is_accurate() and accept_step(), or reject_step() wherever it has failed.
   */
  struct StepControl
  {
    SteppingOptions options;

    // where the computation is
    long   step = 0;
    double time = 0., next_step = 0.;
    int    n_levels              = 0;            ///< solutions that are known, at most levels_kept()
    double steps[max_levels - 1] = {0., 0., 0.}; ///< t_n - t_n-1, t_n-1 - t_n-2, ...
    double ceiling               = 1e300;        ///< of the step size, set where something but the error has failed; rises slowly

    // the attempt under way, or the last one
    double     step_size = 0.;
    int        order     = 1;
    double     bound     = 0.;    ///< where steps follow it: SchemeStep::asynchronous_bound(), may be infinite
    Rejections rejected;          ///< attempts at this step before
    double     error_growth = 1.; ///< what the error lets the step size be multiplied with, and a little less

    /**
     * A step may be this many times its predecessor. With variable steps BDF2 is zero-stable below 1 + sqrt(2), BDF3
     * below 1.501 (Calvo, Grande, Grigorieff, Numer. Math. 57, 1990).
     */
    LEOPARD_HOST_DEVICE double largest_growth() const { return order_of(options.scheme) == 3 ? 1.5 : 1.6; }

    LEOPARD_HOST_DEVICE bool follows_bound() const { return options.bound_fraction > 0.; }
    /** With too few old solutions there is no estimate: these few steps are as small as the user made the first one. */
    LEOPARD_HOST_DEVICE bool       can_estimate() const { return n_levels > order || is_exponential(options.scheme); }
    LEOPARD_HOST_DEVICE SchemeStep scheme_step() const { return {options.scheme, order, step_size, {steps[0], steps[1], steps[2]}}; }

    /** Whether the run is to be given up; fixed steps are what they are. */
    LEOPARD_HOST_DEVICE bool is_below_smallest() const { return options.error_controlled && !(next_step >= options.smallest_step); }

    /** Of limits and factors: b where one of both is no number. larger_or_nan() is for what fields decide. */
    static LEOPARD_HOST_DEVICE double larger(double a, double b) { return a > b ? a : b; }
    static LEOPARD_HOST_DEVICE double smaller(double a, double b) { return a < b ? a : b; }

    StepState state() const
    {
      return {step, time, next_step, std::vector<double>(steps, steps + std::max(0, n_levels - 1)), smaller(ceiling, 1e300)};
    }

    /** @param state of any scheme; old solutions that this one does not need are left out. */
    void resume(const StepState &state)
    {
      step      = state.step;
      time      = state.time;
      next_step = state.next_step_size;
      ceiling   = state.ceiling;
      n_levels  = std::min(static_cast<int>(state.step_sizes.size()) + 1, levels_kept(options.scheme));
      std::copy_n(state.step_sizes.begin(), n_levels - 1, steps);
    }

    /**
     * Chooses order and size of an attempt. @param stop_time hit by steps that are not fixed, unless there is an end
     * time, which is hit instead. @param rate at present,
     * for SchemeStep::asynchronous_bound(), where steps follow it. @return whether the time advances, by steps that are
     * not below the smallest one; a step cut short to hit a time may be.
     */
    LEOPARD_HOST_DEVICE bool begin_step(double stop_time, double rate)
    {
      order = order_with(options.scheme, n_levels);
      if (follows_bound())
        follow_bound(rate);
      step_size = next_step;
      if (options.error_controlled || follows_bound())
        {
          double limit = (options.end_time > 0. ? options.end_time : stop_time) - time;
          if (limit > next_step && limit < 2. * next_step)
            limit /= 2.; // two equal steps instead of a long and a tiny one
          step_size = smaller(step_size, limit);
        }
      return time + step_size > time && !is_below_smallest();
    }

    /**
     * The local error against the tolerance: the root mean square of the entries' errors or, if that is more, the
     * largest one against thirty times the tolerance, or 3 percent where the tolerance is looser; 0 where there is no
     * estimate. A mean does not see the few nodes at which Newton's method has come to another solution, beyond a pole
     * of the reaction, say. In narrow fronts that are followed well the largest error is up to 30 times the mean.
     * @param mean_square, largest_square of (solution - first guess) / error_scale().
     */
    LEOPARD_HOST_DEVICE double error_estimate(double mean_square, double largest_square) const
    {
      if (!can_estimate())
        return 0.;
      const double tolerance = options.error_tolerance, of_one = larger(tolerance, smaller(30. * tolerance, 0.03));
      const double mean = std::sqrt(mean_square) / tolerance, largest = std::sqrt(largest_square) / of_one;
      return scheme_step().error_factor() * larger_or_nan(largest, mean); // not a number if one is none
    }

    /** Whether the error lets the step be accepted. @param estimate of the local error against the tolerance. */
    LEOPARD_HOST_DEVICE bool is_accurate(double estimate)
    {
      if (!options.error_controlled || !can_estimate())
        return true;
      error_growth = 0.85 * std::pow(larger(1e-8, estimate), -1. / order_of_estimate(options.scheme, order));
      return estimate <= 1.;
    }

    /** The new solution is level 0 from now on. */
    LEOPARD_HOST_DEVICE void accept_step()
    {
      // a step cut short to hit a time says little about the next one; just after a rejection steps do not grow
      if (options.error_controlled && can_estimate() &&
          (error_growth < 1. || (error_growth > 1.2 && step_size == next_step && rejected.total() == 0)))
        {
          const bool was_cut = step_size < options.smallest_step; // by a time to hit, and not by its error
          next_step          = smaller(step_size * smaller(largest_growth(), error_growth), smaller(options.largest_step, ceiling));
          if (was_cut)
            next_step = larger(next_step, options.smallest_step);
        }
      ceiling *= 1.1;
      rejected = Rejections();
      n_levels += n_levels < levels_kept(options.scheme) ? 1 : 0;
      steps[2] = steps[1];
      steps[1] = steps[0];
      steps[0] = step_size;
      time += step_size;
      ++step;
    }

    /**
     * Makes the next attempt shorter. @param reason why this one has failed; step_underflow: its error is too large.
     * @return whether there is to be another one.
     */
    LEOPARD_HOST_DEVICE bool reject_step(StopReason reason)
    {
      ++(reason == StopReason::blow_up          ? rejected.not_finite
         : reason == StopReason::linear_failure ? rejected.linear_solver
         : reason == StopReason::newton_failure ? rejected.newton
                                                : rejected.error);
      if (reason != StopReason::step_underflow)
        ceiling = 0.6 * step_size; // longer steps are beyond what the linear solver or Newton's method can do at present
      if (!options.error_controlled)
        return false;
      // a step too long for the linear solver is halved; where Newton's method fails nobody knows how long it may be
      next_step = step_size * (reason == StopReason::step_underflow ? larger(error_growth, 0.2) : reason == StopReason::linear_failure ? 0.5 : 0.25);
      return !is_below_smallest();
    }

  private:
    LEOPARD_HOST_DEVICE void follow_bound(double rate)
    {
      bound     = scheme_step().asynchronous_bound(rate);
      next_step = bound < 1e300 ? options.bound_fraction * bound : step > 0 ? options.largest_step : options.step_size;
      next_step = smaller(next_step, options.largest_step);
      if (n_levels > 1)
        next_step = smaller(next_step, largest_growth() * steps[0]);
    }
  };
} // namespace leopard::reaction_diffusion
