// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "matrix_of_rows.h"
#include "multigrid_test.h"

#include <solvers/device/device.h>
#include <solvers/device/device_array.h>
#include <solvers/krylov/cg.h>
#include <solvers/matrix/elasticity.h>
#include <solvers/multigrid/aggregation.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <random>

namespace leopard
{
  inline AggregationOptions blocks_of(const Elasticity &problem)
  {
    AggregationOptions options;
    options.block_unknowns = problem.dim;
    return options;
  }

  inline AggregationOptions with_rotations(const Elasticity &problem)
  {
    AggregationOptions options = blocks_of(problem);
    options.near_null_space    = problem.rigid_body_modes();
    return options;
  }

  inline MultigridOptions v_cycle(Backend backend = Backend::host)
  {
    MultigridOptions options;
    options.backend         = backend;
    options.n_threads       = 2;
    options.smoother.method = "chebyshev";
    options.pre_smoothing = options.post_smoothing = 1;
    return options;
  }

  /**
   * Nodes near those of a lattice, and bars between all that are not farther than 1.7, of stiffnesses from 1 to jump.
   * Clamped where x < 1.
   */
  struct Network
  {
    std::vector<std::array<double, 3>> nodes;
    CrsMatrix<double>                  A;

    Network(const std::array<int, 3> &n, double jump)
    {
      std::mt19937                           random(5);
      std::uniform_real_distribution<double> uniform(0., 1.);
      for (int i = 0; i < n[0] * n[1] * n[2]; ++i)
        nodes.push_back({i % n[0] + 0.6 * uniform(random), i / n[0] % n[1] + 0.6 * uniform(random), i / n[0] / n[1] + 0.6 * uniform(random)});
      const int                          n_nodes = static_cast<int>(nodes.size());
      std::vector<std::map<int, double>> rows(3 * nodes.size());
      for (int i = 0; i < n_nodes; ++i)
        for (int j = i + 1; j < n_nodes; ++j)
          {
            std::array<double, 3> d{};
            double                length = 0.;
            for (int c = 0; c < 3; ++c)
              {
                d[c] = nodes[j][c] - nodes[i][c];
                length += d[c] * d[c];
              }
            if (length > 1.7 * 1.7 || (nodes[i][0] < 1. && nodes[j][0] < 1.))
              continue;
            const double stiffness = std::pow(jump, uniform(random)) / std::pow(length, 1.5);
            for (int c = 0; c < 9; ++c)
              for (const int a : {i, j})
                for (const int b : {i, j})
                  if (nodes[a][0] >= 1. && nodes[b][0] >= 1.)
                    rows[3 * a + c / 3][3 * b + c % 3] += (a == b ? stiffness : -stiffness) * d[c / 3] * d[c % 3];
          }
      for (int i = 0; i < 3 * n_nodes; ++i)
        rows[i][i] += nodes[i / 3][0] < 1. ? 1. : 1e-9; // what hangs on too few bars is held
      A = matrix_of_rows(rows);
    }

    AggregationOptions options() const
    {
      AggregationOptions result;
      result.block_unknowns = 3;
      result.near_null_space.assign(6, Vector(A.n_rows, 0.));
      for (int i = 0; i < A.n_rows; ++i)
        {
          const std::array<double, 3> &x = nodes[i / 3];
          const int                    c = i % 3;

          result.near_null_space[c][i]               = 1.;
          result.near_null_space[3 + (c + 1) % 3][i] = x[(c + 2) % 3];
          result.near_null_space[3 + (c + 2) % 3][i] = -x[(c + 1) % 3];
        }
      return result;
    }
  };

  /** Of CG to 1e-8, preconditioned by these cycles, where they compute; 1000: not solved. */
  inline int iterations_of_cg(const CrsMatrix<double> &A, const AggregationOptions &aggregation, const MultigridOptions &cycles, const Vector &b)
  {
    CgOptions options;
    options.backend        = cycles.backend;
    options.n_threads      = 2;
    options.tolerance      = 1e-8;
    options.max_iterations = 999;
    const auto   cg        = make_cg<double>(A, options, make_preconditioner<double>(std::make_shared<Multigrid<double>>(A, aggregation, cycles)));
    Vector       x(A.n_rows, 0.);
    KrylovResult result;
    if (cycles.backend == Backend::cuda)
      {
        device::Array<double> device_x(x), device_b(b);
        result = cg->solve(device_x.data(), device_b.data());
        device::copy_to_host(x.data(), device_x.data(), x.size() * sizeof(double));
      }
    else
      result = cg->solve(x.data(), b.data());
    return result.converged && relative_residual(A, x, b) < 1e-7 ? result.n_iterations : 1000;
  }
} // namespace leopard
