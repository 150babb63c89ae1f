// SPDX-License-Identifier: Apache-2.0
// Reactions that depend on the place and the time: expressions with values by node.
#include "triangles.h"

#include <applications/reaction_diffusion/kinetics/split_tape.h>
#include <solvers/base/errors.h>

#include <cstring>
#include <memory>
#include <random>

namespace leopard::reaction_diffusion
{
  class ReactionByNode : public BackendTest
  {
  };

  namespace
  {
    /** Schnakenberg's reaction times g, or (1 + t) g, g by node: inputs u, v, t, g. */
    ExpressionTape schnakenberg_times_g(bool with_time)
    {
      TapeWriter          w(4, {0.126779, 0.792366, 2., 1., 0.});
      const std::uint16_t u = 0, v = 1, one = w.constant(3), factor = with_time ? w.times(w.add(one, 2), 3) : 3;
      const std::uint16_t square = w.times(u, u), cubic = w.times(square, v), product = w.times(w.times(w.constant(2), u), v);
      const auto          output = [&](std::uint16_t value) { w.tape.outputs.push_back(w.times(factor, value)); };
      output(w.add(w.minus(w.constant(0), u), cubic));
      output(w.minus(w.constant(1), cubic));
      output(w.minus(product, one));
      output(square);
      output(w.negate(product));
      output(w.negate(square));
      return w.tape;
    }

    using Field = std::shared_ptr<const Vector>;

    /** g, different at all nodes of a domain. */
    Field rising(long n)
    {
      auto g = std::make_shared<Vector>(n);
      for (long i = 0; i < n; ++i)
        (*g)[i] = 0.5 + static_cast<double>(i) / static_cast<double>(n);
      return g;
    }

    KineticsChoice by_node(bool with_time, double gamma, const Field &values)
    {
      KineticsChoice result{"expressions", {}, gamma, schnakenberg_times_g(with_time)};
      result.n_further_inputs = 2;
      result.by_node          = values;
      return result;
    }

    template <typename Domain>
    StepperOptions with_rising_g(const Domain &domain, Backend backend, Scheme scheme, double dt)
    {
      StepperOptions options = fixed_steps(backend, scheme, dt);
      options.kinetics       = by_node(true, 50., rising(domain.n_nodes()));
      return options;
    }

    template <typename Domain>
    void expect_reference(const Domain &domain, const StepperOptions &options, const Vector &u, double time, const std::string &what)
    {
      StepperOptions oracle = options;
      oracle.backend        = Backend::reference;
      EXPECT_LT(largest_difference(solution_at(domain, options, u, time), solution_at(domain, oracle, u, time)), 1e-8) << what;
    }

    /** solution_at() of any scheme: that of an exponential one has no Newton steps. */
    Vector stepped(const NodeGrid &grid, const StepperOptions &options, const Vector &initial, double time)
    {
      Stepper stepper(grid, options);
      stepper.start(initial.data());
      EXPECT_EQ(stepper.advance(time, 100000, 0.5 * options.stepping.step_size), StopReason::time_reached);
      Vector u(initial.size());
      stepper.solution(u.data());
      return u;
    }

    /**
     * u = 2 + exp(-t) phi, phi = cos(pi x) cos(pi y), solves u_t = laplace u + c (2 - u) + exp(-t) p with p = (lambda -
     * 1 + c) phi, where -laplace phi = lambda phi and c depends on the place. Inputs u, t, c, p.
     */
    struct Manufactured
    {
      Manufactured(int n, bool of_grid)
        : grid(unit_grid(n, 2))
        , phi(grid.n_nodes())
      {
        const double h = grid.spacing[0], s = 2. * std::sin(0.5 * M_PI * h) / h, lambda = of_grid ? 2. * s * s : 2. * M_PI * M_PI;
        auto         values = std::make_shared<Vector>(2 * phi.size());
        for (std::size_t i = 0; i < phi.size(); ++i)
          {
            const double x = static_cast<double>(i % n) * h, y = static_cast<double>(i / n) * h, c = 3. + 2. * std::sin(3. * x + y);
            phi[i]                    = std::cos(M_PI * x) * std::cos(M_PI * y);
            (*values)[i]              = c;
            (*values)[phi.size() + i] = (lambda - 1. + c) * phi[i];
          }
        TapeWriter          w(4, {2.});
        const std::uint16_t minus_t = w.negate(1), decay = w.apply(Operation::exp, minus_t, minus_t);
        w.tape.outputs            = {w.add(w.times(2, w.minus(w.constant(0), 0)), w.times(decay, 3)), w.negate(2)};
        kinetics                  = {"expressions", {}, 1., w.tape};
        kinetics.n_further_inputs = 3;
        kinetics.by_node          = values;
      }

      Vector at(double t) const
      {
        Vector u(phi.size());
        for (std::size_t i = 0; i < u.size(); ++i)
          u[i] = 2. + std::exp(-t) * phi[i];
        return u;
      }

      NodeGrid       grid;
      Vector         phi;
      KineticsChoice kinetics;
    };

    INSTANTIATE_TEST_SUITE_P(Backends, ReactionByNode, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
  } // namespace

  TEST_P(ReactionByNode, StepsAsTheDirectSolver)
  {
    const Triangles triangles(23, 0.2, 3);
    const Vector    on_mesh = smooth_fields(unit_grid(23, 2));
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          const std::string words   = "scheme " + std::to_string(static_cast<int>(scheme)) + ", method " + std::to_string(static_cast<int>(method));
          const auto        options = [&](const auto &domain, bool persistent) {
            StepperOptions result         = with_rising_g(domain, GetParam(), scheme, 1e-3);
            result.stepping.linear_method = method;
            result.persistent             = persistent;
            return result;
          };
          for (const NodeGrid &grid : {box_grid(19, 22, 1), box_grid(8, 9, 7)})
            for (const bool persistent : {true, false})
              expect_reference(grid, options(grid, persistent), smooth_fields(grid), 5e-3, words + (persistent ? ", persistent" : ""));
          expect_reference(triangles.laplacian, options(triangles.laplacian, true), on_mesh, 5e-3, words + ", mesh");
        }
    for (const NodeGrid &grid : {box_grid(12, 17, 1), box_grid(6, 9, 5)})
      {
        StepperOptions options = with_rising_g(grid, GetParam(), Scheme::etdrk4, 1e-3), oracle = options;
        oracle.backend = Backend::reference;
        const Vector u = smooth_fields(grid);
        EXPECT_LT(largest_difference(stepped(grid, options, u, 5e-3), stepped(grid, oracle, u, 5e-3)), 1e-10) << "exponential";
      }
  }

  TEST_P(ReactionByNode, OfOneValueEverywhereIsGamma)
  {
    const NodeGrid grid    = unit_grid(33, 2);
    StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-4), plain = options;
    options.n_threads = plain.n_threads = 1;
    options.kinetics                    = by_node(false, 25., std::make_shared<Vector>(grid.n_nodes(), 2.));
    const Vector u                      = smooth_fields(grid);
    const double bound                  = GetParam() == Backend::cuda ? 1e-9 : 1e-13;
    EXPECT_LT(largest_difference(solution_at(grid, options, u, 1e-3), solution_at(grid, plain, u, 1e-3)), bound);
  }

  TEST_P(ReactionByNode, OrdersInTime)
  {
    const Manufactured problem(9, true);
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2, Scheme::etdrk4})
      {
        const auto error = [&](int steps) {
          StepperOptions options = fixed_steps(GetParam(), scheme, 1. / steps);
          options.kinetics       = problem.kinetics;
          options.diffusion      = {1.};
          return largest_difference(stepped(problem.grid, options, problem.at(0.), 1.), problem.at(1.));
        };
        EXPECT_NEAR(std::log2(error(20) / error(40)), order_of(scheme), scheme == Scheme::etdrk4 ? 0.5 : 0.2) << static_cast<int>(scheme);
      }
  }

  TEST_P(ReactionByNode, SecondOrderInSpace)
  {
    const auto error = [&](int n) {
      const Manufactured problem(n, false);
      StepperOptions     options        = fixed_steps(GetParam(), Scheme::bdf2, 1e-4);
      options.stepping.error_controlled = true;
      options.stepping.error_tolerance  = 1e-7;
      options.kinetics                  = problem.kinetics;
      options.diffusion                 = {1.};
      return largest_difference(solution_at(problem.grid, options, problem.at(0.), 0.5), problem.at(0.5));
    };
    EXPECT_NEAR(std::log2(error(9) / error(17)), 2., 0.1);
  }

  TEST_P(ReactionByNode, GoesOnWhereItStopped)
  {
    const NodeGrid       grid    = unit_grid(17, 2);
    const StepperOptions options = with_rising_g(grid, GetParam(), Scheme::bdf2, 1e-3);
    const Vector         initial = smooth_fields(grid), whole = solution_at(grid, options, initial, 0.02);
    EXPECT_LT(largest_difference(resumed_solution_at(grid, options, initial, 0.01, 0.02), whole), 1e-8);
  }

  namespace
  {
    /** exp(-t), the factor of a load. */
    ExpressionTape exponential_factor()
    {
      TapeWriter          w(1, {1.});
      const std::uint16_t minus_t = w.negate(0);
      w.tape.outputs              = {w.constant(0), w.apply(Operation::exp, minus_t, minus_t)};
      return w.tape;
    }

    /** The manufactured reaction as loads on top of another: 1 times 2 c, exp(-t) times p, on top of -c u. */
    KineticsChoice loads_of(const Manufactured &problem)
    {
      TapeWriter w(3, {}); // u, t, c
      w.tape.outputs          = {w.negate(w.times(2, 0)), w.negate(2)};
      const std::size_t n     = problem.phi.size();
      auto              nodal = std::make_shared<Vector>(*problem.kinetics.by_node);
      for (std::size_t i = 0; i < n; ++i)
        {
          nodal->push_back((*nodal)[n + i]);
          (*nodal)[n + i] = 2. * (*nodal)[i];
        }
      KineticsChoice result{"expressions", {}, 1., with_loads(w.tape, 1, exponential_factor())};
      result.n_further_inputs = 4;
      result.has_load_time    = true;
      result.by_node          = nodal;
      return result;
    }
  } // namespace

  TEST_P(ReactionByNode, LoadsOnTopOfAReaction)
  {
    const Manufactured problem(9, true);
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2, Scheme::etdrk4})
      {
        StepperOptions options = fixed_steps(GetParam(), scheme, 0.05);
        options.kinetics       = loads_of(problem);
        options.diffusion      = {1.};
        StepperOptions other   = options;
        other.kinetics         = problem.kinetics;
        const Vector u = stepped(problem.grid, options, problem.at(0.), 1.), expected = stepped(problem.grid, other, problem.at(0.), 1.);
        if (!has_explicit_reaction(scheme)) // which extrapolates the whole reaction, and no loads
          {
            EXPECT_LT(largest_difference(u, expected), 1e-8) << static_cast<int>(scheme);
          }
        EXPECT_LT(largest_difference(u, problem.at(1.)), 0.05) << static_cast<int>(scheme);
      }
    EXPECT_EQ(loads_of(problem).n_species(), 1);
    TapeWriter one(1, {1.});
    one.tape.outputs = {one.constant(0)};
    EXPECT_FALSE(depends_on_input(one.tape));
    one.tape.outputs.push_back(0);
    EXPECT_TRUE(depends_on_input(one.tape));
  }

  /** With an explicit reaction loads are those of the new time: where there are loads alone, BDF2. */
  TEST_P(ReactionByNode, LoadsAreNotExtrapolated)
  {
    const NodeGrid  grid = unit_grid(9, 2);
    const Triangles triangles(9, 0.2, 3);
    TapeWriter      nothing(2, {0.});
    nothing.tape.outputs = {nothing.constant(0), nothing.constant(0)};
    Vector loads(2 * grid.n_nodes(), 0.);
    for (std::size_t i = 0; i < loads.size(); ++i)
      loads[i] = 10. + std::sin(static_cast<double>(i));
    const auto solution = [&](const auto &domain, Scheme scheme) {
      StepperOptions options            = fixed_steps(GetParam(), scheme, 0.05);
      options.diffusion                 = {1.};
      options.stepping.newton_floor     = 1e-13;
      options.kinetics                  = {"expressions", {}, 1., with_loads(nothing.tape, 1, exponential_factor())};
      options.kinetics.n_further_inputs = 3;
      options.kinetics.has_load_time    = true;
      options.kinetics.by_node          = std::make_shared<const Vector>(loads);
      return solution_at(domain, options, Vector(grid.n_nodes(), 1.), 1.);
    };
    EXPECT_LT(largest_difference(solution(grid, Scheme::imex_bdf2), solution(grid, Scheme::bdf2)), 1e-8);
    EXPECT_LT(largest_difference(solution(triangles.laplacian, Scheme::imex_bdf2), solution(triangles.laplacian, Scheme::bdf2)), 1e-8);
  }

  TEST_P(ReactionByNode, OrderWithLoadsThatDependOnTime)
  {
    const Manufactured problem(9, true);
    const auto         error = [&](int steps) {
      StepperOptions options = fixed_steps(GetParam(), Scheme::imex_bdf2, 1. / steps);
      options.kinetics       = loads_of(problem);
      options.diffusion      = {1.};
      return largest_difference(stepped(problem.grid, options, problem.at(0.), 1.), problem.at(1.));
    };
    EXPECT_NEAR(std::log2(error(20) / error(40)), 2., 0.2);
  }

  TEST_P(ReactionByNode, FailsInTheStepInWhichACoefficientIsNone)
  {
    // c (1 - u) with c = 1 - 1000 s (1 - s) where s = t - 0.5 is in (0, 1): negative at t = 0.6 and 1.4, say
    TapeWriter          coefficient(1, {1., 1000., 0.5, 0.});
    const std::uint16_t one = coefficient.constant(0), zero = coefficient.constant(3), s = coefficient.minus(0, coefficient.constant(2));
    const std::uint16_t in      = coefficient.apply(Operation::maximum, zero, coefficient.times(s, coefficient.minus(one, s)));
    coefficient.tape.outputs    = {coefficient.minus(one, coefficient.times(coefficient.constant(1), in))};
    const ExpressionTape factor = product(one_where_allowed(coefficient.tape, 0.), coefficient.tape, 0);
    const Triangles      triangles(9, 0.2, 3);
    const auto           steps_done = [&](const auto &domain, Scheme scheme) {
      StepperOptions options            = fixed_steps(GetParam(), scheme, 0.2);
      options.kinetics                  = {"expressions", {}, 1., product(factor, logistic(1), 1)};
      options.kinetics.n_further_inputs = 1;
      options.diffusion                 = {1.};
      Stepper      stepper(domain, options);
      const Vector u(stepper.n_nodes(), 0.5);
      stepper.start(u.data());
      EXPECT_EQ(stepper.advance(10., 1000, 0.1), StopReason::blow_up);
      return stepper.step_number();
    };
    for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2, Scheme::etdrk4})
      {
        const std::string words = "scheme " + std::to_string(static_cast<int>(scheme));
        EXPECT_EQ(steps_done(unit_grid(9, 2), scheme), 2) << words;
        if (scheme != Scheme::etdrk4)
          {
            EXPECT_EQ(steps_done(triangles.laplacian, scheme), 2) << words;
          }
      }
  }

  TEST(ReactionByNodeChoice, SaysHowManyValuesThereMustBe)
  {
    const NodeGrid grid    = unit_grid(9, 2);
    StepperOptions options = with_rising_g(grid, Backend::host, Scheme::bdf2, 1e-3);
    EXPECT_NO_THROW(Stepper(grid, options));
    for (const Field &values : {Field(), Field(std::make_shared<Vector>(80, 1.))})
      {
        options.kinetics.by_node = values;
        try
          {
            Stepper(grid, options);
            ADD_FAILURE();
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find("expected: 81, 1 for each node"), std::string::npos) << error.what();
          }
      }
    options.kinetics.n_further_inputs = 5;
    EXPECT_NE(options.kinetics.why_not().find("0 species"), std::string::npos) << options.kinetics.why_not();
  }

  /** Of random tapes: the parts compute, one after the other, what the tape does, to the last bit. */
  TEST(SplitTape, ComputesWhatTheTapeComputes)
  {
    std::mt19937 random(11);
    int          n_given = 0;
    for (int round = 0; round < 300; ++round)
      {
        TapeWriter w(4, {0.5, 2., -1.25});
        for (unsigned int i = 0, n = 1 + random() % 60; i < n; ++i)
          {
            const auto operation = static_cast<Operation>(random() % (static_cast<unsigned int>(Operation::atanh) + 1));
            const auto operand   = [&] { return static_cast<std::uint16_t>(random() % w.tape.n_registers()); };
            const auto a         = operand();
            w.apply(operation, a, operation < Operation::negate ? operand() : a);
          }
        for (int o = 0; o < 4; ++o)
          w.tape.outputs.push_back(static_cast<std::uint16_t>(w.tape.n_registers() - 1 - random() % std::min(w.tape.n_registers(), 9u)));
        const std::vector<bool> is_given = {false, true, false, true};
        const SplitTape         parts    = split(w.tape, is_given);
        ASSERT_EQ(parts.rest.n_inputs, 2 + parts.given.outputs.size());
        n_given += parts.given.outputs.size() > 0;
        EXPECT_LE(parts.rest.instructions.size(), w.tape.instructions.size());
        const Vector x = {0.3, 1.7, -0.4, 0.9}, only_given = {-99., x[1], -99., x[3]};
        Vector       expected(4), found(4), rest(parts.rest.n_inputs);
        w.tape.evaluate(1, x.data(), expected.data());
        rest[0] = x[0];
        rest[1] = x[2];
        parts.given.evaluate(1, only_given.data(), rest.data() + 2);
        parts.rest.evaluate(1, rest.data(), found.data());
        for (int o = 0; o < 4; ++o)
          EXPECT_TRUE(std::memcmp(&found[o], &expected[o], sizeof(double)) == 0 || (std::isnan(found[o]) && std::isnan(expected[o]))) << round;
      }
    EXPECT_GT(n_given, 100);
  }

  TEST(SplitTape, OneWhereACoefficientIsAllowed)
  {
    TapeWriter w(2, {3., 0.}); // 3 x / y
    w.tape.outputs           = {w.apply(Operation::divide, w.times(w.constant(0), 0), 1)};
    const ExpressionTape one = one_where_allowed(w.tape, 0.5);
    const auto           at  = [&](double x, double y) {
      const Vector in    = {x, y};
      double       value = 0.;
      one.evaluate(1, in.data(), &value);
      return value;
    };
    for (const double x : {1., 0.5, 1e300})
      EXPECT_EQ(at(x, 3.), 1.) << x;
    for (const auto &[x, y] : {std::pair(0.49, 3.), {-1., 3.}, {1., 0.}, {-1., 0.}, {0., 0.}, {1e308, 1.}})
      EXPECT_TRUE(std::isnan(at(x, y))) << x << " " << y;
  }

  TEST(SplitTape, OfAProductWithAFactorOfThePlaceIsOneValueByNode)
  {
    TapeWriter factor(2, {3.}); // 3 x + y
    factor.tape.outputs        = {factor.add(factor.times(factor.constant(0), 0), 1)};
    const ExpressionTape whole = product(factor.tape, logistic(1), 1);
    const Vector         x     = {0.25, 2., 5.};
    Vector               values(2);
    whole.evaluate(1, x.data(), values.data());
    EXPECT_DOUBLE_EQ(values[0], 11. * 0.25 * 0.75);
    EXPECT_DOUBLE_EQ(values[1], 11. * 0.5);
    const SplitTape parts = split(whole, {false, true, true});
    EXPECT_EQ(parts.given.outputs.size(), 1u);
    EXPECT_EQ(parts.rest.n_inputs, 2u);
    EXPECT_EQ(parts.rest.instructions.size(), logistic(1).instructions.size() + 2);
  }
} // namespace leopard::reaction_diffusion
