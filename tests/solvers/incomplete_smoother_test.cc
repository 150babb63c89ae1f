// SPDX-License-Identifier: Apache-2.0
// Incomplete factors as a smoother on the GPU, against those of the host.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/relaxation/ilu0.h>
#include <solvers/triangular/incomplete_smoother.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    IncompleteOptions exact()
    {
      IncompleteOptions options;
      options.solves.block_async.backend = Backend::cuda;
      return options;
    }

    CrsMatrix<double> convection(int n)
    {
      Stencil<double> stencil = five_point_stencil(n, n, 0.1);
      stencil.coefficient(1, 0, 0) -= 0.4;
      stencil.coefficient(0, -1, 0) += 0.2;
      return stencil.to_crs();
    }

    /** The first two thirds of the rows, with the other columns as ghosts. */
    CrsMatrix<double> with_ghosts(const CrsMatrix<double> &A)
    {
      CrsMatrix<double> G = A;
      G.n_rows            = 2 * A.n_rows / 3;
      G.row_offsets.resize(G.n_rows + 1);
      G.columns.resize(G.row_offsets.back());
      G.values.resize(G.row_offsets.back());
      return G;
    }

    TEST(IncompleteSmoother, WithExactSolvesIsTheHosts)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU";
      const CrsMatrix<double> square = convection(40);
      for (const CrsMatrix<double> &A : {square, with_ghosts(square)})
        for (const double omega : {1., 0.7})
          for_each_number([&](auto number) {
            using Number                      = decltype(number);
            const CrsMatrix<Number> rounded   = {A.n_rows, A.n_columns, A.row_offsets, A.columns, rounded_to<Number>(A.values)};
            const double            bound_    = bound<Number>(1e-12, 1e-5);
            auto                    on_device = make_incomplete_smoother(rounded, omega, exact());
            const auto              on_host   = make_ilu0(rounded, omega);
            const Vector            b         = random_vector(A.n_rows, 1);
            Vector                  x = random_vector(A.n_columns, 2), y = x;
            EXPECT_NEAR(residual_norm_squared(*on_device, x, b), residual_norm_squared(*on_host, x, b), 10. * bound_ * A.n_rows);
            iterate(*on_device, x, b, 3);
            iterate(*on_host, y, b, 3);
            EXPECT_LT(largest_difference(x, y), bound_);

            for (const int n : {0, 1, 3})
              {
                Vector from_zero(A.n_columns, NAN), zeros(A.n_columns, 0.);
                call_with_numbers<Number>(
                  MemorySpace::device, from_zero, b, [&](Number *to, const Number *right) { on_device->iterate_from_zero(to, right, n); });
                iterate(*on_device, zeros, b, n);
                EXPECT_LT(largest_difference(from_zero, zeros), bound_) << n << " iterations";
              }

            std::vector<Number> values = rounded.values;
            for (std::size_t p = 0; p < values.size(); ++p)
              values[p] *= Number(1.5) + Number(0.01) * (p % 3);
            on_device->update_values(values.data());
            on_host->update_values(values.data());
            iterate(*on_device, x, b, 2);
            iterate(*on_host, y, b, 2);
            EXPECT_LT(largest_difference(x, y), 2. * bound_);
          });
    }

    /** As the list of methods makes it: solves that are not exact smooth nearly as well. */
    TEST(IncompleteSmoother, InMultigridTakesHardlyMoreCyclesThanOnTheHost)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU";
      Stencil<double> anisotropic = five_point_stencil(95, 95, 0.);
      for (const int dy : {-1, 1})
        anisotropic.coefficient(0, dy, 0) *= 4.;
      anisotropic.coefficient(0, 0, 0) = 10.;
      for (const Stencil<double> &stencil : {five_point_stencil(127, 127, 0.), anisotropic, seven_point_stencil(31, 31, 31, 0.)})
        for (const Schedule schedule : {Schedule::chaotic, Schedule::synchronous})
          {
            MultigridOptions options;
            options.smoother.method               = "ilu0";
            options.smoother.block_async.schedule = schedule;
            const MultigridHierarchy hierarchy    = make_hierarchy(stencil, 3);
            const Vector             b            = random_vector(stencil.n_rows(), 3);
            int                      cycles[2];
            for (const Backend backend : {Backend::host, Backend::cuda})
              {
                options.backend = backend;
                Multigrid<double> multigrid(hierarchy, options);
                EXPECT_EQ(multigrid.is_symmetric_map(), backend == Backend::host || schedule == Schedule::synchronous);
                Vector x(b.size(), 0.);
                cycles[backend == Backend::cuda] = solve(multigrid, x, b, 1e-10).n_iterations;
                EXPECT_LT(relative_residual(stencil.to_crs(), x, b), 1.1e-10);
              }
            EXPECT_LE(cycles[1], cycles[0] + 3) << stencil.n_x << " x " << stencil.n_y << " x " << stencil.n_z;
          }
    }

    TEST(IncompleteSmoother, RefusedInput)
    {
      const CrsMatrix<double> A = convection(5);
      EXPECT_THROW(make_incomplete_smoother(A, 0., exact()), InvalidInput);
      EXPECT_THROW(make_incomplete_smoother(A, 2., exact()), InvalidInput);
      EXPECT_THROW(make_incomplete_smoother(A, NAN, exact()), InvalidInput);
      EXPECT_THROW(make_incomplete_smoother(A, 1., IncompleteOptions()), InvalidInput) << "of the host";
    }
  } // namespace
} // namespace leopard
