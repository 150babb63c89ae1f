// SPDX-License-Identifier: Apache-2.0
#include "matrix_of_rows.h"

#include <solvers/matrix/structural_rank.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace leopard
{
  namespace
  {
    using Rows = std::vector<std::map<int, double>>;

    /** By one path after the other, depth first (Kuhn): short, slow and right. */
    int rank_by_single_paths(const Rows &rows)
    {
      std::vector<int>  row_of(rows.size(), -1);
      std::vector<char> seen;
      // NOLINTNEXTLINE(misc-no-recursion)
      const std::function<bool(int)> has_path = [&](int i) {
        for (const auto &[j, value] : rows[i])
          if (value != 0. && seen[j] == 0)
            {
              seen[j] = 1;
              if (row_of[j] < 0 || has_path(row_of[j]))
                {
                  row_of[j] = i;
                  return true;
                }
            }
        return false;
      };
      int rank = 0;
      for (std::size_t i = 0; i < rows.size(); ++i)
        {
          seen.assign(rows.size(), 0);
          rank += has_path(static_cast<int>(i)) ? 1 : 0;
        }
      return rank;
    }

    /** That the lines have entries in the crossings only, and are one more. */
    void expect_true(const Rows &rows, const StructuralRank &found)
    {
      EXPECT_EQ(found.lines.size(), found.crossings.size() + 1);
      const std::set<int> lines(found.lines.begin(), found.lines.end()), crossings(found.crossings.begin(), found.crossings.end());
      EXPECT_EQ(lines.size(), found.lines.size());
      EXPECT_EQ(crossings.size(), found.crossings.size());
      for (int i = 0; i < static_cast<int>(rows.size()); ++i)
        for (const auto &[j, value] : rows[i])
          {
            const bool is_on_a_line = value != 0. && lines.count(found.has_rows ? i : j) > 0;
            EXPECT_TRUE(!is_on_a_line || crossings.count(found.has_rows ? j : i) > 0) << "row " << i << ", column " << j;
          }
    }

    TEST(StructuralRank, OfRandomMatricesIsThatOfSinglePaths)
    {
      std::mt19937 numbers(1);
      int          n_singular = 0, n_deficient_by_more = 0;
      for (int trial = 0; trial < 600; ++trial)
        {
          const int n         = 1 + static_cast<int>(numbers() % 40);
          const int n_entries = static_cast<int>(numbers() % (8u * n));
          Rows      rows(n);
          for (int k = 0; k < n_entries; ++k)
            rows[numbers() % n][static_cast<int>(numbers() % n)] = numbers() % 5 == 0 ? 0. : 1.; // some are stored and zero
          const StructuralRank found = structural_rank(matrix_of_rows(rows));
          ASSERT_EQ(found.rank, rank_by_single_paths(rows)) << "trial " << trial << ", " << n << " rows";
          EXPECT_EQ(found.n_rows, n);
          if (found.is_singular())
            expect_true(rows, found);
          else
            EXPECT_TRUE(found.lines.empty() && found.crossings.empty());
          n_singular += found.is_singular() ? 1 : 0;
          n_deficient_by_more += found.rank < n - 2 ? 1 : 0;
        }
      EXPECT_GT(n_singular, 200);
      EXPECT_LT(n_singular, 590);
      EXPECT_GT(n_deficient_by_more, 100);
    }

    TEST(StructuralRank, TellsTheFewestLines)
    {
      // columns 0, 1 and 2 have entries in rows 0 and 1 only; of the rows 98 have entries in 97 columns
      Rows rows(100);
      for (int i = 0; i < 100; ++i)
        for (int j = i < 2 ? 0 : 3; j < 100; ++j)
          if ((i + j) % 3 == 0 || i == j || j == i + 1)
            rows[i][j] = 1.;
      rows[0][1] = rows[1][2] = 1.;
      StructuralRank found    = structural_rank(matrix_of_rows(rows));
      EXPECT_EQ(found.rank, 99);
      EXPECT_FALSE(found.has_rows);
      EXPECT_EQ(found.lines, (std::vector<int>{0, 1, 2}));
      EXPECT_EQ(found.crossings, (std::vector<int>{0, 1}));
      // the same of rows
      Rows transposed(100);
      for (int i = 0; i < 100; ++i)
        for (const auto &[j, value] : rows[i])
          transposed[j][i] = value;
      found = structural_rank(matrix_of_rows(transposed));
      EXPECT_TRUE(found.has_rows);
      EXPECT_EQ(found.lines, (std::vector<int>{0, 1, 2}));
      EXPECT_EQ(found.crossings, (std::vector<int>{0, 1}));
      // a row of zeros
      rows[7].clear();
      rows[7][7] = 0.;
      found      = structural_rank(matrix_of_rows(rows));
      EXPECT_EQ(found.rank, 99); // the other rows that have entries in 97 columns are as many now
      EXPECT_TRUE(found.has_rows);
      EXPECT_EQ(found.lines, (std::vector<int>{7}));
      EXPECT_TRUE(found.crossings.empty());
    }

    /** One long alternating path: row i has entries in columns i and i + 1, and the last one in column 0 only. */
    TEST(StructuralRank, FollowsLongPaths)
    {
      constexpr int n = 20000;
      Rows          rows(n);
      for (int i = 0; i + 1 < n; ++i) // cheap assignment takes the diagonal, which leaves the last row nothing
        rows[i] = {{i, 1.}, {i + 1, 1.}};
      rows[n - 1] = {{0, 1.}};
      EXPECT_EQ(structural_rank(matrix_of_rows(rows)).rank, n);
      rows[n - 2].erase(n - 1);
      const StructuralRank found = structural_rank(matrix_of_rows(rows));
      EXPECT_EQ(found.rank, n - 1);
      expect_true(rows, found);
    }

    TEST(StructuralRank, IsNotKnownWhereTheSearchIsGivenUp)
    {
      constexpr int n = 2000;
      Rows          rows(n);
      for (int i = 0; i + 1 < n; ++i)
        rows[i] = {{i, 1.}, {i + 1, 1.}};
      rows[n - 1]                = {{0, 1.}};
      const StructuralRank found = structural_rank(matrix_of_rows(rows), 100.);
      EXPECT_FALSE(found.is_known);
      EXPECT_FALSE(found.is_singular());
      EXPECT_EQ(found.rank, n - 1);
      EXPECT_TRUE(structural_rank(matrix_of_rows(rows), 1e6).is_known);
    }

    TEST(StructuralRank, OfAPermutedMatrixIsWhole)
    {
      constexpr int    n = 3000;
      std::mt19937     numbers(3);
      std::vector<int> order(n);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), numbers);
      Rows rows(n); // a triangular one, whose transversal there is one of
      for (int i = 0; i < n; ++i)
        {
          rows[order[i]][i] = 1.;
          for (int k = 0; k < 3 && i > 0; ++k)
            rows[order[i]][static_cast<int>(numbers() % i)] = 1.;
        }
      EXPECT_EQ(structural_rank(matrix_of_rows(rows)).rank, n);
      EXPECT_EQ(structural_rank(CrsMatrix<double>()).rank, 0);
    }
  } // namespace
} // namespace leopard
