// SPDX-License-Identifier: Apache-2.0
// Level matrices in 16 bits: rounding on the device, the packets that hold such values, cycles with them, and what is
// refused.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/device/device_array.h>
#include <solvers/matrix/device_crs.h>
#include <solvers/matrix/generators.h>
#include <solvers/refinement/mixed_multigrid.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace leopard
{
  namespace
  {
    /** Five-point levels with a coefficient for each edge, smooth in space, between 1 - strength and 1 + strength. */
    MultigridHierarchy smooth_coefficients(double strength)
    {
      MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(127, 127, 0.), 4);
      for (MultigridLevel &level : hierarchy.levels)
        scale_edges(level.matrix, [&](int i, int j) {
          const double *at = level.coordinates.data();
          return 1. + strength * std::sin(0.02 * (at[2 * i] + at[2 * j]) + 0.013 * (at[2 * i + 1] + at[2 * j + 1]));
        });
      return hierarchy;
    }

    /** A matrix of more than a dictionary's values when it is rounded, some of each sign. */
    CrsMatrix<double> many_values()
    {
      CrsMatrix<double> A = nine_point_stencil(37, 29, 0.1).to_crs();
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (const int j = A.columns[p]; j == i)
            A.values[p] *= 8.;
          else
            A.values[p] *= std::exp2(3. * std::sin(1. + i + j)) * ((i + j) % 5 == 0 ? -1. : 1.);
      return A;
    }

    TEST(LevelStorage, ScaledEdgesKeepRowSumsAndSymmetry)
    {
      const CrsMatrix<double> before = nine_point_stencil(13, 9, 0.1).to_crs();
      CrsMatrix<double>       A      = before;
      scale_edges(A, [](int i, int j) { return 1.5 + std::sin(i + j); });
      for (int i = 0; i < A.n_rows; ++i)
        {
          double sum = 0.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            {
              sum += A.values[p] - before.values[p];
              if (A.columns[p] != i)
                {
                  EXPECT_NEAR(A.values[p], before.values[p] * (1.5 + std::sin(i + A.columns[p])), 1e-15);
                }
            }
          EXPECT_NEAR(sum, 0., 1e-14) << "row " << i;
        }
    }

    TEST(LevelStorage, RoundingKeepsRowSumsAndSymmetry)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      const CrsMatrix<float>   before = rounded_to<float>(many_values());
      device::DeviceCrs<float> there  = device::to_device(before);
      device::round_to_bfloat16(there);
      const CrsMatrix<float> after   = device::to_host(there);
      int                    changed = 0;
      for (int i = 0; i < after.n_rows; ++i)
        {
          double sum_before = 0., sum_after = 0., largest = 0.;
          for (int p = after.row_offsets[i]; p < after.row_offsets[i + 1]; ++p)
            {
              const int j = after.columns[p];
              sum_before += before.values[p];
              sum_after += after.values[p];
              largest = std::max(largest, std::abs(static_cast<double>(before.values[p])));
              if (j == i)
                continue;
              std::uint32_t bits;
              std::memcpy(&bits, &after.values[p], sizeof(bits));
              EXPECT_EQ(bits & 0xffffu, 0u) << "row " << i;
              EXPECT_LE(std::abs(after.values[p] - before.values[p]), std::abs(before.values[p]) / 256.f) << "row " << i;
              changed += after.values[p] != before.values[p];
              for (int q = after.row_offsets[j]; q < after.row_offsets[j + 1]; ++q)
                if (after.columns[q] == i)
                  {
                    EXPECT_EQ(after.values[q], after.values[p]) << "row " << i;
                  }
            }
          EXPECT_NEAR(sum_after, sum_before, 3e-7 * largest) << "row " << i;
        }
      EXPECT_GT(changed, after.n_rows);
    }

    TEST(LevelStorage, BlocksInSixteenBitsRelaxAsTheReference)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      device::DeviceCrs<float> there = device::to_device(rounded_to<float>(many_values()));
      device::round_to_bfloat16(there);
      const CrsMatrix<float> A = device::to_host(there);
      for (const int block_size : {100, 512, 1024})
        {
          BlockAsyncOptions options;
          options.backend    = Backend::cuda;
          options.schedule   = Schedule::synchronous;
          options.block_size = block_size;
          BlockAsync<float> method(there, options);
          EXPECT_NE(method.description().find("stored as bfloat16,"), std::string::npos) << method.description();
          EXPECT_THROW(method.update_values(A.values.data()), InvalidInput);
          options.backend = Backend::reference;
          std::vector<float> x(A.n_rows, 0.f), b(A.n_rows, 1.f);
          BlockAsync<float>(A, options).iterate(x.data(), b.data(), 4);
          const device::Array<float> b_there(b), x_there(std::vector<float>(A.n_rows, 0.f));
          method.iterate(x_there.data(), b_there.data(), 4);
          std::vector<float> found(x.size());
          device::copy_to_host(found.data(), x_there.data(), found.size() * sizeof(float));
          for (int i = 0; i < A.n_rows; ++i)
            ASSERT_NEAR(found[i], x[i], 5e-6) << "row " << i << ", " << method.description();
        }
    }

    TEST(LevelStorage, LevelsInSixteenBitsCorrectAsWell)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      const MultigridHierarchy hierarchy = smooth_coefficients(0.3);
      MultigridOptions         options;
      options.backend = Backend::cuda;
      RefinementOptions refinement;
      refinement.tolerance          = 1e-10;
      refinement.inner_iterations   = 1;
      const int                   n = hierarchy.finest_matrix().n_rows;
      const device::Array<double> b(std::vector<double>(n, 1.));
      int                         corrections[2] = {};
      for (const bool sixteen_bits : {false, true})
        {
          options.sixteen_bits = sixteen_bits;
          const device::Array<double> x(std::vector<double>(n, 0.));
          const RefinementResult      result = make_refinement<float>(hierarchy, options, refinement)->solve(x.data(), b.data());
          EXPECT_TRUE(result.converged()) << to_string(result.reason);
          corrections[sixteen_bits] = result.n_corrections;
          // rounded, the values of a level fit a dictionary or 16 bits; as they are, they do not
          const std::string text = Multigrid<float>(hierarchy, options).description();
          EXPECT_EQ(text.find("stored as single") != std::string::npos, !sixteen_bits) << text;
        }
      EXPECT_LE(corrections[1], corrections[0] + 1);
      EXPECT_THROW(Multigrid<double>(hierarchy, options), InvalidInput);
      EXPECT_THROW(Multigrid<float>(five_point_stencil(127, 127, 0.), 4, options), InvalidInput);
    }

    TEST(LevelStorage, SixteenBitsAreRefusedWhereNothingWouldBeStoredInThem)
    {
      MultigridOptions options;
      options.sixteen_bits = true;
      EXPECT_THROW(options.validate(), InvalidInput); // the backend host
      options.backend = Backend::cuda;
      EXPECT_NO_THROW(options.validate());
      MultigridOptions other             = options;
      other.smoother.block_async.storage = Storage::double_precision; // as values that change want it
      EXPECT_THROW(other.validate(), InvalidInput);
      other                 = options;
      other.smoother.method = "multicolour-gauss-seidel"; // made on the host
      EXPECT_THROW(other.validate(), InvalidInput);
    }
  } // namespace
} // namespace leopard
