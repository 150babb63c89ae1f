// SPDX-License-Identifier: Apache-2.0
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/eigenvalues.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/symmetrized.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace leopard
{
  namespace
  {
    /**
     * The 5-point matrix of n x n nodes with entries -1 - c and -1 + c to the west and the east, in a circle or not.
     */
    CrsMatrix<double> convection_matrix(int n, double c, bool in_a_circle = false)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n * n;
      const auto add         = [&A](int j, double value) {
        A.columns.push_back(j);
        A.values.push_back(value);
      };
      for (int i = 0; i < n * n; ++i)
        {
          const int    x = i % n, y = i / n;
          const double here = in_a_circle && y > n / 2 ? -c : c;
          if (y > 0)
            add(i - n, -1.);
          if (x > 0)
            add(i - 1, -1. - here);
          add(i, 4.);
          if (x < n - 1)
            add(i + 1, -1. + here);
          if (y < n - 1)
            add(i + n, -1.);
          A.row_offsets.push_back(A.n_entries());
        }
      return A;
    }

    double radius_with_convection(int n, double c)
    {
      return 0.5 * (std::sqrt(1. - c * c) + 1.) * std::cos(std::acos(-1.) / (n + 1));
    }

    // Arnoldi's method found 0.9408 and 0.9497 for 0.9318: what is near an eigenvalue of a matrix far from normal.
    TEST(Symmetrized, RadiusOfConvectionIsThatOfTheSymmetricMatrixThatIsSimilar)
    {
      for (const auto &[n, c] : {std::pair(20, 0.9), std::pair(40, 0.7), std::pair(60, 0.5)})
        {
          const MatrixAnalysis found = analyze(convection_matrix(n, c), contiguous_blocks(n * n, 64));
          const double         exact = radius_with_convection(n, c);
          EXPECT_NEAR(found.spectral_radius, exact, 1e-3 * (1. - exact)) << n;
          EXPECT_EQ(found.spectral_radius_abs, found.spectral_radius) << n;
          EXPECT_EQ(found.estimated, "") << n;
          EXPECT_FALSE(found.symmetric || found.has_eigenvalues) << n;
        }
      const int            n     = 450; // more rows than are analyzed exactly
      const double         exact = radius_with_convection(n, 0.9);
      const MatrixAnalysis found = spectrum::analyze_in_time(convection_matrix(n, 0.9), contiguous_blocks(n * n, 1000), 1000.);
      EXPECT_LE(found.spectral_radius_abs, exact * (1. + 1e-12));
      EXPECT_NEAR(found.spectral_radius_abs, exact, 1e-2 * (1. - exact));
      EXPECT_NE(found.verdict().find("converges for every schedule"), std::string::npos) << found.verdict();
      EXPECT_NE(analyze(convection_matrix(12, 0.5, true), contiguous_blocks(144, 12)).estimated.find("Arnoldi"), std::string::npos);
    }

    TEST(Symmetrized, HasTheSameEigenvalues)
    {
      const CrsMatrix<double> S = five_point_matrix(5, 4, 0.3);
      CrsMatrix<double>       A = S;
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= std::pow(10., 7 * ((A.columns[p] * 5) % 9 - (i * 5) % 9)); // up to 1e56
      const auto found = spectrum::symmetrized(A);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->columns, transpose(transpose(S)).columns);
      EXPECT_FALSE(spectrum::find_asymmetry(*found).found);
      for (std::size_t p = 0; p < S.values.size(); ++p)
        EXPECT_NEAR(found->values[p], transpose(transpose(S)).values[p], 1e-12);

      EXPECT_FALSE(spectrum::symmetrized(convection_matrix(8, 0.5, true)).has_value()) << "ways around have a product beside 1";
      EXPECT_FALSE(spectrum::symmetrized(convection_matrix(8, 1.)).has_value()) << "no entry to the east";
      EXPECT_FALSE(spectrum::symmetrized(convection_matrix(8, 1.5)).has_value()) << "opposite signs";
      CrsMatrix<double> no_number = S;
      no_number.values[3]         = std::nan("");
      EXPECT_FALSE(spectrum::symmetrized(no_number).has_value());
    }
  } // namespace
} // namespace leopard
