// SPDX-License-Identifier: Apache-2.0
// Products with a matrix on the device are those of the host, however it is stored there.
#include <solvers/device/device.h>
#include <solvers/matrix/device_matrix.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace leopard
{
  namespace
  {
    class DeviceMatrix : public testing::Test
    {
    protected:
      void SetUp() override
      {
        if (device::n_devices() == 0)
          GTEST_SKIP() << "no GPU here";
      }
    };

    std::vector<double> random_values(int n, unsigned int seed)
    {
      std::mt19937                           random(seed);
      std::uniform_real_distribution<double> value(-1., 1.);
      std::vector<double>                    result(n);
      for (double &v : result)
        v = value(random);
      return result;
    }

    /** Rows of 0 to `longest` entries within `reach` of the diagonal, with n_values different values. */
    CrsMatrix<double> random_rows(int n_rows, int n_columns, int longest, int reach, int n_values, unsigned int seed)
    {
      std::mt19937              random(seed);
      const std::vector<double> values = random_values(n_values, seed + 1);
      CrsMatrix<double>         A;
      A.n_rows      = n_rows;
      A.n_columns   = n_columns;
      A.row_offsets = {0};
      for (int i = 0; i < n_rows; ++i)
        {
          const int centre = static_cast<int>(static_cast<long>(i) * n_columns / n_rows), begin = std::max(0, centre - reach);
          const int n      = static_cast<int>(random() % (longest + 1));
          int       column = begin;
          for (int e = 0; e < n && column < std::min(n_columns, centre + reach); ++e)
            {
              A.columns.push_back(column);
              A.values.push_back(values[random() % n_values]);
              column += 1 + static_cast<int>(random() % std::max(1, 2 * reach / (longest + 1)));
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    /** z = alpha A x + beta y, and in place. */
    template <typename Number>
    void expect_products(const CrsMatrix<double> &A, const device::DeviceMatrix<Number> &matrix)
    {
      const std::vector<double>   x = random_values(A.n_columns, 5), y = random_values(A.n_rows, 6);
      const device::Array<Number> dx(rounded_to<Number>(x)), dy(rounded_to<Number>(y)), dz(rounded_to<Number>(y));
      for (const auto &[alpha, beta] : {std::pair(1., 0.), std::pair(-1., 1.), std::pair(0.5, -2.)})
        for (const bool in_place : {false, true})
          {
            if (in_place)
              device::copy_on_device(dz.data(), dy.data(), A.n_rows * sizeof(Number));
            matrix.multiply(dz.data(),
                            static_cast<Number>(alpha),
                            dx.data(),
                            static_cast<Number>(beta),
                            in_place     ? dz.data()
                            : beta == 0. ? nullptr
                                         : dy.data());
            std::vector<Number> found(A.n_rows);
            device::copy_to_host(found.data(), dz.data(), found.size() * sizeof(Number));
            for (int i = 0; i < A.n_rows; ++i)
              {
                double expected = beta * static_cast<Number>(y[i]), size = std::abs(expected);
                for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                  {
                    const double term = alpha * static_cast<Number>(A.values[p]) * static_cast<Number>(x[A.columns[p]]);
                    expected += term;
                    size += std::abs(term);
                  }
                const double error = std::abs(found[i] - expected);
                ASSERT_LE(error, 50. * std::numeric_limits<Number>::epsilon() * size) << "row " << i << ", in place: " << in_place;
              }
          }
    }

    template <typename Number>
    void expect_products(const CrsMatrix<double> &A, bool is_compact)
    {
      const device::DeviceMatrix<Number> matrix(rounded_to<Number>(A)), by_cusparse(rounded_to<Number>(A), false);
      expect_products(A, matrix);
      EXPECT_EQ(matrix.is_compact(), is_compact);
      expect_products(A, by_cusparse);
      EXPECT_FALSE(by_cusparse.is_compact());
    }

    TEST_F(DeviceMatrix, MultipliesFewValues)
    {
      for (const int n_rows : {80000, 80001, 80031}) // slices of 32 rows, and what is left
        {
          const CrsMatrix<double> A = random_rows(n_rows, n_rows, 14, 3000, 256, 7);
          expect_products<double>(A, true);
          expect_products<float>(A, true);
        }
    }

    TEST_F(DeviceMatrix, MultipliesRectangles)
    {
      expect_products<double>(random_rows(400000, 100001, 4, 50, 3, 8), true);
      expect_products<float>(random_rows(120000, 130000, 9, 400, 3, 9), true);
    }

    TEST_F(DeviceMatrix, MultipliesWhereColumnsOfARowAreFarApart)
    {
      expect_products<double>(random_rows(80000, 300000, 12, 299999, 5, 10), true); // no slice in 16 bits
      expect_products<double>(random_rows(80000, 300000, 12, 33000, 5, 11), true);  // some
      expect_products<float>(random_rows(80000, 300000, 12, 33000, 5, 12), true);
    }

    TEST_F(DeviceMatrix, LongestRowsAndManyValues)
    {
      const auto with_row_of = [](int n) {
        CrsMatrix<double> A = random_rows(120000, 120000, 8, 500, 4, 13);
        A.row_offsets.push_back(A.row_offsets.back() + n);
        for (int e = 0; e < n; ++e)
          {
            A.columns.push_back(100 * e);
            A.values.push_back(A.values[e]);
          }
        ++A.n_rows;
        return A;
      };
      expect_products<double>(with_row_of(255), true);
      expect_products<double>(with_row_of(256), false);
      expect_products<double>(random_rows(80000, 80000, 14, 3000, 2000, 14), false);
      CrsMatrix<double> small = random_rows(100, 100, 14, 30, 4, 15);
      expect_products<double>(small, false);
    }

    TEST_F(DeviceMatrix, TakesOtherValues)
    {
      CrsMatrix<double>            A = random_rows(80000, 80000, 14, 3000, 9, 16);
      device::DeviceMatrix<double> matrix(A), not_yet_used(A);
      expect_products(A, matrix);
      EXPECT_TRUE(matrix.is_compact());
      A.values = random_values(A.n_entries(), 17);
      for (device::DeviceMatrix<double> *m : {&matrix, &not_yet_used})
        {
          m->update_values(A.values.data());
          expect_products(A, *m);
          EXPECT_FALSE(m->is_compact());
        }
    }

    TEST_F(DeviceMatrix, WhatIsNotFiniteStaysSo)
    {
      CrsMatrix<double> A = random_rows(80000, 80000, 14, 3000, 4, 18);
      for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        {
          A.values[A.row_offsets[100]] = bad;
          const device::DeviceMatrix<double> matrix(A);
          const device::Array<double>        x(std::vector<double>(A.n_columns, 1.)), y(A.n_rows);
          matrix.multiply(y.data(), x.data());
          std::vector<double> found(A.n_rows);
          device::copy_to_host(found.data(), y.data(), found.size() * sizeof(double));
          int row = 100;
          while (A.row_offsets[row + 1] == A.row_offsets[100])
            ++row;
          EXPECT_FALSE(std::isfinite(found[row]));
        }
    }

    TEST_F(DeviceMatrix, MultipliesSmallOnesInOneLaunch)
    {
      for (const int longest : {1, 3, 9, 40, 200}) // two to 32 threads a row
        for (const int n_rows : {1, 31, 257})
          {
            const CrsMatrix<double> A = random_rows(n_rows, n_rows + 7, longest, 60, 2000, 19);
            expect_products<double>(A, false);
            expect_products<float>(A, false);
            EXPECT_TRUE(device::DeviceMatrix<double>(A).is_small());
          }
      CrsMatrix<double> empty = random_rows(40, 40, 3, 10, 5, 20);
      empty.columns.clear();
      empty.values.clear();
      empty.row_offsets.assign(41, 0);
      expect_products<double>(empty, false);
    }

    template <typename Number>
    void expect_restricted_residual(int n_rows, int longest)
    {
      const int               n_coarse     = n_rows / 3 + 1;
      const CrsMatrix<double> A            = random_rows(n_rows, n_rows, longest, 60, 2000, 21),
                              R            = random_rows(n_coarse, n_rows, 2 * longest, 60, 2000, 22); // with rows that are empty
      const std::vector<double>          x = random_values(n_rows, 23), b = random_values(n_rows, 24);
      const device::Array<Number>        dx(rounded_to<Number>(x)), db(rounded_to<Number>(b));
      const std::vector<Number>          nan(n_coarse, std::numeric_limits<Number>::quiet_NaN());
      const device::Array<Number>        coarse_b(nan), coarse_x(nan);
      const device::DeviceMatrix<Number> device_A(rounded_to<Number>(A)), device_R(rounded_to<Number>(R));
      device::restricted_residual(coarse_b.data(), coarse_x.data(), device_R, device_A, dx.data(), db.data());
      std::vector<Number> found(n_coarse), zeros(n_coarse);
      device::copy_to_host(found.data(), coarse_b.data(), found.size() * sizeof(Number));
      device::copy_to_host(zeros.data(), coarse_x.data(), zeros.size() * sizeof(Number));
      for (int i = 0; i < n_coarse; ++i)
        {
          double expected = 0., size = 0.;
          for (int p = R.row_offsets[i]; p < R.row_offsets[i + 1]; ++p)
            {
              const int j        = R.columns[p];
              double    residual = b[j], terms = std::abs(b[j]);
              for (int q = A.row_offsets[j]; q < A.row_offsets[j + 1]; ++q)
                {
                  residual -= A.values[q] * x[A.columns[q]];
                  terms += std::abs(A.values[q] * x[A.columns[q]]);
                }
              expected += R.values[p] * residual;
              size += std::abs(R.values[p]) * terms;
            }
          const double error = std::abs(found[i] - expected);
          ASSERT_LE(error, 50. * std::numeric_limits<Number>::epsilon() * size) << "row " << i;
          EXPECT_EQ(zeros[i], Number(0));
        }
    }

    TEST_F(DeviceMatrix, RestrictsResidualsInOneLaunch)
    {
      for (const int longest : {2, 5, 27, 130})
        for (const int n_rows : {1, 40, 700})
          {
            expect_restricted_residual<double>(n_rows, longest);
            expect_restricted_residual<float>(n_rows, longest);
          }
    }
  } // namespace
} // namespace leopard
