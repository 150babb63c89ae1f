// SPDX-License-Identifier: Apache-2.0
#include "controller_test.h"

#include <cmath>
#include <limits>

namespace leopard::reaction_diffusion
{
  namespace
  {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  } // namespace

  TEST(Controller, AStepIsDoneWhenTheResidualIsThatOfASolution)
  {
    const auto done = [](double first, double last, Scheme scheme = Scheme::implicit_euler, double u = 1., double tolerance = 1e-8) {
      Controller c           = controller(0.5, tolerance);
      c.options.newton_floor = 0.25;
      c.options.scheme       = scheme;
      c.start();
      c.next(sums_of(first));
      const Action action = c.next(sums_of(last, 1., u));
      EXPECT_EQ(action == Action::predict, c.totals.steps == 1);
      return action == Action::predict;
    };
    EXPECT_TRUE(done(1., 0.0078125)) << "below a hundredth of what it was";
    EXPECT_FALSE(done(1., 0.011)) << "far from a solution";
    EXPECT_TRUE(done(1., 0.25, Scheme::imex_bdf2)) << "linear";
    EXPECT_FALSE(done(1., 0.2500001, Scheme::imex_bdf2));
    EXPECT_FALSE(done(1. / 512., 1.1e-4));
    EXPECT_TRUE(done(1. / 512., 0.9e-4, Scheme::implicit_euler, 0.)) << "small against the old values";
    EXPECT_TRUE(done(1., 0.125, Scheme::implicit_euler, 1251.)) << "against the new ones";
    EXPECT_FALSE(done(1., 0.125, Scheme::implicit_euler, 1249.));
    EXPECT_TRUE(done(1., 0.0624, Scheme::implicit_euler, 1., 0.0625)) << "against what is asked for";
    EXPECT_FALSE(done(1., 0.0626, Scheme::implicit_euler, 1., 0.0625));

    Controller c = controller(0.5);
    c.rate_bound = 1e15; // rounding leaves 0.22
    EXPECT_EQ(play(c, {1., 0.23}), Action::correct);
    EXPECT_EQ(c.next(sums_of(0.21)), Action::predict);
    c                      = controller(0.5, 0x1p-26);
    c.options.newton_floor = 0.;
    EXPECT_EQ(play(c, {1., 0x1.0001p-26}), Action::correct);
    EXPECT_EQ(c.next(sums_of(0x1p-26)), Action::predict) << "exactly the goal";
    EXPECT_EQ(c.totals.worst_reduction, 1.);
  }

  TEST(Controller, StopsWhereNewtonsMethodDiverges)
  {
    Controller c = controller(0.5);
    EXPECT_EQ(play(c, {1., 2., 2.}), Action::correct) << "the first correction may, and no growth is none";
    EXPECT_EQ(c.next(sums_of(2.001)), Action::stop);
    EXPECT_EQ(c.stop_reason, StopReason::newton_failure);
    EXPECT_EQ(c.totals.steps, 0);
    EXPECT_EQ(c.attempt_figures.newton_steps, 3);
    for (const int most : {1, 3})
      {
        c                          = controller(0.5);
        c.options.max_newton_steps = most;
        EXPECT_EQ(play(c, most == 1 ? std::vector<double>{1.} : std::vector<double>{1., 0.5, 0.25}), Action::correct);
        Sums sums     = sums_of(0.125);
        sums.row_rate = 2.;
        EXPECT_EQ(c.next(sums), Action::stop);
        EXPECT_EQ(c.stop_reason, StopReason::newton_failure) << "after sweeps that contract";
      }
  }

  TEST(Controller, SaysWhenTheSweepsAreToBlame)
  {
    const auto reason = [](Controller c, double row_rate) {
      EXPECT_EQ(play(c, {1., 1.1, 1.2}, row_rate), Action::stop);
      return c.stop_reason;
    };
    Controller c         = controller(0.5);
    c.options.max_sweeps = 10000; // as many as the program allows
    EXPECT_EQ(reason(c, 0.99), StopReason::newton_failure) << "J is dominant";
    EXPECT_EQ(reason(c, 1.01), StopReason::linear_failure);
    EXPECT_EQ(reason(c, nan), StopReason::linear_failure);
    c.options.max_sweeps = 300;
    EXPECT_EQ(reason(c, 0.), StopReason::linear_failure) << "all there are";
    c.options.max_sweeps = 10000;
    c.options.scheme     = Scheme::imex_bdf2;
    EXPECT_EQ(reason(c, 0.), StopReason::linear_failure) << "there is nothing else";
    c.options.scheme = Scheme::implicit_euler;
    c.growth         = {GrowthLaw::exponential, std::log(2.), 2}; // at t = 1: implicit = 0.25 / (1 + 2 log(2)), reaction_factor = 4
    EXPECT_EQ(reason(c, 2.3), StopReason::newton_failure);
    EXPECT_EQ(reason(c, 2.5), StopReason::linear_failure);

    // where the row sums allow for slow sweeps there are as many, before and after they were seen
    c                    = controller(0.999);
    c.options.max_sweeps = 2000;
    EXPECT_EQ(play(c, {1., 0.9}), Action::correct);
    EXPECT_EQ(c.n_sweeps, 2000);
    c.options.max_newton_steps = 3;
    c.next(sums_of(0.8));
    EXPECT_EQ(c.next(sums_of(0.7)), Action::stop);
    EXPECT_EQ(c.stop_reason, StopReason::linear_failure);
  }

  TEST(Controller, DoesNotGoOnWithSweepsThatAreHopeless)
  {
    const auto corrections = [](int max_newton_steps, int max_sweeps) {
      Controller c               = controller(0.5, 0x1p-27);
      c.options.max_newton_steps = max_newton_steps;
      c.options.max_sweeps       = max_sweeps;
      double residual            = 1.;
      for (Action action = play(c, {residual}); action == Action::correct && c.totals.steps == 0;)
        action = c.next(sums_of(residual *= 0.25));
      return c.attempt_figures.newton_steps + c.figures.newton_steps;
    };
    EXPECT_EQ(corrections(13, 5), 2) << "two are enough to see that 11 more miss the goal";
    EXPECT_EQ(corrections(14, 5), 14);
    EXPECT_EQ(corrections(13, 400), 13) << "with more sweeps it may become better";
  }

  TEST(Controller, TakesMultigridWhereSweepsAreSlow)
  {
    const auto takes = [](double row_sum, LinearMethod method, bool has) {
      Controller c            = controller(row_sum);
      c.options.linear_method = method;
      c.has_multigrid         = has;
      EXPECT_EQ(play(c, {1.}), Action::correct);
      EXPECT_EQ(c.n_sweeps > 0, !c.uses_multigrid);
      EXPECT_EQ(c.n_cycles, c.uses_multigrid ? 20 : 0);
      return c.uses_multigrid;
    };
    EXPECT_TRUE(takes(0.88, LinearMethod::automatic, true));
    EXPECT_FALSE(takes(0.86, LinearMethod::automatic, true));
    EXPECT_FALSE(takes(0.88, LinearMethod::automatic, false));
    EXPECT_FALSE(takes(0.88, LinearMethod::sweeps, true));
    EXPECT_TRUE(takes(0.1, LinearMethod::multigrid, true));
    EXPECT_FALSE(takes(0.1, LinearMethod::multigrid, false));

    Controller c    = controller(0.95);
    c.has_multigrid = true;
    play(c, {1.});
    EXPECT_EQ(c.reduction, 1e-3) << "a cycle is dear";
    c.options.newton_tolerance = 0.1;
    play(c, {1.});
    EXPECT_NEAR(c.reduction, 0.03, 1e-15);
    c.smallest_reduction = 0.2;
    play(c, {1.});
    EXPECT_EQ(c.reduction, 0.2);
    EXPECT_EQ(c.next(sums_of(0.09)), Action::predict);
    EXPECT_EQ(c.totals.multigrid_steps, 1);
    c                       = controller(0.1);
    c.has_multigrid         = true;
    c.options.linear_method = LinearMethod::multigrid;
    play(c, {1.});
    EXPECT_EQ(c.reduction, 1e-3) << "even where few sweeps would do";
    for (const int done : {20, 19})
      {
        c               = controller(0.95);
        c.has_multigrid = true;
        play(c, {1., 0.9});
        c.n_cycles = done; // which the engine sets
        EXPECT_EQ(c.next(sums_of(0.91)), Action::stop);
        EXPECT_EQ(c.stop_reason, done == 20 ? StopReason::linear_failure : StopReason::newton_failure);
        EXPECT_EQ(c.attempt_figures.cycles, 20 + done);
      }
  }

  TEST(Controller, WhatIsNotFiniteIsNoStep)
  {
    for (const double bad : {nan, infinity, 1e301})
      for (double Sums::*const part : {&Sums::residual, &Sums::squares, &Sums::history})
        for (const bool at_once : {true, false})
          {
            Sums sums  = sums_of(1e-20);
            sums.*part = bad;
            for (const bool error_controlled : {false, true})
              {
                Controller c               = controller(0.5);
                c.options.error_controlled = error_controlled;
                c.start();
                if (!at_once)
                  c.next(sums_of(1.));
                EXPECT_EQ(c.next(sums), error_controlled ? Action::predict : Action::stop) << bad;
                EXPECT_EQ(c.rejected.not_finite, 1);
                EXPECT_EQ(c.stop_reason, error_controlled ? StopReason::none : StopReason::blow_up);
                EXPECT_EQ(c.totals.steps, 0);
              }
          }
    // a goal that every residual would reach
    Controller c = controller(0.5);
    c.rate_bound = 1e170;
    c.start();
    EXPECT_EQ(c.next(sums_of(1., 1e147)), Action::stop);
    EXPECT_EQ(c.stop_reason, StopReason::newton_failure);
    c.start();
    EXPECT_EQ(c.next(sums_of(1., 1e140)), Action::correct);
  }

  TEST(Controller, EndsWhereItIsTold)
  {
    const auto start = [](double stop_time, double slack, long last_step) {
      Controller c = controller(0.5);
      c.stop_time  = stop_time;
      c.slack      = slack;
      c.last_step  = last_step;
      c.resume({7, 2., 1., {1., 1.}});
      const bool stops = c.start() == Action::stop;
      EXPECT_EQ(stops, c.stop_reason != StopReason::none);
      return c.stop_reason;
    };
    EXPECT_EQ(start(2., 0., 100), StopReason::time_reached);
    EXPECT_EQ(start(2.5, 0.5, 100), StopReason::time_reached);
    EXPECT_EQ(start(2.5, 0.49, 100), StopReason::none);
    EXPECT_EQ(start(2.5, 0., 7), StopReason::step_limit);
    EXPECT_EQ(start(2.5, 0., 8), StopReason::none);
    EXPECT_EQ(start(2., 0., 7), StopReason::time_reached);

    // after a step: negative values first, then what was asked for, then whether it is steady
    const auto end = [](bool stop_at_negative_values, double negative, double steady_tolerance, long last_step) {
      Controller c                      = controller(0.5);
      c.options.stop_at_negative_values = stop_at_negative_values;
      c.options.steady_tolerance        = steady_tolerance;
      c.last_step                       = last_step;
      play(c, {1.});
      Sums sums        = sums_of(1e-9);
      sums.negative    = negative;
      sums.change      = 4. * 0.25; // an RMS of 0.5 in a step of 1
      const bool stops = c.next(sums) == Action::stop;
      EXPECT_EQ(stops, c.stop_reason != StopReason::none);
      EXPECT_EQ(c.totals.negative_steps, negative > 0. ? 1 : 0);
      EXPECT_EQ(c.step, 1) << "the step is done";
      return c.stop_reason;
    };
    EXPECT_EQ(end(true, 1., 1., 1), StopReason::negative_values);
    EXPECT_EQ(end(true, 0., 0., 2), StopReason::none);
    EXPECT_EQ(end(false, 1., 0., 2), StopReason::none);
    EXPECT_EQ(end(false, 1., 1., 1), StopReason::step_limit);
    EXPECT_EQ(end(false, 0., 0.5, 2), StopReason::steady_state);
    EXPECT_EQ(end(false, 0., 0.499, 2), StopReason::none);
  }

  TEST(Controller, SaysWhatAStepHasFound)
  {
    Controller c = controller(0.5, 0x1p-26);
    c.resume({0, 3., 0.5, {}});
    c.options.step_size = 0.5;
    play(c, {2., 0.5});
    Sums sums       = sums_of(0x1p-26);
    sums.negative   = 3.;
    sums.change     = 16.;
    sums.row_rate   = 0.75;
    const int first = c.attempt_figures.sweeps, second = c.n_sweeps;
    EXPECT_EQ(c.next(sums), Action::predict);
    const StepFigures &f = c.figures;
    EXPECT_EQ(f.step_size, 0.5);
    EXPECT_EQ(f.newton_steps, 2);
    EXPECT_EQ(f.sweeps, first + second);
    EXPECT_EQ(f.cycles, 0);
    EXPECT_EQ(f.first_residual, 2.);
    EXPECT_EQ(f.residual, 0x1p-26);
    EXPECT_EQ(f.error_estimate, 0.);
    EXPECT_EQ(f.rate_of_change, 4.);
    EXPECT_EQ(f.n_negative, 3.);
    EXPECT_EQ(f.rejected.total(), 0);
    EXPECT_EQ(c.row_rate, 0.75);
    EXPECT_EQ(c.newest, 1);
    EXPECT_EQ(c.slot(0), 1);
    EXPECT_EQ(c.slot(1), 0);
    EXPECT_EQ(c.slot(2), 3);
    EXPECT_EQ(c.time, 3.5);
    for (int n = 2; n <= 5; ++n)
      {
        c.next(sums_of(2.));
        EXPECT_EQ(c.next(sums_of(0x1p-28)), Action::predict);
        EXPECT_EQ(c.newest, n % 4);
      }
    EXPECT_EQ(c.totals.steps, 5);
    EXPECT_EQ(c.totals.newton_steps, 6);
    EXPECT_GT(c.totals.sweeps, first + second);
    EXPECT_EQ(c.totals.multigrid_steps, 0);
    EXPECT_EQ(c.totals.worst_reduction, 0.5) << "the largest of all";
    EXPECT_EQ(c.time, 5.5);
  }

  TEST(Controller, PredictsByTheSchemeAndGrowth)
  {
    Controller c = controller(0.5);
    c.resume({1, 1., 1., {1.}});
    EXPECT_EQ(play(c, {}), Action::predict);
    EXPECT_EQ(c.prediction[0], 2.);
    EXPECT_EQ(c.prediction[1], -1.);
    EXPECT_EQ(c.prediction[2], 0.);
    EXPECT_EQ(c.implicit, 1.);
    EXPECT_EQ(c.diffusion_factor, 1.);
    c.options.scheme = Scheme::bdf2;
    c.growth         = {GrowthLaw::linear, 0.5, 2}; // at t = 2: twice as long, growing by 1/2 a unit of time
    play(c, {});
    EXPECT_NEAR(c.implicit, 2. / 3. * 0.25 / (1. + 2. / 3. * 0.5), 1e-15);
    EXPECT_NEAR(c.history[0], 4. / 3. / (1. + 2. / 3. * 0.5), 1e-15);
    EXPECT_NEAR(c.history[1], -1. / 3. / (1. + 2. / 3. * 0.5), 1e-15);
    EXPECT_EQ(c.diffusion_factor, 0.25);
    EXPECT_EQ(c.reaction_factor, 4.);
    EXPECT_EQ(c.reaction_error, 0.);
    c.options.scheme = Scheme::imex_bdf2;
    play(c, {});
    EXPECT_EQ(c.reaction_error, 0.) << "there is no estimate yet";
    c.resume({2, 1., 1., {1., 1.}});
    play(c, {});
    EXPECT_NEAR(c.reaction_error, c.scheme_step().reaction_error(c.implicit), 1e-15);
    EXPECT_GT(c.reaction_error, 0.);
  }

  TEST(Controller, AcceptsAndRejectsByTheError)
  {
    const auto after_error = [](double estimate) {
      Controller c               = controller(0.5);
      c.options.error_controlled = true;
      c.options.error_tolerance  = 1e-4;
      c.options.largest_step     = 1e6;
      c.resume({3, 3., 1., {1., 1.}});
      play(c, {1.});
      Sums         sums   = sums_of(1e-9);
      const double factor = 1. / 3., rms = estimate * 1e-4 / factor; // the step against itself and two of its size
      sums.history = 4. * rms * rms;
      c.next(sums);
      EXPECT_EQ(c.figures.step_size > 0., c.totals.steps == 1);
      return c;
    };
    Controller c = after_error(0.99);
    EXPECT_EQ(c.totals.steps, 1);
    EXPECT_NEAR(c.figures.error_estimate, 0.99, 1e-12);
    c = after_error(1.01);
    EXPECT_EQ(c.totals.steps, 0);
    EXPECT_EQ(c.rejected.error, 1);
    EXPECT_NEAR(c.step_size, 0.85 / std::sqrt(1.01), 1e-12);
    EXPECT_EQ(c.stop_reason, StopReason::none);
    // the attempt that succeeds counts those before it
    c.next(sums_of(1.));
    Sums sums    = sums_of(1e-9);
    sums.history = 0.;
    EXPECT_EQ(c.next(sums), Action::predict);
    EXPECT_EQ(c.figures.rejected.error, 1);
    EXPECT_EQ(c.totals.rejected.error, 1);
    EXPECT_EQ(c.rejected.total(), 0);

    c                       = after_error(2.);
    c.options.smallest_step = 0.5;
    c.next(sums_of(1.));
    EXPECT_EQ(c.next(sums_of(nan)), Action::stop) << "a quarter of it is too small";
    EXPECT_EQ(c.stop_reason, StopReason::step_underflow);
    c = controller(0.5);
    c.resume({0, 1e20, 1., {}});
    c.stop_time = 2e20;
    EXPECT_EQ(c.start(), Action::stop);
    EXPECT_EQ(c.stop_reason, StopReason::step_underflow) << "the time does not advance";
  }

  TEST(Controller, MeasuresTheRateThatStepsFollow)
  {
    Controller c             = controller(0.5);
    c.options.bound_fraction = 0.5;
    c.has_multigrid          = true;
    c.growth                 = {GrowthLaw::exponential, 0.25, 2}; // a dilution of 1/2
    EXPECT_EQ(c.start(), Action::predict);
    EXPECT_EQ(c.step_size, 0.) << "the present solution is evaluated";
    EXPECT_EQ(c.prediction[0], 1.);
    EXPECT_EQ(c.prediction[1], 0.);
    EXPECT_FALSE(c.uses_multigrid);
    Sums sums     = sums_of(1.);
    sums.row_rate = 4.5;
    EXPECT_EQ(c.next(sums), Action::predict);
    EXPECT_EQ(c.bound, 0.25);
    EXPECT_EQ(c.step_size, 0.125);
    EXPECT_EQ(c.next(sums_of(1.)), Action::correct) << "measured once";
    Sums solution     = sums_of(1e-9);
    solution.row_rate = 8.5;
    EXPECT_EQ(c.next(solution), Action::predict);
    EXPECT_EQ(c.figures.bound, 0.25);
    EXPECT_EQ(c.bound, 0.125) << "of the new solution";
    EXPECT_EQ(c.start(), Action::predict);
    EXPECT_GT(c.step_size, 0.) << "which is known";
    c.row_rate = 0.;
    c.start();
    EXPECT_GT(c.step_size, 0.) << "no reaction grows there";
    for (const double bad : {nan, infinity, 1e301})
      {
        c.row_rate = -1.;
        c.start();
        Sums u    = sums_of(1.);
        u.squares = bad;
        EXPECT_EQ(c.next(u), Action::stop);
        EXPECT_EQ(c.stop_reason, StopReason::blow_up);
        EXPECT_FALSE(c.measuring);
      }
    c.row_rate = -1.;
    c.start();
    sums.row_rate = nan;
    EXPECT_EQ(c.next(sums), Action::stop) << "no bound is certain";
    EXPECT_EQ(c.stop_reason, StopReason::step_underflow);
    c.options.bound_fraction = 0.;
    c.row_rate               = -1.;
    c.resume({0, 0., 1., {}});
    c.start();
    EXPECT_EQ(c.step_size, 1.) << "fixed steps need no rate";
  }

  /** Old values of zero say nothing about what the reaction brings, which single precision cannot solve exactly. */
  TEST(Controller, AStepFromZeroHasAGoal)
  {
    Controller c           = controller(0.5, 0.);
    c.options.scheme       = Scheme::imex_bdf2;
    c.options.newton_floor = 1e-8;
    EXPECT_EQ(c.start(), Action::predict);
    EXPECT_EQ(c.next(sums_of(3., 0., 0.)), Action::correct);
    EXPECT_NEAR(c.goal, 3e-8, 1e-12);
    EXPECT_EQ(c.next(sums_of(1e-5, 0.)), Action::correct);
    c.next(sums_of(2e-8, 0.));
    EXPECT_EQ(c.step, 1);
    // beside old values it is the larger of both
    EXPECT_EQ(c.next(sums_of(0.1, 5.)), Action::correct);
    EXPECT_NEAR(c.goal, 5e-8, 1e-12);
  }
} // namespace leopard::reaction_diffusion
