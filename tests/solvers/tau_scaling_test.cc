// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/matrix/crs_matrix.h>
#include <solvers/relaxation/point_relaxation.h>
#include <solvers/relaxation/tau_scaling.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    const double pi = std::acos(-1.);

    /** Rows of (beside, 2, beside); the diagonal of the first and last row may differ. */
    CrsMatrix<double> chain(int n, double beside, double at_ends = 2.)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          for (int j = std::max(0, i - 1); j < std::min(n, i + 2); ++j)
            {
              A.columns.push_back(j);
              A.values.push_back(i != j ? beside : i == 0 || i + 1 == n ? at_ends : 2.);
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    void expect_refused(const CrsMatrix<double> &A, const std::string &words)
    {
      try
        {
          estimate_tau(A);
          FAIL() << "not refused: " << words;
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
          EXPECT_NE(std::string(error.what()).find("expected: "), std::string::npos) << error.what();
        }
    }

    TEST(TauScaling, OfKnownEigenvalues)
    {
      for (const int n : {1, 2, 10, 200})
        {
          const double      c = std::cos(pi / (n + 1));
          const TauEstimate t = estimate_tau(chain(n, -1.));
          EXPECT_TRUE(t.settled) << n;
          EXPECT_NEAR(t.eigenvalues.smallest, 1. - c, 0.01 * (1. - c)) << n;
          EXPECT_NEAR(t.eigenvalues.largest, 1.01 * (1. + c), 1e-3 * (1. + c)) << n; // with the margin
          EXPECT_GE(t.eigenvalues.largest, 1. + c);
          EXPECT_DOUBLE_EQ(t.omega, 2. / (t.eigenvalues.smallest + t.eigenvalues.largest));
          EXPECT_NE(t.text().find("omega = tau = "), std::string::npos);
        }
      TauEstimateOptions few;
      few.max_products    = 10;
      const TauEstimate t = estimate_tau(chain(1000, -1.), Communication<double>(), few);
      EXPECT_FALSE(t.settled);
      EXPECT_EQ(t.n_products, 10);
      EXPECT_NE(t.text().find("(at most) "), std::string::npos);
      EXPECT_NEAR(t.omega, 1., 0.05);
    }

    TEST(TauScaling, EndsWhenTimeIsOver)
    {
      TauEstimateOptions options;
      options.max_seconds = 1e-9;
      const TauEstimate t = estimate_tau(chain(2000, -1.), Communication<double>(), options);
      EXPECT_TRUE(t.out_of_time);
      EXPECT_EQ(t.n_products, 40); // those that lambda_n needs
      EXPECT_NEAR(t.eigenvalues.largest, 2., 0.05);
      EXPECT_NE(t.text().find("all there was time for"), std::string::npos) << t.text();
      options.max_seconds     = 0.; // no limit
      options.max_products    = 45;
      const TauEstimate later = estimate_tau(chain(2000, -1.), Communication<double>(), options);
      EXPECT_FALSE(later.out_of_time);
      EXPECT_EQ(later.n_products, 45);
      EXPECT_EQ(later.text().find("time"), std::string::npos) << later.text();
    }

    TEST(TauScaling, OfASemidefiniteMatrix)
    {
      const TauEstimate t = estimate_tau(chain(50, -1., 1.)); // its rows sum to zero
      EXPECT_NEAR(t.eigenvalues.smallest, 0., 1e-8);
      EXPECT_NEAR(t.omega, 2. / 2.02, 1e-2);
    }

    TEST(TauScaling, RefusesOtherMatrices)
    {
      expect_refused(chain(40, -1.5), "the eigenvalues of D^-1 A reach from -0.4"); // indefinite
      expect_refused(chain(40, -1., -2.), "not positive");
      CrsMatrix<double> A = chain(40, -1.);
      A.values[1]         = -0.9;
      expect_refused(A, "not symmetric");
      for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        {
          CrsMatrix<double> B = chain(40, -1.);
          B.values[1] = B.values[2] = value;
          EXPECT_THROW(estimate_tau(B), InvalidInput) << value;
          B           = chain(40, -1.);
          B.values[0] = value;
          EXPECT_THROW(estimate_tau(B), InvalidInput) << value;
        }
    }

    /** Where values change, so does tau. */
    TEST(TauScaling, PointRelaxationsTakeAnotherOmega)
    {
      const CrsMatrix<double>   A = chain(30, -1.), B = chain(30, -0.5);
      const std::vector<double> b(30, 1.);
      for (const PointMethod method : {PointMethod::jacobi, PointMethod::sor, PointMethod::ssor})
        {
          const auto changed = make_point_relaxation(A, {method, 1.}), made = make_point_relaxation(B, {method, 0.7});
          changed->set_omega(0.7);
          changed->update_values(B.values.data());
          std::vector<double> x(30, 0.), y(30, 0.);
          changed->iterate(x.data(), b.data(), 3);
          made->iterate(y.data(), b.data(), 3);
          EXPECT_EQ(x, y) << to_string(method);
          EXPECT_THROW(changed->set_omega(2.), InvalidInput);
        }
      EXPECT_THROW(make_point_relaxation(A, {PointMethod::gauss_seidel, 1.})->set_omega(0.7), InvalidInput);
    }
  } // namespace
} // namespace leopard
