// SPDX-License-Identifier: Apache-2.0
// The linear solver of long time steps: modes of the Laplacian, the mean reaction, GCR, and steps that grow without
// bound near a steady state.
#include "../solvers/block_async_test.h"

#include <applications/reaction_diffusion/host/host_grid.h>
#include <applications/reaction_diffusion/host/host_multigrid.h>
#include <applications/reaction_diffusion/stepper.h>

#include <limits>
#include <random>

namespace leopard::reaction_diffusion
{
  namespace
  {
    NodeGrid grid_of(std::array<int, 3> n, bool periodic_in_x = false)
    {
      NodeGrid grid;
      grid.n           = n;
      grid.periodic[0] = periodic_in_x;
      grid.spacing     = {1. / (n[0] - 1), 1. / (n[1] - 1), n[2] > 1 ? 1. / (n[2] - 1) : 1.};
      return grid;
    }

    /** 17 x 17 nodes cost 7 percent more cycles, and a solve on 129 x 129 more than all else of a cycle. */
    TEST(CoarsestGrid, IsSmallAndStillHasTheReaction)
    {
      const auto n = [](int finest, double diffusion, double rate) {
        const std::vector<GridLevel> levels = make_levels(grid_of({finest, finest, 1}));
        return levels[coarsest_level(levels, diffusion, rate)].n[0];
      };
      for (const int finest : {257, 1025}) // Schnakenberg, gamma = 1000
        EXPECT_EQ(n(finest, 1., 1.5 * 724.), 33);
      EXPECT_EQ(n(257, 1., 1e5), 33) << "the reaction outweighs diffusion on 257 x 257 already";
    }

    NodeSystem<Schnakenberg> schnakenberg()
    {
      NodeSystem<Schnakenberg> system{};
      system.kinetics     = {0.126779, 0.792366};
      system.gamma        = 1000.;
      system.diffusion[0] = 1.;
      system.diffusion[1] = 10.;
      system.omega        = 1.;
      return system;
    }

    /** Makes A of a level the Jacobian at u(node, field), and its right-hand side random. */
    template <typename Values>
    void linearize(HostLevel<Schnakenberg> &level, const NodeSystem<Schnakenberg> &system, double implicit, const Values &u)
    {
      std::mt19937                     generator(7);
      std::uniform_real_distribution<> random(-1., 1.);
      for (double &b : level.rhs)
        b = random(generator);
      level.for_nodes([&](const auto &node, int /*piece*/) {
        const NodeRow row     = node.row();
        const double  here[2] = {u(node.i, 0), u(node.i, 1)};
        double        r[2], block[4];
        system.kinetics.evaluate(here, {}, r, block);
        for (int e = 0; e < 4; ++e)
          block[e] = (e % 3 == 0 ? 1. + implicit * system.diffusion[e / 3] * row.diagonal : 0.) - implicit * system.gamma * block[e];
        level.set_block(system, implicit, node, row, block, true);
      });
    }

    template <typename Values>
    HostLevel<Schnakenberg> linearized_level(const GridLevel &grid, const NodeSystem<Schnakenberg> &system, double implicit, const Values &u)
    {
      HostLevel<Schnakenberg> level(grid, true, true, 2);
      linearize(level, system, implicit, u);
      return level;
    }

    double norm(const Vector &v)
    {
      return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.));
    }

    double relative_residual(HostLevel<Schnakenberg> &level, const NodeSystem<Schnakenberg> &system, double implicit, const Vector &b)
    {
      level.rhs = b;
      compute_residual(level, system, implicit);
      return norm(level.residual) / norm(b);
    }
  } // namespace

  TEST(ReactionDiffusionModes, DiagonalizeTheLaplacianOfUnevenAndPeriodicGridsToo)
  {
    std::vector<NodeGrid> grids;
    for (const int n : {1, 2, 5, 12, 33})
      grids.push_back(grid_of({n == 1 ? 2 : n, 2, n == 1 ? 1 : 3}));
    for (const int n : {3, 4, 5, 6, 13})
      grids.push_back(grid_of({n, 3, 1}, true));
    for (const NodeGrid &grid : grids)
      for (const GridLevel &level : make_levels(grid))
        for (const Axis &axis : level.axis)
          {
            const AxisModes   modes    = make_modes(axis);
            const std::size_t size     = axis.lower.size();
            double            smallest = std::numeric_limits<double>::infinity(); // diagonal
            Vector            laplace(size * size, 0.);
            for (int i = 0; i < axis.n(); ++i)
              {
                const double diagonal = axis.lower[i] + axis.upper[i];
                smallest              = std::min(smallest, diagonal);
                laplace[i * size + i] += diagonal;
                if (axis.lower[i] > 0.)
                  laplace[i * size + axis.around(i - 1)] -= axis.lower[i];
                if (axis.upper[i] > 0.)
                  laplace[i * size + axis.around(i + 1)] -= axis.upper[i];
              }
            for (std::size_t i = 0; i < size; ++i)
              for (std::size_t j = 0; j < size; ++j)
                {
                  double identity = 0., found = 0.;
                  for (std::size_t k = 0; k < size; ++k)
                    {
                      const double product = modes.from_modes[k * size + i] * modes.to_modes[j * size + k];
                      identity += product;
                      found += product * modes.eigenvalue[k];
                    }
                  EXPECT_NEAR(identity, i == j ? 1. : 0., 1e-12);
                  EXPECT_NEAR(found, laplace[i * size + j], 1e-11 * std::max(1., smallest)) << size;
                }
          }
  }

  TEST(ReactionDiffusionModes, TheMeanReactionIsSolvedExactlyWhereItIsTheReaction)
  {
    const auto   system   = schnakenberg();
    const double implicit = 0.02;
    for (const std::array<int, 3> n : {std::array<int, 3>{17, 12, 1}, {9, 6, 7}})
      {
        auto         level = linearized_level(make_levels(grid_of(n)).front(), system, implicit, [](long, int c) { return c == 0 ? 0.92 : 0.94; });
        const Vector b     = level.rhs;
        MeanReaction<Schnakenberg> mean;
        mean.allocate(level);
        mean.set_up(system, implicit, level);
        mean.solve(system, implicit, level, level.rhs);
        EXPECT_LT(relative_residual(level, system, implicit, b), 1e-9);
      }
  }

  TEST(ReactionDiffusionModes, GcrWithTheMeanReactionNeedsFewIterations)
  {
    const auto   system   = schnakenberg();
    const double implicit = 0.01; // sweeps hardly converge any more
    const auto   spots    = [](long i, int c) {
      const double x = static_cast<double>(i % 33) / 32., y = static_cast<double>(i / 33) / 32.;
      return c == 0 ? 0.95 + 0.4 * std::cos(4. * M_PI * x) * std::cos(5. * M_PI * y) : 0.92 - 0.1 * std::cos(4. * M_PI * x) * std::cos(5. * M_PI * y);
    };
    auto                       level = linearized_level(make_levels(grid_of({33, 33, 1})).front(), system, implicit, spots);
    const Vector               b     = level.rhs;
    MeanReaction<Schnakenberg> mean;
    mean.allocate(level);
    mean.set_up(system, implicit, level);
    for (const int n_directions : {30, 6})
      {
        level.rhs = b;
        level.clear();
        LevelGcr<HostLevel<Schnakenberg>> gcr;
        gcr.allocate(level, n_directions);
        const int iterations = gcr.solve(system, implicit, level, level.rhs, 1e-3, 500, [&] { mean.solve(system, implicit, level, level.rhs); });
        EXPECT_LE(iterations, 15);
        const Vector claimed = level.rhs;
        EXPECT_LE(norm(claimed), 1.0001e-3 * norm(b));
        EXPECT_LT(relative_residual(level, system, implicit, b), 1.1e-3) << "the residual that GCR keeps is the true one";
      }
  }

  /**
   * One cycle on two grids from d = 0, with a right-hand side of all frequencies: 0.3, and without one of its sweeps
   * 0.45.
   */
  TEST(ReactionDiffusionModes, ACycleReducesTheResidual)
  {
    const auto   system   = schnakenberg();
    const double implicit = 1e-3;
    for (const int n : {65, 66, 100})
      {
        StepperOptions options;
        options.n_threads = 2;
        HostGrid<Schnakenberg> grids(make_levels(grid_of({n, n, 1})), system, options, nullptr);
        for (int l = 0; l < 2; ++l)
          linearize(*grids.levels[l], system, implicit, [](long, int c) { return c == 0 ? 0.92 : 0.94; });
        grids.set_coarsest(1);
        HostLevel<Schnakenberg> &finest = *grids.levels[0];
        const Vector             b      = finest.rhs;
        finest.clear();
        HostMultigrid<HostGrid<Schnakenberg>>::cycle(grids, implicit, CycleType::v);
        EXPECT_LT(relative_residual(finest, system, implicit, b), 0.36) << n;
      }
  }

  class ReactionDiffusionLongSteps : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, ReactionDiffusionLongSteps, testing::Values(Backend::host, Backend::cuda), backend_name);

  TEST_P(ReactionDiffusionLongSteps, StepsGrowWithoutBoundNearASteadyState)
  {
    for (const int n : {33, 100}) // one grid, several grids
      {
        const NodeGrid grid = grid_of({n, n, 1});
        StepperOptions options;
        options.backend                   = GetParam();
        options.n_threads                 = 2;
        options.stepping.step_size        = 1e-4;
        options.stepping.error_tolerance  = 1e-3;
        options.stepping.newton_tolerance = 1e-6;
        Vector u(2 * grid.n_nodes());
        for (long i = 0; i < grid.n_nodes(); ++i)
          {
            const double x = static_cast<double>(i % n) / (n - 1), y = static_cast<double>(i / n) / (n - 1);
            double       p = 0.0016 * std::cos(2. * M_PI * (x + y)); // thesis, section 4.14.2.2
            for (int j = 1; j <= 8; ++j)
              p += 0.001 * std::cos(2. * M_PI * j * x);
            u[i]                  = 0.919145 + p;
            u[grid.n_nodes() + i] = 0.937903 + p;
          }
        Stepper stepper(grid, options);
        stepper.start(u.data());
        ASSERT_EQ(stepper.advance(3., 1000, 1e-9), StopReason::time_reached);
        const Totals before = stepper.totals();
        ASSERT_EQ(stepper.advance(3000., 1000, 1e-6), StopReason::time_reached);
        const Totals after = stepper.totals();
        EXPECT_LE(after.steps - before.steps, 60) << "each step may be 1.6 times as long as the one before";
        EXPECT_LE((after.rejected - before.rejected).total(), 1);
        EXPECT_LE(after.cycles - before.cycles, 15 * (after.newton_steps - before.newton_steps));
        EXPECT_LT(stepper.last_step().rate_of_change, 1e-9);
        stepper.solution(u.data());
        const auto range = std::minmax_element(u.begin(), u.begin() + grid.n_nodes());
        EXPECT_LT(*range.first, 0.7) << "there is a pattern";
        EXPECT_GT(*range.second, 1.4);
      }
  }

  /**
   * Directions in which nodes are close are coarsened first: with all at once cells of 1 : 8 take six times as many.
   */
  TEST_P(ReactionDiffusionLongSteps, LongCellsAndThinLayersTakeAsFewCyclesAsSquares)
  {
    const auto cycles_a_solve = [&](const std::array<int, 3> &n, const std::array<double, 3> &spacing) {
      NodeGrid grid;
      grid.n       = n;
      grid.spacing = spacing;
      StepperOptions options;
      options.backend                   = GetParam();
      options.n_threads                 = 2;
      options.stepping.scheme           = Scheme::implicit_euler;
      options.stepping.error_controlled = false;
      options.stepping.step_size        = 5e-3;
      options.stepping.newton_tolerance = 1e-8;
      options.stepping.linear_method    = LinearMethod::multigrid;
      options.kinetics.gamma            = 10.;
      const long n_nodes                = grid.n_nodes();
      Vector     u(2 * n_nodes);
      for (long i = 0; i < n_nodes; ++i)
        {
          u[i]           = 0.92 + 0.004 * static_cast<double>(i * 7919 % 13);
          u[n_nodes + i] = 0.94 - 0.004 * static_cast<double>(i * 104729 % 17);
        }
      Stepper stepper(grid, options);
      stepper.start(u.data());
      EXPECT_EQ(stepper.advance(0.025, 100, 5e-3), StopReason::time_reached);
      return static_cast<double>(stepper.totals().cycles) / static_cast<double>(stepper.totals().newton_steps);
    };
    const double h = 1. / 64., of_squares = cycles_a_solve({65, 65, 1}, {h, h, 1.});
    EXPECT_LE(cycles_a_solve({65, 65, 1}, {h, h / 4., 1.}), 1.5 * of_squares);
    EXPECT_LE(cycles_a_solve({65, 66, 1}, {h, 8. * h, 1.}), 1.5 * of_squares);
    EXPECT_LE(cycles_a_solve({200, 4, 1}, {h, h, 1.}), 1.5 * of_squares);
    EXPECT_LE(cycles_a_solve({2, 300, 1}, {h, h / 2., 1.}), 1.5 * of_squares);
    const double of_cubes = cycles_a_solve({21, 21, 21}, {h, h, h});
    EXPECT_LE(cycles_a_solve({21, 20, 21}, {h, h, h / 4.}), 1.5 * of_cubes);
    EXPECT_LE(cycles_a_solve({40, 40, 3}, {h, h, h / 8.}), 1.5 * of_cubes);
    EXPECT_LE(cycles_a_solve({4, 3, 90}, {h, h / 2., 4. * h}), 1.5 * of_cubes);
  }

  /** W and F come to the coarse levels with a better solution: as accurate, with 0.7 times the cycles or so. */
  TEST_P(ReactionDiffusionLongSteps, CyclesMayBeVOrWOrF)
  {
    const NodeGrid grid    = grid_of({129, 129, 1}); // 7 grids, 4 levels as a mesh
    const long     n_nodes = grid.n_nodes();
    Vector         initial(2 * n_nodes);
    for (long i = 0; i < n_nodes; ++i)
      {
        const double x = static_cast<double>(i % 129) / 128., y = static_cast<double>(i / 129) / 128.;
        initial[i]           = 0.92 + 0.1 * std::cos(M_PI * x) + 0.004 * static_cast<double>(i * 7919 % 13);
        initial[n_nodes + i] = 0.94 - 0.1 * std::cos(M_PI * y);
      }
    for (const bool as_mesh : {false, true})
      {
        Vector expected;
        long   cycles_of_v = 0;
        for (const CycleType cycle : {CycleType::v, CycleType::w, CycleType::f})
          {
            SCOPED_TRACE((as_mesh ? "mesh, " : "grid, ") + to_string(cycle));
            StepperOptions options;
            options.backend                   = GetParam();
            options.n_threads                 = 2;
            options.cycle                     = cycle;
            options.kinetics.gamma            = 1.;
            options.stepping.scheme           = Scheme::implicit_euler;
            options.stepping.error_controlled = false;
            options.stepping.step_size        = 0.1;
            options.stepping.newton_tolerance = 1e-8;
            options.stepping.linear_method    = LinearMethod::multigrid;
            const auto stepper = as_mesh ? std::make_unique<Stepper>(laplacian_of(grid), options) : std::make_unique<Stepper>(grid, options);
            stepper->start(initial.data());
            ASSERT_EQ(stepper->advance(0.5, 100, 0.05), StopReason::time_reached);
            EXPECT_TRUE(stepper->has_multigrid());
            EXPECT_NE(stepper->description().find(to_string(cycle) + "-cycles on "), std::string::npos) << stepper->description();
            Vector u(2 * n_nodes);
            stepper->solution(u.data());
            if (cycle == CycleType::v)
              {
                expected    = u;
                cycles_of_v = stepper->totals().cycles;
                continue;
              }
            EXPECT_LT(largest_difference(u, expected), 1e-6);
            EXPECT_LT(stepper->totals().cycles, cycles_of_v);
          }
      }
  }
} // namespace leopard::reaction_diffusion
