// SPDX-License-Identifier: Apache-2.0
// Substitution and elimination by levels of rows: orders that respect what rows depend on, and the same bits for any
// number of threads.
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/incomplete_factors.h>
#include <solvers/matrix/row_levels.h>
#include <solvers/matrix/sparse_product.h>
#include <solvers/relaxation/diagonal.h>
#include <solvers/relaxation/ilu0.h>
#include <solvers/triangular/incomplete_preconditioner.h>
#include <solvers/triangular/triangular_solver.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr int threads[] = {2, 3, 4};

    /** Its own entries on one side of the diagonal. */
    CrsMatrix<double> part_of(const CrsMatrix<double> &A, Triangle triangle)
    {
      CrsMatrix<double> T;
      T.n_rows = T.n_columns = A.n_rows;
      for (int i = 0; i < A.n_rows; ++i)
        {
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (triangle == Triangle::lower ? A.columns[p] <= i : A.columns[p] >= i)
              {
                T.columns.push_back(A.columns[p]);
                T.values.push_back(A.values[p]);
              }
          T.row_offsets.push_back(static_cast<int>(T.columns.size()));
        }
      return T;
    }

    /** Wide levels: rows of random neighbours, and a grid; not symmetric. */
    std::vector<CrsMatrix<double>> wide_matrices()
    {
      CrsMatrix<double> grid  = seven_point_matrix(26, 25, 24, 0.1);
      const Vector      noise = random_vector(grid.n_entries(), 3);
      for (int p = 0; p < grid.n_entries(); ++p)
        grid.values[p] *= 1. + 0.1 * noise[p];
      return {random_dominant_matrix(20000, 5, 0.9, 1), random_dominant_matrix(9000, 8, 0.9, 2), grid};
    }

    CrsMatrix<double> chain(int n)
    {
      return five_point_matrix(n, 1, 0.1);
    }

    /** A row with all entries after n rows of two: one level is wide, the other one row. */
    CrsMatrix<double> arrow(int n)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          for (int j = 0; j < n; ++j)
            if (j == i || j == n - 1 || i == n - 1)
              {
                A.columns.push_back(j);
                A.values.push_back(i == j ? 2. * n : -1.);
              }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    TriangularOptions exact(int n_threads)
    {
      TriangularOptions result;
      result.block_async.n_threads = n_threads;
      return result;
    }

    Vector solved_by(const CrsMatrix<double> &T, Triangle triangle, int n_threads, const Vector &b, std::string &description)
    {
      TriangularSolver<double> solver(T, triangle, exact(n_threads));
      Vector                   x(b.size());
      solver.solve(x.data(), b.data());
      description = solver.description();
      return x;
    }

    /** A row that comes before one on which it depends, or twice, or never. */
    TEST(RowLevels, EachRowComesOnceAndAfterThoseItDependsOn)
    {
      std::vector<CrsMatrix<double>> matrices = wide_matrices();
      matrices.push_back(chain(5000));
      matrices.push_back(arrow(3000));
      matrices.push_back(seven_point_matrix(40, 40, 5, 0.)); // narrow levels at both ends
      for (const CrsMatrix<double> &A : matrices)
        for (const Triangle triangle : {Triangle::lower, Triangle::upper})
          for (const int n_threads : {1, 2, 4})
            {
              const CrsMatrix<double> T        = part_of(A, triangle);
              const std::vector<int>  diagonal = diagonal_entries(T);
              const RowLevels         levels(
                {T.n_rows, T.row_offsets.data(), T.row_offsets.data() + 1, T.columns.data(), diagonal.data(), triangle == Triangle::upper},
                n_threads);
              std::vector<std::atomic<int>> times(T.n_rows), at(T.n_rows);
              std::atomic<int>              too_early = 0;
              levels.for_rows([&](int place, int i) {
                for (int p = T.row_offsets[i]; p < T.row_offsets[i + 1]; ++p)
                  too_early += T.columns[p] != i && times[T.columns[p]] == 0 ? 1 : 0;
                ++times[i];
                ++at[place];
              });
              EXPECT_EQ(too_early.load(), 0);
              for (int i = 0; i < T.n_rows; ++i)
                ASSERT_TRUE(times[i] == 1 && at[i] == 1) << "row " << i;
            }
    }

    TEST(RowLevels, AreUsedWhereTheyAreWide)
    {
      std::string text;
      for (const CrsMatrix<double> &A : wide_matrices())
        for (const Triangle triangle : {Triangle::lower, Triangle::upper})
          {
            solved_by(part_of(A, triangle), triangle, 4, Vector(A.n_rows, 1.), text);
            EXPECT_NE(text.find("levels by 4 threads"), std::string::npos) << text;
            solved_by(part_of(A, triangle), triangle, 1, Vector(A.n_rows, 1.), text);
            EXPECT_EQ(text, "exact, in sequence");
          }
      for (const CrsMatrix<double> &A : {chain(50000), five_point_matrix(100, 100, 0.), seven_point_matrix(8, 8, 1000, 0.)})
        {
          solved_by(part_of(A, Triangle::lower), Triangle::lower, 4, Vector(A.n_rows, 1.), text);
          EXPECT_EQ(text, "exact, in sequence");
        }
    }

    TEST(RowLevels, TriangularSolvesHaveTheSameBitsForAnyNumberOfThreads)
    {
      std::vector<CrsMatrix<double>> matrices = wide_matrices();
      matrices.push_back(chain(20000));
      matrices.push_back(arrow(3000));
      for (const CrsMatrix<double> &A : matrices)
        for (const Triangle triangle : {Triangle::lower, Triangle::upper})
          {
            const CrsMatrix<double> T = part_of(A, triangle);
            const Vector            b = random_vector(A.n_rows, 7);
            std::string             text;
            const Vector            x = solved_by(T, triangle, 1, b, text);
            EXPECT_LT(relative_residual(T, x, b), 1e-13);
            for (const int n_threads : threads)
              EXPECT_EQ(solved_by(T, triangle, n_threads, b, text), x) << n_threads;
          }
    }

    TEST(RowLevels, TriangularSolvesTakeNewValues)
    {
      for (const CrsMatrix<double> &A : wide_matrices())
        {
          const CrsMatrix<double> T = part_of(A, Triangle::upper);
          const Vector            b = random_vector(A.n_rows, 8);
          CrsMatrix<double>       U = T;
          for (int p = 0; p < U.n_entries(); ++p)
            U.values[p] *= 1. + 0.3 * std::sin(p);
          std::string              text;
          TriangularSolver<double> solver(T, Triangle::upper, exact(3));
          Vector                   x(b.size());
          solver.update_values(U.values.data());
          solver.solve(x.data(), b.data());
          EXPECT_EQ(x, solved_by(U, Triangle::upper, 1, b, text));
        }
    }

    void expect_same_factors(const CrsMatrix<double> &A, FactorOptions options, const CrsMatrix<double> &changed)
    {
      options.n_threads = 1;
      IncompleteFactors<double> one(A, options);
      for (const int n_threads : threads)
        {
          options.n_threads = n_threads;
          IncompleteFactors<double> several(A, options);
          for (const CrsMatrix<double> *of : {&A, &changed})
            {
              one.factorize(of->values.data());
              several.factorize(of->values.data());
              EXPECT_EQ(several.lower().values, one.lower().values) << n_threads;
              EXPECT_EQ(several.upper().values, one.upper().values) << n_threads;
              EXPECT_EQ(several.upper().columns, one.upper().columns);
              EXPECT_EQ(several.shift(), one.shift());
              Vector x = random_vector(A.n_rows, 9), y = x;
              one.solve(x.data());
              several.solve(y.data());
              EXPECT_EQ(x, y) << n_threads;
            }
        }
    }

    CrsMatrix<double> changed(CrsMatrix<double> A)
    {
      for (double &value : A.values)
        value = value > 0. ? 1.5 * value : 0.9 * value;
      return A;
    }

    TEST(RowLevels, FactorsHaveTheSameBitsForAnyNumberOfThreads)
    {
      std::vector<CrsMatrix<double>> matrices = wide_matrices();
      matrices.push_back(chain(20000));
      matrices.push_back(arrow(3000));
      for (const CrsMatrix<double> &A : matrices)
        expect_same_factors(A, {}, changed(A));
      expect_same_factors(matrices[2], {FactorKind::ilu, 1}, changed(matrices[2]));
      for (const int fill_level : {0, 1})
        for (const CrsMatrix<double> &A : {seven_point_matrix(26, 25, 24, 0.1), chain(20000)})
          expect_same_factors(A, {FactorKind::ic, fill_level}, changed(A));
    }

    /** Here without a shift the factors do not exist; what decides on it is the same for any number of threads. */
    TEST(RowLevels, ShiftsAreTheSameForAnyNumberOfThreads)
    {
      CrsMatrix<double> A = seven_point_matrix(26, 25, 24, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= A.columns[p] == i ? 0.55 : 1.;
      expect_same_factors(A, {FactorKind::ic}, changed(A));
      EXPECT_GT(IncompleteFactors<double>(A, {FactorKind::ic}).shift(), 0.);
    }

    /** Rows of threads that come later in the matrix may be refused earlier in time. */
    TEST(RowLevels, TheFirstRowIsNamed)
    {
      CrsMatrix<double>      A        = seven_point_matrix(30, 30, 30, 0.1);
      const std::vector<int> diagonal = diagonal_entries(A);
      for (const int row : {26000, 20000, 14000, 13000})
        A.values[diagonal[row]] = -1.;
      for (int n_threads = 1; n_threads <= 4; ++n_threads)
        try
          {
            FactorOptions options{FactorKind::ic};
            options.n_threads = n_threads;
            const IncompleteFactors<double> factors(A, options);
            FAIL();
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find("row 13000 is -1"), std::string::npos) << error.what();
          }
    }

    TEST(RowLevels, Ilu0AndPreconditionersHaveTheSameBitsForAnyNumberOfThreads)
    {
      for (const CrsMatrix<double> &A : wide_matrices())
        {
          const Vector b      = random_vector(A.n_rows, 11);
          const auto   smooth = [&](int n_threads) {
            Vector     x      = b;
            const auto method = make_ilu0(A, 0.9, n_threads);
            method->iterate(x.data(), b.data(), 3);
            method->update_values(changed(A).values.data());
            method->iterate(x.data(), b.data(), 1);
            return x;
          };
          const auto precondition = [&](int n_threads) {
            IncompleteOptions options;
            options.solves = exact(n_threads);
            Vector     z(A.n_rows);
            const auto factors = make_incomplete_preconditioner(A, options);
            EXPECT_NE(factors->description().find(n_threads == 1 ? "exact, in sequence" : "levels by "), std::string::npos);
            factors->update_values(changed(A).values.data());
            factors->apply(z.data(), b.data());
            return z;
          };
          const Vector smoothed = smooth(1), preconditioned = precondition(1);
          for (const int n_threads : threads)
            {
              EXPECT_EQ(smooth(n_threads), smoothed) << n_threads;
              EXPECT_EQ(precondition(n_threads), preconditioned) << n_threads;
            }
        }
    }

    /** Of many rows by several threads, against one entry after the other. */
    TEST(Transpose, OfManyRowsHasTheOrderOfRows)
    {
      CrsMatrix<double> tall = random_dominant_matrix(30000, 6, 0.9, 5);
      tall.n_columns += 500; // empty ones
      for (const CrsMatrix<double> &A : {tall, seven_point_matrix(30, 30, 30, 0.), chain(30000), arrow(9000)})
        {
          std::vector<std::vector<std::pair<int, double>>> expected(A.n_columns);
          for (int i = 0; i < A.n_rows; ++i)
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              expected[A.columns[p]].emplace_back(i, A.values[p]);
          for (int n_threads = 1; n_threads <= 4; ++n_threads)
            {
              const CrsMatrix<double> T = transpose(A, n_threads);
              ASSERT_EQ(T.n_rows, A.n_columns);
              ASSERT_EQ(T.n_columns, A.n_rows);
              ASSERT_EQ(T.n_entries(), A.n_entries());
              for (int j = 0; j < T.n_rows; ++j)
                {
                  std::vector<std::pair<int, double>> found;
                  for (int p = T.row_offsets[j]; p < T.row_offsets[j + 1]; ++p)
                    found.emplace_back(T.columns[p], T.values[p]);
                  ASSERT_EQ(found, expected[j]) << "column " << j;
                }
            }
        }
    }
  } // namespace
} // namespace leopard
