// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/matrix/generators.h>
#include <solvers/relaxation/chebyshev.h>
#include <solvers/relaxation/point_relaxation.h>

#include <gtest/gtest.h>

#include <cmath>

namespace leopard
{
  namespace
  {
    using Vector = std::vector<double>;

    std::unique_ptr<Relaxation<double>>
    make(const CrsMatrix<double> &A, double lambda_min = 0., double lambda_max = 0., Backend backend = Backend::host)
    {
      ChebyshevOptions options;
      options.lambda_min = lambda_min;
      options.lambda_max = lambda_max;
      options.backend    = backend;
      return make_chebyshev(A, options);
    }

    /**
     * tridiag(-1, 2, -1): D^-1 A has the eigenvalues 1 - cos(j pi / (n+1)) and the eigenvectors sin(j pi i / (n+1)).
     */
    CrsMatrix<double> laplace_1d(int n)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
            {
              A.columns.push_back(j);
              A.values.push_back(i == j ? 2. : -1.);
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    double eigenvalue(int j, int n)
    {
      return 1. - std::cos(j * M_PI / (n + 1));
    }

    Vector eigenvector(int j, int n)
    {
      Vector v(n);
      for (int i = 0; i < n; ++i)
        v[i] = std::sin(j * M_PI * (i + 1) / (n + 1));
      return v;
    }

    Vector residual(const CrsMatrix<double> &A, const Vector &x, const Vector &b)
    {
      Vector r(A.n_rows);
      multiply(A, x.data(), r.data());
      for (int i = 0; i < A.n_rows; ++i)
        r[i] = b[i] - r[i];
      return r;
    }

    /** T_n(t), for |t| > 1 too. */
    double chebyshev_polynomial(int n, double t)
    {
      double before = 1., now = t;
      if (n == 0)
        return before;
      for (int k = 1; k < n; ++k)
        before = std::exchange(now, 2. * t * now - before);
      return now;
    }

    Vector some_vector(int n, double frequency)
    {
      Vector v(n);
      for (int i = 0; i < n; ++i)
        v[i] = std::sin(frequency * i + 0.3);
      return v;
    }

    TEST(Chebyshev, DoesNotDependOnThreads)
    {
      const CrsMatrix<double> A = laplace_1d(20000); // several parts
      Vector                  x[2], b(20000);
      for (int i = 0; i < 20000; ++i)
        b[i] = std::sin(0.1 * i);
      for (const int n_threads : {1, 4})
        {
          ChebyshevOptions options;
          options.n_threads = n_threads;
          Vector &to        = x[n_threads / 4];
          to.assign(20000, 0.);
          make_chebyshev(A, options)->iterate(to.data(), b.data(), 7);
        }
      EXPECT_EQ(x[0], x[1]);
    }

    TEST(Chebyshev, ResidualIsTheChebyshevPolynomial)
    {
      const int               n = 24;
      const CrsMatrix<double> A = laplace_1d(n);
      for (const auto &[lower, upper] : {std::pair(0.05, 1.9), std::pair(eigenvalue(1, n), eigenvalue(n, n)), std::pair(0.5, 2.)})
        for (const int degree : {1, 2, 3, 8})
          for (const int j : {1, 5, 17, 24})
            {
              const auto   relaxation = make(A, lower, upper);
              const Vector b          = eigenvector(j, n);
              Vector       x(n, 0.);
              relaxation->iterate(x.data(), b.data(), degree);
              const Vector r     = residual(A, x, b);
              const double width = upper - lower;
              const double expected =
                chebyshev_polynomial(degree, (upper + lower - 2. * eigenvalue(j, n)) / width) / chebyshev_polynomial(degree, (upper + lower) / width);
              for (int i = 0; i < n; ++i)
                EXPECT_NEAR(r[i], expected * b[i], 1e-13) << "degree " << degree << ", eigenvector " << j;
            }
    }

    TEST(Chebyshev, DividesByTheDiagonal)
    {
      // rows scaled: D^-1 A and D^-1 b are the same, so are the iterates
      const CrsMatrix<double> A      = five_point_matrix(7, 5, 0.3);
      CrsMatrix<double>       scaled = A;
      Vector                  b = some_vector(35, 1.7), scaled_b = b, x(35, 0.), y(35, 0.);
      for (int i = 0; i < 35; ++i)
        {
          scaled_b[i] *= 1. + i;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            scaled.values[p] *= 1. + i;
        }
      make(A, 0.1, 2.)->iterate(x.data(), b.data(), 6);
      make(scaled, 0.1, 2.)->iterate(y.data(), scaled_b.data(), 6);
      for (int i = 0; i < 35; ++i)
        EXPECT_NEAR(x[i], y[i], 1e-14);
    }

    TEST(Chebyshev, SplitCallsAreOneCallUntilRestart)
    {
      const CrsMatrix<double> A     = five_point_matrix(9, 8, 0.1);
      const Vector            b     = some_vector(72, 1.7);
      const auto              whole = make(A, 0.05, 2.), split = make(A, 0.05, 2.);
      Vector                  x(72, 0.), y(72, 0.);
      whole->iterate(x.data(), b.data(), 7);
      split->iterate(y.data(), b.data(), 3);
      split->iterate(y.data(), b.data(), 0);
      split->iterate(y.data(), b.data(), 4);
      EXPECT_EQ(x, y);
      Vector z(72, 0.), w(72, 0.);
      split->restart(); // as new
      split->iterate(z.data(), b.data(), 7);
      EXPECT_EQ(x, z);
      whole->iterate(w.data(), b.data(), 7); // not restarted: the eighth step and on
      EXPECT_NE(x, w);
    }

    TEST(Chebyshev, NeedsTheSquareRootOfJacobisIterations)
    {
      const CrsMatrix<double> A = five_point_matrix(40, 40, 0.);
      const Vector            b(1600, 1.);
      StoppingCriteria        criteria;
      criteria.relative_tolerance = 1e-8;
      criteria.test_every         = 1;
      const double rho            = std::cos(M_PI / 41.);
      const auto   count          = [&](Relaxation<double> &relaxation) {
        Vector     x(1600, 0.);
        const auto result = solve(relaxation, x.data(), b.data(), criteria);
        EXPECT_EQ(result.status, SolveStatus::converged);
        return result.n_iterations;
      };
      const int chebyshev = count(*make(A, 1. - rho, 1. + rho));
      EXPECT_LT(20 * chebyshev, count(*make_point_relaxation(A, PointRelaxationOptions())));
      // |p_n| <= 2 c^n, c = (sqrt(kappa) - 1) / (sqrt(kappa) + 1)
      const double root = std::sqrt((1. + rho) / (1. - rho));
      EXPECT_LE(chebyshev, std::ceil(std::log(2. / 1e-8 * 2.) / std::log((root + 1.) / (root - 1.))));
    }

    TEST(Chebyshev, EstimatesTheLargestEigenvalueFromAbove)
    {
      EXPECT_DOUBLE_EQ(estimate_lambda_max(laplace_1d(500)), 2.); // Gershgorin's bound is sharp
      for (const CrsMatrix<double> &A : {trefethen_matrix(300), five_point_matrix(40, 30, 1.), seven_point_matrix(12, 12, 12, 0.5)})
        {
          // the true one, from many steps of plain power iteration with D^-1 A, whose eigenvalues are positive
          Vector v       = some_vector(A.n_rows, 2.9), w(A.n_rows);
          double largest = 0.;
          for (int n = 0; n < 4000; ++n)
            {
              multiply(A, v.data(), w.data());
              largest = 0.;
              for (int i = 0; i < A.n_rows; ++i)
                {
                  for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                    if (A.columns[p] == i)
                      w[i] /= A.values[p];
                  largest = std::max(largest, std::abs(w[i]));
                }
              for (int i = 0; i < A.n_rows; ++i)
                v[i] = w[i] / largest;
            }
          EXPECT_GE(estimate_lambda_max(A), 0.999 * largest);
          EXPECT_LE(estimate_lambda_max(A), 1.0501 * largest);
        }
    }

    TEST(Chebyshev, SmoothsByDefault)
    {
      const int               n          = 63;
      const CrsMatrix<double> A          = laplace_1d(n);
      const auto              relaxation = make(A);
      EXPECT_EQ(relaxation->name(), "Chebyshev");
      EXPECT_EQ(relaxation->description(), "for eigenvalues of D^-1 A between 0.0666667 (1/30 of the largest) and 2 (estimated)");
      EXPECT_EQ(make(A, 0.5, 1.9)->description(), "for eigenvalues of D^-1 A between 0.5 (given) and 1.9 (given)");
      for (const int j : {16, 40, 63}) // the upper part of the spectrum
        {
          const Vector b = eigenvector(j, n);
          Vector       x(n, 0.);
          relaxation->restart();
          relaxation->iterate(x.data(), b.data(), 5);
          EXPECT_LT(std::sqrt(relaxation->residual_norm_squared(x.data(), b.data()) / relaxation->norm_squared(b.data())), 0.33);
        }
    }

    std::unique_ptr<Relaxation<double>> make_fourth(const CrsMatrix<double> &A, double lambda_max = 0., Backend backend = Backend::host)
    {
      ChebyshevOptions options;
      options.lambda_max  = lambda_max;
      options.backend     = backend;
      options.fourth_kind = true;
      return make_chebyshev(A, options);
    }

    /** prod_s (1 - w_s l). */
    double fourth_kind_polynomial(int k, double l)
    {
      double p = 1.;
      for (const double w : fourth_kind_weights(k))
        p *= 1. - w * l;
      return p;
    }

    /**
     * l p^2 / (1 - p^2) has its maximum tan^2(pi / (4 k + 2)) k + 1 times: at l = 0 (as a limit), between each two
     * zeros, and at 1 (Lottes 2023). For two sweeps the weights are sqrt(5) / 2 and (3 + sqrt(5)) / 2 + 1.
     */
    TEST(Chebyshev, WeightsOfTheFourthKindAreOptimal)
    {
      for (int k = 1; k <= most_fourth_kind; ++k)
        {
          const std::vector<double> weights = fourth_kind_weights(k);
          ASSERT_EQ(static_cast<int>(weights.size()), k);
          const double bound = std::pow(std::tan(M_PI / (4 * k + 2)), 2);
          const auto   f     = [k](double l) {
            const double p = fourth_kind_polynomial(k, l);
            return l * p * p / (1. - p * p);
          };
          double sum = 0.;
          for (const double w : weights)
            sum += w;
          EXPECT_NEAR(0.5 / sum, bound, 1e-12 * bound) << k;
          EXPECT_NEAR(f(1.), bound, 1e-11 * bound) << k;
          for (int s = 0; s + 1 < k; ++s)
            {
              ASSERT_LT(weights[s], weights[s + 1]);
              double largest = 0.;
              for (int i = 1; i < 20000; ++i)
                largest = std::max(largest, f(1. / weights[s + 1] + i / 20000. * (1. / weights[s] - 1. / weights[s + 1])));
              EXPECT_NEAR(largest, bound, 1e-7 * bound) << k << ", " << s;
            }
        }
      EXPECT_NEAR(fourth_kind_weights(2)[0], std::sqrt(5.) / 2., 1e-12);
      EXPECT_NEAR(fourth_kind_weights(2)[1], (5. + std::sqrt(5.)) / 2., 1e-12);
      EXPECT_THROW(fourth_kind_weights(0), InvalidInput);
      EXPECT_THROW(fourth_kind_weights(most_fourth_kind + 1), InvalidInput);
    }

    /** Eigenvectors are multiplied by the polynomial of each call; of twelve sweeps by those of six and six. */
    TEST(Chebyshev, OfTheFourthKindACallIsAPolynomial)
    {
      const int               n          = 24;
      const CrsMatrix<double> A          = laplace_1d(n);
      const double            upper      = 1.95;
      const auto              relaxation = make_fourth(A, upper);
      EXPECT_EQ(relaxation->name(), "Chebyshev of the fourth kind");
      EXPECT_EQ(relaxation->description(), "for eigenvalues of D^-1 A up to 1.95 (given)");
      for (const int n_sweeps : {1, 2, 3, 5, 8, 9, 12})
        for (const int j : {1, 7, 15, 24})
          {
            const double l      = eigenvalue(j, n) / upper;
            double       factor = n_sweeps <= 8 ? fourth_kind_polynomial(n_sweeps, l)
                                                : fourth_kind_polynomial(n_sweeps / 2, l) * fourth_kind_polynomial(n_sweeps - n_sweeps / 2, l);
            Vector       x      = eigenvector(j, n), b(n, 0.);
            relaxation->restart();
            relaxation->iterate(x.data(), b.data(), n_sweeps);
            relaxation->iterate(x.data(), b.data(), 2); // no restart is needed between
            factor *= fourth_kind_polynomial(2, l);
            for (int i = 0; i < n; ++i)
              EXPECT_NEAR(x[i], factor * eigenvector(j, n)[i], 1e-11) << n_sweeps << " sweeps, eigenvector " << j;
          }
      ChebyshevOptions options;
      options.fourth_kind = true;
      options.lambda_min  = 0.1;
      EXPECT_THROW(make_chebyshev(A, options), InvalidInput);
    }

    TEST(Chebyshev, UpdatedValuesGetANewInterval)
    {
      CrsMatrix<double> A   = five_point_matrix(9, 8, 0.);
      const auto        old = make(A);
      const Vector      b   = some_vector(72, 1.7);
      Vector            x(72, 0.), y(72, 0.);
      old->iterate(x.data(), b.data(), 3);
      std::fill(x.begin(), x.end(), 0.);
      for (double &value : A.values)
        if (value > 0.)
          value += 3.;
      old->update_values(A.values.data());
      const auto fresh = make(A);
      EXPECT_EQ(old->description(), fresh->description());
      EXPECT_NE(old->description(), make(five_point_matrix(9, 8, 0.))->description());
      old->iterate(x.data(), b.data(), 3);
      fresh->iterate(y.data(), b.data(), 3);
      EXPECT_EQ(x, y);
      EXPECT_THROW(old->update_values(Vector(A.values.size(), 0.).data()), InvalidInput);
    }

    TEST(Chebyshev, TheRatioGivesTheLowerEnd)
    {
      const CrsMatrix<double> A = laplace_1d(30);
      const Vector            b(30, 1.);
      ChebyshevOptions        options;
      options.lambda_max = 2.;
      options.ratio      = 5.;
      Vector x(30, 0.), y = x;
      make_chebyshev(A, options)->iterate(x.data(), b.data(), 4);
      make(A, 0.4, 2.)->iterate(y.data(), b.data(), 4);
      for (int i = 0; i < 30; ++i)
        EXPECT_NEAR(x[i], y[i], 1e-14);
      options.ratio = NAN;
      EXPECT_THROW(make_chebyshev(A, options), InvalidInput);
    }

    TEST(Chebyshev, SolveForgetsWhatWasBefore)
    {
      const CrsMatrix<double>                   A = laplace_1d(30);
      const Vector                              b(30, 1.);
      StoppingCriteria                          criteria;
      const std::unique_ptr<Relaxation<double>> used = make(A, 0.1, 2.), fresh = make(A, 0.1, 2.);
      Vector                                    x(30, 0.), y                   = x;
      used->iterate(x.data(), b.data(), 3);
      criteria.max_iterations = 5;
      x                       = y;
      solve(*used, x.data(), b.data(), criteria);
      solve(*fresh, y.data(), b.data(), criteria);
      EXPECT_EQ(x, y);
    }

    TEST(Chebyshev, AnOverflowOfTheEstimateIsNamed)
    {
      CrsMatrix<double> A = laplace_1d(10);
      A.values[1]         = 1e200;
      A.values[2]         = 1e200;
      EXPECT_THROW(estimate_lambda_max(A), InvalidInput);
    }

    TEST(Chebyshev, RefusesBadOptions)
    {
      const CrsMatrix<double> A       = laplace_1d(10);
      const auto              message = [&](const CrsMatrix<double> &matrix, double lower, double upper) -> std::string {
        try
          {
            make(matrix, lower, upper);
          }
        catch (const InvalidInput &error)
          {
            return error.what();
          }
        return "accepted";
      };
      EXPECT_EQ(message(A, 0., 0.), "accepted");
      EXPECT_EQ(message(A, 0., 2.), "accepted");
      EXPECT_NE(message(A, 2., 1.).find("lambda_min is 2 and lambda_max is 1"), std::string::npos);
      EXPECT_NE(message(A, 1., 1.).find("0 < lambda_min < lambda_max"), std::string::npos);
      EXPECT_NE(message(A, -1., 2.).find("lambda_min is -1"), std::string::npos);
      EXPECT_NE(message(A, 0., INFINITY).find("lambda_max is inf"), std::string::npos);
      EXPECT_NE(message(A, 0., NAN).find("lambda_max is "), std::string::npos);
      EXPECT_NE(message(A, 3., 0.).find("lambda_min is 3, and the estimate of the largest eigenvalue of D^-1 A is"), std::string::npos);
      CrsMatrix<double> ghosts = A;
      ghosts.n_columns += 2;
      EXPECT_NE(message(ghosts, 0., 0.).find("2 ghost columns"), std::string::npos);
      EXPECT_EQ(message(ghosts, 0., 2.), "accepted");
      CrsMatrix<double> bad = A;
      bad.columns[1]        = 0;
      EXPECT_NE(message(bad, 0., 0.).find("stored twice"), std::string::npos);
    }

    TEST(Chebyshev, WithoutCudaItSaysSo)
    {
      if (device::n_devices() > 0)
        GTEST_SKIP() << "there is a GPU here";
      EXPECT_THROW(make(laplace_1d(5), 0., 0., Backend::cuda), DeviceError);
    }

    /** five_point_matrix with three ghosts, which the rows 0, 5, 10, ... read. */
    CrsMatrix<double> with_ghosts(const CrsMatrix<double> &A)
    {
      CrsMatrix<double> result;
      result.n_rows    = A.n_rows;
      result.n_columns = A.n_rows + 3;
      for (int i = 0; i < A.n_rows; ++i)
        {
          result.columns.insert(result.columns.end(), A.columns.begin() + A.row_offsets[i], A.columns.begin() + A.row_offsets[i + 1]);
          result.values.insert(result.values.end(), A.values.begin() + A.row_offsets[i], A.values.begin() + A.row_offsets[i + 1]);
          if (i % 5 == 0)
            {
              result.columns.push_back(A.n_rows + i % 3);
              result.values.push_back(-0.5);
            }
          result.row_offsets.push_back(static_cast<int>(result.columns.size()));
        }
      return result;
    }

    void expect_cuda_as_host(const CrsMatrix<double> &A, double lambda_max)
    {
      const Vector         b    = some_vector(A.n_rows, 1.7);
      Vector               x    = some_vector(A.n_columns, 0.9), y(A.n_columns);
      const auto           host = make(A, 0.1, lambda_max), cuda = make(A, 0.1, lambda_max, Backend::cuda);
      CrsMatrix<double>    changed = A;
      DeviceVector<double> device_x(A.n_columns), device_b(A.n_rows);
      for (double &value : changed.values)
        value *= 1. + 0.01 * std::sin(100. * value);
      device_b.copy_from_host(b.data());
      device_x.copy_from_host(x.data());
      EXPECT_EQ(cuda->description().find(host->description()), 0u) << cuda->description();
      const auto compare = [&](int n) {
        host->iterate(x.data(), b.data(), n);
        cuda->iterate(device_x.data(), device_b.data(), n);
        device_x.copy_to_host(y.data());
        for (int i = 0; i < A.n_columns; ++i)
          ASSERT_NEAR(x[i], y[i], 1e-12) << "row " << i << " after " << n;
        const double expected = host->residual_norm_squared(x.data(), b.data());
        EXPECT_NEAR(cuda->residual_norm_squared(device_x.data(), device_b.data()), expected, 1e-12 * (1. + expected));
      };
      for (const bool changed_before : {false, true, false})
        {
          for (const int n : {1, 2, 3, 0, 4, 1}) // odd and even: the buffers take turns
            compare(n);
          for (int g = A.n_rows; g < A.n_columns; ++g)
            x[g] += 1.; // other ranks go on
          device_x.copy_from_host(x.data());
          compare(3);
          for (Relaxation<double> *relaxation : {host.get(), cuda.get()})
            relaxation->restart();
          compare(2);
          for (Relaxation<double> *relaxation : {host.get(), cuda.get()})
            relaxation->update_values((changed_before ? A : changed).values.data());
          compare(5);
        }
      EXPECT_NEAR(cuda->norm_squared(device_b.data()), host->norm_squared(b.data()), 1e-12 * A.n_rows);
      EXPECT_THROW(cuda->update_values(Vector(A.values.size(), 0.).data()), InvalidInput);
    }

    TEST(Chebyshev, CudaAgreesWithTheHost)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      expect_cuda_as_host(five_point_matrix(61, 47, 0.1), 0.);
      expect_cuda_as_host(with_ghosts(five_point_matrix(61, 47, 0.5)), 2.2);
      expect_cuda_as_host(trefethen_matrix(1000), 0.);
      expect_cuda_as_host(five_point_matrix(1, 1, 0.), 2.);

      for (const CrsMatrix<double> &matrix : {five_point_matrix(61, 47, 0.1), with_ghosts(five_point_matrix(61, 47, 0.5))})
        for (const int n : {1, 4, 11})
          {
            const auto           on_host = make_fourth(matrix, 2.1), on_device = make_fourth(matrix, 2.1, Backend::cuda);
            const Vector         right_side = some_vector(matrix.n_rows, 1.7), start = some_vector(matrix.n_columns, 0.9);
            DeviceVector<double> b_there(matrix.n_rows), x_there(matrix.n_columns);
            b_there.copy_from_host(right_side.data());
            Vector expected = start, found(matrix.n_columns), zeros(matrix.n_columns, 0.);
            x_there.copy_from_host(start.data());
            on_host->iterate(expected.data(), right_side.data(), n);
            on_device->iterate(x_there.data(), b_there.data(), n);
            x_there.copy_to_host(found.data());
            for (int i = 0; i < matrix.n_rows; ++i)
              EXPECT_NEAR(found[i], expected[i], 1e-11);
            on_host->iterate(zeros.data(), right_side.data(), n);
            x_there = NAN;
            on_device->restart();
            on_device->iterate_from_zero(x_there.data(), b_there.data(), n);
            x_there.copy_to_host(found.data());
            for (int i = 0; i < matrix.n_rows; ++i)
              EXPECT_NEAR(found[i], zeros[i], 1e-11);
          }

      const CrsMatrix<double> A     = five_point_matrix(30, 20, 0.1);
      const auto              whole = make(A, 0.05, 2., Backend::cuda), split = make(A, 0.05, 2., Backend::cuda);
      DeviceVector<double>    b(600), x(600), y(600);
      Vector                  left(600), right(600);
      b.copy_from_host(some_vector(600, 1.7).data());
      x = 0.;
      y = 0.;
      whole->iterate(x.data(), b.data(), 7);
      split->iterate(y.data(), b.data(), 3);
      split->iterate(y.data(), b.data(), 4);
      x.copy_to_host(left.data());
      y.copy_to_host(right.data());
      EXPECT_EQ(left, right);
    }
  } // namespace
} // namespace leopard
