// SPDX-License-Identifier: Apache-2.0
// The rules of both time loops: schemes, error estimates, step sizes.
#include <applications/reaction_diffusion/rules/step_control.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
      const double             old = c.history[0] * u[0] + c.history[1] * u[1];
      extrapolated                 = c.reaction[0] * reaction(u[0]) + c.reaction[1] * reaction(u[1]);
      if (has_explicit_reaction(step.scheme))
        return (old + c.implicit * extrapolated) / (1. + c.implicit);
      return 2. * old / (1. + std::sqrt(1. + 4. * c.implicit * old)); // u + implicit u^2 = old
    }

    /** The error at t = 1 with steps that alternate between h and 1.5 h. */
    double error_at_one(Scheme scheme, int n_steps)
    {
      const double h    = 1. / (1.25 * n_steps);
      double       u[3] = {exact(0.), 0., 0.}, steps[2] = {0., 0.}, extrapolated = 0.;
      for (int n = 0; n < n_steps; ++n)
        {
          const SchemeStep step{scheme, std::min(order_of(scheme), n + 1), n % 2 == 0 ? h : 1.5 * h, steps[0], steps[1]};
          const double     next = solve(step, u, extrapolated);
          u[2]                  = u[1];
          u[1]                  = u[0];
          u[0]                  = next;
          steps[1]              = steps[0];
          steps[0]              = step.step_size;
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
      EXPECT_NEAR(std::log2(error_at_one(scheme, 64) / error_at_one(scheme, 128)), order_of(scheme), 0.1) << name;
  }

  TEST(Schemes, EstimateTheirLocalError)
  {
    for (const auto &[scheme, name, meaning] : schemes)
      for (const double size : {0.002, 0.003})
        {
          const SchemeStep step{scheme, order_of(scheme), size, 0.002, 0.0025};
          const double     u[3]         = {exact(3.), exact(3. - 0.002), exact(3. - 0.0045)};
          double           extrapolated = 0., weights[3];
          const double     next         = solve(step, u, extrapolated);
          step.predict(3, weights);
          double e = next - (weights[0] * u[0] + weights[1] * u[1] + weights[2] * u[2]);
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
} // namespace leopard::reaction_diffusion
