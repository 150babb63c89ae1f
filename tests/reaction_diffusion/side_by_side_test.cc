// SPDX-License-Identifier: Apache-2.0
// Several time loops in one process, a thread each.
#include "reaction_diffusion_test.h"

#include <solvers/base/thread_pool.h>
#include <solvers/device/device.h>

#include <chrono>
#include <thread>

namespace leopard::reaction_diffusion
{
  class SideBySide : public BackendTest
  {
  };

  namespace
  {
    INSTANTIATE_TEST_SUITE_P(Backends, SideBySide, testing::Values(Backend::host, Backend::cuda), backend_name);

    struct Case
    {
      NodeGrid       grid;
      StepperOptions options;
      double         time;
    };

    /** Sweeps, multigrid in 2D and 3D, exponential steps: every engine of grids. */
    std::vector<Case> cases(Backend backend)
    {
      const auto with = [&](const NodeGrid &grid, Scheme scheme, double dt, int n_steps, bool persistent = true) {
        Case c{grid, fixed_steps(backend, scheme, dt), n_steps * dt};
        c.options.n_threads  = 2;
        c.options.persistent = persistent;
        return c;
      };
      return {with(unit_grid(33, 2), Scheme::bdf2, 1e-4, 30),
              with(box_grid(40, 31, 1), Scheme::implicit_euler, 2e-4, 20, false),
              with(unit_grid(33, 2), Scheme::bdf2, 1e-2, 5),
              with(unit_grid(33, 2), Scheme::bdf3, 1e-3, 20),
              with(unit_grid(12, 3), Scheme::bdf2, 2e-3, 5),
              with(unit_grid(24, 2), Scheme::etdrk4, 1e-3, 20),
              with(box_grid(12, 10, 8), Scheme::etdrk4, 1e-3, 10)};
    }
    Vector solution_of(const Case &c)
    {
      const Vector initial = smooth_fields(c.grid);
      Stepper      stepper(c.grid, c.options);
      stepper.start(initial.data());
      EXPECT_EQ(stepper.advance(c.time, 10000, 0.5 * c.options.stepping.step_size), StopReason::time_reached);
      EXPECT_NEAR(stepper.time(), c.time, 1e-9 * c.time);
      Vector u(initial.size());
      stepper.solution(u.data());
      return u;
    }
  } // namespace

  TEST_P(SideBySide, EachGivesWhatItGivesAlone)
  {
    const std::vector<Case> all = cases(GetParam());
    std::vector<Vector>     alone, together(all.size());
    for (const Case &c : all)
      alone.push_back(solution_of(c));
    for (int round = 0; round < 2; ++round) // memory that the first threads have left goes to the second ones
      {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < all.size(); ++i)
          threads.emplace_back([&, i] {
            use_own_thread_pools();
            if (GetParam() == Backend::cuda)
              device::allocate_beside_others();
            together[i] = solution_of(all[i]);
          });
        for (std::thread &thread : threads)
          thread.join();
        for (std::size_t i = 0; i < all.size(); ++i)
          {
            ASSERT_EQ(together[i].size(), alone[i].size()) << "case " << i;
            for (std::size_t j = 0; j < alone[i].size(); ++j)
              ASSERT_NEAR(together[i][j], alone[i][j], 1e-8) << "case " << i << ", value " << j << ", round " << round;
          }
      }
  }

  TEST_P(SideBySide, WhatIsMadeLaterChangesNothing)
  {
    // in 3D multigrid's coarsest grid is solved in shared memory, which the larger one needs more of
    Case large = {box_grid(13, 13, 13), fixed_steps(GetParam(), Scheme::bdf2, 2e-3), 4e-3};
    Case small = {unit_grid(5, 3), large.options, large.time};
    for (Case *c : {&large, &small})
      c->options.n_threads = 2;
    const Vector expected = solution_of(large), initial = smooth_fields(large.grid);
    Stepper      first(large.grid, large.options);
    Stepper      second(small.grid, small.options);
    first.start(initial.data());
    EXPECT_EQ(first.advance(large.time, 1000, 1e-3), StopReason::time_reached);
    Vector u(initial.size());
    first.solution(u.data());
    for (std::size_t i = 0; i < u.size(); ++i)
      ASSERT_NEAR(u[i], expected[i], 1e-8) << i;
  }
} // namespace leopard::reaction_diffusion
