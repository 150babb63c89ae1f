// SPDX-License-Identifier: Apache-2.0
// Reactions given as expressions: the compact tape against the general one, and systems of one, three and four species
// in the time loop.
#include "reaction_diffusion_test.h"

#include <solvers/base/errors.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>

namespace leopard::reaction_diffusion
{
  namespace
  {
    /**
     * Schnakenberg, operation by operation as the built-in functor has it, and `more` species w with w' = 0.5 (u - w)
     * behind it.
     */
    ExpressionTape schnakenberg_and(unsigned int more)
    {
      const unsigned int  n = 2 + more;
      TapeWriter          w(n, {0.126779, 0.792366, 2., 1., 0.5, 0., -0.5});
      const std::uint16_t a = w.constant(0), b = w.constant(1), half = w.constant(4), zero = w.constant(5), minus_half = w.constant(6), u = 0, v = 1;
      const std::uint16_t square = w.times(u, u), cubic = w.times(square, v);
      w.tape.outputs = {w.add(w.minus(a, u), cubic), w.minus(b, cubic)};
      for (unsigned int s = 2; s < n; ++s)
        w.tape.outputs.push_back(w.times(half, w.minus(u, static_cast<std::uint16_t>(s))));
      const std::uint16_t product = w.times(w.times(w.constant(2), u), v);
      const auto          add_row = [&](std::uint16_t by_u, std::uint16_t by_v) {
        w.tape.outputs.insert(w.tape.outputs.end(), {by_u, by_v});
        w.tape.outputs.insert(w.tape.outputs.end(), more, zero);
      };
      add_row(w.minus(product, w.constant(3)), square);
      add_row(w.negate(product), w.negate(square));
      for (unsigned int s = 2; s < n; ++s)
        {
          add_row(half, zero);
          w.tape.outputs[w.tape.outputs.size() - n + s] = minus_half;
        }
      return w.tape;
    }

    /** Any operations in any order on what was computed before. */
    ExpressionTape random_tape(std::mt19937 &random, unsigned int n_inputs, unsigned int n_instructions, unsigned int n_outputs)
    {
      TapeWriter w(n_inputs, {0.5, 2., -1.25});
      for (unsigned int i = 0; i < n_instructions; ++i)
        {
          const auto operation = static_cast<Operation>(random() % (static_cast<unsigned int>(Operation::atanh) + 1));
          // mostly what is new, so that values die
          const auto operand = [&] {
            const unsigned int n = w.tape.n_registers();
            return static_cast<std::uint16_t>(random() % 4 == 0 ? random() % n : n - 1 - random() % std::min(n, 12u));
          };
          const std::uint16_t a = operand(), b = operation < Operation::negate ? operand() : a;
          w.apply(operation, a, b);
        }
      for (unsigned int o = 0; o < n_outputs; ++o)
        w.tape.outputs.push_back(static_cast<std::uint16_t>(random() % w.tape.n_registers()));
      return w.tape;
    }

    KineticsChoice expressions(const ExpressionTape &tape, double gamma)
    {
      return {"expressions", {}, gamma, tape};
    }

    bool same_bits(double a, double b)
    {
      return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(a)) == 0;
    }
  } // namespace

  TEST(CompactTape, ComputesWhatTheTapeComputes)
  {
    std::mt19937 random(7);
    int          n_compact = 0;
    for (int round = 0; round < 400; ++round)
      {
        const ExpressionTape tape = random_tape(random, 1 + random() % 4, 1 + random() % 200, 1 + random() % 20);
        if (!CompactTape::why_not(tape).empty())
          continue;
        ++n_compact;
        const int         n_first = static_cast<int>(random() % (tape.outputs.size() + 1)), n = static_cast<int>(tape.outputs.size());
        const CompactTape compact(tape, n_first);
        EXPECT_LE(compact.n_first_instructions, compact.n_instructions);
        for (int point = 0; point < 5; ++point)
          {
            std::array<double, 4> inputs{};
            for (double &x : inputs)
              x = static_cast<double>(random() % 1000) / 400.;
            std::vector<double> expected(tape.outputs.size());
            tape.evaluate(1, inputs.data(), expected.data());
            for (const auto &[n_instructions, n_outputs] : {std::pair(compact.n_instructions, n), std::pair(compact.n_first_instructions, n_first)})
              {
                std::array<double, CompactTape::max_registers> registers{};
                std::copy_n(inputs.begin(), tape.n_inputs, registers.begin());
                compact.execute(n_instructions, registers.data());
                for (int o = 0; o < n_outputs; ++o)
                  EXPECT_TRUE(same_bits(compact.operand(registers.data(), compact.outputs[o]), expected[o])) << "round " << round << ", output " << o;
              }
          }
      }
    EXPECT_GT(n_compact, 200);
  }

  TEST(CompactTape, SaysWhatIsTooLong)
  {
    TapeWriter    longest(1, {2.});
    std::uint16_t x = 0;
    for (int i = 0; i < CompactTape::max_instructions; ++i)
      x = longest.times(x, longest.constant(0));
    longest.tape.outputs = {x, x};
    EXPECT_EQ(CompactTape::why_not(longest.tape), "");
    EXPECT_EQ(expressions(longest.tape, 1.).why_not(), "");
    x                    = longest.times(x, x);
    longest.tape.outputs = {x, x};
    EXPECT_NE(CompactTape::why_not(longest.tape).find("257 operations"), std::string::npos);
    EXPECT_THROW(CompactTape(longest.tape, 1), InvalidInput);
    EXPECT_THROW(expressions(longest.tape, 1.).validate(), InvalidInput);

    const TapeWriter constants(1, Vector(65, 1.));
    EXPECT_NE(CompactTape::why_not(constants.tape).find("65 constants"), std::string::npos);

    TapeWriter    wide(1, {});
    std::uint16_t sum = 0;
    for (int i = 0; i < 60; ++i)
      wide.apply(Operation::exp, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(i));
    for (int i = 1; i <= 60; ++i) // all of them are needed up to here
      sum = wide.add(sum, static_cast<std::uint16_t>(i));
    wide.tape.outputs = {sum};
    EXPECT_NE(CompactTape::why_not(wide.tape).find("to be kept at a time, more than 48"), std::string::npos) << CompactTape::why_not(wide.tape);

    EXPECT_NE(expressions(schnakenberg_and(5), 1.).why_not().find("7 species"), std::string::npos);
    ExpressionTape short_of_outputs = schnakenberg_and(1);
    short_of_outputs.outputs.pop_back();
    EXPECT_NE(expressions(short_of_outputs, 1.).why_not().find("11 values"), std::string::npos);
    StepperOptions options;
    options.kinetics  = expressions(schnakenberg_and(1), 1.);
    options.diffusion = {1., 10., 1.};
    options.validate();
    options.diffusion = {1., 10.};
    EXPECT_THROW(options.validate(), InvalidInput);
  }

  class ReactionDiffusionTape : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusionTape, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

  TEST_P(ReactionDiffusionTape, SchnakenbergAsExpressionsIsTheBuiltInOne)
  {
    for (const int dim : {2, 3})
      for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
        for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
          for (const bool persistent : {true, false})
            {
              const NodeGrid grid             = dim == 2 ? unit_grid(33, 2) : unit_grid(9, 3);
              StepperOptions built_in         = fixed_steps(GetParam(), scheme, 1e-4);
              built_in.n_threads              = 1; // reproducible
              built_in.persistent             = persistent;
              built_in.stepping.linear_method = method;
              StepperOptions options          = built_in;
              options.kinetics                = expressions(schnakenberg_and(0), built_in.kinetics.gamma);
              const Vector u                  = smooth_fields(grid);
              const double bound              = GetParam() == Backend::cuda ? 1e-9 : 1e-14; // a GPU's sweeps do not repeat themselves
              EXPECT_LT(largest_difference(solution_at(grid, options, u, 5e-4), solution_at(grid, built_in, u, 5e-4)), bound)
                << dim << "D, scheme " << static_cast<int>(scheme) << ", method " << static_cast<int>(method);
            }
  }

  TEST_P(ReactionDiffusionTape, ErrorControlAndTheBoundAreThoseOfTheBuiltInOne)
  {
    const NodeGrid grid = unit_grid(21, 2);
    const Vector   u    = smooth_fields(grid);
    for (const bool bound : {false, true})
      {
        StepperOptions built_in            = fixed_steps(GetParam(), bound ? Scheme::bdf2 : Scheme::imex_bdf2, 1e-5);
        built_in.stepping.error_controlled = !bound;
        built_in.stepping.bound_fraction   = bound ? 0.5 : 0.;
        StepperOptions options             = built_in;
        options.kinetics                   = expressions(schnakenberg_and(0), built_in.kinetics.gamma);
        Totals       one, two;
        const Vector a = solution_at(grid, built_in, u, 0.02, &one), b = solution_at(grid, options, u, 0.02, &two);
        EXPECT_NEAR(static_cast<double>(one.steps), static_cast<double>(two.steps), 1.);
        EXPECT_LT(largest_difference(a, b), 1e-6);
      }
  }

  TEST_P(ReactionDiffusionTape, AnyNumberOfSpeciesStepsAsTheDirectSolver)
  {
    for (const unsigned int n : {1u, 3u, 4u})
      for (const Scheme scheme : {Scheme::implicit_euler, Scheme::bdf2, Scheme::imex_bdf2})
        for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
          {
            const NodeGrid grid            = unit_grid(19, 2);
            StepperOptions options         = fixed_steps(GetParam(), scheme, 1e-3);
            options.kinetics               = expressions(n == 1 ? logistic(1) : schnakenberg_and(n - 2), 20.);
            options.diffusion              = n == 1 ? Vector{0.5} : n == 3 ? Vector{1., 10., 0.1} : Vector{1., 10., 0.1, 3.};
            options.stepping.linear_method = method;
            StepperOptions oracle          = options;
            oracle.backend                 = Backend::reference;
            Vector       u                 = smooth_fields(grid);
            const Vector first(u.begin(), u.begin() + grid.n_nodes());
            u.resize(n * grid.n_nodes(), 0.5);
            if (n == 4)
              std::copy(first.begin(), first.end(), u.end() - grid.n_nodes());
            const Vector found = solution_at(grid, options, u, 0.01);
            EXPECT_LT(largest_difference(found, solution_at(grid, oracle, u, 0.01)), 1e-8) << n << " species, scheme " << static_cast<int>(scheme);
            if (n > 1) // the first two do not see the others
              {
                StepperOptions two = oracle;
                two.kinetics       = {"Schnakenberg", {0.126779, 0.792366}, 20.};
                two.diffusion      = {1., 10.};
                const Vector alone = solution_at(grid, two, Vector(u.begin(), u.begin() + 2 * grid.n_nodes()), 0.01);
                EXPECT_LT(largest_difference(Vector(found.begin(), found.begin() + 2 * grid.n_nodes()), alone), 1e-8);
              }
          }
  }
} // namespace leopard::reaction_diffusion
