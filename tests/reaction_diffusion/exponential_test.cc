// SPDX-License-Identifier: Apache-2.0
// Exponential steps: the scheme ETDRK4 on all backends.
#include "reaction_diffusion_test.h"

#include <applications/reaction_diffusion/rules/phi_functions.h>
#include <solvers/base/errors.h>

#include <algorithm>
#include <limits>

namespace leopard::reaction_diffusion
{
  class ExponentialSteps : public BackendTest
  {
  };

  namespace
  {
    /** f = A u, A by rows. */
    ExpressionTape linear_rates(const std::vector<double> &A, std::uint16_t n)
    {
      TapeWriter w(n, A);
      for (std::uint16_t c = 0; c < n; ++c)
        {
          std::uint16_t sum = w.times(w.constant(c * n), 0);
          for (std::uint16_t d = 1; d < n; ++d)
            sum = w.add(sum, w.times(w.constant(c * n + d), d));
          w.tape.outputs.push_back(sum);
        }
      for (std::uint16_t e = 0; e < n * n; ++e)
        w.tape.outputs.push_back(w.constant(e));
      return w.tape;
    }

    /** u^2 of one species. */
    ExpressionTape square()
    {
      TapeWriter w(1, {2.});
      w.tape.outputs.push_back(w.times(0, 0));
      w.tape.outputs.push_back(w.times(w.constant(0), 0));
      return w.tape;
    }

    Vector solved(const NodeGrid &grid, const StepperOptions &options, const Vector &initial, double time, Totals *totals = nullptr)
    {
      Stepper stepper(grid, options);
      stepper.start(initial.data());
      const double slack = options.stepping.error_controlled ? 1e-12 * time : 0.5 * options.stepping.step_size;
      EXPECT_EQ(stepper.advance(time, 100000, slack), StopReason::time_reached);
      if (totals != nullptr)
        *totals = stepper.totals();
      Vector u(initial.size());
      stepper.solution(u.data());
      return u;
    }

    /** Smooth, and with zero flux through the boundary, so that steps have their full order from the first one on. */
    Vector low_modes(const NodeGrid &grid)
    {
      const long n = grid.n_nodes();
      Vector     u(2 * n);
      for (long i = 0; i < n; ++i)
        {
          const double x = M_PI * static_cast<double>(i % grid.n[0]) / (grid.n[0] - 1),
                       y = M_PI * static_cast<double>(i / grid.n[0]) / (grid.n[1] - 1);
          u[i]           = 0.92 + 0.3 * std::cos(x) * std::cos(2. * y);
          u[n + i]       = 0.94 - 0.3 * std::cos(2. * x) * std::cos(y);
        }
      return u;
    }

    INSTANTIATE_TEST_SUITE_P(Backends, ExponentialSteps, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
  } // namespace

  /** Also with another step size, a coupling that is not symmetric, and on anisotropic grids. */
  TEST_P(ExponentialSteps, LinearReactionsAreExact)
  {
    const std::vector<double> A = {-1., 3., -2., 0.5};
    for (const NodeGrid &grid : {box_grid(17, 12, 1), box_grid(6, 9, 5)})
      {
        StepperOptions options = fixed_steps(GetParam(), Scheme::etdrk4, 0.01);
        options.kinetics       = {"expressions", {}, 4., linear_rates(A, 2)};
        options.diffusion      = {0.3, 1.};
        const long n           = grid.n_nodes();
        // one mode, cos(pi x) cos(2 pi y / 1.3): its 2 x 2 system, solved by the exponential function
        const double        hx = grid.spacing[0], hy = grid.spacing[1];
        const double        sx = 2. * std::sin(0.5 * M_PI * hx) / hx, sy = 2. * std::sin(M_PI * hy / 1.3) / hy, lambda = sx * sx + sy * sy, t = 0.05;
        const double        z[4]      = {t * (4. * A[0] - 0.3 * lambda), t * 4. * A[1], t * 4. * A[2], t * (4. * A[3] - lambda)};
        const auto          functions = PhiFunctions<2>::at(z);
        const double *const exp       = functions.of[0];
        Vector              initial(2 * n), exact(2 * n);
        for (long i = 0; i < n; ++i)
          {
            const double x = static_cast<double>(i % grid.n[0]) * hx, y = static_cast<double>(i / grid.n[0] % grid.n[1]) * hy;
            const double mode = std::cos(M_PI * x) * std::cos(2. * M_PI * y / 1.3);
            initial[i]        = mode;
            initial[n + i]    = -0.5 * mode;
            exact[i]          = (exp[0] - 0.5 * exp[1]) * mode;
            exact[n + i]      = (exp[2] - 0.5 * exp[3]) * mode;
          }
        EXPECT_LT(largest_difference(solved(grid, options, initial, t), exact), 1e-12) << "five steps";
        options.stepping.step_size = t;
        EXPECT_LT(largest_difference(solved(grid, options, initial, t), exact), 1e-12) << "one step";
      }
  }

  /** With steps of one size, of which the Jacobian is taken anew now and then. */
  TEST_P(ExponentialSteps, HaveOrderFour)
  {
    const NodeGrid grid    = box_grid(21, 16, 1);
    const Vector   initial = low_modes(grid);
    StepperOptions options = fixed_steps(GetParam(), Scheme::etdrk4, 0.);
    const auto     with    = [&](int n_steps) {
      options.stepping.step_size = 0.04 / n_steps;
      return solved(grid, options, initial, 0.04);
    };
    const Vector exact  = with(512);
    const double coarse = largest_difference(with(16), exact), fine = largest_difference(with(32), exact),
                 finest = largest_difference(with(64), exact);
    EXPECT_NEAR(std::log2(coarse / fine), 4., 0.4);
    EXPECT_NEAR(std::log2(fine / finest), 4., 0.4);
    EXPECT_LT(finest, 1e-7);
    // and it is the solution that another scheme finds
    StepperOptions other            = fixed_steps(Backend::reference, Scheme::bdf3, 1e-6);
    other.stepping.error_controlled = true;
    other.stepping.error_tolerance  = 1e-9;
    EXPECT_LT(largest_difference(solved(grid, other, initial, 0.04), exact), 1e-6);
  }

  TEST_P(ExponentialSteps, AreThoseOfTheReference)
  {
    for (const NodeGrid &grid :
         {box_grid(14, 23, 1), box_grid(6, 5, 9), box_grid(14, 23, 1, {false, true, false}), box_grid(9, 6, 5, {true, false, true})})
      for (const std::uint16_t n_species : {1, 2, 3, 5})
        for (const bool error_controlled : {false, true})
          {
            StepperOptions options            = fixed_steps(GetParam(), Scheme::etdrk4, 1e-3);
            options.kinetics                  = {"expressions", {}, 20., logistic(n_species)};
            options.stepping.error_controlled = error_controlled;
            options.stepping.error_tolerance  = 1e-5;
            const long n                      = grid.n_nodes();
            Vector     initial(n_species * n);
            options.diffusion.clear();
            for (int c = 0; c < n_species; ++c)
              {
                options.diffusion.push_back(0.1 + c);
                for (long i = 0; i < n; ++i)
                  initial[c * n + i] = 0.2 + 0.1 * c + 0.1 * std::sin(0.7 * static_cast<double>(i * (c + 2)));
              }
            Totals       here, there;
            const Vector u    = solved(grid, options, initial, 0.03, &here);
            options.backend   = Backend::reference;
            const Vector same = solved(grid, options, initial, 0.03, &there);
            EXPECT_LT(largest_difference(u, same), error_controlled ? 1e-7 : 1e-11) << n_species << " species";
            EXPECT_EQ(here.steps, there.steps);
            EXPECT_EQ(here.rejected.total(), there.rejected.total());
          }
  }

  TEST_P(ExponentialSteps, ErrorsFollowTheTolerance)
  {
    const NodeGrid grid               = box_grid(21, 16, 1);
    const Vector   initial            = low_modes(grid);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::etdrk4, 1e-5);
    options.stepping.error_controlled = true;
    const auto with                   = [&](double tolerance, Totals &totals) {
      options.stepping.error_tolerance = tolerance;
      return solved(grid, options, initial, 0.1, &totals);
    };
    Totals       exactly, loosely, well, very_well;
    const Vector exact  = with(1e-11, exactly);
    double       before = 1.;
    for (const double tolerance : {1e-3, 1e-5, 1e-7})
      {
        Totals       totals;
        const double error = largest_difference(with(tolerance, totals), exact);
        EXPECT_LT(error, 10. * tolerance);
        EXPECT_LE(error, before);
        before = error;
        EXPECT_EQ(totals.newton_steps + totals.sweeps + totals.cycles, 0);
      }
    EXPECT_LT(before, 1e-6);
    with(1e-4, loosely);
    with(1e-6, well);
    with(1e-8, very_well);
    EXPECT_LT(loosely.steps, well.steps);
    EXPECT_LT(well.steps, very_well.steps);
    // the estimated error goes with the fourth power of a step: a thousandth needs 5.6 times as many steps, but for
    // those that grow from the first one
    EXPECT_LT(exactly.steps, 10. * static_cast<double>(very_well.steps));
    EXPECT_GT(exactly.steps, 3. * static_cast<double>(very_well.steps));
  }

  /** Without a solution before it, too. */
  TEST_P(ExponentialSteps, TheFirstStepHasAnEstimate)
  {
    const NodeGrid grid               = box_grid(21, 16, 1);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::etdrk4, 5e-3);
    options.stepping.error_controlled = true;
    options.stepping.error_tolerance  = 1e-9;
    const Vector initial              = low_modes(grid);
    Stepper      stepper(grid, options);
    stepper.start(initial.data());
    EXPECT_EQ(stepper.advance(1., 1, 0.), StopReason::step_limit);
    EXPECT_GT(stepper.last_step().rejected.error, 0);
    EXPECT_LT(stepper.last_step().step_size, 2.5e-3);
  }

  /** A homogeneous steady state is one of the steps, however long they are. */
  TEST_P(ExponentialSteps, KeepSteadyStates)
  {
    const NodeGrid grid    = box_grid(12, 9, 1);
    const long     n       = grid.n_nodes();
    StepperOptions options = fixed_steps(GetParam(), Scheme::etdrk4, 10.);
    options.kinetics.gamma = 5.; // no pattern fits in
    const double u = 0.126779 + 0.792366, v = 0.792366 / (u * u);
    Vector       initial(2 * n, u);
    std::fill(initial.begin() + n, initial.end(), v);
    EXPECT_LT(largest_difference(solved(grid, options, initial, 100.), initial), 1e-12);
    options.stepping.error_controlled = true;
    options.stepping.step_size        = 1e-3;
    Totals totals;
    EXPECT_LT(largest_difference(solved(grid, options, initial, 100., &totals), initial), 1e-12);
    EXPECT_LT(totals.steps, 60) << "steps grow where nothing happens";
  }

  /** u' = u^2 from 1: infinite at t = 1. The last good solution is kept. */
  TEST_P(ExponentialSteps, StopBeforeABlowUp)
  {
    const NodeGrid grid               = box_grid(8, 7, 1);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::etdrk4, 1e-3);
    options.kinetics                  = {"expressions", {}, 1., square()};
    options.diffusion                 = {1.};
    options.stepping.error_controlled = true;
    options.stepping.smallest_step    = 1e-9;
    Vector  u(grid.n_nodes(), 1.);
    Stepper stepper(grid, options);
    stepper.start(u.data());
    EXPECT_EQ(stepper.advance(2., 100000, 0.), StopReason::step_underflow);
    EXPECT_NEAR(stepper.time(), 1., 1e-3);
    stepper.solution(u.data());
    EXPECT_GT(u[3], 1e3);
    EXPECT_TRUE(std::isfinite(u[3]));

    options.stepping.error_controlled = false;
    options.stepping.step_size        = 0.4;
    Stepper fixed(grid, options);
    std::fill(u.begin(), u.end(), 1e200);
    fixed.start(u.data());
    EXPECT_EQ(fixed.advance(2., 100, 0.), StopReason::blow_up);
    EXPECT_EQ(fixed.step_number(), 0);
  }

  /** What a failed step leaves behind does not reach the run after it. */
  TEST_P(ExponentialSteps, BeginAnewAfterABlowUp)
  {
    const NodeGrid grid    = box_grid(9, 7, 1);
    StepperOptions options = fixed_steps(GetParam(), Scheme::etdrk4, 1e-3);
    const Vector   initial = low_modes(grid), expected = solved(grid, options, initial, 0.01);
    Stepper        stepper(grid, options);
    const Vector   huge(initial.size(), 1e200);
    stepper.start(huge.data());
    EXPECT_EQ(stepper.advance(1., 100, 0.), StopReason::blow_up);
    stepper.start(initial.data());
    EXPECT_EQ(stepper.advance(0.01, 100, 5e-4), StopReason::time_reached);
    Vector u(initial.size());
    stepper.solution(u.data());
    EXPECT_LT(largest_difference(u, expected), 1e-13);
  }

  TEST_P(ExponentialSteps, GoOnAfterResume)
  {
    const NodeGrid grid               = box_grid(21, 16, 1);
    const Vector   initial            = low_modes(grid);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::etdrk4, 1e-5);
    options.stepping.error_controlled = true;
    options.stepping.error_tolerance  = 1e-6;
    Stepper stepper(grid, options);
    stepper.start(initial.data());
    EXPECT_EQ(stepper.advance(0.05, 10, 0.), StopReason::step_limit);
    const Stepper::State state = stepper.state();
    ASSERT_EQ(state.step_sizes.size(), 1u);
    std::vector<Vector> solutions(2, Vector(initial.size()));
    for (int l = 0; l < 2; ++l)
      stepper.solution(solutions[l].data(), l);
    EXPECT_EQ(stepper.advance(0.05, 100000, 0.), StopReason::time_reached);
    Stepper again(grid, options);
    again.resume(state, solutions);
    EXPECT_EQ(again.advance(0.05, 100000, 0.), StopReason::time_reached);
    Vector u(initial.size()), other(initial.size());
    stepper.solution(u.data());
    again.solution(other.data());
    EXPECT_LT(largest_difference(u, other), 1e-5) << "the Jacobian may have been taken elsewhere";
    EXPECT_GT(largest_difference(u, initial), 1e-2);
    // and another run of the same object knows nothing of the first one
    again.start(initial.data());
    EXPECT_EQ(again.advance(0.05, 100000, 0.), StopReason::time_reached);
    again.solution(other.data());
    EXPECT_LT(largest_difference(u, other), 1e-5);
  }

  /** A wave that leaves on one side comes in on the other: shifted initial values give shifted fields. */
  TEST_P(ExponentialSteps, PeriodicGridsHaveNoPlaceOfTheirOwn)
  {
    const NodeGrid grid = box_grid(16, 9, 1, {true, false, false});
    const long     n = grid.n_nodes(), shift = 5;
    Vector         initial(2 * n), shifted(2 * n);
    for (long i = 0; i < 2 * n; ++i)
      initial[i] = 0.9 + 0.1 * std::sin(0.8 * static_cast<double>(i));
    for (long i = 0; i < 2 * n; ++i)
      shifted[i / 16 * 16 + (i % 16 + shift) % 16] = initial[i];
    StepperOptions options = fixed_steps(GetParam(), Scheme::etdrk4, 1e-3);
    const Vector   u = solved(grid, options, initial, 0.02), v = solved(grid, options, shifted, 0.02);
    Vector         back(2 * n); // v in the places of u
    for (long i = 0; i < 2 * n; ++i)
      back[i] = v[i / 16 * 16 + (i % 16 + shift) % 16];
    EXPECT_LT(largest_difference(u, back), 1e-11);
    EXPECT_GT(largest_difference(u, initial), 1e-2);
  }

  TEST(ExponentialStepsOptions, WhatTheyCannotDoIsRefused)
  {
    const NodeGrid grid    = box_grid(8, 7, 1);
    StepperOptions options = fixed_steps(Backend::host, Scheme::etdrk4, 1e-3);
    EXPECT_THROW(Stepper(laplacian_of(grid), options), InvalidInput);
    options.growth.law = GrowthLaw::linear;
    EXPECT_THROW(Stepper(grid, options), InvalidInput);
    options.growth.law              = GrowthLaw::none;
    options.stepping.bound_fraction = 0.9;
    EXPECT_THROW(Stepper(grid, options), InvalidInput);
    options.stepping.bound_fraction = 0.;
    EXPECT_NO_THROW(Stepper(grid, options));
    EXPECT_THROW(Stepper(box_grid(2, 7, 1, {true, false, false}), options), InvalidInput);
    options.backend = Backend::reference;
    EXPECT_THROW(Stepper(box_grid(60, 60, 1), options), InvalidInput) << "too many nodes for dense matrices";
  }

  /** A prediction is the whole step: accepted or rejected by its error and whether it is finite. */
  TEST(ExponentialController, HasNoCorrections)
  {
    Controller c;
    c.options.scheme           = Scheme::etdrk4;
    c.options.error_controlled = true;
    c.options.error_tolerance  = 1e-3;
    c.options.step_size        = 0.1;
    c.n_unknowns               = 4.;
    c.stop_time                = 1e6;
    c.last_step                = 1000000;
    c.resume({0, 0., 0.1, {}});
    const auto with_error = [](double error) {
      Sums sums;
      sums.squares = 1.;
      sums.history = 4. * error * error; // of four unknowns
      sums.largest = error * error;
      return sums;
    };
    EXPECT_EQ(c.start(), Action::predict);
    EXPECT_EQ(c.slot(-1), 1);
    EXPECT_EQ(c.next(with_error(5e-4)), Action::predict);
    EXPECT_EQ(c.step, 1);
    EXPECT_EQ(c.figures.order, 4);
    EXPECT_NEAR(c.figures.error_estimate, 0.5, 1e-12);
    EXPECT_EQ(c.figures.newton_steps, 0);
    EXPECT_EQ(c.newest, 1);
    EXPECT_EQ(c.slot(-1), 2);
    const double step = c.step_size;
    EXPECT_EQ(c.next(with_error(16e-3)), Action::predict);
    EXPECT_EQ(c.step, 1);
    EXPECT_EQ(c.rejected.error, 1);
    EXPECT_NEAR(c.step_size / step, 0.85 / 2., 1e-9) << "the estimate goes with the fourth power";
    Sums bad    = with_error(0.);
    bad.squares = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(c.next(bad), Action::predict);
    EXPECT_EQ(c.rejected.not_finite, 1);
    bad         = with_error(0.);
    bad.history = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(c.next(bad), Action::predict);
    EXPECT_EQ(c.rejected.not_finite, 2);
    c.next(with_error(0.));
    EXPECT_EQ(c.step, 2);
    EXPECT_EQ(c.newest, 2);
    EXPECT_EQ(c.slot(-1), 0) << "three slots";
  }
} // namespace leopard::reaction_diffusion
