// SPDX-License-Identifier: Apache-2.0
// Matrices whose rows are spread over ranks, against the same whole.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/matrix/sparse_product.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    /** Another length on each rank; the second of more than two has nothing. */
    OwnRange some_range(int more)
    {
      return own_range(my_rank() == 1 && n_ranks() > 2 ? 0 : 5 + 3 * my_rank() + more, MPI_COMM_WORLD);
    }

    /** The same on all ranks. */
    CrsMatrix<double> random_matrix(int n_rows, int n_columns, unsigned int seed)
    {
      std::mt19937      generator(seed);
      CrsMatrix<double> A;
      A.n_rows    = n_rows;
      A.n_columns = n_columns;
      for (int i = 0; i < n_rows; ++i)
        {
          for (int j = 0; j < n_columns; ++j)
            if (generator() % 4 == 0)
              {
                A.columns.push_back(j);
                A.values.push_back(1. + static_cast<double>(generator() % 1000) / 1000.);
              }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    std::vector<std::pair<int, double>> sorted_row(const DistributedRows &rows, std::size_t i)
    {
      std::vector<std::pair<int, double>> row;
      for (int p = rows.row_offsets[i]; p < rows.row_offsets[i + 1]; ++p)
        row.emplace_back(rows.columns[p], rows.values[p]);
      std::sort(row.begin(), row.end());
      return row;
    }

    /** In any order of a row's entries. */
    void expect_rows(const DistributedRows &found, const DistributedRows &expected)
    {
      ASSERT_EQ(found.row_offsets, expected.row_offsets);
      for (std::size_t i = 0; i + 1 < found.row_offsets.size(); ++i)
        {
          const auto here = sorted_row(found, i), there = sorted_row(expected, i);
          for (std::size_t k = 0; k < here.size(); ++k)
            {
              EXPECT_EQ(here[k].first, there[k].first);
              EXPECT_NEAR(here[k].second, there[k].second, 1e-13 * std::abs(there[k].second));
            }
        }
    }
  } // namespace

  TEST(OwnRange, KnowsWhoOwnsANumber)
  {
    const OwnRange range = some_range(0);
    EXPECT_EQ(range.n_ranks(), n_ranks());
    EXPECT_EQ(range.n(), range.counts()[my_rank()]);
    for (int i = 0; i < range.n_all(); ++i)
      EXPECT_EQ(range.owner_of(i) == my_rank(), range.contains(i)) << i;
    expect_same(range.n_all(), "the sum");
    if (n_ranks() > 1)
      {
        EXPECT_THROW(own_range(2000000000, MPI_COMM_WORLD), InvalidInput);
      }
  }

  TEST(DistributedRows, ActAsTheWhole)
  {
    const OwnRange          rows = some_range(0), columns = some_range(4), others = some_range(1);
    const CrsMatrix<double> A = random_matrix(rows.n_all(), columns.n_all(), 1), B = random_matrix(columns.n_all(), others.n_all(), 2);
    const DistributedRows   own = own_rows(A, rows);
    expect_rows(own.transpose(rows, columns, MPI_COMM_WORLD), own_rows(transpose(A), columns));
    expect_rows(product(own, columns, own_rows(B, columns), others, MPI_COMM_WORLD, 1), own_rows(product(A, B), rows));
    const CrsMatrix<double> whole = own.gathered(A.n_columns, MPI_COMM_WORLD);
    EXPECT_EQ(whole.n_rows, A.n_rows);
    EXPECT_EQ(whole.row_offsets, A.row_offsets);
    EXPECT_EQ(whole.columns, A.columns);
    EXPECT_EQ(whole.values, A.values);

    const std::vector<int> ghosts = own.ghosts(columns);
    expect_rows(DistributedRows(own.number(columns, ghosts), columns, ghosts), own);
    const std::vector<int> read = own_rows(transpose(A), columns).ghosts(rows); // some rows of others
    DistributedRows        expected;
    for (const int i : read)
      expected.append(own_rows(A, {{0, i, i + 1, A.n_rows}, 1}));
    expect_rows(own.rows_of_others(rows, read, MPI_COMM_WORLD), expected);
  }

  /** Whoever knows of an entry, and however often it is told. */
  TEST(DistributedRows, EntriesComeToTheirRows)
  {
    const OwnRange                rows = some_range(0);
    const CrsMatrix<double>       A    = random_matrix(rows.n_all(), 30, 3);
    std::vector<DistributedEntry> entries;
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        if (p % n_ranks() == my_rank() || p % 3 == 0)
          entries.push_back({i, A.columns[p], A.values[p]});
    expect_rows(DistributedRows(entries, rows, MPI_COMM_WORLD), own_rows(A, rows));
    DistributedRows       some    = own_rows(A, rows);
    const DistributedRows before  = some;
    std::vector<int>      cleared = {0, rows.n_all() - 1};
    some.clear_rows(rows, cleared);
    for (int i = 0; i < rows.n(); ++i)
      {
        const bool is_cleared = rows.first() + i == 0 || rows.first() + i == rows.n_all() - 1;
        EXPECT_EQ(some.row_offsets[i + 1] - some.row_offsets[i], is_cleared ? 0 : before.row_offsets[i + 1] - before.row_offsets[i]);
      }
  }

  TEST(GhostExchange, BringsTheValuesOfTheOwners)
  {
    const OwnRange              own    = some_range(2);
    const DistributedRows       A      = own_rows(random_matrix(own.n_all(), own.n_all(), 4), own);
    const std::vector<int>      ghosts = A.ghosts(own);
    const GhostExchange<double> exchange(own, ghosts, MPI_COMM_WORLD);
    EXPECT_EQ(exchange.has_ghosts(), n_ranks() > 1);
    EXPECT_EQ(exchange.sum(2.), 2. * n_ranks());
    EXPECT_EQ(exchange.max(my_rank()), n_ranks() - 1.);
    std::vector<double> x;
    for (int i = 0; i < own.n(); ++i)
      x.push_back(own.first() + i);
    x.resize(x.size() + ghosts.size(), -1.);
    exchange.update_ghosts(x.data(), MemorySpace::host);
    for (std::size_t k = 0; k < ghosts.size(); ++k)
      EXPECT_EQ(x[own.n() + k], ghosts[k]);
  }
} // namespace leopard
