// SPDX-License-Identifier: Apache-2.0
// Sweeps over slices of eight rows against the sum over each row.
#include <solvers/block_async/block_async.h>
#include <solvers/block_async/sliced_rows.h>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace leopard
{
  namespace
  {
    /** Rows of 0 to 20 entries beside the diagonal, in no pattern. */
    CrsMatrix<double> irregular_matrix(int n, std::mt19937 &generator)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      A.row_offsets          = {0};
      for (int i = 0; i < n; ++i)
        {
          const unsigned int length = generator() % 21;
          for (int j = 0; j < n; ++j)
            if (j == i || generator() % n < length)
              {
                A.columns.push_back(j);
                A.values.push_back(j == i ? 30. + i : 1. + generator() % 7);
              }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    /** A sweep in one block, row by row. */
    std::vector<double>
    expected(const CrsMatrix<double> &A, int begin, int end, double keep, const std::vector<double> &weights, const double *y, const double *frozen)
    {
      std::vector<double> next;
      for (int i = begin; i < end; ++i)
        {
          double sum = frozen[i - begin];
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            if (A.columns[p] != i && A.columns[p] >= begin && A.columns[p] < end)
              sum -= A.values[p] * y[A.columns[p] - begin];
          next.push_back(keep * y[i - begin] + weights[i] * sum);
        }
      return next;
    }

    void expect_sweeps(const SlicedRows<double> &rows, const CrsMatrix<double> &A, const BlockCrs<double> &matrix, const std::vector<double> &weights)
    {
      for (int block = 0; block < matrix.n_blocks(); ++block)
        {
          const int           begin = matrix.blocks.begin[block], end = matrix.blocks.end[block], n = SlicedRows<double>::rounded_up(end - begin);
          std::vector<double> y(n, 0.), frozen(n, 0.), next(n, std::numeric_limits<double>::quiet_NaN());
          for (int i = 0; i < end - begin; ++i)
            {
              y[i]      = 0.25 * (i % 5) - 0.5;
              frozen[i] = 1. + i % 3;
            }
          rows.sweep(block, 0.2, y.data(), frozen.data(), next.data());
          const std::vector<double> wanted = expected(A, begin, end, 0.2, weights, y.data(), frozen.data());
          for (int i = 0; i < end - begin; ++i)
            EXPECT_NEAR(next[i], wanted[i], 1e-13 * (1. + std::abs(wanted[i]))) << "block " << block << ", row " << i;
          for (int i = end - begin; i < n; ++i)
            EXPECT_TRUE(std::isfinite(next[i])) << "block " << block << ", filled row " << i;
        }
    }

    TEST(SlicedRows, SweepAsRowByRow)
    {
      std::mt19937 generator(3);
      for (const int n : {1, 7, 8, 9, 63, 100})
        for (const int block_size : {1, 5, 8, 16, 37, 100})
          {
            SCOPED_TRACE(std::to_string(n) + " rows in blocks of " + std::to_string(block_size));
            CrsMatrix<double> A = irregular_matrix(n, generator);
            BlockAsyncOptions options;
            options.block_size = block_size;
            BlockCrs<double>    matrix(A, options.blocks(n));
            std::vector<double> weights;
            matrix.compute_weights(0.8, false, weights);
            SlicedRows<double> rows(matrix);
            rows.update(matrix, weights);
            expect_sweeps(rows, A, matrix, weights);

            for (double &value : A.values)
              value *= -1.5;
            matrix.update_values(A.values.data());
            matrix.compute_weights(0.8, false, weights);
            rows.update(matrix, weights);
            expect_sweeps(rows, A, matrix, weights);
          }
    }

    TEST(SlicedRows, RoundedUp)
    {
      EXPECT_EQ(SlicedRows<double>::rounded_up(0), 0);
      EXPECT_EQ(SlicedRows<double>::rounded_up(1), 8);
      EXPECT_EQ(SlicedRows<double>::rounded_up(8), 8);
      EXPECT_EQ(SlicedRows<double>::rounded_up(9), 16);
    }
  } // namespace
} // namespace leopard
