// SPDX-License-Identifier: Apache-2.0
// Step sizes of the time loop: the error estimates of all schemes, and steps at the asynchronous bound.
#include "reaction_diffusion_test.h"

#include <applications/reaction_diffusion/rules/node_system.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <limits>

namespace leopard::reaction_diffusion
{
  class ReactionDiffusionSteps : public BackendTest
  {
  };

  namespace
  {
    INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusionSteps, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    const Schnakenberg kinetics_of_default{0.126779, 0.792366}; ///< the default of KineticsChoice

    /** Field by field: gamma f_c. */
    Vector rates(const Vector &u, double gamma)
    {
      const std::size_t n = u.size() / 2;
      Vector            result(u.size());
      for (std::size_t i = 0; i < n; ++i)
        {
          const double here[2] = {u[i], u[n + i]};
          double       r[2];
          kinetics_of_default.evaluate(here, {}, r, nullptr);
          result[i]     = gamma * r[0];
          result[n + i] = gamma * r[1];
        }
      return result;
    }

    struct Step
    {
      double size;
      Vector solution; ///< at its end
    };

    /**
     * The local error of the last of some steps against the tolerance, from their definitions. @param steps 4 of them
     * or more, of BDF3 5.
     */
    double error_estimate(const std::vector<Step> &steps, Scheme scheme, double gamma, double tolerance)
    {
      const std::size_t last = steps.size() - 1;
      const double      dt = steps[last].size, dt_1 = steps[last - 1].size, dt_2 = steps[last - 2].size, w = dt / dt_1;
      const Vector     &u = steps[last].solution, &u_1 = steps[last - 1].solution, &u_2 = steps[last - 2].solution, &u_3 = steps[last - 3].solution;
      const Vector      r = rates(u, gamma), r_1 = rates(u_1, gamma), r_2 = rates(u_2, gamma);
      const bool        third     = scheme == Scheme::bdf3;
      const double      dt_3      = third ? steps[last - 3].size : 0.;
      const double      corrector = scheme == Scheme::implicit_euler ? dt
                                    : third                          ? 1. / (1. / dt + 1. / (dt + dt_1) + 1. / (dt + dt_1 + dt_2))
                                                                     : dt * (1. + w) / (1. + 2. * w);
      const double      predictor = scheme == Scheme::implicit_euler ? dt + dt_1 : dt + dt_1 + dt_2 + dt_3;
      const double      factor    = corrector / (corrector + predictor);
      Vector            prediction(u.size());
      double            squares = 0., sum = 0.;
      for (std::size_t i = 0; i < u.size(); ++i)
        {
          // Newton's divided differences
          const double first = (u_1[i] - u_2[i]) / dt_1, second = (first - (u_2[i] - u_3[i]) / dt_2) / (dt_1 + dt_2);
          prediction[i] = u_1[i] + dt * first + (scheme == Scheme::implicit_euler ? 0. : dt * (dt + dt_1) * second);
          if (third)
            {
              const double before = ((u_2[i] - u_3[i]) / dt_2 - (u_3[i] - steps[last - 4].solution[i]) / dt_3) / (dt_2 + dt_3);
              prediction[i] += dt * (dt + dt_1) * (dt + dt_1 + dt_2) * (second - before) / (dt_1 + dt_2 + dt_3);
            }
          squares += prediction[i] * prediction[i];
        }
      const double rms = std::sqrt(squares / static_cast<double>(u.size()));
      for (std::size_t i = 0; i < u.size(); ++i)
        {
          double e = factor * (u[i] - prediction[i]);
          if (scheme == Scheme::imex_bdf2)
            e += (1. - factor) * corrector * ((1. + w) * r_1[i] - w * r_2[i] - r[i]);
          const double scale = tolerance * std::max(std::abs(u[i]), rms);
          sum += e * e / (scale * scale);
        }
      return std::sqrt(sum / static_cast<double>(u.size()));
    }
  } // namespace

  TEST_P(ReactionDiffusionSteps, ErrorEstimatesAreThoseOfTheirDefinition)
  {
    for (const Scheme scheme : multistep_schemes())
      for (const bool persistent : {true, false})
        {
          const NodeGrid grid               = unit_grid(21, 2);
          StepperOptions options            = fixed_steps(GetParam(), scheme, 1e-4);
          options.persistent                = persistent;
          options.stepping.newton_tolerance = 0.;
          options.stepping.newton_floor     = 1e-12;
          options.stepping.linear_method    = LinearMethod::sweeps;
          options.stepping.error_controlled = true;
          options.stepping.error_tolerance  = 1e-3;
          std::vector<Step> steps{{0., smooth_fields(grid)}};
          Stepper           stepper(grid, options);
          stepper.start(steps[0].solution.data());
          int n_compared = 0;
          for (int step = 0; step < 12; ++step)
            {
              stepper.advance(1., 1, 0.);
              steps.push_back({stepper.last_step().step_size, Vector(steps[0].solution.size())});
              stepper.solution(steps.back().solution.data());
              if (step < levels_kept(scheme))
                continue;
              const double expected = error_estimate(steps, scheme, options.kinetics.gamma, options.stepping.error_tolerance);
              if (expected < 1e-3)
                continue; // what Newton's method leaves counts
              ++n_compared;
              EXPECT_NEAR(stepper.last_step().error_estimate / expected, 1., 1e-4) << "scheme " << static_cast<int>(scheme) << ", step " << step;
            }
          EXPECT_GE(n_compared, 6);
          EXPECT_NE(steps[4].size, steps.back().size) << "the steps should vary";
        }
  }

  TEST_P(ReactionDiffusionSteps, AnExplicitReactionIsControlledAsWell)
  {
    const NodeGrid grid               = unit_grid(33, 2);
    const Vector   initial            = smooth_fields(grid, 0.3);
    const Vector   exact              = solution_at(grid, fixed_steps(Backend::host, Scheme::bdf2, 0.05 / 4000.), initial, 0.05);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::imex_bdf2, 1e-6);
    options.stepping.error_controlled = true;
    double last                       = 1.;
    for (const double tolerance : {1e-2, 1e-3, 1e-4})
      {
        options.stepping.error_tolerance = tolerance;
        StepperOptions oracle            = options;
        oracle.backend                   = Backend::reference;
        Totals       totals, oracle_totals;
        const Vector found = solution_at(grid, options, initial, 0.05, &totals), reference = solution_at(grid, oracle, initial, 0.05, &oracle_totals);
        EXPECT_LT(largest_difference(found, reference), 0.1 * tolerance);
        EXPECT_NEAR(
          static_cast<double>(totals.steps), static_cast<double>(oracle_totals.steps), 2. + 0.02 * static_cast<double>(oracle_totals.steps));
        const double error = largest_difference(found, exact);
        EXPECT_LT(error, 20. * tolerance);
        EXPECT_LT(error, last);
        last = error;
      }
  }

  namespace
  {
    /** dr_c/du_c + |dr_c/du_d| of a row. */
    double row_rate(const double *j, int c, double gamma)
    {
      return gamma * (j[3 * c] + std::abs(j[c == 0 ? 1 : 2]));
    }

    double largest_row_rate(const Vector &u, double gamma)
    {
      const std::size_t n      = u.size() / 2;
      double            result = -1e300;
      for (std::size_t i = 0; i < n; ++i)
        {
          const double here[2] = {u[i], u[n + i]};
          double       r[2], j[4];
          kinetics_of_default.evaluate(here, {}, r, j);
          result = std::max({result, row_rate(j, 0, gamma), row_rate(j, 1, gamma)});
        }
      return result;
    }

    /**
     * The largest row sum of |I - D^-1 J| at a solution, from the engine's own equations of a node. @param implicit dt,
     * or that times beta.
     */
    double largest_row_sum(const Vector &u, const NodeGrid &grid, const StepperOptions &options, double implicit)
    {
      const std::size_t n = u.size() / 2;
      Controller        controller;
      controller.options   = options.stepping;
      controller.implicit  = implicit;
      const auto   system  = make_node_system(kinetics_of_default, options);
      const auto   scheme  = NodeSystem<Schnakenberg>::Scheme(controller);
      const double weights = 2. / (grid.spacing[0] * grid.spacing[0]) + 2. / (grid.spacing[1] * grid.spacing[1]);
      double       largest = 0.;
      for (std::size_t i = 0; i < n; ++i)
        {
          const double        here[2] = {u[i], u[n + i]}, laplace[2] = {0., 0.};
          double              g[2], block[4];
          Sums                sums;
          const double *const levels[max_levels] = {here, here, here, here};
          system.residual(scheme, here, levels, laplace, NodeRow{weights, 1.}, g, block, sums);
          for (int c = 0; c < 2; ++c)
            {
              EXPECT_GT(block[3 * c], 0.);
              largest = std::max(largest, (implicit * options.diffusion[c] * weights + std::abs(block[c == 0 ? 1 : 2])) / block[3 * c]);
            }
        }
      return largest;
    }
  } // namespace

  TEST_P(ReactionDiffusionSteps, StepsAtTheAsynchronousBoundAreTheLargestDominantOnes)
  {
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2})
      for (const bool persistent : {true, false})
        {
          const NodeGrid grid               = unit_grid(20, 2);
          StepperOptions options            = fixed_steps(GetParam(), scheme, 1e-4);
          options.persistent                = persistent;
          options.stepping.bound_fraction   = 0.9;
          options.stepping.linear_method    = LinearMethod::sweeps;
          options.stepping.max_sweeps       = 5000;
          options.stepping.newton_tolerance = 1e-8;
          Stepper stepper(grid, options);
          Vector  before = smooth_fields(grid), after(before.size());
          stepper.start(before.data());
          double last = 0.;
          for (int step = 0; step < 8; ++step)
            {
              stepper.advance(10., 1, 0.);
              ASSERT_EQ(stepper.step_number(), step + 1);
              const StepFigures figures = stepper.last_step();
              const bool        first   = scheme == Scheme::implicit_euler || step == 0;
              const double      rate    = largest_row_rate(before, options.kinetics.gamma);
              const auto        beta    = [&](double dt) { return first ? 1. : (1. + dt / last) / (1. + 2. * dt / last); };
              EXPECT_NEAR(rate * figures.bound * beta(figures.bound), 1., 1e-10) << "the definition of the bound";
              const double expected = std::min(0.9 * figures.bound, last > 0. ? 1.6 * last : 1e300);
              EXPECT_NEAR(figures.step_size / expected, 1., 1e-12);
              const auto row_sum = [&](double dt) { return largest_row_sum(before, grid, options, beta(dt) * dt); };
              EXPECT_LT(row_sum(figures.step_size), 1.);
              EXPECT_LT(row_sum(0.999 * figures.bound), 1.);
              EXPECT_GT(row_sum(1.001 * figures.bound), 1.);
              EXPECT_LT(figures.residual, figures.first_residual);
              EXPECT_EQ(figures.rejected.total(), 0);
              EXPECT_EQ(figures.cycles, 0);
              last = figures.step_size;
              stepper.solution(before.data());
            }
          EXPECT_LE(stepper.totals().worst_reduction, 1.);
        }
  }

  TEST_P(ReactionDiffusionSteps, StepsAtTheBoundHitTimesAndGoOnAfterAResume)
  {
    const NodeGrid grid             = unit_grid(17, 2);
    StepperOptions options          = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
    options.stepping.bound_fraction = 0.5;
    const Vector initial            = smooth_fields(grid);
    Stepper      whole(grid, options), second(grid, options);
    whole.start(initial.data());
    EXPECT_EQ(whole.advance(0.05, 1000, 1e-12), StopReason::time_reached);
    EXPECT_NEAR(whole.time(), 0.05, 1e-10);
    const Stepper::State state = whole.state();
    std::vector<Vector>  solutions(state.step_sizes.size() + 1, Vector(initial.size()));
    for (std::size_t l = 0; l < solutions.size(); ++l)
      whole.solution(solutions[l].data(), static_cast<int>(l));
    second.resume(state, solutions);
    for (Stepper *stepper : {&whole, &second})
      stepper->advance(10., 3, 0.);
    EXPECT_EQ(whole.step_number(), second.step_number());
    EXPECT_NEAR(whole.time(), second.time(), 1e-7 * whole.time());
    EXPECT_NEAR(whole.last_step().bound / second.last_step().bound, 1., 1e-7);
  }

  /**
   * Where the reaction only decays there is no bound: the first step is that of the options, then steps grow up to the
   * largest one.
   */
  TEST_P(ReactionDiffusionSteps, WithoutABoundStepsGrow)
  {
    const NodeGrid grid             = unit_grid(12, 2);
    StepperOptions options          = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
    options.kinetics                = {"FitzHugh-Nagumo", {0., 1., 1.}, 1e-3};
    options.stepping.bound_fraction = 0.9;
    options.stepping.largest_step   = 2e-4;
    const Vector u(2 * grid.n_nodes(), 2.);
    Stepper      stepper(grid, options);
    stepper.start(u.data());
    for (const double expected : {1e-4, 1.6e-4, 2e-4, 2e-4})
      {
        stepper.advance(1., 1, 0.);
        EXPECT_NEAR(stepper.last_step().step_size, expected, 1e-12);
        EXPECT_TRUE(std::isinf(stepper.last_step().bound));
      }
  }

  /**
   * Asked in the middle of a step it gives that step up; the next call does it anew. On a GPU it is asked before the
   * first step only.
   */
  TEST_P(ReactionDiffusionSteps, EndWhenAskedToStop)
  {
    const NodeGrid       grid    = unit_grid(17, 2);
    const StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
    const Vector         initial = smooth_fields(grid);
    Stepper              whole(grid, options), stopped(grid, options);
    whole.start(initial.data());
    stopped.start(initial.data());
    EXPECT_EQ(stopped.advance(1., 10, 0., [] { return true; }), StopReason::asked_to_stop);
    EXPECT_EQ(stopped.step_number(), 0);
    int        n_calls = 0;
    const auto advance = [&] {
      int n_asked = 0;
      ++n_calls;
      return stopped.advance(1., 6 - stopped.step_number(), 0., [&] { return ++n_asked > 6; });
    };
    while (advance() == StopReason::asked_to_stop && n_calls < 100)
      EXPECT_LT(stopped.step_number(), 6);
    EXPECT_GT(n_calls, GetParam() != Backend::cuda ? 2 : 0);
    EXPECT_EQ(stopped.step_number(), 6);
    EXPECT_EQ(whole.advance(1., 6, 0.), StopReason::step_limit);
    EXPECT_NEAR(stopped.time(), whole.time(), 1e-15);
    Vector u(initial.size()), expected(initial.size());
    stopped.solution(u.data());
    whole.solution(expected.data());
    for (std::size_t i = 0; i < u.size(); ++i)
      EXPECT_NEAR(u[i], expected[i], 1e-7);
  }

  /** What the controller promises of each step, looked at one by one, from a first step that is far too long. */
  TEST_P(ReactionDiffusionSteps, ErrorsAndStepsKeepToTheirBounds)
  {
    const NodeGrid grid               = unit_grid(12, 2);
    const Vector   u                  = smooth_fields(grid);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::bdf2, 5e-3);
    options.stepping.error_controlled = true;
    options.stepping.error_tolerance  = 1e-5;
    options.stepping.largest_step     = 6e-3;
    Stepper stepper(grid, options);
    stepper.start(u.data());
    double largest = 0.;
    while (stepper.time() < 1.)
      {
        ASSERT_NE(stepper.advance(1., 1, 1e-12), StopReason::step_underflow);
        EXPECT_LE(stepper.last_step().error_estimate, 1.);
        largest = std::max(largest, stepper.last_step().step_size);
      }
    EXPECT_GT(stepper.totals().rejected.error, 0);
    EXPECT_EQ(stepper.totals().rejected.linear_solver, 0);
    EXPECT_LE(largest, 6e-3 * (1. + 1e-12));
    EXPECT_GT(largest, 5.5e-3) << "the largest step was not reached";
  }

  TEST_P(ReactionDiffusionSteps, NewtonStepsAndSmallStepsHaveTheirLimits)
  {
    const NodeGrid grid               = unit_grid(12, 2);
    const Vector   u                  = smooth_fields(grid);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-2);
    options.stepping.newton_tolerance = 1e-12;
    options.stepping.max_newton_steps = 1;
    {
      Stepper stepper(grid, options);
      stepper.start(u.data());
      EXPECT_EQ(stepper.advance(1., 3, 0.), StopReason::newton_failure);
    }
    if (GetParam() != Backend::reference)
      {
        StepperOptions few            = options;
        few.stepping.linear_method    = LinearMethod::multigrid;
        few.stepping.max_cycles       = 1;
        few.stepping.max_newton_steps = 2;
        Stepper stepper(grid, few);
        stepper.start(u.data());
        EXPECT_EQ(stepper.advance(1., 3, 0.), StopReason::linear_failure);
      }
    options.stepping.error_controlled = true;
    options.stepping.smallest_step    = 4e-3; // above what a rejected step would be followed by
    Stepper stepper(grid, options);
    stepper.start(u.data());
    EXPECT_EQ(stepper.advance(1., 3, 0.), StopReason::step_underflow);
    EXPECT_EQ(stepper.step_number(), 0);
  }

  /**
   * Near a solution the first guess is nearly one, and to solve as if it were far from any would take five times the
   * sweeps.
   */
  TEST_P(ReactionDiffusionSteps, TinyStepsTakeTwoSweeps)
  {
    if (GetParam() == Backend::reference)
      GTEST_SKIP() << "solves directly";
    const NodeGrid grid    = unit_grid(24, 2);
    const Vector   u       = smooth_fields(grid);
    StepperOptions options = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-8);
    Stepper        stepper(grid, options);
    stepper.start(u.data());
    EXPECT_EQ(stepper.advance(1., 50, 0.), StopReason::step_limit);
    EXPECT_LE(stepper.totals().newton_steps, 60);
    EXPECT_LE(stepper.totals().sweeps, 2 * stepper.totals().newton_steps + 50);
  }

  TEST_P(ReactionDiffusionSteps, CyclesHaveTheirLimit)
  {
    if (GetParam() == Backend::reference)
      GTEST_SKIP() << "solves directly";
    const NodeGrid grid               = unit_grid(65, 2);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-2);
    options.stepping.linear_method    = LinearMethod::multigrid;
    options.stepping.max_cycles       = 1;
    options.stepping.max_newton_steps = 100;
    Stepper      stepper(grid, options);
    const Vector u = smooth_fields(grid);
    stepper.start(u.data());
    stepper.advance(1., 1, 0.);
    EXPECT_GT(stepper.last_step().newton_steps, 2);
    EXPECT_EQ(stepper.last_step().cycles, stepper.last_step().newton_steps);
  }

  TEST_P(ReactionDiffusionSteps, AStartThatIsNotFiniteIsABlowUp)
  {
    const NodeGrid grid             = unit_grid(12, 2);
    StepperOptions options          = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
    options.stepping.bound_fraction = 0.9;
    Vector u                        = smooth_fields(grid);
    u[5]                            = std::numeric_limits<double>::quiet_NaN();
    Stepper stepper(grid, options);
    stepper.start(u.data());
    EXPECT_EQ(stepper.advance(1., 10, 0.), StopReason::blow_up);
    EXPECT_EQ(stepper.step_number(), 0);
  }

  namespace
  {
    /** u' = f(u) for one species. @param f, derivative outputs of the tape. */
    StepperOptions one_species(Backend backend, Scheme scheme, const ExpressionTape &tape)
    {
      StepperOptions options = fixed_steps(backend, scheme, 0.3);
      options.kinetics       = {"expressions", {}, 1., tape};
      options.diffusion      = {1.};
      return options;
    }

    /** f = -sqrt(u), f' = -1 / (2 sqrt(u)) */
    ExpressionTape minus_root()
    {
      TapeWriter          w(1, {-0.5});
      const std::uint16_t root = w.apply(Operation::sqrt, 0, 0);
      w.tape.outputs           = {w.negate(root), w.apply(Operation::divide, w.constant(0), root)};
      return w.tape;
    }

    /** f = u^2, f' = 2 u */
    ExpressionTape square_of()
    {
      TapeWriter w(1, {2.});
      w.tape.outputs = {w.times(0, 0), w.times(w.constant(0), 0)};
      return w.tape;
    }
  } // namespace

  /**
   * A step with an explicit reaction may lead to where the reaction is no number; the step after it could not be made.
   */
  TEST_P(ReactionDiffusionSteps, AReactionThatIsNotFiniteFailsTheStepThatLeadsThere)
  {
    const NodeGrid grid = unit_grid(9, 2);
    for (const bool error_controlled : {false, true})
      {
        StepperOptions options            = one_species(GetParam(), Scheme::imex_bdf2, minus_root());
        options.stepping.error_controlled = error_controlled;
        options.stepping.error_tolerance  = 1.;
        const Vector initial(grid.n_nodes(), 1.);
        Stepper      stepper(grid, options);
        stepper.start(initial.data());
        EXPECT_EQ(stepper.advance(4., 1000, 0.), error_controlled ? StopReason::step_underflow : StopReason::blow_up);
        EXPECT_GT(stepper.step_number(), 2);
        EXPECT_NEAR(stepper.time(), 2., 0.8);
        Vector u(initial.size());
        stepper.solution(u.data());
        for (const double value : u)
          EXPECT_GE(value, 0.) << "error-controlled: " << error_controlled;
      }
  }

  /** u' = u^2 from 1 is infinite at t = 1, and steps become shorter than what the time can resolve. */
  TEST_P(ReactionDiffusionSteps, StepsThatDoNotAdvanceTheTimeEndTheRun)
  {
    const NodeGrid grid = unit_grid(9, 2);
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
      {
        StepperOptions options            = one_species(GetParam(), scheme, square_of());
        options.stepping.error_controlled = true;
        options.stepping.step_size        = 1e-3;
        options.stepping.smallest_step    = 0.;
        const Vector initial(grid.n_nodes(), 1.);
        Stepper      stepper(grid, options);
        stepper.start(initial.data());
        EXPECT_EQ(stepper.advance(2., 100000, 0.), StopReason::step_underflow);
        EXPECT_NEAR(stepper.time(), 1., 0.1);
      }
  }

  /** Sums of their squares are infinite, and what is measured against them looks like nothing. */
  TEST_P(ReactionDiffusionSteps, FieldsWhoseSquaresOverflowAreABlowUp)
  {
    const NodeGrid grid = unit_grid(9, 2);
    for (const bool error_controlled : {false, true})
      {
        TapeWriter nothing(1, {0.});
        nothing.tape.outputs              = {nothing.constant(0), nothing.constant(0)};
        StepperOptions options            = one_species(GetParam(), Scheme::bdf2, nothing.tape);
        options.stepping.error_controlled = error_controlled;
        const Vector initial(grid.n_nodes(), 1e160);
        Stepper      stepper(grid, options);
        stepper.start(initial.data());
        EXPECT_EQ(stepper.advance(1., 10, 0.), error_controlled ? StopReason::step_underflow : StopReason::blow_up);
        EXPECT_EQ(stepper.step_number(), 0);
      }
  }

  TEST(Controller, ABoundOfNoNumberIsNone)
  {
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (const int order : {1, 2, 3})
      for (const double rate : {nan, infinity})
        EXPECT_EQ((SchemeStep{Scheme::bdf3, order, 1e-3, {1e-3, 1e-3, 1e-3}}.asynchronous_bound(rate)), 0.);
  }

  /**
   * The sweeps and corrections of a step whose residual r becomes contraction^sweeps r + bend r^2: what sweeps and what
   * Newton's method leave.
   */
  std::pair<int, int> work_of_a_step(double contraction, double bend)
  {
    Controller c;
    c.options.error_controlled = false;
    c.options.step_size        = 1e-3;
    c.next_step                = 1e-3;
    c.rate_bound               = 4000.; // so that sweeps may contract by 0.8 only
    c.n_unknowns               = 1.;
    c.n_levels                 = 1;
    c.last_step                = 1;
    c.stop_time                = 1.;
    Sums sums;
    sums.residual = sums.squares = sums.history = 1.;
    EXPECT_EQ(c.start(), Action::predict);
    for (Action action = c.next(sums); action == Action::correct; action = c.next(sums))
      {
        const double r = std::sqrt(sums.residual);
        sums.residual  = std::pow(std::pow(contraction, c.n_sweeps) * r + bend * r * r, 2);
      }
    EXPECT_EQ(c.stop_reason, StopReason::step_limit);
    return {c.figures.sweeps, c.figures.newton_steps};
  }

  TEST(Controller, WhatNewtonsMethodLeavesIsNoReasonForMoreSweeps)
  {
    const auto [sweeps, corrections] = work_of_a_step(0.8, 0.03);
    EXPECT_LE(sweeps, 120) << "once 1078";
    EXPECT_LE(corrections, 4);
  }

  TEST(Controller, SweepsThatContractLessThanTheyShouldBecomeMore)
  {
    const auto [sweeps, corrections] = work_of_a_step(0.97, 0.03);
    EXPECT_LE(corrections, 8);
    EXPECT_LE(sweeps, 1200);
    EXPECT_LE(work_of_a_step(0.1, 0.).first, 60);
  }

  TEST(ReactionDiffusionStepsInput, BadInputIsNamed)
  {
    const auto message = [](double fraction, bool error_controlled, Scheme scheme) -> std::string {
      StepperOptions options            = fixed_steps(Backend::host, scheme, 1e-3);
      options.stepping.bound_fraction   = fraction;
      options.stepping.error_controlled = error_controlled;
      try
        {
          options.validate();
        }
      catch (const InvalidInput &e)
        {
          return e.what();
        }
      return "";
    };
    EXPECT_EQ(message(0.9, false, Scheme::bdf2), "");
    EXPECT_NE(message(1.1, false, Scheme::bdf2).find("1.1"), std::string::npos);
    EXPECT_NE(message(-0.5, false, Scheme::bdf2).find("-0.5"), std::string::npos);
    EXPECT_NE(message(0.9, true, Scheme::bdf2).find("one of both"), std::string::npos);
    EXPECT_NE(message(0.9, false, Scheme::imex_bdf2).find("explicit reaction"), std::string::npos);
  }
} // namespace leopard::reaction_diffusion
