// SPDX-License-Identifier: Apache-2.0
// Blocks that are tiles of a grid, whose columns follow from few distances.
#include "block_async_test.h"

#include <solvers/block_async/distance_slots.h>
#include <solvers/matrix/block_crs.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/stencil.h>

#include <array>

namespace leopard
{
  namespace
  {
    /** What set-up on the device finds. */
    BlockDistances distances_of(const BlockCrs<double> &A)
    {
      BlockDistances    result;
      std::vector<char> seen(2 * 65536 + 1, 0);
      std::vector<int>  found;
      for (int block = 0; block < A.n_blocks(); ++block)
        {
          const int first = A.first_local[block], last = A.first_local[block + 1];
          found.clear();
          for (int l = first, width = 0; l < last; ++l)
            {
              for (int p = A.inner.offsets[l]; p < A.inner.offsets[l + 1]; ++p)
                {
                  const int distance = A.inner.columns[p] - (l - first);
                  if (char &here = seen[65536 + distance]; here == 0 && static_cast<int>(found.size()) <= BlockDistances::max_distances)
                    {
                      here = 1;
                      found.push_back(distance);
                    }
                }
              width = std::max(width, A.inner.offsets[l + 1] - A.inner.offsets[l]);
              if ((l - first) % 32 == 31 || l + 1 == last)
                {
                  result.padded += (width + 1) / 2 * 64;
                  width = 0;
                }
            }
          for (const int distance : found)
            seen[65536 + distance] = 0;
          std::sort(found.begin(), found.end());
          result.rows.push_back(last - first);
          result.distances.insert(result.distances.end(), found.begin(), found.end());
          result.offsets.push_back(static_cast<int>(result.distances.size()));
        }
      return result;
    }

    struct Tiled
    {
      CrsMatrix<double> A;
      std::vector<int>  offsets;

      /** The pattern of a stencil; values of few or of many kinds, nothing symmetric about them. */
      Tiled(const Stencil<double> &stencil, const std::array<int, 3> &tile, bool many_values)
      {
        const Partition partition = tile_partition(stencil.n_x, stencil.n_y, stencil.n_z, tile[0], tile[1], tile[2]);
        A                         = permute(stencil.to_crs(), partition);
        offsets                   = partition.block_offsets;
        const Vector noise        = random_vector(static_cast<int>(A.values.size()), 7);
        for (int i = 0; i < A.n_rows; ++i)
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            A.values[p] *= (A.columns[p] == i ? 2. : 1.) + (many_values ? 0.3 * noise[p] : 0.0625 * (p % 5));
      }

      /** Contiguous blocks, whose columns have to be stored. */
      Tiled(CrsMatrix<double> matrix, int block_size)
        : A(std::move(matrix))
        , offsets(contiguous_partition(A.n_rows, block_size).block_offsets)
      {
      }

      DistanceSlots slots(int value_bytes = 8) const
      {
        return DistanceSlots(distances_of(BlockCrs<double>(A, blocks_between(offsets))), value_bytes);
      }
    };

    std::vector<Tiled> tiled(bool many_values)
    {
      return {Tiled(five_point_stencil(70, 45, 0.1), {32, 16, 1}, many_values),
              Tiled(five_point_stencil(64, 64, 0.1), {16, 16, 1}, many_values),
              Tiled(five_point_stencil(1000, 1, 0.1), {300, 1, 1}, many_values),
              Tiled(nine_point_stencil(67, 37, 0.1), {32, 16, 1}, many_values),
              Tiled(nine_point_stencil(129, 16, 0.1), {64, 8, 1}, many_values),
              Tiled(seven_point_stencil(17, 19, 18, 0.1), {8, 8, 8}, many_values),
              Tiled(seven_point_stencil(33, 9, 5, 0.1), {16, 8, 4}, many_values),
              Tiled(twenty_seven_point_stencil(17, 9, 18, 0.1), {8, 8, 8}, many_values),
              Tiled(random_dominant_matrix(700, 20, 0.9, 5), 500),
              Tiled(random_dominant_matrix(900, 40, 0.9, 6), 450)};
    }

    TEST(DistanceSlots, AreFoundInTiles)
    {
      const DistanceSlots five = Tiled(five_point_stencil(70, 45, 0.1), {32, 16, 1}, true).slots();
      EXPECT_TRUE(five.is_lattice());
      EXPECT_FALSE(five.is_full());
      EXPECT_EQ(five.laterals(), 2);
      EXPECT_EQ(five.stride(0), 32);
      EXPECT_EQ(five.stride(2), 6); // the tile at the far side
      EXPECT_EQ(five.distances(0), (std::vector<int>{-32, 32, -1, 1}));
      const DistanceSlots nine = Tiled(nine_point_stencil(67, 37, 0.1), {32, 16, 1}, true).slots();
      EXPECT_TRUE(nine.is_lattice() && nine.is_full());
      EXPECT_EQ(nine.distances(0), (std::vector<int>{-32, 32, -33, -1, 31, -31, 1, 33}));
      const DistanceSlots seven = Tiled(seven_point_stencil(17, 19, 18, 0.1), {8, 8, 8}, true).slots(1);
      EXPECT_TRUE(seven.is_lattice());
      EXPECT_EQ(seven.laterals(), 4);
      EXPECT_EQ(seven.stride(0), 64);
    }

    TEST(DistanceSlots, AreNotLatticesElsewhere)
    {
      const DistanceSlots twenty_seven = Tiled(twenty_seven_point_stencil(16, 16, 16, 0.1), {8, 8, 8}, true).slots();
      EXPECT_TRUE(twenty_seven.is_used());
      EXPECT_FALSE(twenty_seven.is_lattice());
      EXPECT_EQ(twenty_seven.distances(0).size(), 20u); // of the 26 the six nearest are zero
      // a line longer than what is kept beside the rows; rows with little in common
      EXPECT_FALSE(Tiled(five_point_stencil(200, 8, 0.1), {100, 4, 1}, true).slots().is_lattice());
      EXPECT_FALSE(DistanceSlots(distances_of(BlockCrs<double>(random_dominant_matrix(2000, 9, 0.9, 1), contiguous_blocks(2000, 128))), 8).is_used());
    }

    class Lattices : public BackendTest
    {
    };

    TEST_P(Lattices, EqualTheReferenceInTheSynchronousSchedule)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const bool many_values : {true, false})
          for (const Tiled &matrix : tiled(many_values))
            for (int variant = 0; variant < 4; ++variant)
              {
                const int         n = matrix.A.n_rows;
                const Vector      b = random_vector(n, 3), x0 = random_vector(n, 4);
                BlockAsyncOptions o = options(Schedule::synchronous, 1, 1 + variant);
                o.block_offsets     = matrix.offsets;
                o.execution         = Execution::launch;
                o.l1_weights        = variant == 1;
                o.block_omega       = variant == 1 ? 1.2 : 1.;
                o.momentum          = variant == 2 ? 0.3 : 0.;
                BlockAsync<Number> method(rounded_to<Number>(matrix.A), o);
                o.backend = Backend::reference;
                BlockAsync<Number> reference(rounded_to<Number>(matrix.A), o);
                Vector             x = x0, y = x0;
                iterate(method, x, b, 3);
                iterate(reference, y, b, 3);
                EXPECT_LT(largest_difference(x, y), bound<Number>(1e-12, 5e-6)) << method.description() << ", variant " << variant;
                EXPECT_NEAR(residual_norm_squared(method, x0, b) / residual_norm_squared(reference, x0, b), 1., bound<Number>(1e-12, 1e-6))
                  << method.description();
              }
      });
    }

    TEST_P(Lattices, GiveTheResidualFromTheirOwnStorage)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const bool many_values : {true, false})
          for (const Tiled &matrix : tiled(many_values))
            for (const double omega : {1., 0.6})
              {
                const int         n = matrix.A.n_rows;
                const Vector      x = random_vector(n, 3), b = random_vector(n, 4);
                BlockAsyncOptions o = options(Schedule::chaotic, 1, 2);
                o.block_offsets     = matrix.offsets;
                o.omega             = omega;
                BlockAsync<Number> method(rounded_to<Number>(matrix.A), o);
                Vector             r(n, 0.), given_x = x, expected(n);
                bool               has = false;
                call_with_numbers<Number>(method.memory_space(), given_x, b, [&](Number *v, const Number *w) {
                  call_with_numbers<Number>(method.memory_space(), r, b, [&](Number *to, const Number *) { has = method.residual(to, v, w); });
                });
                EXPECT_EQ(has, GetParam() == Backend::cuda);
                if (!has)
                  continue;
                multiply(matrix.A, x.data(), expected.data());
                for (int i = 0; i < n; ++i)
                  expected[i] = b[i] - expected[i];
                EXPECT_LT(largest_difference(r, expected), bound<Number>(1e-12, 5e-5)) << method.description() << ", omega " << omega;
                EXPECT_LE(largest_difference(given_x, x), bound<Number>(0., 1e-7));
              }
      });
    }

    TEST_P(Lattices, UpdatedValuesEqualAFreshObject)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        for (const Tiled &matrix : tiled(true))
          {
            BlockAsyncOptions o       = options(Schedule::synchronous, 1, 3);
            o.block_offsets           = matrix.offsets;
            o.execution               = Execution::launch;
            o.storage                 = Storage::double_precision;
            CrsMatrix<double> changed = matrix.A;
            for (std::size_t p = 0; p < changed.values.size(); ++p)
              changed.values[p] *= 1. + 0.01 * static_cast<double>(p % 7);
            BlockAsync<Number> method(rounded_to<Number>(matrix.A), o), fresh(rounded_to<Number>(changed), o);
            method.update_values(rounded_to<Number>(changed.values).data());
            const Vector b = random_vector(matrix.A.n_rows, 3);
            Vector       x(matrix.A.n_rows, 0.), y = x;
            iterate(method, x, b, 2);
            iterate(fresh, y, b, 2);
            EXPECT_EQ(x, y) << method.description();
          }
      });
    }

    INSTANTIATE_TEST_SUITE_P(BlockAsync, Lattices, testing::Values(Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
