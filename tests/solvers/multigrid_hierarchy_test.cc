// SPDX-License-Identifier: Apache-2.0
#include "multigrid_test.h"

#include <solvers/base/errors.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    StencilGrid grid_of(const Stencil<double> &stencil)
    {
      StencilGrid grid;
      grid.stencil = stencil;
      return grid;
    }

    Dense galerkin(const StencilGrid &fine, const StencilGrid &coarse)
    {
      const Dense P = dense(stencil_prolongation(fine, coarse));
      return transpose(P) * dense(fine.stencil.to_crs()) * P;
    }

    void expect_message(const std::function<void()> &function, const std::vector<std::string> &parts)
    {
      try
        {
          function();
          FAIL() << "no error; expected one with '" << parts.front() << "'";
        }
      catch (const InvalidInput &error)
        {
          for (const std::string &part : parts)
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "'" << part << "' is not in: " << error.what();
        }
    }

    /**
     * In one dimension linear interpolation is exact for the operator: P^T A P is the coarse stencil, whatever the
     * number of nodes.
     */
    TEST(MultigridHierarchy, CoarseStencilsInOneDimensionAreGalerkin)
    {
      for (const int n : {3, 7, 8, 10, 11, 14, 20, 21, 22, 23, 64})
        {
          StencilGrid fine = grid_of(three_point_stencil(n));
          while (fine.n(0) > 1)
            {
              const StencilGrid coarse = coarsen(fine);
              EXPECT_EQ(coarse.n(0), fine.n(0) / 2);
              EXPECT_LT(largest_difference(galerkin(fine, coarse), dense(coarse.stencil.to_crs())), 1e-12) << n << " nodes, level of " << fine.n(0);
              fine = coarse;
            }
        }
    }

    /** The boundary stays where it was on the finest grid. */
    TEST(MultigridHierarchy, TheDistanceOfTheBoundaryIsKept)
    {
      for (const int n : {5, 6, 63, 64, 100, 318})
        {
          StencilGrid grid    = grid_of(five_point_stencil(n, 7, 0.));
          double      spacing = 1.;
          while (grid.n(0) > 1)
            {
              grid = coarsen(grid);
              spacing *= 2.;
              EXPECT_NEAR(spacing * (grid.n(0) + grid.last_interval[0]), n + 1, 1e-12);
              EXPECT_GT(grid.last_interval[0], 0.);
              EXPECT_LE(grid.last_interval[0], 1.);
              EXPECT_EQ(grid.last_interval[1], 1.);
            }
        }
    }

    /** Inside: off-diagonal entries grow by 2^(dim-2), what a row sums up to by 2^dim. */
    TEST(MultigridHierarchy, LaplacianAndMassScaleWithTheDimension)
    {
      const double mass = 0.3;
      struct Case
      {
        Stencil<double> stencil;
        double          laplacian, mass;
      };
      for (const Case &c : {Case{three_point_stencil(7, mass), 0.5, 2.},
                            Case{five_point_stencil(7, 7, mass), 1., 4.},
                            Case{nine_point_stencil(15, 7, mass), 1., 4.},
                            Case{seven_point_stencil(7, 7, 7, mass), 2., 8.},
                            Case{twenty_seven_point_stencil(7, 3, 7, mass), 2., 8.}})
        {
          const Stencil<double> coarse = coarsen(grid_of(c.stencil)).stencil;
          EXPECT_TRUE(coarse.diagonal.empty());
          double     sum  = 0.;
          const bool deep = c.stencil.n_z > 1, wide = c.stencil.n_y > 1;
          for (int dz = deep ? -1 : 0; dz <= (deep ? 1 : 0); ++dz)
            for (int dy = wide ? -1 : 0; dy <= (wide ? 1 : 0); ++dy)
              for (int dx = -1; dx <= 1; ++dx)
                {
                  sum += coarse.coefficient(dx, dy, dz);
                  if (dx != 0 || dy != 0 || dz != 0)
                    {
                      EXPECT_DOUBLE_EQ(coarse.coefficient(dx, dy, dz), c.laplacian * c.stencil.coefficient(dx, dy, dz));
                    }
                }
          EXPECT_NEAR(sum, c.mass * mass, 1e-14);
        }
    }

    /**
     * A mass that varies is averaged with the weights of the interpolation: for a linear function its value at the
     * coarse node.
     */
    TEST(MultigridHierarchy, AVaryingDiagonalIsAveraged)
    {
      Stencil<double> fine = five_point_stencil(7, 15, 0.);
      const auto      mass = [](int x, int y) { return 0.1 + 0.02 * x + 0.03 * y; };
      for (int y = 0; y < 15; ++y)
        for (int x = 0; x < 7; ++x)
          fine.diagonal.push_back(4. + mass(x, y));
      const Stencil<double> coarse = coarsen(grid_of(fine)).stencil;
      for (int y = 0; y < 7; ++y)
        for (int x = 0; x < 3; ++x)
          EXPECT_NEAR(coarse.diagonal[y * 3 + x], 4. + 4. * mass(2 * x + 1, 2 * y + 1), 1e-14);

      // twice the same as once with a constant mass, on a grid whose boundary moves in: what the boundary adds is not
      // taken for mass
      Stencil<double> even = five_point_stencil(12, 10, 0.2), same = even;
      same.diagonal.assign(even.n_rows(), 4.2);
      const StencilGrid two = coarsen(coarsen(grid_of(even))), two_of_same = coarsen(coarsen(grid_of(same)));
      EXPECT_LT(largest_difference(two.stencil.diagonal, two_of_same.stencil.diagonal), 1e-13);
      EXPECT_NEAR(two.stencil.diagonal[0], 4. + 16. * 0.2, 1e-13);
    }

    /** A direction that is down to one node couples to its two boundaries only: that is mass for the others. */
    TEST(MultigridHierarchy, DirectionsWithOneNodeAreMass)
    {
      const StencilGrid flat = coarsen(grid_of(five_point_stencil(1, 7, 0.)));
      EXPECT_EQ(flat.n(0), 1);
      EXPECT_EQ(flat.n(1), 3);
      EXPECT_DOUBLE_EQ(flat.stencil.coefficient(0, 1, 0), -0.5);
      EXPECT_DOUBLE_EQ(flat.stencil.coefficient(0, 0, 0), 1. + 2. * 2.);

      StencilGrid grid = grid_of(seven_point_stencil(3, 15, 1, 0.)); // 6 on the diagonal: 2 of them for z
      while (grid.stencil.n_rows() > 1)
        {
          grid = coarsen(grid);
          EXPECT_GT(grid.stencil.coefficient(0, 0, 0), 0.);
          EXPECT_NO_THROW(grid.stencil.validate());
        }
    }

    TEST(MultigridHierarchy, InterpolationIsTheProductOfOneDimensionalOnes)
    {
      const Dense odd          = dense(stencil_prolongation(grid_of(three_point_stencil(5)), coarsen(grid_of(three_point_stencil(5)))));
      const Dense expected_odd = [] {
        Dense P(5, 2);
        P(0, 0) = P(2, 0) = P(2, 1) = P(4, 1) = 0.5;
        P(1, 0) = P(3, 1) = 1.;
        return P;
      }();
      EXPECT_EQ(odd.values, expected_odd.values);
      const Dense even          = dense(stencil_prolongation(grid_of(three_point_stencil(4)), coarsen(grid_of(three_point_stencil(4)))));
      const Dense expected_even = [] {
        Dense P(4, 2);
        P(0, 0) = P(2, 0) = P(2, 1) = 0.5;
        P(1, 0) = P(3, 1) = 1.;
        return P;
      }();
      EXPECT_EQ(even.values, expected_even.values);

      // 6 nodes become 3, with the boundary half an interval behind the last: from there to 0 over one fine interval of
      // two
      StencilGrid three = coarsen(grid_of(three_point_stencil(6)));
      EXPECT_DOUBLE_EQ(three.last_interval[0], 0.5);
      EXPECT_DOUBLE_EQ(dense(stencil_prolongation(three, coarsen(three)))(2, 0), 0.5 / 1.5);

      const StencilGrid box = grid_of(seven_point_stencil(5, 4, 3, 0.));
      const Dense       P   = dense(stencil_prolongation(box, coarsen(box)));
      const Dense       z   = dense(stencil_prolongation(grid_of(three_point_stencil(3)), coarsen(grid_of(three_point_stencil(3)))));
      for (int i = 0; i < P.n_rows; ++i)
        for (int j = 0; j < P.n_columns; ++j)
          EXPECT_DOUBLE_EQ(P(i, j), odd(i % 5, j % 2) * even(i / 5 % 4, j / 2 % 2) * z(i / 20, j / 4));
      expect_message([&] { stencil_prolongation(box, grid_of(seven_point_stencil(3, 2, 1, 0.))); }, {"3 x 2 x 1", "5 x 4 x 3", "coarsen()"});
    }

    TEST(MultigridHierarchy, LevelsOfAStencil)
    {
      const std::vector<StencilGrid> levels = stencil_levels(five_point_stencil(100, 30, 0.));
      ASSERT_EQ(levels.size(), 7u); // 100, 50, 25, 12, 6, 3, 1
      EXPECT_EQ(levels[6].n(0), 100);
      EXPECT_EQ(levels[1].n(0), 3);
      EXPECT_EQ(levels[1].n(1), 1);
      EXPECT_EQ(levels[0].stencil.n_rows(), 1);
      EXPECT_EQ(stencil_levels(five_point_stencil(100, 30, 0.), 3).front().n(0), 25);

      const MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(20, 9, 0.), 3);
      hierarchy.validate();
      ASSERT_EQ(hierarchy.levels.size(), 3u);
      EXPECT_EQ(hierarchy.levels[0].matrix.n_rows, 5 * 2);
      EXPECT_EQ(hierarchy.levels[1].dim, 2);
      EXPECT_EQ(hierarchy.levels[1].coordinates[2], 4.); // the second coarse node is the fourth fine one
      EXPECT_EQ(hierarchy.levels[1].coordinates[3], 2.);
      EXPECT_EQ(hierarchy.levels[0].coordinates[0], 4.);

      expect_message([] { stencil_levels(five_point_stencil(7, 7, 0.), 4); }, {"4 levels", "7 x 7 x 1", "with 3"});
      expect_message([] { make_hierarchy(five_point_stencil(7, 7, 0.), -1); }, {"-1 levels"});
      expect_message([] { coarsen(grid_of(three_point_stencil(1))); }, {"one node"});
    }

    class BadHierarchy : public testing::Test
    {
    protected:
      MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(7, 7, 0.), 3);

      void refuses(const std::vector<std::string> &parts)
      {
        expect_message([this] { hierarchy.validate(); }, parts);
        expect_message([this] { Multigrid<double>(hierarchy, MultigridOptions()); }, parts);
      }
    };

    TEST_F(BadHierarchy, WithoutLevels)
    {
      hierarchy.levels.clear();
      refuses({"no levels"});
    }

    TEST_F(BadHierarchy, MatrixOfALevel)
    {
      hierarchy.levels[1].matrix.values[3] = NAN;
      refuses({"level 1", "row 1, column 0 is nan"});
    }

    /** A row of a coarse level is none of the matrix, and a message that counts it says so. */
    TEST_F(BadHierarchy, RowsOfCoarseLevelsAreCalledSo)
    {
      MultigridOptions options;
      options.smoother.method = "ilu0";
      const auto spoil        = [this](int level) {
        CrsMatrix<double> &A  = hierarchy.levels[level].matrix;
        const auto         at = [&A](int i, int j) -> double                &{
          return A.values[std::find(A.columns.begin() + A.row_offsets[i], A.columns.begin() + A.row_offsets[i + 1], j) - A.columns.begin()];
        };
        at(1, 1) = at(1, 0) * at(0, 1) / at(0, 0); // the pivot is zero
      };
      const auto refusal = [&] {
        try
          {
            Multigrid<double>(hierarchy, options);
            return std::string();
          }
        catch (const InvalidInput &error)
          {
            return std::string(error.what());
          }
      };
      EXPECT_EQ(refusal(), "");
      spoil(1);
      EXPECT_EQ(refusal().rfind("multigrid, coarse level of 9 rows: ", 0), 0u) << refusal();
      EXPECT_NE(refusal().find("(the first row of this level is 0)"), std::string::npos) << refusal();
      hierarchy = make_hierarchy(five_point_stencil(7, 7, 0.), 3);
      spoil(2);
      EXPECT_EQ(refusal().find("coarse level"), std::string::npos) << refusal();
      EXPECT_NE(refusal().find("pivot of row 1 "), std::string::npos) << refusal();
      EXPECT_NE(refusal().find("(the first row is 0)"), std::string::npos) << refusal();
    }

    TEST_F(BadHierarchy, ProlongationOfAnotherSize)
    {
      hierarchy.levels[2].prolongation = hierarchy.levels[1].prolongation;
      refuses({"level 2, prolongation", "9 x 1", "49 x 9"});
    }

    TEST_F(BadHierarchy, ProlongationThatIsMissing)
    {
      hierarchy.levels[1].prolongation = CrsMatrix<double>();
      refuses({"level 1, prolongation", "0 x 0", "9 x 1"});
    }

    TEST_F(BadHierarchy, ProlongationWithABadColumn)
    {
      hierarchy.levels[2].prolongation.columns[5] = 9;
      refuses({"level 2, prolongation", "column 9", "0 to 8"});
    }

    TEST_F(BadHierarchy, ProlongationThatIsNoNumber)
    {
      hierarchy.levels[2].prolongation.values[5] = INFINITY;
      refuses({"level 2, prolongation", "inf"});
    }

    TEST_F(BadHierarchy, ProlongationOfInconsistentArrays)
    {
      hierarchy.levels[2].prolongation.row_offsets.pop_back();
      refuses({"level 2, prolongation", "49 row offsets", "50"});
      hierarchy.levels[2].prolongation.row_offsets.push_back(hierarchy.levels[2].prolongation.n_entries());
      std::swap(hierarchy.levels[2].prolongation.row_offsets[10], hierarchy.levels[2].prolongation.row_offsets[20]);
      refuses({"level 2, prolongation", "decreases"});
    }

    TEST_F(BadHierarchy, RestrictionOfAnotherSize)
    {
      hierarchy.levels[2].restriction = hierarchy.levels[2].prolongation;
      refuses({"level 2, restriction", "49 x 9", "9 x 49"});
    }

    TEST_F(BadHierarchy, TransferOnTheCoarsestLevel)
    {
      hierarchy.levels[0].prolongation = hierarchy.levels[1].prolongation;
      refuses({"level 0", "coarsest"});
    }

    TEST_F(BadHierarchy, GhostsWithoutRestriction)
    {
      hierarchy.levels[2].matrix.n_columns += 2;
      refuses({"level 2", "restriction", "ghosts"});
    }

    TEST_F(BadHierarchy, InterfaceWithoutActiveMesh)
    {
      hierarchy.levels[2].interface = hierarchy.levels[2].matrix;
      refuses({"level 2", "interface", "active mesh"});
    }

    TEST_F(BadHierarchy, TransposedInterfaceAlone)
    {
      hierarchy.levels[2].interface_transpose = hierarchy.levels[2].matrix;
      refuses({"level 2", "interface_transpose"});
    }

    TEST_F(BadHierarchy, CopyLists)
    {
      hierarchy.levels[2].global_rows = {0};
      refuses({"level 2", "1 global_rows", "0 level_rows"});
      hierarchy.levels[2].level_rows = {0};
      refuses({"level 2", "copy lists", "active mesh"});
      hierarchy.matrix               = hierarchy.levels[2].matrix;
      hierarchy.levels[2].level_rows = {49};
      refuses({"level 2", "row 49 of the level", "0 to 48"});
      hierarchy.levels[2].level_rows  = {4, 5};
      hierarchy.levels[2].global_rows = {7, 7};
      refuses({"level 2", "row 7", "twice"});
      hierarchy.levels[1].level_rows  = {3};
      hierarchy.levels[1].global_rows = {7};
      refuses({"level 2", "row 7", "level 1"});
    }

    TEST_F(BadHierarchy, Coordinates)
    {
      hierarchy.levels[1].coordinates.pop_back();
      refuses({"level 1", "17 coordinates", "2 for each of the 9"});
      hierarchy.levels[1].dim = 4;
      refuses({"level 1", "dim is 4"});
    }

    TEST_F(BadHierarchy, MatrixOfTheActiveMesh)
    {
      hierarchy.matrix        = hierarchy.levels[2].matrix;
      hierarchy.matrix.values = {};
      refuses({"active mesh"});
    }
  } // namespace
} // namespace leopard
