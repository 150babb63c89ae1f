// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/colouring.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/point_relaxation.h>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace leopard
{
  namespace
  {
    using Vector = std::vector<double>;

    Vector some_vector(int n, double frequency)
    {
      Vector v(n);
      for (int i = 0; i < n; ++i)
        v[i] = std::sin(frequency * i + 0.3);
      return v;
    }

    std::unique_ptr<Relaxation<double>> make(const CrsMatrix<double> &A, PointMethod method, double omega, Backend backend = Backend::host)
    {
      PointRelaxationOptions options;
      options.method    = method;
      options.omega     = omega;
      options.colouring = true;
      options.backend   = backend;
      return make_point_relaxation(A, options);
    }

    /** Rows that no warp divides, one row much longer than the others, an arrow, ghosts. */
    CrsMatrix<double> matrix_with_ghosts(int n)
    {
      CrsMatrix<double> A;
      A.n_rows    = n;
      A.n_columns = n + 3;
      for (int i = 0; i < n; ++i)
        {
          const auto add = [&](int column, double value) {
            A.columns.push_back(column);
            A.values.push_back(value);
          };
          if (i == 5)
            for (int j = 0; j < n; j += 3)
              if (j != i)
                add(j, -1. / n);
          if (i > 0 && i != 5)
            add(i - 1, -1.);
          add(i, 4. + 0.1 * std::sin(i));
          if (i + 7 < n && i != 5)
            add(i + 7, -0.5); // one way only: the pattern is not symmetric
          if (i % 10 == 0)
            add(n + i / 10 % 3, -1.);
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      A.validate();
      return A;
    }

    void expect_valid(const CrsMatrix<double> &A, const Colouring &colouring)
    {
      std::vector<int> colour(A.n_rows, -1), n_neighbours(A.n_rows, 0);
      ASSERT_EQ(colouring.rows.size(), static_cast<std::size_t>(A.n_rows));
      ASSERT_EQ(colouring.offsets.front(), 0);
      ASSERT_EQ(colouring.offsets.back(), A.n_rows);
      for (int c = 0; c < colouring.n_colours(); ++c)
        {
          EXPECT_LT(colouring.offsets[c], colouring.offsets[c + 1]);
          for (int k = colouring.offsets[c]; k < colouring.offsets[c + 1]; ++k)
            {
              EXPECT_TRUE(k == colouring.offsets[c] || colouring.rows[k - 1] < colouring.rows[k]);
              EXPECT_EQ(colour[colouring.rows[k]], -1);
              colour[colouring.rows[k]] = c;
            }
        }
      std::vector<std::set<int>> neighbours(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (const int j = A.columns[p]; j != i && j < A.n_rows)
            {
              EXPECT_NE(colour[i], colour[j]) << "rows " << i << " and " << j;
              neighbours[i].insert(j);
              neighbours[j].insert(i);
            }
      // greedy: each colour below a row's own is taken by an earlier neighbour
      for (int i = 0; i < A.n_rows; ++i)
        {
          std::set<int> before;
          for (const int j : neighbours[i])
            if (j < i && colour[j] < colour[i])
              before.insert(colour[j]);
          EXPECT_EQ(static_cast<int>(before.size()), colour[i]) << "row " << i;
        }
    }

    TEST(Colouring, IsValidAndGreedy)
    {
      const CrsMatrix<double> five = five_point_matrix(9, 7, 0.);
      expect_valid(five, greedy_colouring(five));
      EXPECT_EQ(greedy_colouring(five).n_colours(), 2);
      EXPECT_EQ(greedy_colouring(five).largest(), 32);
      EXPECT_EQ(greedy_colouring(five).smallest(), 31);
      EXPECT_EQ(greedy_colouring(seven_point_matrix(4, 5, 6, 0.)).n_colours(), 2);
      for (const CrsMatrix<double> &A : {random_dominant_matrix(200, 6, 0.9, 5), trefethen_matrix(100), matrix_with_ghosts(101)})
        expect_valid(A, greedy_colouring(A));
      EXPECT_EQ(greedy_colouring(CrsMatrix<double>()).n_colours(), 0);
      EXPECT_EQ(greedy_colouring(CrsMatrix<double>()).smallest(), 0);
    }

    TEST(Multicolour, FollowsTheLoopOverColours)
    {
      const CrsMatrix<double> A         = matrix_with_ghosts(83);
      const Colouring         colouring = greedy_colouring(A);
      const double            omega     = 1.2;
      const Vector            b         = some_vector(83, 1.7);
      const auto              sweep     = [&](Vector &x, int colour) {
        const Vector old = x; // all rows of a colour at once
        for (int k = colouring.offsets[colour]; k < colouring.offsets[colour + 1]; ++k)
          {
            const int i   = colouring.rows[k];
            double    sum = b[i], diagonal = 0.;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              if (A.columns[p] == i)
                diagonal = A.values[p];
              else
                sum -= A.values[p] * old[A.columns[p]];
            x[i] = (1. - omega) * old[i] + omega * sum / diagonal;
          }
      };
      for (const PointMethod method : {PointMethod::sor, PointMethod::ssor})
        {
          Vector x = some_vector(86, 0.9), expected = x;
          make(A, method, omega)->iterate(x.data(), b.data(), 2);
          for (int n = 0; n < 2; ++n)
            {
              for (int c = 0; c < colouring.n_colours(); ++c)
                sweep(expected, c);
              if (method == PointMethod::ssor)
                for (int c = colouring.n_colours() - 1; c >= 0; --c)
                  sweep(expected, c);
            }
          for (int i = 0; i < 86; ++i)
            EXPECT_NEAR(x[i], expected[i], 1e-14) << to_string(method) << ", row " << i;
        }
    }

    TEST(Multicolour, RedBlackConvergesLikeTheNaturalOrder)
    {
      // the five-point matrix is consistently ordered both ways: rho(GS) = rho(J)^2 (Young)
      const CrsMatrix<double> A = five_point_matrix(30, 30, 0.);
      const Vector            b(900, 1.);
      StoppingCriteria        criteria;
      criteria.relative_tolerance = 1e-10;
      criteria.test_every         = 1;
      criteria.stagnation_tests   = 0; // SOR's residual grows before it falls
      const auto factor           = [&](Relaxation<double> &relaxation) {
        Vector     x(900, 0.);
        const auto result = solve(relaxation, x.data(), b.data(), criteria);
        EXPECT_EQ(result.status, SolveStatus::converged);
        return result.convergence_factor();
      };
      const auto multicolour = make(A, PointMethod::gauss_seidel, 1.);
      EXPECT_EQ(multicolour->name(), "multicolour Gauss-Seidel");
      EXPECT_EQ(multicolour->description(), "2 colours of 450 to 450 rows");
      EXPECT_NEAR(factor(*multicolour), std::pow(std::cos(M_PI / 31.), 2), 1e-3);
      EXPECT_LT(factor(*make(A, PointMethod::sor, 2. / (1. + std::sin(M_PI / 31.)))), 0.9); // asymptotically omega - 1 = 0.816
    }

    TEST(Multicolour, SsorIsSymmetric)
    {
      const CrsMatrix<double> A    = trefethen_matrix(64); // many colours
      const auto              ssor = make(A, PointMethod::ssor, 1.3);
      const Vector            b1 = some_vector(64, 1.1), b2 = some_vector(64, 2.3);
      Vector                  x1(64, 0.), x2(64, 0.);
      ssor->iterate(x1.data(), b1.data(), 3);
      ssor->iterate(x2.data(), b2.data(), 3);
      double left = 0., right = 0.;
      for (int i = 0; i < 64; ++i)
        {
          left += x1[i] * b2[i];
          right += b1[i] * x2[i];
        }
      EXPECT_NEAR(left, right, 1e-13);
      EXPECT_GT(std::abs(left), 1e-3);
    }

    TEST(Multicolour, UpdatedValuesAreThoseOfANewObject)
    {
      CrsMatrix<double> A   = matrix_with_ghosts(83);
      const auto        old = make(A, PointMethod::sor, 1.1);
      const Vector      b   = some_vector(83, 1.7);
      for (double &value : A.values)
        value *= 1. + 0.2 * std::sin(100. * value);
      old->update_values(A.values.data());
      Vector x(86, 1.), y(86, 1.);
      old->iterate(x.data(), b.data(), 2);
      make(A, PointMethod::sor, 1.1)->iterate(y.data(), b.data(), 2);
      EXPECT_EQ(x, y);
      A.values[0] = 0.; // the diagonal entry of row 0
      EXPECT_THROW(old->update_values(A.values.data()), InvalidInput);
      old->iterate(x.data(), b.data(), 1); // refused values leave the old ones in place
      EXPECT_TRUE(std::isfinite(x[0]));
    }

    TEST(Multicolour, WithoutCudaItSaysSo)
    {
      if (device::n_devices() > 0)
        GTEST_SKIP() << "there is a GPU here";
      EXPECT_THROW(make(five_point_matrix(3, 3, 0.), PointMethod::ssor, 1., Backend::cuda), DeviceError);
    }

    void expect_cuda_as_host(const CrsMatrix<double> &A, PointMethod method, double omega)
    {
      const Vector         b    = some_vector(A.n_rows, 1.7);
      Vector               x    = some_vector(A.n_columns, 0.9), y(A.n_columns);
      const auto           host = make(A, method, omega), cuda = make(A, method, omega, Backend::cuda);
      DeviceVector<double> device_x(A.n_columns), device_b(A.n_rows);
      CrsMatrix<double>    changed = A;
      for (double &value : changed.values)
        value *= 1. + 0.01 * std::sin(100. * value);
      device_b.copy_from_host(b.data());
      EXPECT_EQ(cuda->name(), host->name());
      EXPECT_EQ(cuda->description().find(host->description()), 0u) << cuda->description();
      EXPECT_EQ(cuda->memory_space(), MemorySpace::device);
      for (int round = 0; round < 3; ++round)
        {
          if (round > 0) // the second time nothing is allocated any more
            for (Relaxation<double> *relaxation : {host.get(), cuda.get()})
              relaxation->update_values((round == 1 ? changed : A).values.data());
          device_x.copy_from_host(x.data());
          host->iterate(x.data(), b.data(), 4);
          cuda->iterate(device_x.data(), device_b.data(), 4);
          device_x.copy_to_host(y.data());
          for (int i = 0; i < A.n_columns; ++i)
            ASSERT_NEAR(x[i], y[i], 1e-12) << cuda->name() << ", row " << i << ", round " << round;
          const double expected = host->residual_norm_squared(x.data(), b.data());
          EXPECT_NEAR(cuda->residual_norm_squared(device_x.data(), device_b.data()), expected, 1e-12 * (1. + expected));
          EXPECT_NEAR(cuda->norm_squared(device_b.data()), host->norm_squared(b.data()), 1e-12 * A.n_rows);
        }
      EXPECT_THROW(cuda->update_values(Vector(A.values.size(), 0.).data()), InvalidInput);
    }

    TEST(Multicolour, CudaAgreesWithTheHost)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      for (const auto &[method, omega] :
           {std::pair(PointMethod::gauss_seidel, 1.), std::pair(PointMethod::sor, 1.4), std::pair(PointMethod::ssor, 1.4)})
        for (const CrsMatrix<double> &A :
             {five_point_matrix(61, 47, 0.1), matrix_with_ghosts(1001), random_dominant_matrix(5000, 9, 0.5, 3), five_point_matrix(1, 1, 0.)})
          expect_cuda_as_host(A, method, omega);
    }
  } // namespace
} // namespace leopard
