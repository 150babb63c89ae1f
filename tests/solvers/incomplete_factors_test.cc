// SPDX-License-Identifier: Apache-2.0
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/incomplete_factors.h>
#include <solvers/matrix/sparse_product.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace leopard
{
  namespace
  {
    /** A random matrix with a symmetric pattern and a dominant diagonal. */
    Dense random_sparse(int n, unsigned int seed, bool symmetric)
    {
      const Vector entries = random_vector(n * n, seed), chance = random_vector(n * n, seed + 1000);
      Dense        A(n, n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
          if (chance[i * n + j] < -0.4)
            {
              A(i, j) = entries[i * n + j];
              A(j, i) = symmetric ? A(i, j) : entries[j * n + i];
            }
      for (int i = 0; i < n; ++i)
        {
          A(i, i) = 0.5;
          for (int j = 0; j < n; ++j)
            A(i, i) += i == j ? 0. : std::abs(A(i, j));
        }
      return A;
    }

    /** Where L or U has an entry; both have all of the diagonal. */
    std::set<std::pair<int, int>> entries(const IncompleteFactors<double> &factors)
    {
      std::set<std::pair<int, int>> result;
      for (const CrsMatrix<double> &T : {factors.lower(), factors.upper()})
        for (int i = 0; i < T.n_rows; ++i)
          for (int p = T.row_offsets[i]; p < T.row_offsets[i + 1]; ++p)
            result.emplace(i, T.columns[p]);
      return result;
    }

    void expect_product_on_pattern(const CrsMatrix<double> &A, const IncompleteFactors<double> &factors, double tolerance)
    {
      const Dense D = dense(A), product = dense(factors.lower()) * dense(factors.upper());
      for (const auto &[i, j] : entries(factors))
        {
          const double expected = D(i, j) * (i == j ? 1. + factors.shift() : 1.);
          EXPECT_NEAR(product(i, j), expected, tolerance) << i << ", " << j;
        }
      EXPECT_LT(factors.residual(), tolerance);
    }

    TEST(IncompleteFactors, ProductAgreesWithRandomMatricesOnTheirPattern)
    {
      for (unsigned int seed = 0; seed < 100; ++seed)
        for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic})
          for (const int fill_level : {0, 1, 2})
            {
              const FactorOptions options{kind, fill_level};
              SCOPED_TRACE(options.name() + ", seed " + std::to_string(seed));
              const CrsMatrix<double>         A = crs(random_sparse(2 + static_cast<int>(seed) % 20, seed, kind == FactorKind::ic));
              const IncompleteFactors<double> factors(A, options);
              EXPECT_EQ(factors.shift(), 0.);
              expect_product_on_pattern(A, factors, 1e-12);
            }
    }

    /**
     * Of each entry of a matrix its level by the definition: 0 where the matrix has one, then all eliminations in turn.
     */
    std::vector<std::vector<int>> levels_of_fill(const CrsMatrix<double> &A)
    {
      constexpr int                 never = 1000000;
      std::vector<std::vector<int>> level(A.n_rows, std::vector<int>(A.n_rows, never));
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          level[i][A.columns[p]] = 0;
      for (int k = 0; k < A.n_rows; ++k)
        for (int i = k + 1; i < A.n_rows; ++i)
          for (int j = k + 1; j < A.n_rows; ++j)
            level[i][j] = std::min(level[i][j], level[i][k] + level[k][j] + 1);
      return level;
    }

    TEST(IncompleteFactors, HaveFillUpToTheirLevel)
    {
      int largest = 0; // that makes a difference
      for (unsigned int seed = 0; seed < 60; ++seed)
        {
          const int               n     = 5 + static_cast<int>(seed) % 30;
          const bool              any   = seed % 2 == 0; // the pattern is not symmetric
          const CrsMatrix<double> A     = any ? random_dominant_matrix(n, 2, 0.9, seed) : crs(random_sparse(n, seed, true));
          const auto              level = levels_of_fill(A);
          for (const int fill_level : {0, 1, 2, 3, 4, n})
            for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic})
              {
                if (any && kind == FactorKind::ic)
                  continue;
                const FactorOptions options{kind, fill_level};
                SCOPED_TRACE(options.name() + ", seed " + std::to_string(seed));
                std::set<std::pair<int, int>> expected;
                for (int i = 0; i < n; ++i)
                  for (int j = 0; j < n; ++j)
                    {
                      if (level[i][j] <= fill_level)
                        expected.emplace(i, j);
                      if (level[i][j] == fill_level)
                        largest = std::max(largest, fill_level);
                    }
                EXPECT_EQ(entries(IncompleteFactors<double>(A, options)), expected);
              }
        }
      EXPECT_GE(largest, 4);
    }

    TEST(IncompleteFactors, MoreFillThanFitsIsRefusedAndItsMemoryIsTold)
    {
      const CrsMatrix<double> A = five_point_matrix(30, 30, 0.1);
      FactorOptions           options{FactorKind::ic, 4};
      double                  n_told = 0., bytes_told = 0.;
      options.report_fill = [&](double n_entries, double bytes) {
        n_told     = n_entries;
        bytes_told = bytes;
      };
      const IncompleteFactors<double> factors(A, options);
      EXPECT_EQ(n_told, factors.n_entries());
      EXPECT_EQ(bytes_told, bytes_of_factors<double>(factors.n_entries()));
      options.max_bytes = bytes_told;
      EXPECT_EQ(IncompleteFactors<double>(A, options).n_entries(), factors.n_entries());
      n_told            = 0.;
      options.max_bytes = 0.99 * bytes_told;
      try
        {
          const IncompleteFactors<double> refused(A, options);
          FAIL() << "they were made";
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("a lower level of fill, or more memory"), std::string::npos) << error.what();
        }
      EXPECT_EQ(n_told, 0.);
      options.max_bytes = -1.;
      EXPECT_THROW(options.validate(), InvalidInput);
    }

    TEST(IncompleteFactors, OfAllLevelsAreThoseOfElimination)
    {
      for (unsigned int seed = 0; seed < 60; ++seed)
        {
          SCOPED_TRACE("seed " + std::to_string(seed));
          const int               n = 3 + static_cast<int>(seed) % 30;
          const CrsMatrix<double> A = seed % 2 == 0 ? random_dominant_matrix(n, std::min(n - 1, 3), 0.9, seed) : crs(random_sparse(n, seed, true));
          for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic})
            {
              if (seed % 2 == 0 && kind == FactorKind::ic)
                continue;
              const IncompleteFactors<double> factors(A, {kind, 1000000});
              EXPECT_LT(largest_difference(dense(factors.lower()) * dense(factors.upper()), dense(A)), 1e-12);
              Vector       v        = random_vector(n, seed);
              const Vector expected = inverse(dense(A)) * v;
              factors.solve(v.data());
              EXPECT_LT(largest_difference(v, expected), 1e-11);
            }
        }
    }

    /** Row after row of the grid, elimination first makes the diagonals beside the outer ones. */
    TEST(IncompleteFactors, OfLevelOneOfAGridHaveTwoMoreDiagonals)
    {
      const int                       n = 7;
      const CrsMatrix<double>         A = five_point_matrix(n, n, 0.);
      const IncompleteFactors<double> factors(A, {FactorKind::ic, 1});
      // from a_i,i-n and a_i-n,i-n+1: column i - n + 1, and its mirror image
      EXPECT_EQ(factors.n_entries(), A.n_entries() + 2 * (n - 1) * (n - 1));
      EXPECT_EQ(factors.description(), "IC(1), " + std::to_string(factors.n_entries()) + " entries");
      EXPECT_GT(IncompleteFactors<double>(A, {FactorKind::ic, 2}).n_entries(), factors.n_entries());
    }

    TEST(IncompleteFactors, AreTriangularWithTheEntriesOfTheMatrix)
    {
      const CrsMatrix<double> A = five_point_matrix(7, 5, 0.);
      for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic})
        {
          const IncompleteFactors<double> factors(A, {kind});
          const CrsMatrix<double>         L = factors.lower(), U = factors.upper();
          L.validate();
          U.validate();
          EXPECT_EQ(L.n_entries() + U.n_entries(), A.n_entries() + A.n_rows);
          EXPECT_EQ(factors.n_entries(), A.n_entries());
          for (int i = 0; i < A.n_rows; ++i)
            {
              EXPECT_EQ(L.columns[L.row_offsets[i + 1] - 1], i);
              EXPECT_EQ(U.columns[U.row_offsets[i]], i);
              if (kind == FactorKind::ilu)
                {
                  EXPECT_EQ(L.values[L.row_offsets[i + 1] - 1], 1.);
                }
            }
          if (kind == FactorKind::ic)
            {
              EXPECT_EQ(L.values, transpose(U).values);
            }
          // what solve() does is what L and U say
          Vector       v        = random_vector(A.n_rows, 3);
          const Vector expected = inverse(dense(U)) * (inverse(dense(L)) * v);
          factors.solve(v.data());
          EXPECT_LT(largest_difference(v, expected), 1e-13);
        }
    }

    TEST(IncompleteFactors, AreThoseOfCholeskyForTridiagonalMatrices)
    {
      const CrsMatrix<double>         A = three_point_stencil(20, 0.3).to_crs();
      const IncompleteFactors<double> factors(A, {FactorKind::ic});
      EXPECT_LT(largest_difference(dense(factors.lower()) * dense(factors.upper()), dense(A)), 1e-14);
    }

    /** Kershaw's example (1978): positive definite, and yet the last pivot of IC(0) is -5. */
    CrsMatrix<double> kershaw()
    {
      Dense A(4, 4);
      A.values = {3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3};
      return crs(A);
    }

    TEST(IncompleteFactors, ShiftTheDiagonalWhereAPivotIsNegative)
    {
      const CrsMatrix<double>         A = kershaw();
      const IncompleteFactors<double> factors(A, {FactorKind::ic});
      EXPECT_GT(factors.shift(), 0.);
      EXPECT_LT(factors.shift(), 1.);
      EXPECT_NE(factors.description().find("diag(A)"), std::string::npos) << factors.description();
      expect_product_on_pattern(A, factors, 1e-12);
      try
        {
          FactorOptions options{FactorKind::ic};
          options.shift = false;
          const IncompleteFactors<double> none(A, options);
          FAIL() << "a negative pivot was taken";
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("row 3 is -5 where the diagonal entry is 3 (the first row is 0)"), std::string::npos)
            << error.what();
        }
    }

    /** Factors of another matrix were made to their end, ten times, before their shift was called too large. */
    TEST(IncompleteFactors, EndWhereTheShiftWouldBeTooLarge)
    {
      const CrsMatrix<double> A     = kershaw();
      const double            alpha = IncompleteFactors<double>(A, {FactorKind::ic}).shift();
      FactorOptions           options{FactorKind::ic};
      int                     n_times = 0;
      const auto              count   = [&n_times](const FactorPattern                &/*pattern*/, const Vector &of_A, Vector &factors) {
        factors        = of_A;
        factors.back() = -1.;
        ++n_times;
      };
      options.largest_shift = alpha;
      EXPECT_EQ(IncompleteFactors<double>(A, options).shift(), alpha);
      options.largest_shift = 0.99 * alpha;
      EXPECT_THROW((IncompleteFactors<double>(A, options)), ShiftTooLarge);
      options.largest_shift = 0.004;
      EXPECT_THROW((IncompleteFactors<double>(A, options, count)), ShiftTooLarge);
      EXPECT_EQ(n_times, 4); // 0, 0.001, 0.002, 0.004
      options.largest_shift = NAN;
      EXPECT_THROW(options.validate(), InvalidInput);
    }

    /**
     * All pivots are positive with a shift of 0.004, and conjugate gradients take ten times the steps that they take
     * without.
     */
    TEST(IncompleteFactors, ShiftTheDiagonalUntilTheFactorsAreOfUse)
    {
      const CrsMatrix<double> L = five_point_matrix(60, 60, 0.), A = product(L, L); // biharmonic
      const Vector            b(A.n_rows, 1.);
      const auto              iterations = [&](const std::shared_ptr<Preconditioner<double>> &preconditioner) {
        return solved(*make_cg<double>(A, {{{1e-8, 0., 20000}, Backend::host, 1}}, preconditioner), b).result.n_iterations;
      };
      IncompleteOptions options;
      options.factors.kind = FactorKind::ic;
      EXPECT_LT(iterations(make_incomplete_preconditioner(A, options)), 0.6 * iterations(nullptr));
      options.factors.largest_growth = 1e300;
      EXPECT_GT(iterations(make_incomplete_preconditioner(A, options)), iterations(nullptr)); // what the test of growth is for
      options.factors.largest_growth = NAN;
      EXPECT_THROW(options.validate(), InvalidInput);
    }

    TEST(IncompleteFactors, OfIlu0TakeNegativePivotsAndShiftThoseThatAreZero)
    {
      Dense singular(2, 2);
      singular.values = {1, 1, 1, 1};
      const IncompleteFactors<double> factors(crs(singular));
      EXPECT_GT(factors.shift(), 0.);
      EXPECT_EQ(IncompleteFactors<double>(kershaw()).shift(), 0.);
    }

    TEST(IncompleteFactors, RefuseWhatIsNotSymmetricOrNotPositive)
    {
      const auto message = [](const Dense &A) {
        try
          {
            const IncompleteFactors<double> factors(crs(A), {FactorKind::ic});
          }
        catch (const InvalidInput &error)
          {
            return std::string(error.what());
          }
        return std::string("nothing");
      };
      Dense values(2, 2), pattern(3, 3), negative(2, 2);
      values.values   = {4, 1, 2, 4};
      pattern.values  = {4, 0, 0, 1, 4, 0, 0, 0, 4};
      negative.values = {4, 1, 1, -4};
      EXPECT_NE(message(values).find("row 1, column 0 is 2 and its mirror image 1"), std::string::npos) << message(values);
      EXPECT_NE(message(pattern).find("without its mirror image"), std::string::npos) << message(pattern);
      EXPECT_NE(message(negative).find("row 1 is -4"), std::string::npos) << message(negative);
      FactorOptions options;
      options.smallest_pivot = NAN;
      EXPECT_THROW(options.validate(), InvalidInput);
      EXPECT_THROW(IncompleteFactors<double>(crs(negative), {FactorKind::ilu, -1}), InvalidInput);
    }

    TEST(IncompleteFactors, OfFloatsAreThoseOfDoublesRounded)
    {
      const CrsMatrix<double> A = five_point_matrix(9, 9, 0.1);
      const CrsMatrix<float>  B = rounded_to<float>(A);
      const auto              L = IncompleteFactors<double>(A, {FactorKind::ic}).lower();
      const auto              M = IncompleteFactors<float>(B, {FactorKind::ic}).lower();
      for (std::size_t p = 0; p < L.values.size(); ++p)
        EXPECT_NEAR(L.values[p], static_cast<double>(M.values[p]), 1e-6);
    }
  } // namespace
} // namespace leopard
