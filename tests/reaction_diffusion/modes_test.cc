// SPDX-License-Identifier: Apache-2.0
// What exponential steps are made of: functions of matrices, and modes of the Laplacian.
#include "reaction_diffusion_test.h"

#include <applications/reaction_diffusion/grid/line_modes.h>
#include <applications/reaction_diffusion/host/mode_transform.h>
#include <applications/reaction_diffusion/rules/phi_functions.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <random>

namespace leopard::reaction_diffusion
{
  namespace
  {
    using Complex = std::complex<long double>;

    /** phi_k(z) by its series, or where that cancels by the recurrence. */
    Complex phi(int k, Complex z)
    {
      if (std::abs(z) > 1.L)
        {
          Complex     result    = std::exp(z);
          long double factorial = 1.L;
          for (int j = 1; j <= k; ++j)
            {
              result = (result - 1.L / factorial) / z;
              factorial *= j;
            }
          return result;
        }
      long double factorial = 1.L;
      for (int j = 2; j <= k; ++j)
        factorial *= j;
      Complex term = 1.L / factorial, sum = term;
      for (int j = 1; j < 200; ++j)
        sum += term *= z / static_cast<long double>(k + j);
      return sum;
    }

    constexpr double zs[] = {-1e6, -300., -19., -3., -1.001, -0.999, -0.3, -1e-9, 0., 1e-5, 0.7, 1.1, 4., 12.};
  } // namespace

  TEST(PhiFunctions, OfNumbers)
  {
    for (const double z : zs)
      for (int k = 0; k < 4; ++k)
        {
          const auto exact = static_cast<double>(phi(k, z).real());
          EXPECT_NEAR(PhiFunctions<1>::at(&z).of[k][0], exact, 4e-15 * std::max(std::abs(exact), 1e-300)) << "phi_" << k << "(" << z << ")";
        }
  }

  /** Real eigenvalues, close and far apart, and complex ones, with vectors that are not orthogonal. */
  TEST(PhiFunctions, OfMatricesWithKnownEigenvalues)
  {
    for (const double a : zs)
      for (const double b : zs)
        {
          // Z = V diag(a, b) V^-1, V = (1 2; 1 3)
          const double z[4]      = {3. * a - 2. * b, 2. * (b - a), 3. * (a - b), 3. * b - 2. * a};
          const auto   functions = PhiFunctions<2>::at(z);
          const auto  &of        = functions.of;
          for (int k = 0; k < 4; ++k)
            {
              const auto   p = static_cast<double>(phi(k, a).real()), q = static_cast<double>(phi(k, b).real());
              const double exact[4] = {3. * p - 2. * q, 2. * (q - p), 3. * (p - q), 3. * q - 2. * p};
              for (int e = 0; e < 4; ++e) // the matrix itself is known to rounding of its largest entry only
                EXPECT_NEAR(of[k][e],
                            exact[e],
                            (2e-13 + 1e-14 * std::max(std::abs(a), std::abs(b))) * std::max({1., std::abs(p), std::abs(q)}) * std::max({1., a, b}))
                  << "phi_" << k << " with " << a << ", " << b;
            }
        }
    for (const double a : {-30., -1., -0.2, 0.7}) // close eigenvalues that share a vector: derivatives, phi_k' = phi_k - k phi_k+1
      for (const double distance : {0., 1e-9, 1e-5})
        {
          const double z[4]      = {a, 5., 0., a - distance};
          const auto   functions = PhiFunctions<2>::at(z);
          for (int k = 0; k < 4; ++k)
            {
              const Complex middle = a - 0.5L * distance;
              const auto    slope  = static_cast<double>((phi(k, middle) - static_cast<long double>(k) * phi(k + 1, middle)).real());
              EXPECT_NEAR(functions.of[k][1], 5. * slope, 2e-13 * std::exp(std::max(0., a)) + distance * distance) << "phi_" << k << " at " << a;
            }
        }
    for (const double a : {-40., -2., -0.1, 1.5})
      for (const double b : {0.01, 0.6, 3., 25.})
        {
          const double z[4]      = {a, -b, b, a}; // a + ib as a matrix
          const auto   functions = PhiFunctions<2>::at(z);
          const auto  &of        = functions.of;
          for (int k = 0; k < 4; ++k)
            {
              const Complex exact = phi(k, Complex(a, b));
              EXPECT_NEAR(of[k][0], static_cast<double>(exact.real()), 1e-13 * std::exp(std::max(0., a)));
              EXPECT_NEAR(of[k][2], static_cast<double>(exact.imag()), 1e-13 * std::exp(std::max(0., a)));
              EXPECT_EQ(of[k][1], -of[k][2]);
            }
        }
  }

  namespace
  {
    /** phi_k-1(Z) = Z phi_k(Z) + 1/(k-1)! for random matrices, and those of a block-diagonal matrix. */
    template <int N>
    void expect_recurrence(double size)
    {
      std::mt19937                           random(N);
      std::uniform_real_distribution<double> number(-size, size);
      double                                 z[N * N];
      for (double &entry : z)
        entry = number(random);
      for (int c = 0; c < N; ++c)
        z[c * N + c] -= 2. * size;
      const auto   functions    = PhiFunctions<N>::at(z);
      const auto  &of           = functions.of;
      const double factorial[4] = {1., 1., 1., 2.};
      for (int k = 1; k < 4; ++k)
        for (int c = 0; c < N; ++c)
          for (int d = 0; d < N; ++d)
            {
              double sum = c == d ? 1. / factorial[k] : 0.;
              for (int e = 0; e < N; ++e)
                sum += z[c * N + e] * of[k][e * N + d];
              EXPECT_NEAR(sum, of[k - 1][c * N + d], 1e-13 * (1. + size)) << N << " x " << N << ", " << size << ", phi_" << k;
            }
      double larger[(N + 1) * (N + 1)] = {};
      for (int c = 0; c < N; ++c)
        std::copy_n(z + c * N, N, larger + c * (N + 1));
      larger[(N + 1) * (N + 1) - 1] = -0.4 * size;
      const auto  more              = PhiFunctions<N + 1>::at(larger);
      const auto &beside            = more.of;
      for (int k = 0; k < 4; ++k)
        {
          for (int e = 0; e < N * N; ++e)
            EXPECT_NEAR(beside[k][e / N * (N + 1) + e % N], of[k][e], 1e-13);
          EXPECT_NEAR(beside[k][(N + 1) * (N + 1) - 1], static_cast<double>(phi(k, -0.4 * size).real()), 1e-13);
        }
    }
  } // namespace

  TEST(PhiFunctions, SatisfyTheirRecurrence)
  {
    for (const double size : {1e-6, 0.05, 1., 30., 1000.})
      {
        expect_recurrence<1>(size);
        expect_recurrence<2>(size);
        expect_recurrence<3>(size);
        expect_recurrence<4>(size);
        expect_recurrence<5>(size);
      }
  }

  TEST(PhiFunctions, OfWhatIsNotFiniteAreNot)
  {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      {
        const double z[9] = {-1., bad, 0., 0., -1., 0., 0., 0., -2.};
        EXPECT_FALSE(std::isfinite(PhiFunctions<3>::at(z).of[0][1]));
        EXPECT_FALSE(std::isfinite(PhiFunctions<2>::at(z).of[0][1]));
        EXPECT_FALSE(std::isfinite(PhiFunctions<1>::at(&bad).of[1][0]));
      }
  }

  /** A mode is an eigenvector of the grid's rows, with its eigenvalue. */
  TEST(GridModes, AreThoseOfTheLaplacian)
  {
    for (const NodeGrid &grid : {box_grid(9, 6, 1),
                                 box_grid(2, 3, 1),
                                 box_grid(5, 4, 6),
                                 box_grid(3, 2, 2),
                                 box_grid(8, 5, 1, {true, false, false}),
                                 box_grid(7, 6, 1, {true, true, false}),
                                 box_grid(3, 4, 5, {false, true, true})})
      {
        const ModeTransform modes(grid, std::make_shared<ThreadPool>(2));
        const MeshLaplacian mesh = laplacian_of(grid);
        const long          n    = grid.n_nodes();
        ASSERT_EQ(static_cast<long>(modes.eigenvalue.size()), n);
        for (long k = 0; k < n; ++k)
          {
            Vector u(n, 0.);
            u[k] = 1.;
            modes.from_modes(u.data(), 1);
            for (long i = 0; i < n; ++i)
              {
                double row = 0.;
                for (int p = mesh.matrix.row_offsets[i]; p < mesh.matrix.row_offsets[i + 1]; ++p)
                  row += mesh.matrix.values[p] * u[mesh.matrix.columns[p]];
                EXPECT_NEAR(row, modes.eigenvalue[k] * u[i], 1e-11 * (1. + modes.eigenvalue.back())) << "mode " << k << ", node " << i;
              }
          }
      }
  }

  /** There and back again, and the dense matrices of GPUs, which must be the same up to a factor a mode. */
  TEST(GridModes, TransformsAreInverse)
  {
    std::mt19937                           random(1);
    std::uniform_real_distribution<double> number(-1., 1.);
    for (const NodeGrid &grid : {box_grid(19, 40, 1),
                                 box_grid(2, 7, 1),
                                 box_grid(10, 17, 9),
                                 box_grid(33, 2, 2),
                                 box_grid(120, 130, 1),
                                 box_grid(19, 40, 1, {true, false, false}),
                                 box_grid(12, 9, 10, {true, true, true})})
      for (const int n_threads : {1, 3})
        {
          const ModeTransform modes(grid, std::make_shared<ThreadPool>(n_threads));
          const long          n = grid.n_nodes();
          Vector              u(3 * n);
          for (double &value : u)
            value = number(random);
          Vector there = u;
          modes.to_modes(there.data(), 3);
          EXPECT_GT(largest_difference(u, there), 0.5);
          modes.from_modes(there.data(), 3);
          EXPECT_LT(largest_difference(u, there), 1e-13);
        }
    for (const auto &[n, around] :
         {std::pair{1, false}, {2, false}, {3, false}, {8, false}, {257, false}, {3, true}, {4, true}, {9, true}, {256, true}})
      {
        const LineModes of_line(n, around);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j)
            {
              double sum = 0.;
              for (int k = 0; k < n; ++k)
                sum += of_line.from_modes[k * n + i] * of_line.to_modes[j * n + k];
              EXPECT_NEAR(sum, i == j ? 1. : 0., 1e-13) << n;
            }
      }
  }
} // namespace leopard::reaction_diffusion
