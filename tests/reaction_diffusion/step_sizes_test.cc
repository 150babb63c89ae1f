// SPDX-License-Identifier: Apache-2.0
// One rule of step sizes: steps that the error controls are on host threads and on GPUs those of the direct solver.
#include "triangles.h"

namespace leopard::reaction_diffusion
{
  class StepSizes : public BackendTest
  {
  };

  namespace
  {
    INSTANTIATE_TEST_SUITE_P(Backends, StepSizes, testing::Values(Backend::host, Backend::cuda), backend_name);

    struct StepsTaken
    {
      std::vector<StepFigures> steps;
      Vector                   solution;
    };

    template <typename Domain>
    StepsTaken steps_taken(const Domain &domain, const StepperOptions &options, const Vector &initial, int n_steps)
    {
      Stepper    stepper(domain, options);
      StepsTaken run{{}, Vector(initial.size())};
      stepper.start(initial.data());
      for (int step = 0; step < n_steps; ++step)
        {
          EXPECT_EQ(stepper.advance(1e3, 1, 0.), StopReason::step_limit) << "step " << step;
          run.steps.push_back(stepper.last_step());
        }
      stepper.solution(run.solution.data());
      return run;
    }

    /** From a first step that is too long, so that steps are rejected, to such as only multigrid can do. */
    template <typename Domain>
    void compare_steps(const Domain &domain, Backend backend, const Vector &initial, const std::string &what)
    {
      for (const Scheme scheme : multistep_schemes())
        {
          StepperOptions options            = fixed_steps(backend, scheme, 2e-3);
          options.stepping.error_controlled = true;
          options.stepping.error_tolerance  = 1e-5;
          options.stepping.newton_tolerance = 0.;
          options.stepping.newton_floor     = 1e-12;
          StepperOptions oracle             = options;
          oracle.backend                    = Backend::reference;
          constexpr int    n_steps          = 40;
          const StepsTaken expected = steps_taken(domain, oracle, initial, n_steps), found = steps_taken(domain, options, initial, n_steps);
          long             n_rejected = 0;
          for (int step = 0; step < n_steps; ++step)
            {
              const StepFigures &e = expected.steps[step], &f = found.steps[step];
              const std::string  where = what + ", scheme " + std::to_string(static_cast<int>(scheme)) + ", step " + std::to_string(step);
              n_rejected += e.rejected.total();
              ASSERT_NEAR(f.step_size / e.step_size, 1., 1e-5) << where;
              ASSERT_EQ(f.order, e.order) << where;
              ASSERT_EQ(f.rejected.total(), e.rejected.total()) << where;
              EXPECT_NEAR(f.first_residual / e.first_residual, 1., 1e-3) << where << ": of the first guess, before Newton's method mends anything";
            }
          EXPECT_GT(n_rejected, 0) << what;
          EXPECT_EQ(found.steps.back().order, order_of(scheme));
          EXPECT_LT(largest_difference(found.solution, expected.solution), 1e-8) << what << ", scheme " << static_cast<int>(scheme);
        }
    }
  } // namespace

  TEST_P(StepSizes, OnGridsAreThoseOfTheDirectSolver)
  {
    for (const NodeGrid &grid : {box_grid(30, 21, 1), box_grid(9, 7, 8)})
      compare_steps(grid, GetParam(), smooth_fields(grid), std::to_string(grid.n[2]) + " planes");
  }

  TEST_P(StepSizes, OnMeshesAreThoseOfTheDirectSolver)
  {
    const Triangles mesh(20, 0.2, 3);
    compare_steps(mesh.laplacian, GetParam(), smooth_fields(mesh), "triangles");
  }
} // namespace leopard::reaction_diffusion
