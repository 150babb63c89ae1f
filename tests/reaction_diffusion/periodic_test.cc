// SPDX-License-Identifier: Apache-2.0
// Grids that are periodic, in one direction or in all, with even and odd numbers of nodes.
#include "reaction_diffusion_test.h"

#include <solvers/base/errors.h>

#include <algorithm>
#include <numeric>

namespace leopard::reaction_diffusion
{
  namespace
  {
    std::vector<NodeGrid> periodic_grids()
    {
      return {box_grid(16, 12, 1, {true, true, false}),
              box_grid(13, 9, 1, {true, true, false}),
              box_grid(10, 15, 1, {true, false, false}),
              box_grid(15, 4, 1, {false, true, false}),
              box_grid(8, 7, 6, {true, true, true}),
              box_grid(5, 6, 9, {false, false, true})};
    }

    /** Fields that have no symmetry and are as smooth across the ends as elsewhere. */
    Vector periodic_fields(const NodeGrid &grid, const std::array<int, 3> &shift = {})
    {
      const long n = grid.n_nodes();
      Vector     u(2 * n);
      for (long i = 0; i < n; ++i)
        {
          const std::array<long, 3> place = {i % grid.n[0], i / grid.n[0] % grid.n[1], i / grid.n[0] / grid.n[1]};
          double                    angle[3];
          for (int d = 0; d < 3; ++d)
            angle[d] = 2. * M_PI * static_cast<double>((place[d] + shift[d]) % grid.n[d]) / grid.n[d];
          u[i]     = 0.92 + 0.1 * std::sin(angle[0]) * std::cos(2. * angle[1] + 0.3) * std::cos(angle[2] + 0.5);
          u[n + i] = 0.94 - 0.1 * std::cos(2. * angle[0] + 0.7) * std::sin(angle[1]);
        }
      return u;
    }
  } // namespace

  TEST(PeriodicGrid, TransfersKeepConstantsAndIntegrals)
  {
    for (const int n : {4, 5, 6, 7, 8, 9, 100, 129})
      {
        const auto levels = make_levels(box_grid(n, 5, 1, {true, false, false}));
        EXPECT_LE(levels.back().n[0], 3);
        EXPECT_GE(levels.back().n[0], 2);
        for (std::size_t l = 0; l + 1 < levels.size(); ++l)
          {
            const Axis &fine = levels[l].axis[0], &coarse = levels[l + 1].axis[0];
            if (fine.n() == coarse.n())
              continue;
            EXPECT_EQ(coarse.n(), (fine.n() + 1) / 2);
            Vector restricted(fine.n(), 0.), weight(fine.n(), 0.);
            double length = 0., coarse_length = 0.;
            for (int j = 0; j < coarse.n(); ++j)
              {
                double sum = 0.;
                for (int k = 0; k < 3; ++k)
                  {
                    sum += fine.restriction[3 * j + k];
                    restricted[fine.around(fine.fine_node[j] + k - 1)] += coarse.weight[j] * fine.restriction[3 * j + k];
                  }
                EXPECT_NEAR(sum, 1., 1e-13) << n;
                coarse_length += coarse.weight[j];
              }
            for (int i = 0; i < fine.n(); ++i)
              {
                EXPECT_NEAR(restricted[i], fine.weight[i], 1e-13) << "the integral of any function, " << n;
                length += fine.weight[i];
              }
            EXPECT_NEAR(length, n, 1e-12 * n) << "of the whole circle";
            EXPECT_NEAR(coarse_length, n, 1e-12 * n);
          }
      }
  }

  /** Of 3 or 2 nodes: what they restrict is the mean over their cells, and all take the value of the one. */
  TEST(PeriodicGrid, ThinDirectionsGoDownToOneNode)
  {
    for (const bool periodic : {false, true})
      for (const int n : {2, 3, 4, 5, 6})
        {
          if (periodic && n < 3)
            continue;
          NodeGrid grid     = box_grid(200, n, 1, {false, periodic, false});
          grid.spacing      = {1., 0.3, 1.};
          const auto levels = make_levels(grid);
          EXPECT_EQ(levels.back().n[1], 1) << n;
          EXPECT_LE(levels.back().n[0], 3) << n;
          Vector weights; // of the finest grid's nodes in what the coarsest has
          for (std::size_t l = levels.size() - 1; l > 0; --l)
            {
              const Axis  &fine = levels[l - 1].axis[1], &coarse = levels[l].axis[1];
              const Vector of_coarse = l + 1 == levels.size() ? Vector{1.} : weights;
              weights.assign(fine.n(), 0.);
              for (int j = 0; j < coarse.n(); ++j)
                for (int k = 0; k < 3; ++k)
                  if (const double w = fine.restriction[3 * j + k]; w != 0.)
                    weights[fine.periodic ? fine.around(fine.fine_node[j] + k - 1) : fine.fine_node[j] + k - 1] += of_coarse[j] * w;
              for (int i = 0; i < fine.n() && coarse.n() == 1; ++i)
                {
                  EXPECT_EQ(fine.interpolation[i], 1.);
                  EXPECT_EQ(fine.coarse_node[i], 0);
                }
            }
          const Vector &cells = levels[0].axis[1].weight;
          const double  whole = std::accumulate(cells.begin(), cells.end(), 0.);
          for (int i = 0; i < n; ++i)
            EXPECT_NEAR(weights[i], cells[i] / whole, 1e-13) << n << (periodic ? ", periodic" : "");
        }
  }

  TEST(PeriodicGrid, InterpolationIsLinearAcrossTheEndsToo)
  {
    for (const int n : {4, 7, 12, 33})
      {
        const auto  levels = make_levels(box_grid(n, 5, 1, {true, false, false}));
        const Axis &fine = levels[0].axis[0], &coarse = levels[1].axis[0];
        for (int i = 0; i < n; ++i)
          {
            const int    j = fine.coarse_node[i], next = coarse.around(j + 1);
            const double here = fine.fine_node[j], there = next > j ? fine.fine_node[next] : n;
            EXPECT_NEAR(fine.interpolation[i] * here + (1. - fine.interpolation[i]) * there, i, 1e-12);
          }
      }
  }

  class PeriodicGridOnBackends : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, PeriodicGridOnBackends, testing::Values(Backend::host, Backend::cuda), backend_name);

  TEST_P(PeriodicGridOnBackends, StepsAsTheDirectSolver)
  {
    for (const NodeGrid &grid : periodic_grids())
      for (const Scheme scheme : multistep_schemes())
        for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
          {
            const double   dt      = std::min(2e-3, 0.5 * grid.spacing[0] * grid.spacing[0]);
            StepperOptions options = fixed_steps(GetParam(), scheme, dt), oracle = fixed_steps(Backend::reference, scheme, dt);
            options.stepping.linear_method = method;
            oracle.stepping.newton_floor   = 1e-14;
            const Vector u                 = periodic_fields(grid);
            EXPECT_LT(largest_difference(solution_at(grid, options, u, 10. * dt), solution_at(grid, oracle, u, 10. * dt)), 1e-9)
              << grid.n[0] << " " << grid.n[1] << " " << grid.n[2] << ", scheme " << static_cast<int>(scheme) << ", method "
              << static_cast<int>(method);
          }
  }

  /** Where the numbering begins is of no matter. */
  TEST_P(PeriodicGridOnBackends, ShiftsWithTheInitialValues)
  {
    for (const NodeGrid &grid : periodic_grids())
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          StepperOptions options         = fixed_steps(GetParam(), Scheme::bdf2, 1e-3);
          options.stepping.linear_method = method;
          std::array<int, 3> shift       = {};
          for (int d = 0; d < 3; ++d)
            shift[d] = grid.periodic[d] ? 3 : 0;
          const Vector plain   = solution_at(grid, options, periodic_fields(grid), 0.02),
                       shifted = solution_at(grid, options, periodic_fields(grid, shift), 0.02);
          const long n         = grid.n_nodes();
          Vector     back(2 * n); // the plain fields in the places of the shifted ones
          for (long i = 0; i < n; ++i)
            {
              const long x = (i % grid.n[0] + shift[0]) % grid.n[0], y = (i / grid.n[0] % grid.n[1] + shift[1]) % grid.n[1],
                         z = (i / grid.n[0] / grid.n[1] + shift[2]) % grid.n[2], there = (z * grid.n[1] + y) * grid.n[0] + x;
              for (int c = 0; c < 2; ++c)
                back[c * n + i] = plain[c * n + there];
            }
          EXPECT_LT(largest_difference(shifted, back), 1e-8) << grid.n[0] << " " << grid.n[1] << " " << grid.n[2];
        }
  }

  TEST_P(PeriodicGridOnBackends, LongStepsTakeAsFewCyclesAsBetweenWalls)
  {
    for (const std::array<int, 3> &n : {std::array<int, 3>{96, 96, 1}, {95, 77, 1}, {20, 20, 24}})
      {
        const auto cycles_a_step = [&](const std::array<bool, 3> &periodic) {
          const NodeGrid grid            = box_grid(n[0], n[1], n[2], periodic);
          StepperOptions options         = fixed_steps(GetParam(), Scheme::implicit_euler, 5e-3);
          options.stepping.linear_method = LinearMethod::multigrid;
          Totals totals;
          solution_at(grid, options, periodic_fields(grid), 0.05, &totals);
          return static_cast<double>(totals.cycles) / static_cast<double>(totals.steps);
        };
        EXPECT_LE(cycles_a_step({true, true, n[2] > 1}), cycles_a_step({}) + 2.) << n[0];
      }
  }

  TEST(PeriodicGrid, DoesNotDependOnTheThreads)
  {
    for (const NodeGrid &grid : {box_grid(110, 80, 1, {true, true, false}), box_grid(111, 81, 1, {true, true, false})})
      {
        const auto end = [&](int n_threads) {
          StepperOptions options = fixed_steps(Backend::host, Scheme::implicit_euler, 1e-4);
          options.n_threads      = n_threads;
          return solution_at(grid, options, periodic_fields(grid), 4e-4);
        };
        EXPECT_LT(largest_difference(end(1), end(3)), 1e-8);
      }
  }

  TEST_P(PeriodicGridOnBackends, MassStays)
  {
    for (const NodeGrid &grid : periodic_grids())
      {
        StepperOptions options = fixed_steps(GetParam(), Scheme::bdf2, 1e-2);
        TapeWriter     w(2, {0.});
        w.tape.outputs.assign(6, w.constant(0)); // no reaction
        options.kinetics                  = {"expressions", {}, 1., w.tape};
        options.stepping.newton_tolerance = 1e-13;
        const GridLevel level             = make_levels(grid, false).front();
        const auto      mass              = [&](const Vector &u) {
          double sum = 0.;
          for (long i = 0; i < grid.n_nodes(); ++i)
            sum += u[i] * level.axis[0].weight[i % grid.n[0]] * level.axis[1].weight[i / grid.n[0] % grid.n[1]] *
                   level.axis[2].weight[i / grid.n[0] / grid.n[1]];
          return sum;
        };
        const Vector u = periodic_fields(grid);
        EXPECT_NEAR(mass(solution_at(grid, options, u, 0.2)), mass(u), 1e-9 * mass(u));
      }
  }

  class PeriodicGridOnGpu : public BackendTest
  {
  };
  INSTANTIATE_TEST_SUITE_P(Backends, PeriodicGridOnGpu, testing::Values(Backend::cuda), backend_name);

  /**
   * Grids that end in a tile of 64 x 32 or 32 x 8 x 8 nodes, or with one, or have one tile only: the host's fields, and
   * no more iterations than a smoother that knows no order of nodes at the ends explains.
   */
  TEST_P(PeriodicGridOnGpu, StepsAsOnTheHost)
  {
    for (const NodeGrid &grid : {box_grid(130, 67, 1, {true, true, false}),
                                 box_grid(128, 64, 1, {true, true, false}),
                                 box_grid(129, 33, 1, {true, false, false}),
                                 box_grid(64, 32, 1, {false, true, false}),
                                 box_grid(3, 40, 1, {true, true, false}),
                                 box_grid(33, 9, 16, {true, true, true}),
                                 box_grid(34, 17, 11, {true, false, true}),
                                 box_grid(20, 20, 9, {false, false, true})})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          const double h  = std::min({grid.spacing[0], grid.spacing[1], grid.spacing[2]});
          const double dt = method == LinearMethod::sweeps ? 0.2 * h * h : 5e-3;
          const Vector u  = periodic_fields(grid);
          Totals       totals[2];
          Vector       end[2];
          for (const bool on_gpu : {false, true})
            {
              StepperOptions options         = fixed_steps(on_gpu ? Backend::cuda : Backend::host, Scheme::implicit_euler, dt);
              options.n_threads              = 1;
              options.stepping.linear_method = method;
              end[on_gpu]                    = solution_at(grid, options, u, 5. * dt, &totals[on_gpu]);
            }
          SCOPED_TRACE(std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) + ", " +
                       (method == LinearMethod::sweeps ? "sweeps" : "multigrid"));
          EXPECT_LT(largest_difference(end[0], end[1]), 1e-8);
          EXPECT_LE(totals[1].cycles, 1.3 * totals[0].cycles);
          EXPECT_LE(totals[1].sweeps, 1.3 * totals[0].sweeps);
          EXPECT_GT(totals[1].cycles + totals[1].sweeps, 0);
        }
  }

  /** They are stepped as grids, by a graph also where walls would have one cluster. */
  TEST_P(PeriodicGridOnGpu, SaysHowItIsStepped)
  {
    StepperOptions options         = fixed_steps(GetParam(), Scheme::implicit_euler, 1e-3);
    options.stepping.linear_method = LinearMethod::multigrid;
    const NodeGrid    grid         = box_grid(40, 40, 1, {true, true, false});
    const std::string cycles       = Stepper(grid, options).description();
    EXPECT_NE(cycles.find("V-cycles on 5 grids"), std::string::npos) << cycles;
    options.stepping.linear_method = LinearMethod::sweeps;
    const std::string sweeps       = Stepper(grid, options).description();
    EXPECT_NE(sweeps.find("2 tiles of 64 x 32 nodes, periodic (never in one cluster)"), std::string::npos) << sweeps;
  }
} // namespace leopard::reaction_diffusion
