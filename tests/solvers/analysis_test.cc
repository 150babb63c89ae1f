// SPDX-License-Identifier: Apache-2.0
#include "matrix_of_rows.h"
#include "real_matrices.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/block_async.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/eigenvalues.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <random>

namespace leopard
{
  namespace
  {
    using Vector = std::vector<double>;

    const double pi = std::acos(-1.);

    /**
     * The 13-point stencil of the biharmonic operator, the square of the five-point matrix: positive definite, and
     * Jacobi diverges.
     */
    CrsMatrix<double> biharmonic_matrix(int n)
    {
      const CrsMatrix<double>            A = five_point_matrix(n, n, 0.);
      std::vector<std::map<int, double>> rows(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          for (int q = A.row_offsets[A.columns[p]]; q < A.row_offsets[A.columns[p] + 1]; ++q)
            rows[i][A.columns[q]] += A.values[p] * A.values[q];
      return matrix_of_rows(rows);
    }

    std::string refusal(const std::function<void()> &action)
    {
      try
        {
          action();
        }
      catch (const InvalidInput &error)
        {
          return error.what();
        }
      return "accepted";
    }

    void expect_words(const std::string &text, const std::vector<std::string> &words)
    {
      for (const std::string &word : words)
        EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
    }

    /** The result of some global iterations from zero. */
    SolveResult relax(const CrsMatrix<double> &A, const BlockAsyncOptions &options, const StoppingCriteria &criteria)
    {
      Vector x(A.n_rows, 0.), b(A.n_rows), solution(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        solution[i] = 2. + std::sin(i);
      multiply(A, solution.data(), b.data());
      BlockAsync<double> relaxation(A, options);
      return solve(relaxation, x.data(), b.data(), criteria);
    }

    BlockAsyncOptions synchronous_jacobi(const CrsMatrix<double> &A)
    {
      BlockAsyncOptions options;
      options.backend          = Backend::reference;
      options.schedule         = Schedule::synchronous;
      options.block_size       = A.n_rows;
      options.local_iterations = 1;
      return options;
    }

    TEST(Eigenvalues, OfTheFivePointMatrixAreCosines)
    {
      for (const int n : {1, 2, 5, 8, 9, 30, 60})
        for (const double delta : {0., 0.5})
          {
            const CrsMatrix<double>  A        = five_point_matrix(n, n, delta);
            const ExtremeEigenvalues found    = extreme_eigenvalues(A);
            const double             c        = 4. * std::cos(pi / (n + 1)) / (4. + delta);
            const double             of_delta = n == 1 ? 0. : c;
            EXPECT_NEAR(found.smallest, 1. - of_delta, 1e-6 * (1. - of_delta) + 1e-12) << n << " " << delta;
            EXPECT_NEAR(found.largest, 1. + of_delta, 2e-6) << n << " " << delta;
            const MatrixAnalysis all = analyze(A, contiguous_blocks(A.n_rows, 16));
            EXPECT_NEAR(all.spectral_radius, of_delta, 1e-4);
            EXPECT_NEAR(all.spectral_radius_abs, of_delta, 1e-4);
            EXPECT_TRUE(all.symmetric);
            EXPECT_TRUE(all.has_eigenvalues);
          }
    }

    TEST(Eigenvalues, AreEstimatedQuicker)
    {
      for (const CrsMatrix<double> &A : {five_point_matrix(5, 5, 0.), five_point_matrix(80, 70, 0.), trefethen_matrix(1000), biharmonic_matrix(15)})
        {
          const ExtremeEigenvalues found = spectrum::estimate_extreme(A, 0.01, 1000.).eigenvalues, exact = extreme_eigenvalues(A);
          EXPECT_NEAR(found.smallest, exact.smallest, 0.05 * exact.smallest);
          EXPECT_NEAR(found.largest, exact.largest, 0.01 * exact.largest);
        }
      const ExtremeEigenvalues of_identity = spectrum::estimate_extreme(random_dominant_matrix(100, 0, 0.5, 1), 0.01, 1000.).eigenvalues;
      EXPECT_NEAR(of_identity.smallest, 1., 1e-12);
      EXPECT_NEAR(of_identity.largest, 1., 1e-12);
    }

    TEST(Eigenvalues, SmallOnesAreFoundFromASmoothVector)
    {
      constexpr int              n = 300, n_products = 60;
      const CrsMatrix<double>    A = five_point_matrix(n, n, 0.);
      spectrum::SymmetricProduct product;
      product.n_rows   = n * n;
      product.sum      = [](double value) { return value; };
      product.multiply = [&](const double *x, double *y) {
        for (int i = 0; i < A.n_rows; ++i)
          {
            y[i] = 0.;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              y[i] += 0.25 * A.values[p] * x[A.columns[p]];
          }
      };
      const double exact  = 1. - std::cos(std::acos(-1.) / (n + 1));
      const auto   random = spectrum::estimate_extreme(product, 1e-3, 0., n_products);
      product.smooth      = std::vector<double>(n * n, 1.);
      const auto smooth   = spectrum::estimate_extreme(product, 1e-3, 0., n_products);
      EXPECT_GT(random.eigenvalues.smallest, 10. * exact);
      EXPECT_LT(smooth.eigenvalues.smallest, 3. * exact);
      EXPECT_NEAR(smooth.eigenvalues.largest, 2., 0.02);
      EXPECT_FALSE(smooth.settled);

      const auto in_no_time = spectrum::estimate_extreme(A, 1e-3, 0.);
      EXPECT_NEAR(in_no_time.eigenvalues.largest, 2., 0.03);
      EXPECT_FALSE(in_no_time.settled);
      EXPECT_TRUE(spectrum::estimate_extreme(five_point_matrix(20, 20, 1.), 1e-3, 1000.).settled);
    }

    CrsMatrix<double> with_numbers_at_random(const CrsMatrix<double> &A)
    {
      std::vector<int> number(A.n_rows);
      std::iota(number.begin(), number.end(), 0);
      std::shuffle(number.begin(), number.end(), std::mt19937_64(1));
      std::vector<std::map<int, double>> rows(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          rows[number[i]][number[A.columns[p]]] = A.values[p];
      return matrix_of_rows(rows);
    }

    /** Whatever the size: Lanczos steps alone need more the larger it is. */
    TEST(Eigenvalues, AnUpperBoundOfTheSmallestIsSomePercentTooLarge)
    {
      struct Case
      {
        std::string       name;
        CrsMatrix<double> A;
        double            exact;
      };
      const auto line = [](int n) {
        CrsMatrix<double> A = five_point_matrix(n, 1, 0.);
        for (double &value : A.values)
          value = value == 4. ? 2. : value;
        return A;
      };
      CrsMatrix<double> long_cells = five_point_matrix(200, 200, 0.); // 1 : 10
      for (int i = 0; i < long_cells.n_rows; ++i)
        for (int p = long_cells.row_offsets[i]; p < long_cells.row_offsets[i + 1]; ++p)
          long_cells.values[p] = long_cells.columns[p] == i ? 2.02 : std::abs(long_cells.columns[p] - i) == 1 ? -0.01 : -1.;
      const auto              square = [](int n) { return 1. - std::cos(pi / (n + 1)); };
      const std::vector<Case> cases  = {{"square", five_point_matrix(300, 300, 0.), square(300)},
                                        {"numbered at random", with_numbers_at_random(five_point_matrix(150, 150, 0.)), square(150)},
                                        {"with mass", five_point_matrix(200, 200, 0.001), 1. - 4. * std::cos(pi / 201) / 4.001},
                                        {"cube", seven_point_matrix(40, 40, 40, 0.), square(40)},
                                        {"line", line(50000), square(50000)},
                                        {"long cells", long_cells, square(200)}};
      for (const Case &of : cases)
        {
          const spectrum::SmallestEigenvalue found = spectrum::estimate_smallest(of.A, 0.05, 1000.);
          EXPECT_GE(found.value, of.exact * (1. - 1e-6)) << of.name;
          EXPECT_LE(found.value, of.exact * 1.05) << of.name;
          EXPECT_LE(found.last_change, 0.05) << of.name;
          const auto both = spectrum::estimate_extreme(of.A, 1e-2, 0.); // in the least time
          EXPECT_LE(both.eigenvalues.smallest, of.exact * 1.05) << of.name;
        }
      for (const CrsMatrix<double> &A : {circuit_matrix(60, 1), biharmonic_matrix(30)})
        {
          const double exact = extreme_eigenvalues(A).smallest, found = spectrum::estimate_smallest(A, 0.01, 1000.).value;
          EXPECT_GE(found, exact * (1. - 1e-5));
          EXPECT_LE(found, 3. * exact);
        }
    }

    TEST(Verdict, BoundsOnBothSidesOfOneDecideNothing)
    {
      MatrixAnalysis found;
      found.spectral_radius = found.spectral_radius_abs = 0.97;
      found.is_open                                     = true;
      expect_words(found.verdict(), {"not known", "both sides of 1"});
      expect_words(found.text(), {"omega, asynchronous:     not known"});
      found.spectral_radius_abs = 1.;
      expect_words(found.verdict(), {"not known"});
    }

    TEST(Analysis, OfManyRowsHasBoundsAndSaysSo)
    {
      const int            n     = 450; // more rows than are analyzed exactly
      const MatrixAnalysis found = spectrum::analyze_in_time(five_point_matrix(n, n, 0.), contiguous_blocks(n * n, 1000), 1000.);
      const double         exact = std::cos(pi / (n + 1));
      EXPECT_LE(found.spectral_radius, exact * (1. + 1e-12));
      EXPECT_NEAR(found.spectral_radius, exact, 0.05 * (1. - exact));
      EXPECT_EQ(found.spectral_radius_abs, found.spectral_radius);
      expect_words(found.estimated, {"lower bounds", "the smallest is an upper bound, about ", "percent too large"});
      expect_words(found.text(), {"estimated:               rho(B) and rho(|B|) are lower bounds"});
      EXPECT_TRUE(spectrum::analyze_in_time(five_point_matrix(20, 20, 0.), contiguous_blocks(400, 100), 1000.).estimated.empty());

      const MatrixAnalysis other = spectrum::analyze_in_time(random_dominant_matrix(n * n, 3, 0.9, 1), contiguous_blocks(n * n, 1000), 0.5);
      EXPECT_LE(other.spectral_radius_abs, 0.9 + 1e-9);
      EXPECT_LE(other.spectral_radius, other.spectral_radius_abs);
      expect_words(other.estimated, {"rho(|B|) is from 0.", "to 0.", "steps of the power method"});
      expect_words(other.verdict(), {"converges for every schedule"});

      CrsMatrix<double> mixed_signs = five_point_matrix(n, n, 0.);
      for (int i = 0; i < mixed_signs.n_rows; ++i)
        for (int p = mixed_signs.row_offsets[i]; p < mixed_signs.row_offsets[i + 1]; ++p)
          if (const int j = mixed_signs.columns[p]; (i + j) % 2 == 1 && j != i) // of a chequerboard: the same spectrum
            mixed_signs.values[p] *= -1.;
      const MatrixAnalysis of_mixed = spectrum::analyze_in_time(mixed_signs, contiguous_blocks(n * n, 1000), 1000.);
      EXPECT_NEAR(of_mixed.spectral_radius_abs, exact, 0.05 * (1. - exact));
    }

    TEST(Eigenvalues, OfASingularMatrixBeginWithZero)
    {
      CrsMatrix<double> A = five_point_matrix(20, 20, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0.;
          int    at  = 0;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              sum += A.columns[p] == i ? 0. : A.values[p];
              at = A.columns[p] == i ? p : at;
            }
          A.values[at] = -sum; // Neumann
        }
      EXPECT_NEAR(extreme_eigenvalues(A).smallest, 0., 1e-9);
      EXPECT_NEAR(spectrum::estimate_smallest(A, 0.01, 1000.).value, 0., 1e-12);
      EXPECT_FALSE(spectrum::finds_negative_eigenvalue(A, 0.)); // rounding is no proof
      const MatrixAnalysis found = analyze(A, contiguous_blocks(A.n_rows, 50));
      EXPECT_NEAR(found.spectral_radius, 1., 1e-9);
      expect_words(found.verdict(), {"neither", "singular"});
    }

    TEST(Eigenvalues, BelowZeroAreFoundInTheTimeThatThereIs)
    {
      const double smallest = 4. - 4. * std::cos(std::acos(-1.) / 41.); // of 40 x 40 nodes with 4 on the diagonal
      EXPECT_TRUE(spectrum::finds_negative_eigenvalue(five_point_matrix(40, 40, -1.1 * smallest), 1000.));
      EXPECT_FALSE(spectrum::finds_negative_eigenvalue(five_point_matrix(40, 40, -0.9 * smallest), 1000.));
      EXPECT_TRUE(spectrum::finds_negative_eigenvalue(five_point_matrix(40, 40, -3.), 0.)); // in the fewest steps
      for (const int n : {1, 2, 3})
        EXPECT_FALSE(spectrum::finds_negative_eigenvalue(five_point_matrix(n, n, 0.), 0.));
      EXPECT_TRUE(spectrum::finds_negative_eigenvalue(matrix_of_rows({{{0, 1.}, {1, 2.}}, {{0, 2.}, {1, 1.}}}), 0.)); // 3 and -1
      CrsMatrix<double> A = five_point_matrix(10, 10, 0.);
      A.values[0]         = std::numeric_limits<double>::quiet_NaN();
      EXPECT_FALSE(spectrum::finds_negative_eigenvalue(A, 0.)); // proves nothing
    }

    TEST(Eigenvalues, RefuseWhatTheyAreNotDefinedFor)
    {
      expect_words(refusal([] {
                     extreme_eigenvalues(matrix_of_rows({{{0, 2.}, {1, -1.}}, {{0, -1.5}, {1, 2.}}}));
                   }),
                   {"row 0, column 1 is -1,", "row 1, column 0 is -1.5", "expected: a symmetric"});
      expect_words(refusal([] { extreme_eigenvalues(matrix_of_rows({{{0, 2.}, {1, -1.}}, {{1, 2.}}})); }), {"is 0 (the first"});
      expect_words(refusal([] { extreme_eigenvalues(matrix_of_rows({{{0, 2.}}, {{1, -2.}}})); }), {"row 1 is -2", "positive diagonal"});
      expect_words(refusal([] { extreme_eigenvalues(matrix_of_rows({{{0, 2.}}, {{1, -1e-9}}})); }), {"row 1 is -1e-09 "});
      expect_words(refusal([] { tau_scaling({-1e-8, 2.}); }), {"from -1e-08 to 2\n"});
      expect_words(refusal([] { extreme_eigenvalues(CrsMatrix<double>()); }), {"0 rows", "expected: a square matrix"});
      CrsMatrix<double> with_ghost = matrix_of_rows({{{0, 2.}}});
      with_ghost.n_columns         = 2;
      expect_words(refusal([&] { analyze(with_ghost, contiguous_blocks(1, 1)); }), {"1 rows and 2 columns"});
      expect_words(refusal([] { analyze(five_point_matrix(3, 3, 0.), contiguous_blocks(8, 4)); }), {"8 rows", "9"});
    }

    struct Known
    {
      std::string name;
      double      smallest, largest, radius;
    };

    void PrintTo(const Known &known, std::ostream *out)
    {
      *out << known.name;
    }

    class RealMatrixAnalysis : public testing::TestWithParam<Known>
    {
    };

    TEST_P(RealMatrixAnalysis, FindsTheKnownEigenvalues)
    {
      const std::string file = real_matrix_file(GetParam().name);
      if (file.empty())
        GTEST_SKIP() << "no " << GetParam().name << ".mtx.gz here; the variable LEOPARD_MATRICES says in which folder";
      const CrsMatrix<double> A     = read_matrix_market(file);
      const MatrixAnalysis    found = analyze(A, contiguous_blocks(A.n_rows, 448));
      EXPECT_NEAR(found.smallest_eigenvalue, GetParam().smallest, 1e-4 * GetParam().smallest);
      EXPECT_NEAR(found.largest_eigenvalue, GetParam().largest, 1e-4 * GetParam().largest);
      EXPECT_NEAR(found.spectral_radius, GetParam().radius, 1e-4);
      EXPECT_TRUE(found.symmetric);
      expect_words(found.verdict(), {"converges for every schedule"});
    }

    INSTANTIATE_TEST_SUITE_P(Analysis,
                             RealMatrixAnalysis,
                             testing::Values(Known{"fv1", 0.145910, 1.284888, 0.8541},
                                             Known{"fv3", 0.000657838, 1.333333, 0.9993},
                                             Known{"Trefethen_2000", 0.417590, 1.860109, 0.8601},
                                             Known{"Chem97ZtZ_reconstructed", 0.211071, 1.788929, 0.7889}),
                             [](const auto &info) { return info.param.name; });

    TEST(SpectralRadius, OfNonsymmetricMatrices)
    {
      for (const int n : {5, 40, 64, 65, 500})
        {
          const CrsMatrix<double> A     = random_dominant_matrix(n, 4, 0.9, 11);
          const MatrixAnalysis    found = analyze(A, contiguous_blocks(n, 32));
          EXPECT_FALSE(found.symmetric);
          EXPECT_FALSE(found.has_eigenvalues);
          EXPECT_NEAR(found.spectral_radius_abs, estimate_spectral_radius_abs(A, 20000, 1e-12), 1e-4) << n;
          EXPECT_LE(found.spectral_radius, found.spectral_radius_abs);
          EXPECT_LE(found.spectral_radius_abs, 0.9 + 1e-9);
          expect_words(found.verdict(), {"converges for every schedule", "rho(|B|) = "});
        }
    }

    TEST(SpectralRadius, OfACirculantMatrixWithComplexEigenvalues)
    {
      // B has a on the one side and -a on the other: eigenvalues 2 a i sin(2 pi k / n), of absolute values 2 a |i sin|;
      // and |B| has 2 a
      const double a = 0.8;
      for (const int n : {40, 400})
        {
          std::vector<std::map<int, double>> rows(n);
          for (int i = 0; i < n; ++i)
            rows[i] = {{i, 2.}, {(i + 1) % n, -2. * a}, {(i + n - 1) % n, 2. * a}};
          const MatrixAnalysis found = analyze(matrix_of_rows(rows), contiguous_blocks(n, n));
          EXPECT_NEAR(found.spectral_radius, 2. * a, 2e-4);
          EXPECT_NEAR(found.spectral_radius_abs, 2. * a, 2e-4);
          expect_words(found.verdict(), {"neither", "GMRES"});
        }
    }

    TEST(SpectralRadius, OfATriangularMatrixIsZero)
    {
      const int                          n = 300;
      std::vector<std::map<int, double>> rows(n);
      for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 2); j <= i; ++j)
          rows[(7 * i) % n][(7 * j) % n] = j == i ? 1. : -5.; // in another order
      const MatrixAnalysis found = analyze(matrix_of_rows(rows), contiguous_blocks(n, 100));
      EXPECT_EQ(found.spectral_radius, 0.);
      EXPECT_EQ(found.spectral_radius_abs, 0.);
      EXPECT_EQ(analyze(matrix_of_rows({{{0, 3.}}, {{1, -2.}}}), contiguous_blocks(2, 1)).spectral_radius, 0.);
    }

    TEST(Verdict, EverySchedule)
    {
      const std::string verdict = analyze(five_point_matrix(10, 10, 0.), contiguous_blocks(100, 10)).verdict();
      expect_words(verdict, {"converges for every schedule", "rho(|B|) = 0.9594", "56 iterations a digit"});
    }

    TEST(Verdict, JacobiOnly)
    {
      // I + 0.6 Q with an orthogonal Q whose absolute value has radius 4 / sqrt(4) = 2
      std::vector<std::map<int, double>> rows(4);
      const int                          sign[4][4] = {{0, 1, 1, 1}, {-1, 0, -1, 1}, {-1, 1, 0, -1}, {-1, -1, 1, 0}};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          rows[i][j] = i == j ? 1. : 0.5 * sign[i][j];
      const MatrixAnalysis found = analyze(matrix_of_rows(rows), contiguous_blocks(4, 2));
      EXPECT_NEAR(found.spectral_radius, 0.5 * std::sqrt(3.), 1e-12);
      EXPECT_NEAR(found.spectral_radius_abs, 1.5, 1e-12);
      expect_words(found.verdict(), {"Jacobi converges, not every schedule need", "0.866025", "1.5", "schedule synchronous"});
    }

    TEST(Verdict, NeitherAndTauHelps)
    {
      const CrsMatrix<double>  A           = biharmonic_matrix(10);
      const MatrixAnalysis     found       = analyze(A, contiguous_blocks(A.n_rows, 64));
      const ExtremeEigenvalues eigenvalues = extreme_eigenvalues(A);
      const double             tau         = tau_scaling(eigenvalues);
      EXPECT_GT(found.spectral_radius, 2.);
      expect_words(found.verdict(), {"neither: rho(B) = 2.", "omega = tau", std::to_string(tau).substr(0, 6), "damped Jacobi converges", "momentum"});
      expect_words(found.text(), {"rows, entries:           100, ", "symmetric:               yes", "eigenvalues of D^-1 A", "theta", "neither"});

      BlockAsyncOptions options = synchronous_jacobi(A);
      StoppingCriteria  criteria;
      criteria.max_iterations     = 500;
      criteria.relative_tolerance = 1e-12;
      const SolveResult diverged  = relax(A, options, criteria);
      EXPECT_EQ(diverged.status, SolveStatus::diverged);
      options.omega               = tau;
      criteria.max_iterations     = 20000;
      criteria.relative_tolerance = 1e-3;
      EXPECT_EQ(relax(A, options, criteria).status, SolveStatus::converged);
    }

    TEST(Verdict, IndefiniteMatricesNeedAnotherMethod)
    {
      const MatrixAnalysis found = analyze(five_point_matrix(12, 12, -1.), contiguous_blocks(144, 12));
      EXPECT_LT(found.smallest_eigenvalue, 0.);
      expect_words(found.verdict(), {"neither", "not positive definite", "Krylov"});
    }

    // A line of 20000 rows: six digits of its radius are 1.
    TEST(Verdict, ARadiusBesideOneIsNotSaidToBeOne)
    {
      MatrixAnalysis found;
      found.spectral_radius     = 1. - 2.5e-8;
      found.spectral_radius_abs = 1. - 1.2e-8;
      expect_words(found.verdict(), {"rho(|B|) = 1 - 1.2e-08 < 1;", "rho(B) = 1 - 2.5e-08 (9.21034e+07 iterations a digit)"});
      found.spectral_radius_abs = 1. + 3e-8;
      expect_words(found.verdict(), {"< 1 <= rho(|B|) = 1 + 3e-08;"});
      found.spectral_radius = found.spectral_radius_abs = 1. + 2e-16; // singular, up to rounding
      expect_words(found.verdict(), {"neither: rho(B) = 1 and rho(|B|) = 1;"});
    }

    TEST(Momentum, RefusesEigenvaluesThatAreNotFiniteAndPositive)
    {
      const double infinity = INFINITY, nan = NAN;
      for (const auto &[smallest, largest] :
           {std::pair(1., infinity), std::pair(nan, 2.), std::pair(1., nan), std::pair(0., 2.), std::pair(-1., 2.), std::pair(2., 1.)})
        {
          ExtremeEigenvalues e;
          e.smallest = smallest;
          e.largest  = largest;
          EXPECT_THROW(tau_scaling(e), InvalidInput) << smallest << " " << largest;
          EXPECT_THROW(momentum_parameters(e, 0.5), InvalidInput) << smallest << " " << largest;
        }
    }

    TEST(Momentum, ParametersFollowTheirFormulas)
    {
      const ExtremeEigenvalues e = {0.04, 1.96};
      EXPECT_DOUBLE_EQ(tau_scaling(e), 1.);
      EXPECT_DOUBLE_EQ(momentum_parameters(e).omega, std::pow(2. / 1.6, 2));
      EXPECT_DOUBLE_EQ(momentum_parameters(e).momentum, std::pow(1.2 / 1.6, 2));
      EXPECT_EQ(momentum_parameters(e, 1.).momentum, 0.);
      EXPECT_DOUBLE_EQ(momentum_parameters(e, 1.).omega, 1.);
      const double middle = std::sqrt(0.04 * 1.96);
      EXPECT_DOUBLE_EQ(momentum_parameters(e, 0.5).omega, momentum_parameters({middle, 1.96}).omega);
      EXPECT_LT(momentum_parameters(e, 0.5).momentum, momentum_parameters(e, 0.1).momentum);
      expect_words(refusal([&] { momentum_parameters(e, 1.1); }), {"caution is 1.1", "from 0 to 1"});
      expect_words(refusal([&] { momentum_parameters(e, std::nan("")); }), {"caution is nan"});
      expect_words(refusal([&] { tau_scaling({-0.5, 1.5}); }), {"-0.5", "positive"});
      expect_words(refusal([&] { momentum_parameters({0., 2.}); }), {"from 0 to 2", "positive definite"});
    }

    TEST(Momentum, SynchronousIterationConvergesAtThePredictedRate)
    {
      for (const CrsMatrix<double> &A : {five_point_matrix(24, 24, 0.), biharmonic_matrix(8)})
        {
          const ExtremeEigenvalues eigenvalues = extreme_eigenvalues(A);
          const MomentumParameters parameters  = momentum_parameters(eigenvalues);
          const double             predicted   = std::sqrt(parameters.momentum);
          BlockAsyncOptions        options     = synchronous_jacobi(A);
          options.omega                        = parameters.omega;
          options.momentum                     = parameters.momentum;
          Vector x(A.n_rows, 0.), b(A.n_rows);
          multiply(A, Vector(A.n_rows, 1.).data(), b.data());
          BlockAsync<double> relaxation(A, options);
          relaxation.iterate(x.data(), b.data(), 40);
          const double before = residual_norm(A, x.data(), b.data());
          const int    n      = static_cast<int>(std::log(1e-8) / std::log(predicted));
          relaxation.iterate(x.data(), b.data(), n);
          const double factor = std::pow(residual_norm(A, x.data(), b.data()) / before, 1. / n);
          EXPECT_NEAR(std::log(factor) / std::log(predicted), 1., 0.15) << factor << " against " << predicted;
          EXPECT_LT(predicted, 1. - tau_scaling(eigenvalues) * eigenvalues.smallest); // damped Jacobi
        }
    }

    /** The same matrix, each row's entries in the opposite order. */
    CrsMatrix<double> with_rows_reversed(CrsMatrix<double> A)
    {
      for (int i = 0; i < A.n_rows; ++i)
        {
          std::reverse(A.columns.begin() + A.row_offsets[i], A.columns.begin() + A.row_offsets[i + 1]);
          std::reverse(A.values.begin() + A.row_offsets[i], A.values.begin() + A.row_offsets[i + 1]);
        }
      return A;
    }

    TEST(Analysis, AsymmetryIsFoundInRowsOfAnyOrder)
    {
      const CrsMatrix<double> A = five_point_matrix(90, 80, 0.); // some parts for several threads
      EXPECT_FALSE(spectrum::find_asymmetry(A).found);
      EXPECT_FALSE(spectrum::find_asymmetry(with_rows_reversed(A)).found);
      for (const int row : {0, 3000, 7100})
        for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
          for (const bool is_removed : {false, true})
            {
              if (A.columns[p] == row)
                continue;
              CrsMatrix<double> B = A;
              if (is_removed)
                {
                  B.columns.erase(B.columns.begin() + p);
                  B.values.erase(B.values.begin() + p);
                  for (int i = row + 1; i <= B.n_rows; ++i)
                    --B.row_offsets[i];
                }
              else
                B.values[p] *= 1. + 1e-9;
              for (const CrsMatrix<double> &C : {B, with_rows_reversed(B)})
                {
                  const spectrum::Asymmetry found = spectrum::find_asymmetry(C);
                  ASSERT_TRUE(found.found);
                  EXPECT_EQ(found.row, std::min(row, A.columns[p]));
                  EXPECT_EQ(found.column, std::max(row, A.columns[p]));
                }
            }
    }
  } // namespace
} // namespace leopard
