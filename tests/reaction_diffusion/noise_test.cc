// SPDX-License-Identifier: Apache-2.0
// Random forces in the time loop: implicit Euler with the noise of Euler and Maruyama.
#include "noise_on.h"
#include "triangles.h"

#include <solvers/base/errors.h>

#include <functional>

namespace leopard::reaction_diffusion
{
  class Noise : public BackendTest
  {
  };

  namespace
  {
    /** No reaction of n species. */
    KineticsChoice no_reaction(std::uint16_t n)
    {
      TapeWriter w(n, {0.});
      w.tape.outputs.assign(n * (n + std::size_t(1)), w.constant(0));
      return {"expressions", {}, 1., w.tape};
    }

    /** With coordinates, which noise needs. */
    MeshLaplacian mesh_with_places(const Triangles &triangles)
    {
      MeshLaplacian result = triangles.laplacian;
      for (const auto &node : triangles.nodes)
        result.coordinates.insert(result.coordinates.end(), node.begin(), node.end());
      return result;
    }

    /** Hardly any diffusion and no reaction, so that u_n+1 - u_n is the noise of the step. */
    template <typename Domain>
    StepperOptions only_noise(const Domain &domain, Backend backend, const ExpressionTape &strengths, double dt)
    {
      const auto     n                  = static_cast<std::uint16_t>(strengths.outputs.size());
      StepperOptions options            = fixed_steps(backend, Scheme::implicit_euler, dt);
      options.kinetics                  = no_reaction(n);
      options.diffusion                 = Vector(n, 1e-14);
      options.noise                     = noise_on(domain, strengths);
      options.stepping.newton_tolerance = 1e-13;
      options.stepping.newton_floor     = 1e-14;
      return options;
    }
  } // namespace

  INSTANTIATE_TEST_SUITE_P(Backends, Noise, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

  TEST(RandomNumbers, AreThoseOfSplitmix64)
  {
    // the first two numbers of the generator with the seed 0, as its authors' program prints them
    EXPECT_EQ(random_numbers::mix(0), 0xe220a8397b1dcdafULL);
    EXPECT_EQ(random_numbers::mix(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
  }

  TEST(RandomNumbers, DependOnAllThatTheyAreOf)
  {
    const RoundedPlace here  = rounded({0.25, -1.5, 3.});
    const double       value = normal_at(here, 1, 7, 3);
    EXPECT_EQ(normal_at(rounded({0.25 + 4e-10, -1.5 - 4e-10, 3. + 4e-10}), 1, 7, 3), value) << "places that ranks compute differently";
    for (const std::array<double, 3> &place : {std::array<double, 3>{0.25 + 1e-9, -1.5, 3.}, {0.25, -1.5 + 1e-9, 3.}, {0.25, -1.5, 3. + 1e-9}})
      EXPECT_GT(std::abs(normal_at(rounded(place), 1, 7, 3) - value), 1e-6);
    for (const double other : {normal_at(here, 0, 7, 3), normal_at(here, 1, 8, 3), normal_at(here, 1, 7, 4)})
      EXPECT_GT(std::abs(other - value), 1e-6);
    EXPECT_NE(uniform_at(here, 1, 3), uniform_at(here, 1, 4));
  }

  TEST_P(Noise, StepsAreThoseOfEulerAndMaruyama)
  {
    // u_1 = u_0 + s sqrt(dt / m) xi_0 and u_2 = u_1 + s sqrt(dt / m) xi_1 with s = u at the beginning, v_n likewise
    // with s = 0.3
    TapeWriter w(2, {0.3});
    w.tape.outputs            = {0, w.constant(0)};
    const double        dt    = 1e-3;
    const MeshLaplacian mesh  = mesh_with_places(Triangles(13, 0.2, 3));
    const auto          check = [&](const auto &domain, const std::string &what) {
      for (const bool persistent : {true, false})
        {
          StepperOptions options = only_noise(domain, GetParam(), w.tape, dt);
          options.persistent     = persistent;
          const auto &places     = *options.noise.places;
          const long  n          = options.noise.n_nodes();
          Stepper     stepper(domain, options);
          Vector      expected(2 * n, 2.), found(2 * n);
          stepper.start(expected.data());
          for (int step = 0; step < 2; ++step)
            {
              ASSERT_EQ(stepper.advance(1., 1, 0.), StopReason::step_limit) << what;
              stepper.solution(found.data());
              for (long i = 0; i < n; ++i)
                {
                  const double root = std::sqrt(dt / (*options.noise.mass)[i]);
                  expected[i] += expected[i] * root * normal_at(places[i], 0, step, 5);
                  expected[n + i] += 0.3 * root * normal_at(places[i], 1, step, 5);
                }
              EXPECT_LT(largest_difference(found, expected), 1e-9) << what << ", step " << step;
            }
        }
    };
    check(box_grid(19, 22, 1), "rectangle");
    check(box_grid(8, 9, 7), "box");
    check(mesh, "mesh");
  }

  TEST_P(Noise, HasMeanZeroAndTheVarianceOfItsStrength)
  {
    const double        dt = 1e-3, sigma = 0.4;
    const MeshLaplacian mesh  = mesh_with_places(Triangles(61, 0.2, 3));
    const auto          check = [&](const auto &domain) {
      const StepperOptions options = only_noise(domain, GetParam(), constant_strengths(2, {sigma, 0.}), dt);
      const Vector        &mass    = *options.noise.mass;
      const long           n       = options.noise.n_nodes();
      const int            n_steps = 6;
      Vector               u(2 * n, 1.), last = u, xi;
      Stepper              stepper(domain, options);
      stepper.start(u.data());
      for (int step = 0; step < n_steps; ++step)
        {
          ASSERT_EQ(stepper.advance(1., 1, 0.), StopReason::step_limit);
          stepper.solution(u.data());
          for (long i = 0; i < n; ++i)
            xi.push_back((u[i] - last[i]) / (sigma * std::sqrt(dt / mass[i])));
          last = u;
        }
      const auto samples = static_cast<double>(xi.size());
      double     sum = 0., squares = 0., fourth = 0., beside = 0., after = 0.;
      for (std::size_t k = 0; k < xi.size(); ++k)
        {
          sum += xi[k];
          squares += xi[k] * xi[k];
          fourth += std::pow(xi[k], 4);
          beside += k + 1 < xi.size() ? xi[k] * xi[k + 1] : 0.;
          after += k + n < xi.size() ? xi[k] * xi[k + n] : 0.;
        }
      const double bound = 4. / std::sqrt(samples);
      EXPECT_LT(std::abs(sum / samples), bound);
      EXPECT_LT(std::abs(squares / samples - 1.), std::sqrt(2.) * bound);
      EXPECT_LT(std::abs(fourth / samples - 3.), std::sqrt(96.) * bound) << "as of normal numbers";
      EXPECT_LT(std::abs(beside / samples), bound) << "neighbours know nothing of each other";
      EXPECT_LT(std::abs(after / samples), bound * std::sqrt(6. / 5.)) << "nor does a step of the one before";
      EXPECT_EQ(largest_difference(Vector(u.begin() + n, u.end()), Vector(n, 1.)), 0.) << "no noise of v";
    };
    check(box_grid(64, 60, 1));
    check(mesh);
  }

  TEST_P(Noise, StepsAsTheDirectSolver)
  {
    const MeshLaplacian mesh  = mesh_with_places(Triangles(23, 0.2, 3));
    const auto          check = [&](const auto &domain, const Vector &u, const std::string &what) {
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        for (const bool persistent : {true, false})
          {
            StepperOptions options         = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
            options.stepping.linear_method = method;
            options.persistent             = persistent;
            options.noise                  = multiplicative_noise(noise_on(domain, {}));
            StepperOptions oracle = options, still = options;
            oracle.backend     = Backend::reference;
            still.noise        = {};
            const Vector found = solution_at(domain, options, u, 5e-3);
            EXPECT_LT(largest_difference(found, solution_at(domain, oracle, u, 5e-3)), 1e-8) << what;
            EXPECT_GT(largest_difference(found, solution_at(domain, still, u, 5e-3)), 1e-2) << what << ": there is noise";
          }
    };
    check(box_grid(19, 22, 1), smooth_fields(box_grid(19, 22, 1)), "rectangle");
    check(box_grid(8, 9, 7), smooth_fields(box_grid(8, 9, 7)), "box");
    check(mesh, smooth_fields(unit_grid(23, 2)), "mesh");
  }

  TEST_P(Noise, OfOneAndOfThreeFields)
  {
    for (const std::uint16_t n : {std::uint16_t(1), std::uint16_t(3)})
      for (const NodeGrid &grid : {box_grid(12, 17, 1), box_grid(6, 9, 5)})
        {
          StepperOptions options = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-2), oracle;
          options.kinetics       = {"expressions", {}, 1., logistic(n)};
          options.diffusion      = Vector(n, 0.1);
          options.noise          = noise_on(grid, constant_strengths(n, {0.01, 0.02, 0.03}));
          oracle                 = options;
          oracle.backend         = Backend::reference;
          const Vector u(n * grid.n_nodes(), 0.5), found = solution_at(grid, options, u, 0.05);
          EXPECT_LT(largest_difference(found, solution_at(grid, oracle, u, 0.05)), 1e-8) << n;
          for (std::uint16_t c = 0; c + 1 < n; ++c) // fields have numbers of their own
            EXPECT_GT(std::abs(found[c * grid.n_nodes()] - found[(c + 1) * grid.n_nodes()]), 1e-6);
        }
  }

  TEST_P(Noise, DoesNotDependOnTheThreads)
  {
    const NodeGrid grid = box_grid(110, 80, 1); // large enough for several threads
    const auto     end  = [&](const auto &domain, int n_threads) {
      StepperOptions options = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-4);
      options.n_threads      = n_threads;
      options.noise          = multiplicative_noise(noise_on(domain, {}));
      return solution_at(domain, options, smooth_fields(grid), 4e-4);
    };
    const MeshLaplacian mesh = laplacian_of(grid);
    const Vector        one = end(grid, 1), one_on_mesh = end(mesh, 1);
    EXPECT_LT(largest_difference(one, one_on_mesh), 1e-8) << "nor on the order of the nodes";
    for (const int n_threads : {2, 3})
      {
        EXPECT_LT(largest_difference(end(grid, n_threads), one), 1e-8);
        EXPECT_LT(largest_difference(end(mesh, n_threads), one), 1e-8);
      }
  }

  TEST_P(Noise, GoesOnWhereItStopped)
  {
    const NodeGrid grid    = unit_grid(17, 2);
    StepperOptions options = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
    options.noise          = multiplicative_noise(noise_on(grid, {}));
    const Vector initial = smooth_fields(grid), whole = solution_at(grid, options, initial, 0.02);
    EXPECT_LT(largest_difference(resumed_solution_at(grid, options, initial, 0.01, 0.02), whole), 1e-8);
    StepperOptions other = options;
    other.noise.seed     = 6;
    EXPECT_GT(largest_difference(solution_at(grid, other, initial, 0.02), whole), 1e-2) << "another seed";
  }

  TEST_P(Noise, ThatIsNotFiniteEndsTheStep)
  {
    TapeWriter w(3, {3e-3, 1., 0.}); // 1 / (t < 0.003)
    w.tape.outputs        = {w.apply(Operation::divide, w.constant(1), w.apply(Operation::less, 2, w.constant(0))), w.constant(2)};
    const auto steps_done = [&](const auto &domain) {
      StepperOptions options         = fixed_steps(GetParam(), Scheme::implicit_euler, 2e-3);
      options.noise                  = noise_on(domain, w.tape);
      options.noise.n_further_inputs = 1;
      Stepper      stepper(domain, options);
      const Vector u(2 * stepper.n_nodes(), 0.9);
      stepper.start(u.data());
      EXPECT_EQ(stepper.advance(10., 1000, 1e-3), StopReason::blow_up);
      return stepper.step_number();
    };
    EXPECT_EQ(steps_done(unit_grid(9, 2)), 2);
    EXPECT_EQ(steps_done(mesh_with_places(Triangles(9, 0.2, 3))), 2);
  }

  TEST_P(Noise, StepsAreSolvedAsExactlyAsAskedForAndNoMore)
  {
    NodeGrid grid                     = box_grid(32, 32, 1, {true, true, false});
    grid.spacing                      = {0.625, 0.625, 1.};
    const MeshLaplacian domain        = laplacian_of(grid);
    StepperOptions      options       = fixed_steps(GetParam(), Scheme::implicit_euler, 0.05), exact;
    options.kinetics.gamma            = 1.;
    options.diffusion                 = {1., 3.65}; // sweeps contract by 0.3, the row sums say 0.65
    options.noise                     = noise_on(domain, constant_strengths(2, {0.1, 0.1}));
    options.stepping.newton_tolerance = 1e-8;
    exact                             = options;
    exact.stepping.newton_tolerance   = 1e-10;
    const Vector u                    = smooth_fields(grid);
    EXPECT_LT(largest_difference(solution_at(domain, options, u, 2.), solution_at(domain, exact, u, 2.)), 5e-8);
    Stepper stepper(domain, options);
    stepper.start(u.data());
    for (int step = 0; step < 40; ++step)
      {
        ASSERT_EQ(stepper.advance(100., 1, 0.), StopReason::step_limit);
        const StepFigures &figures = stepper.last_step();
        const double       reached = figures.residual / (1e-8 * figures.first_residual);
        EXPECT_LE(reached, 1.);
        if (step < 2 || GetParam() == Backend::reference) // nothing is known yet, or solved directly
          continue;
        EXPECT_LE(figures.newton_steps, 4) << step;
        EXPECT_LE(figures.sweeps, GetParam() == Backend::cuda ? 60 : 40) << step; // blocks there are relaxed at once
        EXPECT_GE(reached, 1e-3) << step;
      }
  }

  TEST(NoiseChoice, SaysWhatCannotBe)
  {
    const NodeGrid       grid  = unit_grid(9, 2);
    const StepperOptions valid = only_noise(grid, Backend::host, constant_strengths(2, {0.1, 0.2}), 1e-3);
    EXPECT_NO_THROW(Stepper(grid, valid));
    const auto expect = [&](const std::function<void(StepperOptions &)> &change, const std::string &words) {
      StepperOptions options = valid;
      change(options);
      try
        {
          Stepper(grid, options);
          ADD_FAILURE() << words;
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const std::string restricted = "expected: implicit Euler with fixed steps on a domain that stays";
    expect([](StepperOptions &o) { o.stepping.scheme = Scheme::bdf2; }, restricted);
    expect([](StepperOptions &o) { o.stepping.scheme = Scheme::etdrk4; }, restricted);
    expect([](StepperOptions &o) { o.stepping.error_controlled = true; }, restricted);
    expect([](StepperOptions &o) { o.stepping.bound_fraction = 0.9; }, restricted);
    expect([](StepperOptions &o) { o.growth = {GrowthLaw::linear, 1., 2}; }, restricted);
    expect([](StepperOptions &o) { o.noise.strengths.outputs.pop_back(); }, "noise has 1 strengths of 2 inputs\n  expected: 2 strengths");
    expect([](StepperOptions &o) { o.noise.n_further_inputs = 1; }, "noise has 2 strengths of 2 inputs");
    expect([](StepperOptions &o) { o.noise.places.reset(); }, "noise is given 0 places and 81 masses of nodes\n  expected: 81, one for each node");
    expect([](StepperOptions &o) { o.noise.mass = std::make_shared<const Vector>(80, 1.); }, "noise is given 81 places and 80 masses");
    for (const double m : {0., -1., static_cast<double>(NAN)})
      expect([m](StepperOptions &o) { o.noise.mass = std::make_shared<const Vector>(81, m); }, "and there is noise\n  expected: a positive number");
    expect([](StepperOptions &o) { o.noise.by_node = std::make_shared<const Vector>(81, 1.); }, "noise is given 81 values by node\n  expected: 0, 0");
    expect([](StepperOptions &o) { o.noise.strengths.constants.resize(CompactTape::max_constants + 1); }, "the strengths of noise cannot be stepped");
  }
} // namespace leopard::reaction_diffusion
