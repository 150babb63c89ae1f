// SPDX-License-Identifier: Apache-2.0
#include <solvers/base/errors.h>
#include <solvers/matrix/blocks.h>
#include <solvers/multigrid/find_stencil.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>

namespace leopard
{
  namespace
  {
    /** A stencil's matrix with rows in random order, rows of the identity among them, and coordinates. */
    struct Shuffled
    {
      Shuffled(const Stencil<double> &stencil, int dim_, int n_isolated, double interval = 0.125)
        : dim(dim_)
      {
        CrsMatrix<double> A = stencil.to_crs();
        for (int z = 0; z < stencil.n_z; ++z)
          for (int y = 0; y < stencil.n_y; ++y)
            for (int x = 0; x < stencil.n_x; ++x)
              for (int d = 0; d < dim; ++d)
                coordinates.push_back(-3. + interval * (d == 0 ? x : d == 1 ? 2 * y : 3 * z)); // other intervals in each direction
        for (int i = 0; i < n_isolated; ++i)
          {
            A.columns.push_back(A.n_rows + i);
            A.values.push_back(2.);
            A.row_offsets.push_back(A.n_entries());
            for (int d = 0; d < dim; ++d)
              coordinates.push_back(100. + i);
          }
        A.n_rows = A.n_columns = A.n_rows + n_isolated;
        order.old_row.resize(A.n_rows);
        std::iota(order.old_row.begin(), order.old_row.end(), 0);
        std::shuffle(order.old_row.begin(), order.old_row.end(), std::mt19937(7));
        order.block_offsets = {0, A.n_rows};
        matrix              = permute(A, order);
        std::vector<double> shuffled;
        for (const int old : order.old_row)
          shuffled.insert(shuffled.end(), coordinates.begin() + old * dim, coordinates.begin() + (old + 1) * dim);
        coordinates = shuffled;
      }
      int                 dim;
      CrsMatrix<double>   matrix;
      std::vector<double> coordinates;
      Partition           order;
    };

    void check_found(const Stencil<double> &stencil, int dim)
    {
      const Shuffled shuffled(stencil, dim, 11);
      const auto     found = find_stencil(shuffled.matrix, shuffled.coordinates, dim);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->deviation, 0.);
      EXPECT_EQ(found->stencil.n_x, stencil.n_x);
      EXPECT_EQ(found->stencil.n_y, stencil.n_y);
      EXPECT_EQ(found->stencil.n_z, stencil.n_z);
      EXPECT_EQ(found->stencil.diagonal, stencil.diagonal);
      EXPECT_EQ(found->stencil.to_crs().columns, stencil.to_crs().columns);
      EXPECT_EQ(found->stencil.to_crs().values, stencil.to_crs().values);
      ASSERT_EQ(static_cast<int>(found->rows.size()), stencil.n_rows());
      for (int node = 0; node < stencil.n_rows(); ++node)
        EXPECT_EQ(shuffled.order.old_row[found->rows[node]], node);
      EXPECT_EQ(found->isolated_rows.size(), 11u);
      for (const int row : found->isolated_rows)
        EXPECT_GE(shuffled.order.old_row[row], stencil.n_rows());
    }

    TEST(FindStencil, FindsWhatItIsMadeOf)
    {
      Stencil<double> line;
      line.n_x                   = 9;
      line.coefficient(0, 0, 0)  = 2.;
      line.coefficient(-1, 0, 0) = line.coefficient(1, 0, 0) = -1.;
      check_found(line, 1);
      check_found(five_point_stencil(8, 5, 0.1), 2);
      check_found(nine_point_stencil(7, 9, 0.), 2);
      check_found(seven_point_stencil(4, 6, 5, 0.01), 3);
      check_found(twenty_seven_point_stencil(5, 4, 3, 0.), 3);
      check_found(five_point_stencil(6, 1, 0.1), 2); // one node in a direction
      Stencil<double> wind      = five_point_stencil(6, 7, 0.1);
      wind.coefficient(1, 0, 0) = -0.5;
      check_found(wind, 2);
    }

    TEST(FindStencil, DiagonalThatVaries)
    {
      Stencil<double> stencil = five_point_stencil(8, 5, 0.);
      for (int i = 0; i < stencil.n_rows(); ++i)
        stencil.diagonal.push_back(4. + 0.1 * i);
      check_found(stencil, 2);
    }

    TEST(FindStencil, RoundingIsToleratedAndReported)
    {
      Shuffled                               shuffled(nine_point_stencil(20, 20, 0.), 2, 3);
      std::mt19937                           random(1);
      std::uniform_real_distribution<double> noise(-1e-14, 1e-14);
      for (double &value : shuffled.matrix.values)
        value *= 1. + noise(random);
      const auto found = find_stencil(shuffled.matrix, shuffled.coordinates, 2);
      ASSERT_TRUE(found.has_value());
      EXPECT_GT(found->deviation, 0.);
      EXPECT_LT(found->deviation, 3e-14);
      EXPECT_NEAR(found->stencil.coefficient(1, 1, 0), -1. / 3., 3e-15);
      EXPECT_TRUE(found->stencil.diagonal.empty());
      std::string why;
      EXPECT_FALSE(find_stencil(shuffled.matrix, shuffled.coordinates, 2, &why, 1e-16).has_value());
      EXPECT_NE(why.find("varies from"), std::string::npos);
    }

    TEST(FindStencil, TakesOtherValues)
    {
      Stencil<double> varying = five_point_stencil(8, 5, 0.);
      for (int i = 0; i < varying.n_rows(); ++i)
        varying.diagonal.push_back(4. + 0.1 * i);
      const Shuffled first(five_point_stencil(8, 5, 0.1), 2, 11);
      for (const Stencil<double> &stencil : {five_point_stencil(8, 5, 3.), varying, five_point_stencil(8, 5, 0.1)})
        {
          Shuffled other(stencil, 2, 11);
          auto     found = find_stencil(first.matrix, first.coordinates, 2);
          for (int i = 0; i < other.matrix.n_rows; ++i)
            if (other.order.old_row[i] == stencil.n_rows())
              other.matrix.values[other.matrix.row_offsets[i]] = 7.;
          ASSERT_TRUE(update_stencil(*found, other.matrix));
          const auto expected = find_stencil(other.matrix, other.coordinates, 2);
          EXPECT_EQ(found->stencil.coefficients, expected->stencil.coefficients);
          EXPECT_EQ(found->stencil.diagonal, expected->stencil.diagonal);
          EXPECT_EQ(found->isolated_diagonal, expected->isolated_diagonal);
          EXPECT_EQ(std::count(found->isolated_diagonal.begin(), found->isolated_diagonal.end(), 7.), 1);
          for (int p = 0; p < other.matrix.n_entries(); ++p) // one coupling that differs, or is gone, is no stencil
            if (other.matrix.values[p] == -1.)
              for (const double value : {-1.01, 0.})
                {
                  Shuffled wrong         = other;
                  wrong.matrix.values[p] = value;
                  EXPECT_FALSE(update_stencil(*(found = expected), wrong.matrix)) << p;
                }
        }
      auto              found   = find_stencil(first.matrix, first.coordinates, 2);
      CrsMatrix<double> coupled = first.matrix; // a row of boundary values
      const int         row = found->isolated_rows.front(), p = coupled.row_offsets[row];
      coupled.columns.insert(coupled.columns.begin() + p, found->rows.front());
      coupled.values.insert(coupled.values.begin() + p, -1.);
      for (int i = row + 1; i <= coupled.n_rows; ++i)
        ++coupled.row_offsets[i];
      EXPECT_FALSE(update_stencil(*found, coupled));
      EXPECT_THROW(update_stencil(*found, five_point_stencil(3, 3, 0.).to_crs()), InvalidInput);
    }

    TEST(FindStencil, SaysWhyNot)
    {
      const auto why_not = [](const Shuffled &shuffled) {
        std::string why;
        EXPECT_FALSE(find_stencil(shuffled.matrix, shuffled.coordinates, shuffled.dim, &why).has_value());
        return why;
      };
      const Shuffled good(five_point_stencil(8, 5, 0.1), 2, 2);
      for (int p = 0; p < good.matrix.n_entries(); ++p) // one entry that differs, wherever it stands, is found
        if (good.matrix.values[p] == -1.)
          {
            Shuffled bad = good;
            bad.matrix.values[p] *= 1. + 1e-9;
            EXPECT_NE(why_not(bad).find("varies from -1 to -1"), std::string::npos);
            bad.matrix.values[p] = std::numeric_limits<double>::quiet_NaN(); // which no comparison finds
            EXPECT_NE(why_not(bad).find("varies from -1 to nan"), std::string::npos);
          }
      Shuffled moved = good;
      for (int i = 0; i < moved.matrix.n_rows; ++i)
        if (moved.coordinates[2 * i] < 50. && moved.coordinates[2 * i] > -2.9 && moved.coordinates[2 * i] < -2.8)
          moved.coordinates[2 * i] += 0.001;
      EXPECT_NE(why_not(moved).find("does not stand at a node"), std::string::npos);

      Shuffled  isolated = good; // a row of the lattice loses its couplings, as at a boundary in the middle of it
      const int row      = static_cast<int>(std::find(good.order.old_row.begin(), good.order.old_row.end(), 12) - good.order.old_row.begin());
      for (int p = isolated.matrix.row_offsets[row]; p < isolated.matrix.row_offsets[row + 1]; ++p)
        if (isolated.matrix.columns[p] != row)
          isolated.matrix.values[p] = 0.;
      EXPECT_NE(why_not(isolated).find("there are 39 coupled rows"), std::string::npos);

      Stencil<double> diagonal_only      = five_point_stencil(3, 3, 0.);
      diagonal_only.coefficient(1, 0, 0) = diagonal_only.coefficient(-1, 0, 0) = diagonal_only.coefficient(0, 1, 0) =
        diagonal_only.coefficient(0, -1, 0)                                    = 0.;
      EXPECT_NE(why_not(Shuffled(diagonal_only, 2, 0)).find("no row is coupled"), std::string::npos);
    }

    /** Several parts of rows: what is unlike in any of them, rounding included, is found wherever it stands. */
    TEST(FindStencil, OnAGridThatIsKnownNeedsNoCoordinates)
    {
      for (const auto &[stencil, n] :
           {std::pair{five_point_stencil(8, 5, 0.1), std::array<int, 3>{8, 5, 1}}, {twenty_seven_point_stencil(5, 4, 3, 0.), {5, 4, 3}}})
        {
          const auto found = find_stencil_on_grid(stencil.to_crs(), n);
          ASSERT_TRUE(found.has_value());
          EXPECT_EQ(found->stencil.coefficients, stencil.coefficients);
          EXPECT_EQ(found->deviation, 0.);
          EXPECT_EQ(found->rows, found->nodes);
          EXPECT_TRUE(found->isolated_rows.empty());
        }
      const std::array<int, 3> n       = {500, 400, 1};
      const Stencil<double>    stencil = five_point_stencil(n[0], n[1], 0.1);
      const CrsMatrix<double>  A       = stencil.to_crs();
      ASSERT_TRUE(find_stencil_on_grid(A, n).has_value());
      for (const int row : {3, 65535, 65536, 131072, 199998})
        {
          std::string       why;
          CrsMatrix<double> bad   = A;
          const auto        begin = bad.columns.begin() + bad.row_offsets[row], end = bad.columns.begin() + bad.row_offsets[row + 1];
          const auto        entry = std::find(begin, end, row + 1) - bad.columns.begin();
          bad.values[entry]       = -1. - 1e-12;
          const auto rounded      = find_stencil_on_grid(bad, n);
          ASSERT_TRUE(rounded.has_value()) << row;
          EXPECT_NEAR(rounded->deviation, 1e-12 / 4.1, 1e-14) << row;
          bad.values[entry] = -1. - 1e-9;
          EXPECT_FALSE(find_stencil_on_grid(bad, n, &why).has_value()) << row;
          EXPECT_NE(why.find("varies from -1 to -1"), std::string::npos) << why;
          EXPECT_NE(why.find("(row " + std::to_string(row)), std::string::npos) << why;
          bad.values[entry] = std::numeric_limits<double>::quiet_NaN();
          EXPECT_FALSE(find_stencil_on_grid(bad, n, &why).has_value()) << row;
          bad.values[entry] = 0.; // a coupling that is not there
          EXPECT_FALSE(find_stencil_on_grid(bad, n, &why).has_value()) << row;
          bad                = A;
          bad.columns[entry] = row > 100000 ? row - 7 : row + 7;
          EXPECT_FALSE(find_stencil_on_grid(bad, n, &why).has_value()) << row;
          EXPECT_NE(why.find("more than one interval away"), std::string::npos) << why;
        }
      EXPECT_FALSE(find_stencil_on_grid(A, {400, 500, 1}).has_value());
      EXPECT_THROW(find_stencil_on_grid(A, {500, 401, 1}), InvalidInput);
    }

    TEST(FindStencil, RejectsWrongInput)
    {
      const Shuffled good(five_point_stencil(4, 4, 0.1), 2, 0);
      EXPECT_THROW(find_stencil(good.matrix, good.coordinates, 3), InvalidInput);
      EXPECT_THROW(find_stencil(good.matrix, {}, 2), InvalidInput);
      CrsMatrix<double> ghosts = good.matrix;
      ++ghosts.n_columns;
      EXPECT_THROW(find_stencil(ghosts, good.coordinates, 2), InvalidInput);
      for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        for (const std::size_t entry : {std::size_t(0), std::size_t(7), good.coordinates.size() - 1})
          {
            std::vector<double> bad = good.coordinates;
            bad[entry]              = value;
            EXPECT_THROW(find_stencil(good.matrix, bad, 2), InvalidInput) << entry << " " << value;
          }
    }
  } // namespace
} // namespace leopard
