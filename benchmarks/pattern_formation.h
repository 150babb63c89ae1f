// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/reaction_diffusion/stepper.h>

#include <cmath>
#include <vector>

namespace pattern_benchmark
{
  /** The initial values of the thesis, section 4.14.2.2, in the unit square; in three dimensions with z added to y. */
  inline std::vector<double> initial_values(const leopard::reaction_diffusion::NodeGrid &grid)
  {
    const long          n  = grid.n_nodes();
    const double        pi = std::acos(-1.);
    std::vector<double> u(2 * n);
    for (long i = 0; i < n; ++i)
      {
        const double x = grid.spacing[0] * static_cast<double>(i % grid.n[0]);
        const double y = grid.spacing[1] * static_cast<double>(i / grid.n[0] % grid.n[1]);
        const double z = grid.spacing[2] * static_cast<double>(i / grid.n[0] / grid.n[1]);
        double       p = 0.0016 * std::cos(2. * pi * (x + y + z));
        for (int j = 1; j <= 8; ++j)
          p += 0.001 * std::cos(2. * pi * j * x);
        u[i]     = 0.919145 + p;
        u[n + i] = 0.937903 + p;
      }
    return u;
  }
} // namespace pattern_benchmark
