// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "block_async_test.h"

#include <solvers/reaction_diffusion/stepper.h>

namespace leopard::reaction_diffusion
{
  inline NodeGrid unit_grid(int n, int dim)
  {
    NodeGrid grid;
    grid.n       = {n, n, dim == 3 ? n : 1};
    grid.spacing = {1. / (n - 1), 1. / (n - 1), 1. / (n - 1)};
    return grid;
  }

  /** Smooth positive fields around (0.92, 0.94). */
  inline Vector smooth_fields(const NodeGrid &grid, double amplitude = 0.1)
  {
    const long n = grid.n_nodes();
    Vector     u(2 * n);
    for (long i = 0; i < n; ++i)
      {
        const double x = static_cast<double>(i % grid.n[0]) * grid.spacing[0], y = static_cast<double>(i / grid.n[0] % grid.n[1]) * grid.spacing[1];
        const double z = static_cast<double>(i / grid.n[0] / grid.n[1]) * grid.spacing[2];
        u[i]           = 0.92 + amplitude * std::cos(M_PI * x) * std::cos(2. * M_PI * y) * std::cos(M_PI * z);
        u[n + i]       = 0.94 - amplitude * std::cos(2. * M_PI * x) * std::cos(M_PI * y);
      }
    return u;
  }

  inline StepperOptions fixed_steps(Backend backend, Scheme scheme, double dt)
  {
    StepperOptions options;
    options.backend                   = backend;
    options.n_threads                 = 3;
    options.kinetics.gamma            = 50.;
    options.stepping.scheme           = scheme;
    options.stepping.error_controlled = false;
    options.stepping.step_size        = dt;
    options.stepping.newton_tolerance = 1e-10;
    return options;
  }

  inline Vector solution_at(const NodeGrid &grid, const StepperOptions &options, const Vector &initial, double time, Totals *totals = nullptr)
  {
    Stepper stepper(grid, options);
    stepper.start(initial.data());
    const double slack = options.stepping.error_controlled ? 1e-12 * time : 0.5 * options.stepping.step_size;
    EXPECT_EQ(stepper.advance(time, 10000000, slack), StopReason::time_reached);
    EXPECT_NEAR(stepper.time(), time, options.stepping.error_controlled ? 1e-10 : 1e-9 * time);
    EXPECT_LE(stepper.totals().worst_reduction, 1.);
    EXPECT_GE(stepper.totals().newton_steps, stepper.totals().steps) << "every step does at least one Newton step";
    if (totals != nullptr)
      *totals = stepper.totals();
    Vector u(initial.size());
    stepper.solution(u.data());
    return u;
  }
} // namespace leopard::reaction_diffusion
