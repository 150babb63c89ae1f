// SPDX-License-Identifier: Apache-2.0
// The time loop of reaction-diffusion systems with its grid shared out over ranks, against the same on one.
#include "../reaction_diffusion/noise_on.h"
#include "../solvers_distributed/ranks_test.h"
#include "way.h"

#include <applications/reaction_diffusion/host/host_grid.h>
#include <applications/reaction_diffusion/host/host_multigrid.h>
#include <applications/reaction_diffusion_mpi/make_grid_slabs.h>
#include <solvers/base/errors.h>

#include <algorithm>

namespace leopard::reaction_diffusion
{
  namespace
  {
    NodeGrid grid_of(std::array<int, 3> n)
    {
      NodeGrid grid;
      grid.n       = n;
      grid.spacing = {1. / (n[0] - 1), 1. / (n[0] - 1), 1. / (n[0] - 1)};
      return grid;
    }

    /** The rank's part of fields on the whole grid. */
    template <typename Number>
    std::vector<Number> own_part(const GridSlabs &slabs, const std::vector<Number> &whole)
    {
      const long plane = slabs.grid.is_flat() ? slabs.grid.n[0] : static_cast<long>(slabs.grid.n[0]) * slabs.grid.n[1], n = slabs.grid.n_nodes();
      std::vector<Number> part;
      for (long field = 0; field < static_cast<long>(whole.size()) / n; ++field)
        part.insert(
          part.end(), whole.begin() + field * n + slabs.first() * plane, whole.begin() + field * n + (slabs.first() + slabs.n_own()) * plane);
      return part;
    }

    NoiseChoice own_part(const GridSlabs &slabs, const NoiseChoice &whole)
    {
      NoiseChoice part = whole;
      if (!whole.acts())
        return part;
      part.places = std::make_shared<const std::vector<RoundedPlace>>(own_part(slabs, *whole.places));
      part.mass   = std::make_shared<const Vector>(own_part(slabs, *whole.mass));
      if (whole.by_node != nullptr)
        part.by_node = std::make_shared<const Vector>(own_part(slabs, *whole.by_node));
      return part;
    }

    class GridSlabsTest : public WayTest
    {
    protected:
      std::shared_ptr<GridSlabs> slabs_for(const NodeGrid &grid)
      {
        std::string why_not;
        auto        slabs = make_grid_slabs(grid, backend(), MPI_COMM_WORLD, why_not, GetParam().staged);
        EXPECT_EQ(why_not, "");
        EXPECT_EQ(slabs == nullptr, n_ranks() == 1);
        if (slabs != nullptr)
          slabs->share_above = 500; // of these small grids a coarser one, too
        return slabs;
      }

      /** Steps on all ranks and on one alone. */
      void compare(const NodeGrid &grid, StepperOptions options, const Vector &initial, double time, double bound, const std::string &what)
      {
        options.backend   = backend();
        options.n_threads = 2;
        const auto slabs  = slabs_for(grid);
        if (slabs == nullptr)
          GTEST_SKIP() << "one rank";
        Totals         whole_totals;
        StepperOptions on_host = options;
        on_host.backend        = Backend::host;
        const Vector whole     = solution_at(grid, on_host, initial, time, &whole_totals);

        options.noise = own_part(*slabs, options.noise);
        Stepper      stepper(grid, options, slabs);
        const Vector mine = own_part(*slabs, initial);
        ASSERT_EQ(stepper.n_nodes() * stepper.n_species(), static_cast<long>(mine.size()));
        stepper.start(mine.data());
        const double slack = options.stepping.error_controlled ? 1e-12 * time : 0.5 * options.stepping.step_size;
        EXPECT_EQ(stepper.advance(time, 100000, slack), StopReason::time_reached);
        Vector found(mine.size());
        stepper.solution(found.data());
        const Vector expected   = own_part(*slabs, whole);
        double       difference = 0.;
        for (std::size_t i = 0; i < found.size(); ++i)
          difference = larger_or_nan(difference, std::abs(found[i] - expected[i]));
        EXPECT_LT(difference, bound) << what;
        expect_same(stepper.time(), what);
        expect_same(static_cast<double>(stepper.totals().steps), what);
        expect_same(static_cast<double>(stepper.totals().sweeps + stepper.totals().cycles), what);
        expect_same(stepper.last_step().residual, what);
        EXPECT_LE(stepper.totals().worst_reduction, 1.);
        EXPECT_NEAR(static_cast<double>(stepper.totals().steps), static_cast<double>(whole_totals.steps), 1.) << what;
        // small grids are solved at once on one rank, and by cycles on two grids on several
        EXPECT_LE(static_cast<double>(stepper.totals().cycles), 2. * static_cast<double>(whole_totals.cycles) + 4.) << what;
      }
    };
    INSTANTIATE_TEST_SUITE_P(Ways, GridSlabsTest, all_ways, name_of_way);
  } // namespace

  TEST_P(GridSlabsTest, FixedStepsAreThoseOfOneRank)
  {
    int local_iterations = 1; // 1 and 3 in turn: each scheme with each method has 1 on one grid and 3 on the other
    for (const std::array<int, 3> n : {std::array<int, 3>{34, 132, 1}, {15, 9, 35}})
      {
        for (const Scheme scheme : multistep_schemes())
          {
            for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
              {
                const NodeGrid grid            = grid_of(n);
                StepperOptions options         = fixed_steps(backend(), scheme, 2e-4);
                options.stepping.linear_method = method;
                options.stepping.newton_floor  = 1e-13;
                options.local_iterations       = local_iterations;
                compare(grid,
                        options,
                        smooth_fields(grid),
                        8e-4,
                        1e-9,
                        std::to_string(n[2]) + " planes, scheme " + std::to_string(static_cast<int>(scheme)) + ", method " +
                          std::to_string(static_cast<int>(method)) + ", k = " + std::to_string(local_iterations));
                local_iterations = 4 - local_iterations;
              }
            local_iterations = 4 - local_iterations;
          }
      }
  }

  namespace
  {
    /**
     * What a cycle finds of random right-hand sides at the Jacobian at u. Both, and the result, are of the nodes of
     * `grids`, field by field.
     */
    Vector correction_of_a_cycle(HostGrid<Schnakenberg> &grids, std::size_t coarsest, CycleType type, const Vector &u, const Vector &rhs)
    {
      Controller c{};
      c.implicit   = 1e-2;
      auto &finest = *grids.levels[0];
      grids.for_places([&](long entry, long place) { finest.rhs[entry] = rhs[place]; });
      finest.for_nodes([&](const auto &node, int /*piece*/) {
        const NodeRow row     = node.row();
        const double  here[2] = {u[row.node], u[finest.n_own_nodes() + row.node]};
        double        rates[2], block[4];
        grids.system.kinetics.evaluate(here, {}, rates, block);
        for (int e = 0; e < 4; ++e)
          block[e] = (e % 3 == 0 ? 1. + c.implicit * grids.system.diffusion[e / 3] * row.diagonal : 0.) - c.implicit * grids.system.gamma * block[e];
        finest.set_block(grids.system, c.implicit, node, row, block, true);
      });
      grids.set_coarsest(coarsest);
      grids.linearize(NodeSystem<Schnakenberg>::Scheme(c), u.data());
      finest.clear();
      HostMultigrid<HostGrid<Schnakenberg>>::cycle(grids, c.implicit, type);
      Vector result(u.size());
      grids.for_places([&](long entry, long place) { result[place] = finest.d[entry]; });
      return result;
    }
  } // namespace

  TEST(GridSlabs, ACycleOfHostRanksHasTheBitsOfOneRank)
  {
    for (const std::array<int, 3> n : {std::array<int, 3>{34, 132, 1}, {15, 70, 1}, {9, 12, 64}})
      for (const CycleType type : {CycleType::v, CycleType::w})
        {
          const NodeGrid               grid  = grid_of(n);
          const std::vector<GridLevel> grids = make_levels(grid);
          std::string                  why_not;
          const auto                   slabs = make_grid_slabs(grid, Backend::host, MPI_COMM_WORLD, why_not);
          if (slabs == nullptr)
            GTEST_SKIP() << "one rank";
          slabs->share_above             = 100;
          const StepperOptions   options = fixed_steps(Backend::host, Scheme::implicit_euler, 1e-2);
          const auto             system  = make_node_system(Schnakenberg{0.126779, 0.792366}, options);
          HostGrid<Schnakenberg> whole(grids, system, options, nullptr), parts(grids, system, options, slabs.get());
          parts.connect();
          ASSERT_GE(parts.n_shared, 2u);
          EXPECT_LT(parts.levels[1]->n, whole.levels[1]->n) << "a coarse grid is shared out";
          const Vector u   = smooth_fields(grid, 0.3);
          Vector       rhs = u;
          for (std::size_t i = 0; i < rhs.size(); ++i)
            rhs[i] = std::sin(static_cast<double>(i * i % 10007));
          const Vector found    = correction_of_a_cycle(parts, parts.n_shared, type, own_part(*slabs, u), own_part(*slabs, rhs));
          const Vector expected = own_part(*slabs, correction_of_a_cycle(whole, parts.n_shared, type, u, rhs));
          EXPECT_EQ(found, expected) << n[1] << " x " << n[2];
        }
  }

  TEST_P(GridSlabsTest, NoiseIsThatOfOneRank)
  {
    for (const std::array<int, 3> n : {std::array<int, 3>{34, 132, 1}, {15, 9, 35}})
      for (const LinearMethod method : {LinearMethod::sweeps, LinearMethod::multigrid})
        {
          const NodeGrid grid            = grid_of(n);
          StepperOptions options         = fixed_steps(backend(), Scheme::implicit_euler, 2e-4);
          options.stepping.linear_method = method;
          options.stepping.newton_floor  = 1e-13;
          options.noise                  = multiplicative_noise(noise_on(grid, {}));
          compare(
            grid, options, smooth_fields(grid), 8e-4, 1e-9, std::to_string(n[2]) + " planes, method " + std::to_string(static_cast<int>(method)));
        }
  }

  TEST_P(GridSlabsTest, ErrorControlledStepsAreThoseOfOneRank)
  {
    for (const std::array<int, 3> n : {std::array<int, 3>{33, 129, 1}, {13, 12, 33}})
      {
        const NodeGrid grid = grid_of(n);
        for (const Scheme scheme : {Scheme::bdf2, Scheme::bdf3})
          {
            StepperOptions options            = fixed_steps(backend(), scheme, 1e-5);
            options.kinetics.gamma            = 300.;
            options.stepping.error_controlled = true;
            options.stepping.error_tolerance  = 1e-4;
            options.stepping.newton_tolerance = 1e-8;
            compare(grid,
                    options,
                    smooth_fields(grid, 0.02),
                    0.05,
                    1e-5,
                    std::to_string(n[2]) + " planes, scheme " + std::to_string(static_cast<int>(scheme)));
          }
      }
  }

  TEST_P(GridSlabsTest, StepsAtTheAsynchronousBoundAreThoseOfOneRank)
  {
    const NodeGrid grid               = grid_of({40, 130, 1});
    StepperOptions options            = fixed_steps(backend(), Scheme::bdf2, 1e-4);
    options.stepping.bound_fraction   = 0.9;
    options.stepping.error_controlled = false;
    options.stepping.step_size        = 1e-3;
    options.stepping.max_sweeps       = 20000;
    const auto slabs                  = slabs_for(grid);
    if (slabs == nullptr)
      GTEST_SKIP() << "one rank";
    Stepper      whole(grid, options), parts(grid, options, slabs);
    const Vector u = smooth_fields(grid), mine = own_part(*slabs, u);
    whole.start(u.data());
    parts.start(mine.data());
    for (int step = 0; step < 5; ++step)
      {
        whole.advance(10., 1, 0.);
        parts.advance(10., 1, 0.);
        EXPECT_NEAR(parts.last_step().bound / whole.last_step().bound, 1., 1e-6);
        EXPECT_NEAR(parts.last_step().step_size / whole.last_step().step_size, 1., 1e-6);
        expect_same(parts.last_step().bound, "the bound");
      }
  }

  TEST_P(GridSlabsTest, GoesOnAfterAResume)
  {
    const NodeGrid grid    = grid_of({33, 128, 1});
    const auto     slabs   = slabs_for(grid);
    const Vector   initial = smooth_fields(grid), mine = slabs != nullptr ? own_part(*slabs, initial) : initial;
    for (const Scheme scheme : {Scheme::bdf2, Scheme::bdf3})
      {
        const StepperOptions options = fixed_steps(backend(), scheme, 1e-4);
        Stepper              whole(grid, options, slabs);
        whole.start(mine.data());
        whole.advance(1e-3, 1000, 5e-5);
        const Stepper::State state = whole.state();
        std::vector<Vector>  solutions(state.step_sizes.size() + 1, Vector(mine.size()));
        for (std::size_t l = 0; l < solutions.size(); ++l)
          whole.solution(solutions[l].data(), static_cast<int>(l));
        Stepper second(grid, options, slabs_for(grid));
        second.resume(state, solutions);
        Vector one(mine.size()), two(mine.size());
        for (Stepper *stepper : {&whole, &second})
          stepper->advance(2e-3, 1000, 5e-5);
        whole.solution(one.data());
        second.solution(two.data());
        for (std::size_t i = 0; i < one.size(); ++i)
          ASSERT_NEAR(one[i], two[i], 1e-10) << "scheme " << static_cast<int>(scheme);
        EXPECT_EQ(whole.step_number(), 20);
        EXPECT_EQ(second.step_number(), 20);
      }
  }

  /** A graph where kernels bring values, and the host's loop where messages do. */
  TEST_P(GridSlabsTest, WhoFollowsTheLoopIsSaid)
  {
    const NodeGrid grid  = grid_of({34, 132, 1});
    const auto     slabs = slabs_for(grid);
    if (slabs == nullptr || backend() != Backend::cuda)
      GTEST_SKIP() << "one rank, or no GPU is asked for";
    const std::string said     = Stepper(grid, fixed_steps(backend(), Scheme::bdf2, 1e-4), slabs).description();
    const std::string messages = GetParam().staged ? "as asked for" : have_one_gpu() ? "ranks share a GPU" : "";
    EXPECT_NE(said.find(messages.empty() ? "kernels write" : "MPI messages, staged through host memory (" + messages + ")"), std::string::npos)
      << said;
    EXPECT_NE(said.find(messages.empty() ? "a CUDA graph" : "followed by the host"), std::string::npos) << said;
  }

  TEST(GridSlabs, ShareOutCoarserGridsToTheOwnersOfTheirPlanes)
  {
    for (const std::array<int, 3> n : {std::array<int, 3>{40, 131, 1}, {9, 12, 64}})
      for (const long share_above : {1l << 21, 500l, 60l})
        {
          const NodeGrid               grid  = grid_of(n);
          const std::vector<GridLevel> grids = make_levels(grid);
          const int                    d     = grid.is_flat() ? 1 : 2;
          GridSlabs                    slabs(grid, 0, 3, Backend::host, nullptr);
          slabs.share_above = share_above;
          const auto planes = slabs.shared_planes(grids);
          ASSERT_GE(planes.size(), 2u);
          for (std::size_t l = 0; l < planes.size(); ++l)
            {
              EXPECT_EQ(planes[l].front(), 0);
              EXPECT_EQ(planes[l].back(), grids[l].n[d]);
              for (int r = 0; l > 0 && r < 3; ++r)
                for (int j = planes[l][r]; j < planes[l][r + 1]; ++j)
                  {
                    const int fine = grids[l - 1].axis[d].fine_node[j];
                    EXPECT_TRUE(fine >= planes[l - 1][r] && fine < planes[l - 1][r + 1]) << "level " << l << ", plane " << j;
                  }
              if (l > 0 && l + 1 < planes.size())
                {
                  EXPECT_GT(grids[l].n_nodes(), share_above) << "what is shared is large";
                }
            }
          if (planes.size() < grids.size() && share_above >= 500)
            {
              EXPECT_LE(grids[planes.size() - 1].n_nodes(), share_above) << "what is whole is small";
            }
        }
  }

  TEST(GridSlabs, ShareOutAllPlanesAndAllCoarseOnes)
  {
    for (const int n : {9, 64, 65, 100, 131})
      for (const int ranks : {1, 2, 3, 4})
        {
          const NodeGrid   grid = grid_of({12, n, 1});
          const GridLevel  fine = make_levels(grid)[0], coarse = make_levels(grid)[1];
          int              end = 0;
          std::vector<int> offsets;
          for (int r = 0; r < ranks; ++r)
            {
              const GridSlabs slabs(grid, r, ranks, Backend::host, nullptr);
              EXPECT_EQ(slabs.first(), end);
              EXPECT_GE(slabs.n_own(), 2);
              EXPECT_EQ(slabs.first() % 2, 0);
              EXPECT_EQ(slabs.own_grid().n_nodes(), 12l * slabs.n_own());
              end += slabs.n_own();
              const auto      planes = slabs.shared_planes(make_levels(grid));
              const GridLevel level  = slabs.own_level(fine, planes[0]);
              offsets                = planes[1];
              EXPECT_EQ(level.n[1], slabs.n_own() + slabs.has_below() + slabs.has_above());
              const int first_known = slabs.first() - slabs.has_below();
              for (int i = 0; i < level.n[1]; ++i)
                EXPECT_EQ(level.axis[1].lower[i], fine.axis[1].lower[first_known + i]);
              // a coarse line's fine lines are known to its owner
              for (int j = offsets[r]; j < offsets[r + 1]; ++j)
                for (int k = 0; k < 3; ++k)
                  if (level.axis[1].restriction[3 * j + k] != 0.)
                    {
                      EXPECT_GE(level.axis[1].fine_node[j] + k - 1, 0);
                      EXPECT_LT(level.axis[1].fine_node[j] + k - 1, level.n[1]);
                    }
            }
          EXPECT_EQ(end, n);
          EXPECT_EQ(offsets.front(), 0);
          EXPECT_EQ(offsets.back(), coarse.n[1]);
          EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
        }
  }

  TEST(GridSlabs, TooManyRanksAreNamed)
  {
    EXPECT_NE(GridSlabs::why_not(grid_of({20, 20, 1}), 2, Backend::cuda).find("20 nodes in y, too few for 2 ranks with at least 32 each"),
              std::string::npos);
    EXPECT_NE(GridSlabs::why_not(grid_of({20, 20, 7}), 4, Backend::host).find("7 nodes in z"), std::string::npos);
    EXPECT_EQ(GridSlabs::why_not(grid_of({20, 20, 1}), 1, Backend::cuda), ""); // one rank has the whole grid, however small
    EXPECT_THROW(GridSlabs(grid_of({20, 20, 7}), 0, 4, Backend::host, nullptr), InvalidInput);
    if (n_ranks() > 1)
      {
        const NodeGrid grid = grid_of({9, 4 * n_ranks(), 1});
        const auto     slabs =
          std::make_shared<GridSlabs>(grid, my_rank(), n_ranks(), Backend::host, make_transport(MPI_COMM_WORLD, Backend::host, false, 100));
        EXPECT_THROW(Stepper(grid, fixed_steps(Backend::reference, Scheme::bdf2, 1e-3), slabs), InvalidInput);
        NodeGrid periodic    = grid;
        periodic.periodic[0] = true;
        EXPECT_THROW(Stepper(periodic, fixed_steps(Backend::host, Scheme::bdf2, 1e-3), slabs), InvalidInput);
      }
  }

  /** Without it the other ranks would wait in the first exchange for the one that has given up. */
  TEST_P(GridSlabsTest, WhatFailsOnOneRankIsThrownOnAll)
  {
    const NodeGrid grid  = grid_of({34, 132, 1});
    const auto     slabs = slabs_for(grid);
    for (int culprit = 0; slabs != nullptr && culprit < n_ranks(); ++culprit)
      {
        const StepperOptions good = fixed_steps(backend(), Scheme::bdf2, 1e-4);
        StepperOptions       bad  = good;
        bad.local_iterations      = -7 - culprit;
        std::string said;
        try
          {
            Stepper(grid, my_rank() == culprit ? bad : good, slabs);
          }
        catch (const InvalidInput &error)
          {
            said = error.what();
          }
        EXPECT_NE(said.find("local iterations is " + std::to_string(bad.local_iterations)), std::string::npos) << "said: " << said;
        Stepper      stepper(grid, good, slabs); // the exchange is as good as before
        const Vector mine = own_part(*slabs, smooth_fields(grid));
        stepper.start(mine.data());
        EXPECT_EQ(stepper.advance(2e-4, 100, 0.5e-4), StopReason::time_reached);
      }
  }
} // namespace leopard::reaction_diffusion
