// SPDX-License-Identifier: Apache-2.0
// The time loop of reaction-diffusion systems: equations, orders, step control, backends against the direct solver.
#include "reaction_diffusion_test.h"

#include <applications/reaction_diffusion/rules/node_system.h>
#include <solvers/base/errors.h>

#include <array>
#include <limits>
#include <numeric>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /** Masses of the nodes, products of whole and half cells. */
    Vector masses(const NodeGrid &grid)
    {
      Vector m(grid.n_nodes(), 1.);
      for (long i = 0; i < grid.n_nodes(); ++i)
        {
          long rest = i;
          for (int d = 0; d < 3; ++d)
            {
              const long k = rest % grid.n[d];
              rest /= grid.n[d];
              if (grid.n[d] > 1)
                m[i] *= (k == 0 || k == grid.n[d] - 1 ? 0.5 : 1.) * grid.spacing[d];
            }
        }
      return m;
    }

    double sum_of_products(const double *a, const Vector &b)
    {
      return std::inner_product(b.begin(), b.end(), a, 0.);
    }

    const std::array<KineticsChoice, 5> all_kinetics = {{{"Schnakenberg", {0.126779, 0.792366}, 30.},
                                                         {"Gierer-Meinhardt", {0.1, 1., 0.05}, 20.},
                                                         {"Brusselator", {2., 3.}, 5.},
                                                         {"Gray-Scott", {0.035, 0.06}, 40.},
                                                         {"FitzHugh-Nagumo", {0.1, 1., 0.5}, 10.}}};
  } // namespace

  TEST(ReactionDiffusionKinetics, DerivativesAreThoseOfTheRates)
  {
    for (const KineticsChoice &choice : all_kinetics)
      with_two_species(choice, [&](const auto &kinetics) {
        for (const double u0 : {0.3, 1.1})
          for (const double v0 : {0.4, 1.7})
            {
              double       r[2], j[4], plus[2], minus[2], unused[4];
              const double u[2] = {u0, v0}, e = 1e-6;
              kinetics.evaluate(u, {}, r, j);
              for (int d = 0; d < 2; ++d)
                {
                  double a[2] = {u0, v0}, b[2] = {u0, v0};
                  a[d] += e;
                  b[d] -= e;
                  kinetics.evaluate(a, {}, plus, unused);
                  kinetics.evaluate(b, {}, minus, unused);
                  for (int c = 0; c < 2; ++c)
                    EXPECT_NEAR(j[c * 2 + d], (plus[c] - minus[c]) / (2. * e), 1e-8 * (1. + std::abs(j[c * 2 + d]))) << choice.name;
                }
            }
      });
  }

  TEST(ReactionDiffusionNode, BlocksOfTheJacobianAreTheDerivativesOfTheResidual)
  {
    StepperOptions options;
    const auto     system = make_node_system(Schnakenberg{0.126779, 0.792366}, options);
    Controller     controller;
    controller.implicit   = 3e-4;
    controller.history[0] = 1.;
    const NodeSystem<Schnakenberg>::Scheme scheme(controller);
    const double                           old[2] = {0.8, 1.1}, diagonal = 4e3;
    const auto                             residual = [&](const double *u, double *block, double *g) {
      const double        laplace[2] = {5. - diagonal * u[0], 7. - diagonal * u[1]};
      Sums                sums;
      const double *const levels[max_levels] = {old, old, old, old};
      system.residual(scheme, u, levels, laplace, NodeRow{diagonal, 1.}, g, block, sums);
    };
    const double u[2] = {0.9, 1.2}, e = 1e-6;
    double       block[4], unused[4], g[2];
    residual(u, block, g);
    for (int d = 0; d < 2; ++d)
      {
        double a[2] = {u[0], u[1]}, b[2] = {u[0], u[1]}, plus[2], minus[2];
        a[d] += e;
        b[d] -= e;
        residual(a, unused, plus);
        residual(b, unused, minus);
        for (int c = 0; c < 2; ++c)
          EXPECT_NEAR(block[c * 2 + d], (plus[c] - minus[c]) / (2. * e), 1e-8);
      }
    double m[4];
    system.inverse(block, m);
    EXPECT_NEAR(m[0] * block[0] + m[1] * block[2], 1., 1e-14);
    EXPECT_NEAR(m[0] * block[1] + m[1] * block[3], 0., 1e-14);
    EXPECT_NEAR(m[2] * block[1] + m[3] * block[3], 1., 1e-14);
  }

  TEST(ReactionDiffusionGrid, TransfersKeepConstantsAndIntegralsOnAnyNumberOfNodes)
  {
    for (const int n : {5, 8, 9, 100, 129})
      {
        const auto levels = make_levels(unit_grid(n, 2));
        EXPECT_LE(levels.back().n[0], 3);
        for (std::size_t l = 0; l + 1 < levels.size(); ++l)
          {
            const Axis &fine = levels[l].axis[0], &coarse = levels[l + 1].axis[0];
            double      integral = 0.;
            for (std::size_t j = 0; j < coarse.weight.size(); ++j)
              {
                EXPECT_NEAR(fine.restriction[3 * j] + fine.restriction[3 * j + 1] + fine.restriction[3 * j + 2], 1., 1e-13) << n;
                for (int k = 0; k < 3; ++k)
                  if (fine.restriction[3 * j + k] != 0.) // of the function x^2 of the fine nodes' numbers
                    integral += coarse.weight[j] * fine.restriction[3 * j + k] * std::pow(fine.fine_node[j] + k - 1, 2.);
              }
            double expected = 0.;
            for (std::size_t i = 0; i < fine.weight.size(); ++i)
              expected += fine.weight[i] * std::pow(static_cast<double>(i), 2.);
            EXPECT_NEAR(integral, expected, 1e-10 * expected) << n;
          }
      }
  }

  class ReactionDiffusion : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusion, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

  TEST_P(ReactionDiffusion, StepsAreThoseOfTheDirectSolver)
  {
    for (const int dim : {2, 3})
      for (const Scheme scheme : multistep_schemes())
        for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
          {
            NodeGrid grid                    = dim == 2 ? unit_grid(23, 2) : unit_grid(9, 3);
            grid.n[1]                        = dim == 2 ? 18 : 6; // no square
            const double   dt                = 0.5 * grid.spacing[0] * grid.spacing[0];
            StepperOptions options           = fixed_steps(GetParam(), scheme, dt);
            options.stepping.linear_method   = method;
            StepperOptions oracle            = fixed_steps(Backend::reference, scheme, dt);
            oracle.stepping.newton_tolerance = 0.;
            oracle.stepping.newton_floor     = 1e-14;
            const Vector u                   = smooth_fields(grid);
            const Vector exact               = solution_at(grid, oracle, u, 10. * dt);
            EXPECT_LT(largest_difference(solution_at(grid, options, u, 10. * dt), exact), 1e-9)
              << dim << "D, scheme " << static_cast<int>(scheme) << ", method " << static_cast<int>(method);
            options.persistent = false; // cuda: a graph of kernels
            if (GetParam() == Backend::cuda)
              {
                EXPECT_LT(largest_difference(solution_at(grid, options, u, 10. * dt), exact), 1e-9) << "graph";
              }
          }
  }

  /**
   * The stronger the reaction, the fewer grids: with the strongest one the cycles are done on the finest grid alone.
   */
  TEST_P(ReactionDiffusion, AnyNumberOfGridsSolvesAsTheDirectSolver)
  {
    for (const int dim : {2, 3})
      for (const double gamma : {1., 50., 200., 1000.})
        {
          NodeGrid grid          = dim == 2 ? unit_grid(17, 2) : unit_grid(10, 3);
          grid.n[1]              = dim == 2 ? 30 : 7;
          const Vector   u       = smooth_fields(grid);
          StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-3), oracle = fixed_steps(Backend::reference, Scheme::bdf2, 1e-3);
          options.kinetics.gamma = oracle.kinetics.gamma = gamma;
          options.stepping.linear_method                 = LinearMethod::multigrid;
          EXPECT_LT(largest_difference(solution_at(grid, options, u, 5e-3), solution_at(grid, oracle, u, 5e-3)), 1e-8)
            << dim << "D, gamma = " << gamma;
        }
  }

  /** Error-controlled steps grow beyond what sweeps can solve, and go on. */
  TEST_P(ReactionDiffusion, LongStepsAreSolvedByMultigrid)
  {
    if (GetParam() == Backend::reference)
      GTEST_SKIP() << "solves directly";
    const NodeGrid grid               = unit_grid(65, 2);
    StepperOptions options            = fixed_steps(GetParam(), Scheme::bdf2, 1e-5);
    options.stepping.error_controlled = true;
    options.stepping.error_tolerance  = 1e-3;
    options.stepping.newton_tolerance = 1e-6;
    Stepper stepper(grid, options);
    stepper.start(smooth_fields(grid).data());
    EXPECT_EQ(stepper.advance(1., 100000, 0.), StopReason::time_reached);
    EXPECT_GT(stepper.totals().multigrid_steps, 10);
    EXPECT_LT(stepper.totals().multigrid_steps, stepper.totals().steps) << "the first steps are short";
    EXPECT_LT(stepper.totals().steps, 300);
    EXPECT_LE(stepper.totals().worst_reduction, 1.);
    EXPECT_LT(stepper.totals().cycles, 15 * stepper.totals().multigrid_steps);
  }

  TEST_P(ReactionDiffusion, EveryKineticsStepsAsTheDirectSolver)
  {
    for (const KineticsChoice &choice : all_kinetics)
      {
        const NodeGrid grid    = unit_grid(16, 2);
        StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 2e-4), oracle = fixed_steps(Backend::reference, Scheme::bdf2, 2e-4);
        options.kinetics = oracle.kinetics = choice;
        const Vector u                     = smooth_fields(grid);
        EXPECT_LT(largest_difference(solution_at(grid, options, u, 4e-3), solution_at(grid, oracle, u, 4e-3)), 1e-9) << choice.name;
      }
  }

  TEST_P(ReactionDiffusion, OrdersInTime)
  {
    const NodeGrid grid    = unit_grid(12, 2);
    const Vector   initial = smooth_fields(grid);
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
      {
        // the reference has 16 times as many steps of the same scheme as the finer of the two
        const auto   at     = [&](int steps) { return solution_at(grid, fixed_steps(GetParam(), scheme, 0.02 / steps), initial, 0.02); };
        const Vector exact  = at(80 * 16);
        const double coarse = largest_difference(at(40), exact), fine = largest_difference(at(80), exact);
        EXPECT_NEAR(std::log2(coarse / fine), order_of(scheme), 0.2) << "scheme " << static_cast<int>(scheme);
      }
  }

  /** Without the first steps, which are of lower order, and the time in which fast modes decay. */
  TEST_P(ReactionDiffusion, OrderOfBdf3InTime)
  {
    const NodeGrid grid  = unit_grid(12, 2);
    const double   end   = 0.02;
    constexpr int  most  = 80 * 64;
    const Vector   start = solution_at(grid, fixed_steps(Backend::host, Scheme::bdf2, end / 2000), smooth_fields(grid), end);
    const auto     exact = [&](int n) {
      return n == 0 ? start : solution_at(grid, fixed_steps(Backend::host, Scheme::bdf2, end / most), start, end / most * n);
    };
    const auto error = [&](int steps) {
      const StepperOptions options = fixed_steps(GetParam(), Scheme::bdf3, end / steps);
      return largest_difference(solution_of_full_order(
                                  grid, options, [&](int step) { return exact(most / steps * step); }, end),
                                exact(most));
    };
    EXPECT_NEAR(std::log2(error(40) / error(80)), 3., 0.2);
  }

  /** Steps that the error controls: those of BDF3 are fewer, the more the smaller the tolerance is, and no worse. */
  TEST_P(ReactionDiffusion, Bdf3NeedsFewerSteps)
  {
    const NodeGrid grid    = unit_grid(17, 2);
    const Vector   initial = smooth_fields(grid);
    const auto     run     = [&](Scheme scheme, double tolerance, Totals &totals) {
      StepperOptions options            = fixed_steps(GetParam(), scheme, 1e-6);
      options.stepping.error_controlled = true;
      options.stepping.error_tolerance  = tolerance;
      return solution_at(grid, options, initial, 0.05, &totals);
    };
    Totals       totals, second, third, third_finer;
    const Vector exact     = run(Scheme::bdf2, 1e-9, totals);
    const double of_second = largest_difference(run(Scheme::bdf2, 1e-6, second), exact);
    const double of_third  = largest_difference(run(Scheme::bdf3, 1e-6, third), exact);
    const double of_finer  = largest_difference(run(Scheme::bdf3, 1e-7, third_finer), exact);
    EXPECT_LT(of_third, of_second);
    EXPECT_LT(of_finer, 0.4 * of_third) << "a tenth to the power 3/4 would be 0.18";
    EXPECT_LT(3 * third.steps, 2 * second.steps);
    EXPECT_LT(third_finer.steps, 2.3 * static_cast<double>(third.steps)) << "ten to the power 1/4 is 1.8";
  }

  /** A hundredth of the error that a step may have is not seen in the result, but in what it takes. */
  TEST_P(ReactionDiffusion, NewtonsMethodIsAsExactAsTheStep)
  {
    const NodeGrid grid    = unit_grid(33, 2);
    const Vector   initial = smooth_fields(grid);
    const auto     run     = [&](double tolerance, double fraction, Totals &totals) {
      StepperOptions options                 = fixed_steps(GetParam(), Scheme::bdf2, 1e-5);
      options.stepping.error_controlled      = true;
      options.stepping.error_tolerance       = tolerance;
      options.stepping.newton_tolerance      = 1e-8;
      options.stepping.newton_error_fraction = fraction;
      return solution_at(grid, options, initial, 0.05, &totals);
    };
    for (const double tolerance : {1e-3, 1e-5})
      {
        Totals       totals, exact_steps, steps;
        const Vector exact    = run(0.001 * tolerance, 0., totals);
        const double of_exact = largest_difference(run(tolerance, 0., exact_steps), exact),
                     error    = largest_difference(run(tolerance, 0.01, steps), exact);
        EXPECT_LT(error, 1.1 * of_exact);
        EXPECT_NEAR(static_cast<double>(steps.steps), static_cast<double>(exact_steps.steps), 2.);
        EXPECT_LE(steps.newton_steps, exact_steps.newton_steps);
        if (GetParam() != Backend::reference)
          {
            EXPECT_LT(1.4 * static_cast<double>(steps.sweeps + 10 * steps.cycles), static_cast<double>(exact_steps.sweeps + 10 * exact_steps.cycles));
          }
      }
  }

  /** A disturbance of a thousandth of what Newton's method may leave grows as it should. */
  TEST_P(ReactionDiffusion, SmallDisturbancesAreFollowed)
  {
    const NodeGrid grid      = unit_grid(33, 2);
    const double   steady[2] = {0.919145, 0.792366 / (0.919145 * 0.919145)};
    Vector         initial   = smooth_fields(grid, 1e-8);
    for (long i = 0; i < grid.n_nodes(); ++i)
      {
        initial[i] += steady[0] - 0.92;
        initial[grid.n_nodes() + i] += steady[1] - 0.94;
      }
    const auto disturbance = [&](double fraction) {
      StepperOptions options                 = fixed_steps(GetParam(), Scheme::bdf2, 1e-6);
      options.kinetics.gamma                 = 1000.;
      options.stepping.error_controlled      = true;
      options.stepping.error_tolerance       = 1e-3;
      options.stepping.linear_method         = LinearMethod::sweeps; // two of which leave much
      options.stepping.largest_step          = 2e-4;
      options.stepping.newton_tolerance      = 1e-8;
      options.stepping.newton_floor          = 0.;
      options.stepping.newton_error_fraction = fraction;
      Vector u                               = solution_at(grid, options, initial, 0.02);
      for (long i = 0; i < 2 * grid.n_nodes(); ++i)
        u[i] -= steady[i / grid.n_nodes()];
      return u;
    };
    const Vector exact = disturbance(0.), found = disturbance(0.01);
    const double size = largest_difference(exact, Vector(exact.size(), 0.));
    EXPECT_LT(size, 1e-5) << "it is small yet";
    EXPECT_LT(largest_difference(found, exact), 0.05 * size);
  }

  /**
   * What is homogeneous stays so, up to what each step may leave, through many steps in one call: parts of a grid that
   * compute the nodes between them twice must find the same.
   */
  TEST_P(ReactionDiffusion, ManyStepsKeepWhatIsHomogeneous)
  {
    const NodeGrid grid    = unit_grid(33, 2);
    const long     n       = grid.n_nodes();
    StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-6);
    options.kinetics.gamma = 100.; // what is not homogeneous decays
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
      for (const double size : {1e-5, 2e-4})
        {
          Vector u(2 * n, 0.85);
          std::fill(u.begin() + n, u.end(), 0.97);
          options.stepping.scheme       = scheme;
          options.stepping.step_size    = size;
          options.stepping.newton_floor = 1e-12;
          Stepper stepper(grid, options);
          stepper.start(u.data());
          EXPECT_EQ(stepper.advance(1000., GetParam() == Backend::reference ? 100 : 600, 0.), StopReason::step_limit);
          stepper.solution(u.data());
          for (int c = 0; c < 2; ++c)
            {
              const auto range = std::minmax_element(u.begin() + c * n, u.begin() + (c + 1) * n);
              EXPECT_LT(*range.second - *range.first, 6e-10) << "scheme " << static_cast<int>(scheme) << ", " << size;
            }
        }
  }

  TEST_P(ReactionDiffusion, OrderInSpace)
  {
    // the reaction of decaying modes is linear here: FitzHugh-Nagumo around zero, so the exact solution is known
    const auto error = [&](int n) {
      const NodeGrid grid    = unit_grid(n, 2);
      StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-3 / 64.);
      options.kinetics       = {"FitzHugh-Nagumo", {0., 1., 1.}, 1.};
      options.diffusion      = {1., 1.};
      Vector       u(2 * grid.n_nodes());
      const double k2 = 5. * M_PI * M_PI, amplitude = 1e-5;
      const auto   mode = [&](long i) {
        return amplitude * std::cos(M_PI * static_cast<double>(i % n) / (n - 1)) * std::cos(2. * M_PI * static_cast<double>(i / n) / (n - 1));
      };
      for (long i = 0; i < grid.n_nodes(); ++i)
        u[i] = u[grid.n_nodes() + i] = mode(i);
      const double t     = 0.02;
      const Vector found = solution_at(grid, options, u, t);
      // u' = u - v, v' = u - v: u + v and u - v give u = e^(-k2 t) u0 for u0 = v0
      double largest = 0.;
      for (long i = 0; i < grid.n_nodes(); ++i)
        largest = larger_or_nan(largest, std::abs(found[i] - std::exp(-k2 * t) * mode(i)) / amplitude);
      return largest;
    };
    const double coarse = error(9), fine = error(17);
    EXPECT_NEAR(std::log2(coarse / fine), 2., 0.1);
  }

  TEST_P(ReactionDiffusion, MassBalanceCloses)
  {
    // implicit Euler: the mass of u + v of the Schnakenberg system changes by dt gamma sum m (a + b - u_new)
    const NodeGrid       grid    = unit_grid(20, 2);
    const StepperOptions options = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
    const Vector         m       = masses(grid);
    Stepper              stepper(grid, options);
    Vector               before = smooth_fields(grid), after(before.size());
    stepper.start(before.data());
    const long n = grid.n_nodes();
    for (int step = 0; step < 5; ++step)
      {
        stepper.advance(1., 1, 0.);
        stepper.solution(after.data());
        const double area = std::accumulate(m.begin(), m.end(), 0.);
        const double gain = 1e-3 * 50. * ((0.126779 + 0.792366) * area - sum_of_products(after.data(), m));
        const double mass = sum_of_products(after.data(), m) + sum_of_products(after.data() + n, m);
        const double old  = sum_of_products(before.data(), m) + sum_of_products(before.data() + n, m);
        EXPECT_NEAR(mass - old, gain, 1e-10);
        before = after;
      }
  }

  TEST_P(ReactionDiffusion, ErrorControlKeepsItsToleranceAndHitsTimes)
  {
    const NodeGrid grid    = unit_grid(33, 2);
    const Vector   initial = smooth_fields(grid, 0.3);
    StepperOptions tight = fixed_steps(Backend::host, Scheme::bdf2, 0.05 / 4000.), options = fixed_steps(GetParam(), Scheme::bdf2, 1e-6);
    const Vector   exact              = solution_at(grid, tight, initial, 0.05);
    options.stepping.error_controlled = true;
    double last                       = 1.;
    for (const double tolerance : {1e-2, 1e-3, 1e-4})
      {
        options.stepping.error_tolerance = tolerance;
        Totals       totals;
        const double error = largest_difference(solution_at(grid, options, initial, 0.05, &totals), exact);
        EXPECT_LT(error, 20. * tolerance);
        EXPECT_LT(error, last);
        EXPECT_LT(totals.steps, 2000);
        last = error;
      }
  }

  TEST_P(ReactionDiffusion, ResumedRunsGoOnAsIfNothingHadHappened)
  {
    const NodeGrid grid = unit_grid(24, 2);
    for (const Scheme scheme : {Scheme::bdf2, Scheme::bdf3})
      for (const bool adaptive : {false, true})
        {
          StepperOptions options            = fixed_steps(GetParam(), scheme, 1e-4);
          options.stepping.error_controlled = adaptive;
          expect_that_a_resumed_run_goes_on(grid, options, smooth_fields(grid), 1e-7);
        }
  }

  TEST_P(ReactionDiffusion, SaysWhyItStops)
  {
    const NodeGrid grid = unit_grid(12, 2);
    const Vector   u    = smooth_fields(grid);
    {
      StepperOptions options            = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
      options.stepping.steady_tolerance = 1e-3;
      options.diffusion                 = {1., 1.}; // no pattern
      Stepper stepper(grid, options);
      stepper.start(u.data());
      EXPECT_EQ(stepper.advance(100., 1000000, 0.), StopReason::steady_state);
      EXPECT_LT(stepper.last_step().rate_of_change, 1e-3);
    }
    {
      StepperOptions options                   = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
      options.stepping.stop_at_negative_values = true;
      Vector negative                          = u;
      for (double &x : negative)
        x -= 1.5;
      options.kinetics.gamma = 1e-3;
      Stepper stepper(grid, options);
      stepper.start(negative.data());
      EXPECT_EQ(stepper.advance(1., 100, 0.), StopReason::negative_values);
      EXPECT_EQ(stepper.totals().negative_steps, 1);
    }
    {
      StepperOptions options = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
      Vector         bad     = u;
      bad[7]                 = std::numeric_limits<double>::infinity();
      Stepper stepper(grid, options);
      stepper.start(bad.data());
      EXPECT_EQ(stepper.advance(1., 100, 0.), StopReason::blow_up);
      EXPECT_EQ(stepper.step_number(), 0) << "the last good solution is kept";
    }
  }

  TEST(ReactionDiffusionInput, BadInputIsNamed)
  {
    const auto message = [](const NodeGrid &grid, const StepperOptions &options) -> std::string {
      try
        {
          Stepper stepper(grid, options);
        }
      catch (const InvalidInput &e)
        {
          return e.what();
        }
      return "";
    };
    StepperOptions options;
    EXPECT_EQ(message(unit_grid(8, 2), options), "");
    options.kinetics.name = "Oregonator";
    EXPECT_NE(message(unit_grid(8, 2), options).find("Schnakenberg, Gierer-Meinhardt"), std::string::npos);
    options = StepperOptions();
    options.kinetics.constants.pop_back();
    EXPECT_NE(message(unit_grid(8, 2), options).find("1 constants"), std::string::npos);
    options           = StepperOptions();
    options.diffusion = {1.};
    EXPECT_NE(message(unit_grid(8, 2), options).find("one a field"), std::string::npos);
    options.diffusion = {1., -1.};
    EXPECT_NE(message(unit_grid(8, 2), options).find("positive"), std::string::npos);
    NodeGrid grid = unit_grid(8, 2);
    grid.n[1]     = 1;
    EXPECT_NE(message(grid, StepperOptions()).find("nodes in y"), std::string::npos);
    Stepper stepper(unit_grid(8, 2), StepperOptions());
    EXPECT_THROW(stepper.advance(1., 1, 0.), InvalidInput);
  }

  TEST(NodeGrid, RefusesSpacingsWhoseSquaresAreNoNumbers)
  {
    for (const double spacing : {0., 1e-200, 1e200, std::numeric_limits<double>::quiet_NaN()})
      {
        NodeGrid grid   = unit_grid(5, 2);
        grid.spacing[1] = spacing;
        EXPECT_THROW(grid.validate(2), InvalidInput) << spacing;
      }
  }
} // namespace leopard::reaction_diffusion
