// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/distributed/stencil/slabs.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace
{
  using namespace leopard;

  std::vector<double> varying_entries(int n)
  {
    std::vector<double> result(n);
    for (int i = 0; i < n; ++i)
      result[i] = 6.5 + std::sin(i);
    return result;
  }

  TEST(SlabPartition, CoarsePlanesBelongToTheOwnersOfTheFinePlanesAroundThem)
  {
    for (const int n_ranks : {1, 2, 3, 5})
      for (const int n : {40, 41, 63, 64, 100, 1000})
        {
          const SlabPartition partition(five_point_stencil(30, n, 0.), n_ranks, 200);
          ASSERT_GE(partition.n_levels(), 2);
          for (int level = 0; level < partition.n_levels(); ++level)
            {
              EXPECT_EQ(partition.begin(level, 0), 0);
              EXPECT_EQ(partition.begin(level, n_ranks), partition.n_planes[level]);
              for (int rank = 0; rank < n_ranks; ++rank)
                {
                  EXPECT_GE(partition.n_owned(level, rank), 2);
                  const int coarse = partition.begin(std::max(0, level - 1), rank);
                  EXPECT_EQ(partition.begin(level, rank), level > 0 ? 2 * coarse : coarse);
                }
            }
          EXPECT_EQ(partition.n_planes.back(), n);
          for (int level = 1; level < partition.n_levels(); ++level)
            EXPECT_EQ(partition.n_planes[level - 1], partition.n_planes[level] / 2);
        }
  }

  TEST(SlabPartition, LevelsAreGatheredBelowASize)
  {
    const SlabPartition partition(seven_point_stencil(64, 64, 64, 0.), 2, 8 * 8 * 8);
    EXPECT_EQ(partition.direction, 2);
    EXPECT_EQ(partition.n_planes, (std::vector<int>{8, 16, 32, 64}));
    EXPECT_EQ(SlabPartition(five_point_stencil(64, 64, 0.), 2, 1 << 30).n_levels(), 2) << "the finest level is always distributed";
  }

  TEST(SlabPartition, SharesOutMultiples)
  {
    const SlabPartition partition(five_point_stencil(100, 402, 0.), 3, 1000, 16);
    for (int level = 0; level < partition.n_levels(); ++level)
      for (int rank = 0; rank < 3; ++rank)
        EXPECT_EQ(partition.begin(level, rank) % (16 << level), 0) << "level " << level << ", rank " << rank;
    EXPECT_EQ(partition.n_planes.front(), 50) << "no level on which a rank has less than 16 planes";
    EXPECT_THROW(SlabPartition(five_point_stencil(100, 95, 0.), 3, 1000, 16), InvalidInput);
  }

  TEST(SlabPartition, RefusesTooFewPlanesForTheRanks)
  {
    EXPECT_NO_THROW(SlabPartition(five_point_stencil(100, 16, 0.), 4, 1));
    for (const Stencil<double> &stencil : {five_point_stencil(100, 15, 0.), five_point_stencil(100, 1, 0.), five_point_stencil(1, 100, 0.)})
      EXPECT_THROW(SlabPartition(stencil, 4, 1), InvalidInput);
    EXPECT_THROW(SlabPartition(five_point_stencil(100, 100, 0.), 0, 1), InvalidInput);
    try
      {
        SlabPartition(five_point_stencil(100, 15, 0.), 4, 1);
      }
    catch (const InvalidInput &error)
      {
        EXPECT_NE(std::string(error.what()).find("15 planes in y for 4 ranks"), std::string::npos) << error.what();
      }
  }

  /** With two planes of the neighbours a slab is a part of the whole grid, and so is what it tells them. */
  void compare_overlap(const SlabGrids &grids, const SlabPartition &partition, int rank, const std::vector<StencilGrid> &expected)
  {
    constexpr int planes = 2;
    const bool    below = rank > 0, above = rank < partition.n_ranks - 1;
    std::size_t   level     = 0;
    const auto    of_planes = [&](std::size_t l, int begin, int end) {
      const std::vector<double> &all   = expected[l].stencil.diagonal;
      const long                 plane = expected[l].stencil.plane();
      return std::vector<double>(all.begin() + begin * plane, all.begin() + end * plane);
    };
    const auto expect_near = [](const std::vector<double> &found, const std::vector<double> &wanted) {
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], wanted[i], 1e-13) << i;
    };
    const ExchangeBeside exchange = [&](const Beside &to) {
      while (expected[++level].stencil.diagonal.empty())
        {
        }
      const int begin = partition.begin(level, rank), end = partition.begin(level, rank + 1);
      expect_near(to.below, below ? of_planes(level, begin, begin + planes + 1) : std::vector<double>());
      expect_near(to.above, above ? of_planes(level, end - planes, end) : std::vector<double>());
      Beside from;
      if (below)
        from.below = of_planes(level, begin - planes, begin);
      if (above)
        from.above = of_planes(level, end, end + planes + 1);
      return from;
    };
    const SlabOverlap overlap = make_overlap(grids, planes, exchange);
    EXPECT_EQ(overlap.planes, planes);
    for (std::size_t l = 1; l < expected.size(); ++l)
      {
        const Stencil<double> &wide = overlap.wide[l];
        EXPECT_NO_THROW(wide.validate());
        const int begin = partition.begin(l, rank) - planes * below, end = partition.begin(l, rank + 1) + planes * above;
        EXPECT_EQ(wide.n_rows(), (end - begin) * wide.plane());
        if (!wide.diagonal.empty())
          expect_near(wide.diagonal, of_planes(l, begin, end + above));
      }
  }

  /**
   * The slabs of all ranks are those of the grids that one process has; the ranks are played from the last one down,
   * since planes are shifted down.
   */
  void compare_with_whole(const Stencil<double> &whole, const std::vector<double> &diagonal, int n_ranks, int gather_below)
  {
    const SlabPartition      partition(whole, n_ranks, gather_below);
    const int                finest = partition.n_levels() - 1;
    std::vector<StencilGrid> expected(1);
    expected[0].stencil          = whole;
    expected[0].stencil.diagonal = diagonal;
    while (static_cast<int>(expected.size()) < partition.n_levels())
      expected.insert(expected.begin(), coarsen(expected.front()));

    std::vector<std::vector<double>> lowest_of_above, all_of_gathered(n_ranks);
    for (int rank = n_ranks - 1; rank >= 0; --rank)
      {
        std::vector<std::vector<double>> lowest;
        const ShiftDown                  shift = [&](const std::vector<double> &plane) {
          lowest.push_back(plane);
          return rank == n_ranks - 1 ? std::vector<double>() : lowest_of_above.at(lowest.size() - 1);
        };
        const Concatenate concatenate = [&](const std::vector<double> &own) {
          all_of_gathered[rank] = own;
          return expected[0].stencil.diagonal;
        };
        const int           plane = whole.plane();
        std::vector<double> own;
        if (!diagonal.empty())
          own.assign(diagonal.begin() + static_cast<long>(partition.begin(finest, rank)) * plane,
                     diagonal.begin() + static_cast<long>(partition.begin(finest, rank + 1)) * plane);
        const SlabGrids grids = make_slab_grids(whole, own, partition, rank, shift, concatenate);
        lowest_of_above       = lowest;
        ASSERT_EQ(grids.slabs.size(), expected.size());
        for (int level = 0; level <= finest; ++level)
          {
            const Stencil<double> &slab = grids.slabs[level].stencil, &all = expected[level].stencil;
            EXPECT_EQ(slab.coefficients, all.coefficients);
            EXPECT_EQ(slab.n_x, all.n_x);
            EXPECT_EQ(slab.n_rows(), partition.n_owned(level, rank) * all.plane());
            EXPECT_EQ(slab.ghost_below, rank > 0);
            EXPECT_EQ(slab.ghost_above, rank < n_ranks - 1);
            ASSERT_EQ(slab.diagonal.empty(), all.diagonal.empty());
            if (!slab.diagonal.empty())
              {
                ASSERT_EQ(slab.diagonal.size(), slab.n_rows() + (slab.ghost_above ? all.plane() : 0u));
                const long begin = static_cast<long>(partition.begin(level, rank)) * all.plane();
                for (std::size_t i = 0; i < slab.diagonal.size(); ++i)
                  ASSERT_NEAR(slab.diagonal[i], all.diagonal[begin + i], 1e-13) << "level " << level << ", rank " << rank << ", entry " << i;
              }
            const int d = partition.direction;
            EXPECT_EQ(grids.slabs[level].last_interval[d], rank == n_ranks - 1 ? expected[level].last_interval[d] : 1.);
          }
        compare_overlap(grids, partition, rank, expected);
        EXPECT_EQ(grids.whole.last_interval, expected[0].last_interval);
        EXPECT_EQ(grids.whole.stencil.n_rows(), expected[0].stencil.n_rows());
      }
    std::vector<double> together;
    for (const auto &own : all_of_gathered)
      together.insert(together.end(), own.begin(), own.end());
    ASSERT_EQ(together.size(), expected[0].stencil.diagonal.size());
    for (std::size_t i = 0; i < together.size(); ++i)
      EXPECT_NEAR(together[i], expected[0].stencil.diagonal[i], 1e-13);
  }

  TEST(SlabGrids, AreSlabsOfTheGridsOfOneProcess)
  {
    for (const int n_ranks : {1, 2, 3})
      {
        compare_with_whole(five_point_stencil(21, 64, 0.1), {}, n_ranks, 100);
        compare_with_whole(five_point_stencil(32, 63, 0.), {}, n_ranks, 100);
        compare_with_whole(nine_point_stencil(32, 50, 0.1), {}, n_ranks, 100);
        compare_with_whole(seven_point_stencil(10, 12, 41, 0.), {}, n_ranks, 60);
        compare_with_whole(five_point_stencil(31, 63, 0.), varying_entries(31 * 63), n_ranks, 100);
        compare_with_whole(seven_point_stencil(9, 12, 31, 0.), varying_entries(9 * 12 * 31), n_ranks, 60);
      }
  }

  TEST(SlabGrids, RefuseADiagonalOfTheWrongLength)
  {
    const Stencil<double> whole = five_point_stencil(20, 20, 0.);
    const SlabPartition   partition(whole, 1, 10);
    const auto            same = [](const std::vector<double> &v) { return v; };
    EXPECT_THROW(make_slab_grids(whole, std::vector<double>(7, 4.), partition, 0, same, same), InvalidInput);
  }

  TEST(SlabStencil, HasADiagonalForTheGhostPlaneAboveAndIsNotStored)
  {
    Stencil<double> slab = five_point_stencil(10, 8, 0.);
    EXPECT_FALSE(slab.is_slab());
    slab.ghost_above = true;
    slab.diagonal.assign(80, 4.);
    EXPECT_THROW(slab.validate(), InvalidInput);
    slab.diagonal.assign(90, 4.);
    EXPECT_NO_THROW(slab.validate());
    EXPECT_THROW(slab.to_crs(), InvalidInput);
  }
} // namespace
