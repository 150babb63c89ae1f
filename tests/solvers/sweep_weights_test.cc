// SPDX-License-Identifier: Apache-2.0
// Relaxation factors that differ from sweep to sweep: which ones, and in multigrid. What they do is in
// block_async_stencil_test.cc.
#include "multigrid_test.h"

#include <solvers/base/errors.h>

namespace leopard
{
  namespace
  {
    /** What is left of an error with eigenvalue lambda is as small as Chebyshev's polynomial says, and never grows. */
    TEST(SweepWeights, AreChebyshevs)
    {
      const double smallest = 0.3, largest = 2.;
      for (int k = 1; k <= 8; ++k)
        {
          const Vector weights = chebyshev_sweep_weights(k, smallest, largest);
          EXPECT_TRUE(std::is_sorted(weights.begin(), weights.end()));
          const double bound = 1. / std::cosh(k * std::acosh((largest + smallest) / (largest - smallest)));
          double       most  = 0.;
          for (int i = 1; i <= 2000; ++i)
            {
              const double lambda = i / 1000.;
              double       left   = 1.;
              for (const double weight : weights)
                left *= 1. - weight * lambda;
              EXPECT_LT(std::abs(left), 1.);
              if (lambda >= smallest)
                most = std::max(most, std::abs(left));
            }
          EXPECT_NEAR(most, bound, 1e-12);
        }
      EXPECT_EQ(chebyshev_sweep_weights(3, 1., 1.), Vector(3, 1.));
      EXPECT_THROW(chebyshev_sweep_weights(0, 1., 2.), InvalidInput);
      EXPECT_THROW(chebyshev_sweep_weights(3, 0., 2.), InvalidInput);
      EXPECT_THROW(chebyshev_sweep_weights(3, 2., 1.), InvalidInput);
      EXPECT_THROW(chebyshev_sweep_weights(3, NAN, 2.), InvalidInput);
      EXPECT_THROW(chebyshev_sweep_weights(3, 1., INFINITY), InvalidInput);
    }

    TEST(MultigridSmoother, WeightsOfTheSweepsInTilesThatMove)
    {
      for (const Stencil<double> &laplacian : {five_point_stencil(9, 9, 0.), nine_point_stencil(9, 9, 0.), seven_point_stencil(9, 9, 9, 0.)})
        {
          EXPECT_LT(largest_difference(moving_weights(laplacian, 5), chebyshev_sweep_weights(5, 0.3, 2.)), 1e-14);
          EXPECT_LT(largest_difference(moving_weights(rounded_to<float>(laplacian), 5), chebyshev_sweep_weights(5, 0.3, 2.)), 1e-5);
        }
      Stencil<double> slab = five_point_stencil(9, 9, 0.);
      slab.ghost_above     = true; // whose border stays where it is
      EXPECT_LT(largest_difference(moving_weights(slab, 5), chebyshev_sweep_weights(5, 0.7, 2.)), 1e-14);
      EXPECT_EQ(moving_weights(twenty_seven_point_stencil(9, 9, 9, 0.), 3).size(), 3u);
      EXPECT_LT(largest_difference(moving_weights(five_point_stencil(9, 9, 4.), 5), chebyshev_sweep_weights(5, 0.5, 1.5)), 1e-14);
      Stencil<double> variable = five_point_stencil(9, 9, 0.);
      variable.diagonal.assign(81, 8.);
      variable.diagonal[40] = 5.;
      EXPECT_LT(largest_difference(moving_weights(variable, 5), chebyshev_sweep_weights(5, 0.15 * 1.8, 1.8)), 1e-14);

      Stencil<double> convection = five_point_stencil(9, 9, 0.), positive = convection;
      convection.coefficient(1, 0, 0) -= 0.1;
      convection.coefficient(-1, 0, 0) += 0.1;
      positive.coefficient(1, 1, 0) = positive.coefficient(-1, -1, 0) = 0.1;
      for (const Stencil<double> &other : {convection, positive, five_point_stencil(9, 9, -0.1)})
        EXPECT_TRUE(moving_weights(other, 5).empty());
      EXPECT_TRUE(moving_weights(five_point_stencil(9, 9, 0.), 9).empty());
    }

    /** Weights that are given are those of host threads, too, and of values that change. */
    TEST(MultigridSmoother, TakesGivenSweepWeights)
    {
      const Stencil<double> stencil = five_point_stencil(127, 127, 0.);
      const Vector          b       = random_vector(stencil.n_rows(), 3);
      MultigridOptions      options;
      options.smoother.block_async.sweep_weights = chebyshev_sweep_weights(5, 0.3, 2.);
      for (const Backend backend : {Backend::reference, Backend::host})
        {
          options.backend = backend;
          Multigrid<double> multigrid(stencil, 0, options);
          for (int round = 0; round < 2; ++round)
            {
              Vector x(stencil.n_rows(), 0.);
              EXPECT_EQ(solve(multigrid, x, b, 1e-10, 20).status, SolveStatus::converged);
              multigrid.update_values(stencil);
            }
        }
      options.smoother.omega = 0.8;
      EXPECT_THROW(Multigrid<double>(stencil, 0, options), InvalidInput);
      options.smoother.omega  = 0.;
      options.smoother.method = "damped-jacobi";
      EXPECT_THROW(Multigrid<double>(stencil, 0, options), InvalidInput);
    }
  } // namespace
} // namespace leopard
