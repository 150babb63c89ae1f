// SPDX-License-Identifier: Apache-2.0
// The rules of both time loops: schemes, error estimates, step sizes.
#include <applications/reaction_diffusion/rules/step_control.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** u' = -u + (u - u^2), the first term in the place of diffusion, the second in that of the reaction. */
    double exact(double t)
    {
      return 1. / (1. + t);
    }

    double reaction(double u)
    {
      return u - u * u;
    }

    /** The new solution. @param u old ones, newest first. @param extrapolated the reaction that the step has taken. */
    double solve(const SchemeStep &step, const double *u, double &extrapolated)
    {
      const SchemeCoefficients c   = step.coefficients();
      double                   old = 0.;
      for (int l = 0; l < max_levels - 1; ++l)
        old += c.history[l] * u[l];
      extrapolated = c.reaction[0] * reaction(u[0]) + c.reaction[1] * reaction(u[1]);
      if (has_explicit_reaction(step.scheme))
        return (old + c.implicit * extrapolated) / (1. + c.implicit);
      return 2. * old / (1. + std::sqrt(1. + 4. * c.implicit * old)); // u + implicit u^2 = old
    }

    /** The error at t = 1 with steps that alternate between h and 1.5 h. */
    double error_at_one(Scheme scheme, int n_steps)
    {
      const double h        = 1. / (1.25 * n_steps);
      double       steps[3] = {1.5 * h, h, 1.5 * h}, extrapolated = 0.;
      double       u[max_levels] = {exact(0.), exact(-1.5 * h), exact(-2.5 * h), exact(-4. * h)};
      for (int n = 0; n < n_steps; ++n)
        {
          const SchemeStep step{scheme, order_of(scheme), n % 2 == 0 ? h : 1.5 * h, {steps[0], steps[1], steps[2]}};
          const double     next = solve(step, u, extrapolated);
          std::copy_backward(u, u + max_levels - 1, u + max_levels);
          u[0] = next;
          std::copy_backward(steps, steps + 2, steps + 3);
          steps[0] = step.step_size;
        }
      return std::abs(u[0] - exact(1.));
    }

    StepControl error_controlled(double first, double time = 0.)
    {
      StepControl control;
      control.options.step_size = first;
      control.resume({2, time, first, {first, first}});
      return control;
    }
  } // namespace

  TEST(Schemes, HaveTheirOrderWithVariableSteps)
  {
    for (const auto &[scheme, name, meaning] : schemes)
      if (!is_exponential(scheme))
        {
          EXPECT_NEAR(std::log2(error_at_one(scheme, 64) / error_at_one(scheme, 128)), order_of(scheme), 0.1) << name;
        }
  }

  TEST(Schemes, EstimateTheirLocalError)
  {
    for (const auto &[scheme, name, meaning] : schemes)
      for (const double size : {0.002, 0.003})
        {
          if (is_exponential(scheme))
            continue; // the engine estimates
          const SchemeStep step{scheme, order_of(scheme), size, {0.002, 0.0025, 0.0022}};
          const double     u[max_levels] = {exact(3.), exact(3. - 0.002), exact(3. - 0.0045), exact(3. - 0.0067)};
          double           extrapolated  = 0., weights[max_levels];
          const double     next          = solve(step, u, extrapolated);
          step.predict(levels_kept(scheme), weights);
          double e = next;
          for (int l = 0; l < max_levels; ++l)
            e -= weights[l] * u[l];
          e += step.reaction_error(step.coefficients().implicit) * (extrapolated - reaction(next));
          EXPECT_NEAR(step.error_factor() * e / (next - exact(3. + size)), 1., 0.05) << name << ", step " << size;
        }
  }

  TEST(Schemes, AreFoundByName)
  {
    for (const auto &[scheme, name, meaning] : schemes)
      EXPECT_EQ(find_scheme(name), scheme);
    EXPECT_THROW(find_scheme("bdf2"), InvalidInput);
  }

  TEST(StepControl, FollowsTheError)
  {
    StepControl control = error_controlled(0.01);
    EXPECT_TRUE(control.begin_step(1., 0.));
    EXPECT_EQ(control.step_size, 0.01);
    EXPECT_TRUE(control.is_accurate(0.5));
    control.accept_step();
    EXPECT_NEAR(control.next_step, 0.01, 1e-15) << "hardly longer: as before";
    control.begin_step(1., 0.);
    EXPECT_TRUE(control.is_accurate(0.));
    control.accept_step();
    EXPECT_NEAR(control.next_step, 0.016, 1e-15);
    control.begin_step(1., 0.);
    EXPECT_FALSE(control.is_accurate(8.));
    EXPECT_TRUE(control.reject_step(StopReason::step_underflow));
    EXPECT_NEAR(control.next_step, 0.016 * 0.85 / 2., 1e-15);
    control.begin_step(1., 0.);
    EXPECT_TRUE(control.is_accurate(0.));
    control.accept_step();
    EXPECT_NEAR(control.next_step, 0.016 * 0.85 / 2., 1e-15) << "just after a rejection steps do not grow";
    for (const double estimate : {1e30, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
      {
        StepControl other = error_controlled(0.01);
        other.begin_step(1., 0.);
        EXPECT_FALSE(other.is_accurate(estimate));
        EXPECT_TRUE(other.reject_step(StopReason::step_underflow));
        EXPECT_NEAR(other.next_step, 0.002, 1e-15);
        EXPECT_EQ(other.rejected.error, 1);
      }
  }

  TEST(StepControl, NoStepIsBelowTheSmallestOne)
  {
    StepControl control           = error_controlled(0.01);
    control.options.smallest_step = 0.005;
    while (control.next_step >= 0.005) // each is accepted, and the next one shorter
      {
        EXPECT_TRUE(control.begin_step(1., 0.));
        EXPECT_TRUE(control.is_accurate(0.999999));
        control.accept_step();
      }
    EXPECT_FALSE(control.begin_step(1., 0.)) << control.next_step;
    // a step cut short to hit a time, and what follows
    StepControl cut           = error_controlled(0.01, 0.);
    cut.options.smallest_step = 0.005;
    EXPECT_TRUE(cut.begin_step(1e-4, 0.));
    EXPECT_EQ(cut.step_size, 1e-4);
    EXPECT_TRUE(cut.is_accurate(0.9));
    cut.accept_step();
    EXPECT_GE(cut.next_step, 0.005);
    EXPECT_TRUE(cut.begin_step(1., 0.));
    // nor is a fixed one a step back, or no number
    for (const double bad : {-0.01, 0., std::numeric_limits<double>::quiet_NaN()})
      {
        StepControl fixed              = error_controlled(bad);
        fixed.options.error_controlled = false;
        EXPECT_FALSE(fixed.begin_step(1., 0.)) << bad;
      }
  }

  // fails if a stop time cuts a step short though there is an end, or the end is not hit
  TEST(StepControl, PassesStopTimesOnTheWayToTheEnd)
  {
    StepControl control      = error_controlled(0.01);
    control.options.end_time = 0.995;
    while (control.time < control.options.end_time - 1e-12)
      {
        ASSERT_TRUE(control.begin_step(control.time + 1e-3, 0.));
        EXPECT_GT(control.step_size, 0.0049);
        EXPECT_TRUE(control.is_accurate(0.5));
        control.accept_step();
      }
    EXPECT_NEAR(control.time, 0.995, 1e-12);
    EXPECT_LE(control.step, 103) << "the end takes two steps for one";
  }

  // fails if the weights of a time between two solutions are not those of the polynomial
  TEST(SchemeStep, WeightsBetweenSolutionsAreExactForPolynomials)
  {
    const double times[max_levels] = {1., 0.7, 0.5, 0.1};
    for (const SchemeName &row : schemes)
      if (!is_exponential(row.scheme))
        for (const double t : {1., 0.93, 0.7})
          {
            double weights[max_levels];
            SchemeStep{row.scheme, order_of(row.scheme), t - 1., {0.3, 0.2, 0.4}}.predict(levels_kept(row.scheme), weights);
            for (int power = 0; power <= order_of(row.scheme); ++power)
              {
                double sum = 0.;
                for (int l = 0; l < max_levels; ++l)
                  sum += weights[l] * std::pow(times[l], power);
                EXPECT_NEAR(sum, std::pow(t, power), 1e-14) << row.name << " " << t << " " << power;
              }
          }
  }

  TEST(StepControl, OneEntryFarFromTheOthersCounts)
  {
    StepControl control = error_controlled(0.01);
    control.begin_step(1., 0.);
    const double n = 30000., factor = control.scheme_step().error_factor();
    for (const auto &[tolerance, bearable] : {std::pair{1e-6, 3e-5}, {1e-3, 0.03}, {0.01, 0.03}, {0.1, 0.1}})
      {
        control.options.error_tolerance = tolerance;
        const auto estimate             = [&](double error_of_one) {
          const double e = error_of_one / factor;
          return control.error_estimate(e * e / n, e * e); // the others have none
        };
        EXPECT_LE(estimate(0.99 * bearable), 1.) << tolerance;
        EXPECT_GT(estimate(1.01 * bearable), 1.) << tolerance;
        const double all = 0.5 * tolerance / factor;
        EXPECT_NEAR(control.error_estimate(all * all, 4. * all * all), tolerance < 0.1 ? 0.5 : 1., 1e-12) << "the mean, or the entry";
      }
    constexpr double infinity = std::numeric_limits<double>::infinity(), no_number = std::numeric_limits<double>::quiet_NaN();
    for (const auto &[mean, largest] : {std::pair{0., infinity}, {infinity, 0.}, {no_number, 0.}, {no_number, 1e-9}, {0., no_number}})
      EXPECT_FALSE(control.is_accurate(control.error_estimate(mean, largest))) << mean << ' ' << largest;
    control.n_levels = 1;
    EXPECT_EQ(control.error_estimate(1., 1.), 0.) << "no estimate";
  }

  TEST(StepControl, WhatHasFailedIsNotTriedAgainSoon)
  {
    for (const auto &[reason, factor] : {std::pair{StopReason::linear_failure, 0.5}, {StopReason::newton_failure, 0.25}, {StopReason::blow_up, 0.25}})
      {
        StepControl control = error_controlled(0.01);
        control.begin_step(1., 0.);
        EXPECT_TRUE(control.reject_step(reason));
        EXPECT_NEAR(control.next_step, 0.01 * factor, 1e-15);
        EXPECT_EQ(control.rejected.total(), 1);
        EXPECT_EQ(control.rejected.error, 0);
        for (int n = 0; n < 5; ++n)
          {
            const double ceiling = control.ceiling;
            control.begin_step(1., 0.);
            EXPECT_LE(control.step_size, 0.006 * std::pow(1.1, n));
            EXPECT_TRUE(control.is_accurate(0.));
            control.accept_step();
            EXPECT_NEAR(control.ceiling, 1.1 * ceiling, 1e-15);
          }
        StepControl resumed = error_controlled(0.01);
        resumed.resume(control.state());
        EXPECT_EQ(resumed.ceiling, control.ceiling);
        EXPECT_EQ(resumed.next_step, control.next_step);
        EXPECT_EQ(resumed.steps[1], control.steps[1]);
      }
    StepControl control = error_controlled(0.01);
    for (int n = 0; n < 1000; ++n)
      control.accept_step();
    EXPECT_TRUE(std::isfinite(control.state().ceiling)) << "a file could not hold it";
  }

  TEST(StepControl, HitsTimesAndSaysWhereItCannotGoOn)
  {
    StepControl control = error_controlled(0.01);
    control.begin_step(0.015, 0.);
    EXPECT_NEAR(control.step_size, 0.0075, 1e-15) << "two equal steps instead of a long and a tiny one";
    control.begin_step(0.004, 0.);
    EXPECT_EQ(control.step_size, 0.004);
    control.options.error_controlled = false;
    EXPECT_TRUE(control.begin_step(0.004, 0.));
    EXPECT_EQ(control.step_size, 0.01) << "all fixed steps are the same";
    EXPECT_FALSE(control.reject_step(StopReason::newton_failure));
    EXPECT_EQ(control.next_step, 0.01);
    EXPECT_FALSE(error_controlled(1e-17, 1.).begin_step(2., 0.)) << "the time does not advance";

    control.options.bound_fraction = 0.5;
    const double rate = 1e3, bound = control.scheme_step().asynchronous_bound(rate);
    EXPECT_TRUE(control.begin_step(1., rate));
    EXPECT_NEAR(control.step_size, std::min(0.5 * bound, 0.016), 1e-15);
    EXPECT_FALSE(control.begin_step(1., std::numeric_limits<double>::infinity()));
    EXPECT_EQ(control.bound, 0.);
  }

  TEST(StepControl, TakesTheOrderThatTheOldSolutionsAllow)
  {
    for (const auto &[scheme, levels, order, estimates] : {std::tuple{Scheme::bdf2, 1, 1, false},
                                                           {Scheme::bdf2, 2, 2, false},
                                                           {Scheme::bdf2, 3, 2, true},
                                                           {Scheme::bdf3, 1, 1, false},
                                                           {Scheme::bdf3, 2, 1, true},
                                                           {Scheme::bdf3, 3, 2, true},
                                                           {Scheme::bdf3, 4, 3, true},
                                                           {Scheme::implicit_euler, 1, 1, false},
                                                           {Scheme::implicit_euler, 2, 1, true}})
      {
        StepControl control;
        control.options.scheme = scheme;
        control.resume({0, 0., 0.01, std::vector<double>(levels - 1, 0.01)});
        control.begin_step(1., 0.);
        EXPECT_EQ(control.order, order);
        EXPECT_EQ(control.can_estimate(), estimates);
        EXPECT_EQ(control.is_accurate(1e3), !estimates) << "without an estimate steps are as small as the first one";
        EXPECT_EQ(control.is_accurate(1. + 1e-15), !estimates);
        EXPECT_TRUE(control.is_accurate(1.));
      }
    StepControl fixed              = error_controlled(0.01);
    fixed.options.error_controlled = false;
    fixed.begin_step(1., 0.);
    EXPECT_TRUE(fixed.is_accurate(1e3)) << "whatever the error is";
    fixed.accept_step();
    EXPECT_EQ(fixed.next_step, 0.01);
  }

  TEST(StepControl, GrowsAndShrinksAsTheErrorLetsIt)
  {
    const auto next = [](double estimate, StepControl control, double stop_time = 1.) {
      control.begin_step(stop_time, 0.);
      EXPECT_TRUE(control.is_accurate(estimate));
      control.accept_step();
      return control.next_step;
    };
    const StepControl control  = error_controlled(0.01);
    const auto        estimate = [](double growth) { return std::pow(0.85 / growth, 3); };
    EXPECT_NEAR(next(estimate(0.9), control), 0.009, 1e-15) << "accepted, but the next one would not be";
    EXPECT_NEAR(next(estimate(1.01), control), 0.01, 1e-15);
    EXPECT_NEAR(next(estimate(1.19), control), 0.01, 1e-15);
    EXPECT_NEAR(next(estimate(1.21), control), 0.0121, 1e-15);
    EXPECT_NEAR(next(estimate(1.59), control), 0.0159, 1e-15);
    EXPECT_NEAR(next(estimate(1.61), control), 0.016, 1e-15);
    EXPECT_NEAR(next(0., control), 0.016, 1e-15);
    EXPECT_NEAR(next(estimate(1.5), control, 0.004), 0.01, 1e-15) << "cut short";
    EXPECT_NEAR(next(estimate(0.9), control, 0.004), 0.0036, 1e-15);
    StepControl limited          = control;
    limited.options.largest_step = 0.013;
    EXPECT_NEAR(next(0., limited), 0.013, 1e-15);
    limited.ceiling = 0.011;
    EXPECT_NEAR(next(0., limited), 0.011, 1e-15);
    StepControl again = control;
    next(0., again);
    again.begin_step(1., 0.);
    again.is_accurate(0.);
    again.resume({0, 0., 0.01, {}});
    EXPECT_EQ(next(0., again), 0.01) << "without old solutions there is no estimate, and none of long ago counts";
    StepControl euler    = control;
    euler.options.scheme = Scheme::implicit_euler;
    EXPECT_NEAR(next(std::pow(0.85 / 1.3, 2), euler), 0.013, 1e-15);
  }

  TEST(StepControl, RemembersTheLastSteps)
  {
    StepControl control;
    control.options.error_controlled = false;
    control.resume({5, 2., 0.1, {}});
    EXPECT_EQ(control.n_levels, 1);
    EXPECT_EQ(control.step, 5);
    for (int n = 1; n <= 4; ++n)
      {
        control.next_step       = 0.1 * n;
        control.rejected.newton = 1;
        control.begin_step(100., 0.);
        control.accept_step();
        EXPECT_EQ(control.n_levels, std::min(3, n + 1));
        EXPECT_EQ(control.rejected.total(), 0);
      }
    EXPECT_NEAR(control.time, 3., 1e-15);
    const StepState state = control.state();
    EXPECT_EQ(state.step, 9);
    EXPECT_EQ(state.next_step_size, 0.4);
    EXPECT_EQ(state.step_sizes, (std::vector<double>{0.4, 0.1 * 3}));
    EXPECT_EQ(state.ceiling, 1e300) << "as before";
  }

  /** A checkpoint of a scheme that keeps more solutions than this one. */
  TEST(StepControl, ResumesWithTheSolutionsThatItKeeps)
  {
    for (const auto &[scheme, name, meaning] : schemes)
      {
        StepControl control;
        control.options.scheme = scheme;
        control.resume({5, 2., 0.1, {0.1, 0.2, 0.3}});
        EXPECT_EQ(control.n_levels, levels_kept(scheme)) << name;
        EXPECT_EQ(control.state().step_sizes.size() + 1u, levels_kept(scheme)) << name;
        control.accept_step();
        EXPECT_EQ(control.n_levels, levels_kept(scheme)) << name;
      }
  }

  /** The step beyond which rows are no longer dominant, by its definition: 1 / implicit is the rate there. */
  TEST(Schemes, AsynchronousBoundIsThatOfTheCoefficients)
  {
    for (const auto &[scheme, name, meaning] : schemes)
      for (const double rate : {1e-3, 1., 40., 1e6})
        {
          SchemeStep step{scheme, order_of(scheme), 1., {0.01, 0.02, 0.015}};
          step.step_size = step.asynchronous_bound(rate);
          if (is_exponential(scheme))
            {
              EXPECT_EQ(step.step_size, HUGE_VAL) << "nothing is iterated";
              continue;
            }
          EXPECT_NEAR(step.coefficients().implicit * rate, 1., 1e-9) << name << ", " << rate;
        }
  }

  TEST(StepControl, CountsWhyAttemptsHaveFailed)
  {
    StepControl control = error_controlled(0.01);
    control.begin_step(1., 0.);
    control.is_accurate(8.);
    control.reject_step(StopReason::step_underflow);
    EXPECT_EQ(control.ceiling, 1e300) << "the error says how long steps may be";
    control.begin_step(1., 0.);
    const double step = control.step_size;
    for (const StopReason reason : {StopReason::blow_up, StopReason::linear_failure, StopReason::linear_failure, StopReason::newton_failure})
      {
        control.reject_step(reason);
        EXPECT_NEAR(control.ceiling, 0.6 * step, 1e-17);
      }
    EXPECT_EQ(control.rejected.error, 1);
    EXPECT_EQ(control.rejected.linear_solver, 2);
    EXPECT_EQ(control.rejected.newton, 1);
    EXPECT_EQ(control.rejected.not_finite, 1);
    EXPECT_EQ(control.rejected.total(), 5);
    control.options.smallest_step = 0.25 * step;
    EXPECT_TRUE(control.reject_step(StopReason::blow_up)) << "the smallest one is allowed";
    control.options.smallest_step *= 1. + 1e-14;
    EXPECT_FALSE(control.reject_step(StopReason::blow_up));
    control.step_size = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(control.reject_step(StopReason::blow_up));
  }

  TEST(StepControl, HitsATimeWithOneStepOrTwo)
  {
    StepControl control = error_controlled(0.01);
    for (const auto &[limit, size] : {std::pair{0.01, 0.01}, {0.0101, 0.00505}, {0.0199, 0.00995}, {0.02, 0.01}, {0.0201, 0.01}, {0.005, 0.005}})
      {
        EXPECT_TRUE(control.begin_step(limit, 0.));
        EXPECT_NEAR(control.step_size, size, 1e-15) << limit;
      }
    EXPECT_EQ(control.next_step, 0.01);
    EXPECT_FALSE(control.begin_step(0., 0.));
  }

  TEST(StepControl, FollowsTheBound)
  {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    StepControl      control;
    control.options.scheme           = Scheme::implicit_euler;
    control.options.error_controlled = false;
    control.options.bound_fraction   = 0.25;
    control.options.step_size        = 0.03;
    control.options.largest_step     = 0.04;
    control.resume({0, 0., 0.01, {}});
    EXPECT_TRUE(control.follows_bound());
    EXPECT_TRUE(control.begin_step(1., 10.));
    EXPECT_NEAR(control.bound, 0.1, 1e-15);
    EXPECT_NEAR(control.step_size, 0.025, 1e-15);
    control.begin_step(0.01, 10.);
    EXPECT_EQ(control.step_size, 0.01) << "times are hit";
    control.begin_step(1., 0.1);
    EXPECT_EQ(control.step_size, 0.04) << "the largest step";
    control.begin_step(1., 0.);
    EXPECT_EQ(control.bound, infinity);
    EXPECT_EQ(control.step_size, 0.03) << "any step will do: the first one of the user";
    control.resume({1, 0., 0.01, {0.01}});
    control.begin_step(1., 10.);
    EXPECT_NEAR(control.step_size, 0.016, 1e-15) << "no more than 1.6 times the last one";
    control.resume({1, 0., 0.01, {0.039}});
    control.begin_step(1., 0.);
    EXPECT_EQ(control.step_size, 0.04);
    EXPECT_FALSE(control.begin_step(1., std::numeric_limits<double>::quiet_NaN()));
    control.options.bound_fraction = 0.;
    EXPECT_FALSE(control.follows_bound());
  }
} // namespace leopard::reaction_diffusion
