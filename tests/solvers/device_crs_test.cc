// SPDX-License-Identifier: Apache-2.0
// Matrices that are permuted, transposed and split into tiles on the device are those of the host.
#include <solvers/base/errors.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device.h>
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/device_crs.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/stencil.h>
#include <solvers/multigrid/multigrid.h>
#include <solvers/relaxation/chebyshev.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace leopard
{
  namespace
  {
    class DeviceCrs : public testing::Test
    {
    protected:
      void SetUp() override
      {
        if (device::n_devices() == 0)
          GTEST_SKIP() << "no GPU";
      }
    };

    template <typename T>
    std::vector<T> to_host(const device::Array<T> &array, std::size_t n)
    {
      std::vector<T> result(n);
      if (n > 0)
        device::copy_to_host(result.data(), array.data(), n * sizeof(T));
      return result;
    }

    template <typename Number>
    void expect_equal(const device::DeviceCrs<Number> &found, const CrsMatrix<double> &expected)
    {
      ASSERT_EQ(found.n_rows, expected.n_rows);
      ASSERT_EQ(found.n_columns, expected.n_columns);
      ASSERT_EQ(found.n_entries, expected.n_entries());
      EXPECT_EQ(to_host(found.arrays->row_offsets, expected.row_offsets.size()), expected.row_offsets);
      EXPECT_EQ(to_host(found.arrays->columns, expected.columns.size()), expected.columns);
      EXPECT_EQ(to_host(found.arrays->values, expected.values.size()), rounded_to<Number>(expected.values));
    }

    std::vector<int> shuffled(int n, unsigned int seed)
    {
      std::vector<int> result(n);
      std::iota(result.begin(), result.end(), 0);
      std::shuffle(result.begin(), result.end(), std::mt19937(seed));
      return result;
    }

    /** 100 x 70, rows of 0 to 9 entries, one of 60. */
    CrsMatrix<double> rectangle()
    {
      std::mt19937      random(3);
      CrsMatrix<double> A;
      A.n_rows      = 100;
      A.n_columns   = 70;
      A.row_offsets = {0};
      for (int i = 0; i < A.n_rows; ++i)
        {
          std::vector<int> columns = shuffled(A.n_columns, static_cast<unsigned int>(i));
          columns.resize(i == 50 ? 60 : random() % 10);
          for (const int column : columns)
            {
              A.columns.push_back(column);
              A.values.push_back(1. / (1. + static_cast<double>(random() % 1000)));
            }
          A.row_offsets.push_back(A.n_entries());
        }
      return A;
    }

    TEST_F(DeviceCrs, PermutesAndTransposesAsTheHost)
    {
      const CrsMatrix<double>  A    = rectangle();
      const std::vector<int>   rows = shuffled(100, 1), columns = shuffled(60, 2); // the last ten are ghosts
      const device::Array<int> rows_there(rows), columns_there(columns);
      const CrsMatrix<double>  permuted = permute(A, rows, columns);
      expect_equal(device::permuted<double>(A, rows_there, columns_there, false), permuted);
      expect_equal(device::permuted<float>(A, rows_there, columns_there, false), permuted);
      expect_equal(device::transposed(device::permuted<double>(A, rows_there, columns_there, false)), transpose(permuted));
      // the values that an update would bring to each place
      const device::Array<int> entries = device::permuted_entries(A, rows_there, columns_there);
      device::Array<double>    values(entries.size());
      device::permuted_values(values.data(), A.values, entries);
      EXPECT_EQ(to_host(values, entries.size()), permuted.values);
    }

    TEST_F(DeviceCrs, SortsRowsOfThousands)
    {
      CrsMatrix<double> A = random_dominant_matrix(4000, 5, 0.9, 7);
      CrsMatrix<double> arrow;
      arrow.n_rows = arrow.n_columns = A.n_rows;
      arrow.row_offsets              = {0};
      for (int i = 0; i < A.n_rows; ++i)
        {
          if (i == 17) // a full row, from the end
            for (int j = A.n_columns - 1; j >= 0; --j)
              {
                arrow.columns.push_back(j);
                arrow.values.push_back(j == i ? 9999. : 1. / (1. + j));
              }
          else
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                arrow.columns.push_back(A.columns[p]);
                arrow.values.push_back(A.values[p]);
              }
          arrow.row_offsets.push_back(arrow.n_entries());
        }
      const std::vector<int>   rows = shuffled(A.n_rows, 5);
      const device::Array<int> rows_there(rows);
      expect_equal(device::permuted<double>(arrow, rows_there, rows_there, true), permute(arrow, rows, rows));
    }

    TEST_F(DeviceCrs, RefusesWhatTheHostRefuses)
    {
      const CrsMatrix<double> good = five_point_stencil(9, 7, 0.1).to_crs();
      EXPECT_EQ(device::permuted<double>(good, {}, {}, true).n_rows, good.n_rows);
      const auto is_refused = [&](const auto &spoil) {
        CrsMatrix<double> bad = good;
        spoil(bad);
        EXPECT_THROW(bad.validate(), InvalidInput);
        return device::permuted<double>(bad, {}, {}, true).n_rows == -1;
      };
      EXPECT_TRUE(is_refused([](auto &A) { A.columns[5] = A.n_columns; }));
      EXPECT_TRUE(is_refused([](auto &A) { A.columns[5] = -1; }));
      EXPECT_TRUE(is_refused([](auto &A) { A.columns[5] = A.columns[4]; }));
      EXPECT_TRUE(is_refused([](auto &A) { A.values[5] = std::numeric_limits<double>::quiet_NaN(); }));
      EXPECT_TRUE(is_refused([](auto &A) { A.values[5] = std::numeric_limits<double>::infinity(); }));
      EXPECT_TRUE(is_refused([](auto &A) { A.row_offsets[3] = A.row_offsets[4] + 1; }));
      EXPECT_TRUE(is_refused([](auto &A) { A.row_offsets[3] = -1; }));
      EXPECT_TRUE(is_refused([](auto &A) { A.row_offsets.back() -= 1; }));
      EXPECT_TRUE(is_refused([](auto &A) {
        for (int p = A.row_offsets[20]; p < A.row_offsets[21]; ++p)
          if (A.columns[p] == 20)
            A.values[p] = 0.;
      }));
      EXPECT_TRUE(is_refused([](auto &A) {
        for (int p = A.row_offsets[20]; p < A.row_offsets[21]; ++p)
          if (A.columns[p] == 20)
            A.columns[p] = 50;
      }));
    }

    TEST_F(DeviceCrs, FindsTheTilesOfTheHost)
    {
      std::mt19937                           random(11);
      std::uniform_real_distribution<double> number(-1., 3.);
      for (const int dim : {1, 2, 3})
        for (const int n : {1, 31, 1000, 40013})
          for (const int block_size : {1, 32, 256})
            {
              std::vector<double> coordinates(static_cast<std::size_t>(n) * dim);
              for (std::size_t i = 0; i < coordinates.size(); ++i)
                coordinates[i] = i % 3 == 0 ? std::floor(10. * number(random)) / 10. : number(random); // some are equal
              for (const bool shifted : {false, true})
                {
                  const std::string what =
                    std::to_string(dim) + ", " + std::to_string(n) + ", " + std::to_string(block_size) + ", " + std::to_string(shifted);
                  const Partition          expected = coordinate_partition(coordinates, dim, block_size, 1, shifted);
                  std::vector<int>         offsets;
                  const device::Array<int> rows = device::coordinate_order(coordinates, dim, block_size, offsets, shifted);
                  EXPECT_EQ(offsets, expected.block_offsets) << what;
                  EXPECT_EQ(to_host(rows, rows.size()), expected.old_row) << what;
                }
            }
      std::vector<int> offsets;
      EXPECT_EQ(device::coordinate_order({0., std::numeric_limits<double>::quiet_NaN()}, 1, 1, offsets).size(), 0u);
    }

    TEST_F(DeviceCrs, EstimatesEigenvaluesAsTheHost)
    {
      const CrsMatrix<double>         A     = nine_point_stencil(61, 43, 0.1).to_crs();
      const device::DeviceCrs<double> there = device::to_device(A);
      EXPECT_DOUBLE_EQ(gershgorin_bound(there), gershgorin_bound(A));
      EXPECT_NEAR(estimate_lambda_max(there, 40), estimate_lambda_max(A, 40), 0.05 * estimate_lambda_max(A, 40));
      EXPECT_EQ(estimate_lambda_max(there, 40), estimate_lambda_max(there, 40)); // each time the same
      CrsMatrix<double> large = A;
      for (double &value : large.values)
        value = value == A.values.front() ? 1e-300 : 1e300;
      EXPECT_THROW(estimate_lambda_max(device::to_device(large), 40), InvalidInput);
    }

    /** The host says what it is, whether blocks come from coordinates or from the graph, which is looked at before. */
    TEST_F(DeviceCrs, LevelsWithWrongEntriesAreRefused)
    {
      for (const BlockShape shape : {BlockShape::tiles, BlockShape::metis, BlockShape::contiguous})
        for (const int what : {0, 1, 2, 3, 4})
          {
            MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(63, 63, 0.1), 3);
            MultigridLevel    &level     = hierarchy.levels.back();
            if (what == 1)
              level.matrix.columns[100] = 1 << 30;
            else if (what == 2)
              level.matrix.values[100] = std::numeric_limits<double>::quiet_NaN();
            else if (what == 3)
              level.prolongation.columns[100] = -5;
            else if (what == 4)
              level.matrix.columns[100] = -5;
            MultigridOptions options;
            options.backend              = Backend::cuda;
            options.smoother.block_shape = shape;
            std::string message;
            try
              {
                const Multigrid<double> multigrid(hierarchy, options);
              }
            catch (const InvalidInput &error)
              {
                message = error.what();
              }
            EXPECT_EQ(message.find("level 2") != std::string::npos, what != 0) << message;
          }
    }

    TEST_F(DeviceCrs, LargeArraysArriveWhole)
    {
      for (const std::size_t n : {(std::size_t(16) << 20) / 4, (std::size_t(16) << 20) / 4 + 1, std::size_t(17000003)})
        {
          std::vector<int> numbers(n);
          std::iota(numbers.begin(), numbers.end(), 0);
          EXPECT_EQ(to_host(device::Array<int>(numbers), n), numbers);
        }
    }

    TEST_F(DeviceCrs, StorageIsTheSmallestThatLosesNothing)
    {
      const auto described = [](int n_values, double step, Storage storage) {
        CrsMatrix<double> A = five_point_stencil(40, 30, 0.1).to_crs();
        int               n = 0;
        for (double &value : A.values)
          value = value > 0. ? 4. : -1. + step * (n++ % n_values); // the diagonal is not stored
        BlockAsyncOptions options;
        options.backend = Backend::cuda;
        options.storage = storage;
        return BlockAsync<double>(A, options).description();
      };
      const auto        has  = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
      const std::string full = described(255, 1. / 1024, Storage::automatic), over = described(256, 1. / 1024, Storage::automatic);
      EXPECT_TRUE(has(full, "stored as dictionary of 256,")) << full; // with zero, which rows are filled up with
      EXPECT_TRUE(has(over, "stored as single,")) << over;
      EXPECT_TRUE(has(described(300, 1e-4, Storage::automatic), "stored as double,"));
      EXPECT_TRUE(has(described(3, 1e-4, Storage::double_precision), "stored as double,"));
      EXPECT_THROW(described(256, 1. / 1024, Storage::dictionary), InvalidInput);
      EXPECT_THROW(described(3, 1e-4, Storage::single_precision), InvalidInput);
    }

    TEST_F(DeviceCrs, BlocksOfItRelaxAsThoseOfTheHostsMatrix)
    {
      for (const bool l1_weights : {false, true})
        for (const Overlap overlap : {Overlap::none, Overlap::uniform})
          for (const int block_size : {1, 33, 256, 700})
            for (const bool few_values : {false, true})
              {
                const CrsMatrix<double> A = few_values ? nine_point_stencil(37, 29, 0.1).to_crs() : random_dominant_matrix(1073, 7, 0.9, 1);
                BlockAsyncOptions       options;
                options.backend         = Backend::reference;
                options.schedule        = Schedule::synchronous;
                options.block_size      = block_size;
                options.overlap         = overlap;
                options.overlap_percent = overlap == Overlap::none ? 0. : 25.;
                options.l1_weights      = l1_weights;
                std::vector<double> x(A.n_rows, 0.), b(A.n_rows);
                for (int i = 0; i < A.n_rows; ++i)
                  b[i] = std::sin(i);
                BlockAsync<double>(A, options).iterate(x.data(), b.data(), 4);
                options.backend = Backend::cuda;
                BlockAsync<double>          there(device::to_device(A), options);
                const device::Array<double> b_there(b), x_there(std::vector<double>(A.n_rows, 0.));
                there.iterate(x_there.data(), b_there.data(), 4);
                const std::vector<double> found = to_host(x_there, x.size());
                for (int i = 0; i < A.n_rows; ++i)
                  ASSERT_NEAR(found[i], x[i], 1e-12) << there.description() << ", row " << i;
              }
    }
  } // namespace
} // namespace leopard
