// SPDX-License-Identifier: Apache-2.0
// A stencil whose rows are scattered over ranks: finding it, and the way to slabs of its grid and back.
#include "ranks_test.h"

#include <solvers/base/errors.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/distributed/stencil/rows_on_slabs.h>
#include <solvers/multigrid/find_stencil.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace
{
  using namespace leopard;

  /** The rank's rows of a stencil's matrix that has rows of boundary values, too, all in random order. */
  struct Scattered
  {
    static constexpr int n_isolated = 7;

    Scattered(const Stencil<double> &whole, int dim_)
      : dim(dim_)
    {
      const int        n = whole.n_rows();
      std::vector<int> node_of(n + n_isolated); // of each row of all ranks; from n on: none
      std::iota(node_of.begin(), node_of.end(), 0);
      std::shuffle(node_of.begin(), node_of.end(), std::mt19937(3));
      std::vector<int> row_of(node_of.size());
      for (std::size_t row = 0; row < node_of.size(); ++row)
        row_of[node_of[row]] = static_cast<int>(row);

      // ranks have unequal parts
      const int total = static_cast<int>(node_of.size()), ranks = n_ranks();
      for (int r = 1; r <= ranks; ++r)
        own.offsets.resize(r + 1, r == ranks ? total : total * r * (r + 1) / (ranks * (ranks + 1)));
      own.rank = my_rank();

      const CrsMatrix<double> A = whole.to_crs();
      DistributedRows         rows;
      for (int row = own.first(); row < own.first() + own.n(); ++row)
        {
          const int node = node_of[row];
          nodes.push_back(node < n ? node : -1);
          for (int d = 0; d < dim; ++d)
            coordinates.push_back(node < n ? 0.25 * (d == 0 ? node % whole.n_x : d == 1 ? node / whole.n_x % whole.n_y : node / whole.plane()) : 99.);
          if (node >= n)
            {
              rows.columns.push_back(row);
              rows.values.push_back(3.);
            }
          else
            for (int p = A.row_offsets[node]; p < A.row_offsets[node + 1]; ++p)
              {
                rows.columns.push_back(row_of[A.columns[p]]);
                rows.values.push_back(A.values[p]);
              }
          rows.row_offsets.push_back(static_cast<int>(rows.columns.size()));
        }
      const std::vector<int> numbers = rows.ghosts(own);
      matrix                         = rows.number(own, numbers);
      ghosts                         = std::make_unique<GhostExchange<double>>(own, numbers, MPI_COMM_WORLD);
    }

    std::optional<FoundStencil> find(std::string *why_not = nullptr) const
    {
      return find_stencil(matrix, coordinates, dim, why_not, 1e-11, {ghosts.get(), own.first()});
    }

    const int                              dim;
    OwnRange                               own = {{0}, 0};
    CrsMatrix<double>                      matrix;
    std::vector<double>                    coordinates;
    std::vector<int>                       nodes; ///< of the own rows; -1: none
    std::unique_ptr<GhostExchange<double>> ghosts;
  };

  std::vector<double> wavy_diagonal(int n)
  {
    std::vector<double> result(n);
    for (int i = 0; i < n; ++i)
      result[i] = 5. + 0.3 * std::sin(i);
    return result;
  }

  TEST(StencilOfRanks, IsFoundFromTheOwnRows)
  {
    struct Case
    {
      Stencil<double> stencil;
      int             dim;
    };
    for (const Case &c : {Case{five_point_stencil(13, 17, 0.1), 2},
                          {nine_point_stencil(9, 12, 0.), 2},
                          {seven_point_stencil(5, 7, 6, 0.), 3},
                          {twenty_seven_point_stencil(6, 4, 9, 0.2), 3}})
      {
        SCOPED_TRACE(std::to_string(c.stencil.n_x) + " x " + std::to_string(c.stencil.n_y) + " x " + std::to_string(c.stencil.n_z));
        const Scattered rows(c.stencil, c.dim);
        std::string     why;
        const auto      found = rows.find(&why);
        ASSERT_TRUE(found.has_value()) << why;
        EXPECT_EQ(found->stencil.n_x, c.stencil.n_x);
        EXPECT_EQ(found->stencil.n_y, c.stencil.n_y);
        EXPECT_EQ(found->stencil.n_z, c.stencil.n_z);
        EXPECT_EQ(found->stencil.coefficients, c.stencil.coefficients);
        EXPECT_EQ(found->deviation, 0.);
        EXPECT_FALSE(found->diagonal_varies);
        ASSERT_EQ(found->rows.size() + found->isolated_rows.size(), static_cast<std::size_t>(rows.own.n()));
        for (int i = 0; i < rows.own.n(); ++i)
          EXPECT_EQ(found->nodes[i], rows.nodes[i]) << i;
        for (std::size_t k = 1; k < found->rows.size(); ++k)
          EXPECT_LT(found->nodes[found->rows[k - 1]], found->nodes[found->rows[k]]);
        for (const double d : found->isolated_diagonal)
          EXPECT_EQ(d, 3.);
      }
  }

  TEST(StencilOfRanks, DiagonalsThatVaryAreThoseOfTheOwnRowsAndNewValuesAreTaken)
  {
    Stencil<double> stencil = five_point_stencil(12, 15, 0.);
    const Scattered constant(stencil, 2);
    stencil.diagonal = wavy_diagonal(stencil.n_rows());
    const Scattered rows(stencil, 2);
    auto            found = constant.find();
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(update_stencil(*found, rows.matrix, 1e-11, {rows.ghosts.get(), rows.own.first()}));
    EXPECT_TRUE(found->diagonal_varies);
    EXPECT_TRUE(found->stencil.diagonal.empty());
    ASSERT_EQ(found->own_diagonal.size(), found->rows.size());
    for (std::size_t k = 0; k < found->rows.size(); ++k)
      EXPECT_EQ(found->own_diagonal[k], stencil.diagonal[found->nodes[found->rows[k]]]);

    ASSERT_TRUE(update_stencil(*found, constant.matrix, 1e-11, {constant.ghosts.get(), constant.own.first()}));
    EXPECT_FALSE(found->diagonal_varies);
    EXPECT_TRUE(found->own_diagonal.empty());
    EXPECT_EQ(found->stencil.coefficient(0, 0, 0), 4.);
  }

  /** Something that only one rank can see makes all ranks find nothing, and say why. */
  TEST(StencilOfRanks, WhatOneRankSeesAllKnow)
  {
    const Stencil<double> stencil = five_point_stencil(12, 15, 0.);
    for (int rank = 0; rank < n_ranks(); ++rank)
      {
        SCOPED_TRACE(rank);
        const auto is_here   = [&](const Scattered &) { return my_rank() == rank; };
        const auto first_row = [](const Scattered &rows) {
          return static_cast<int>(std::find_if(rows.nodes.begin(), rows.nodes.end(), [](int n) { return n >= 0; }) - rows.nodes.begin());
        };
        const auto expect_nothing = [](const Scattered &rows, const std::string &text) {
          std::string why;
          EXPECT_FALSE(rows.find(&why).has_value());
          EXPECT_NE(why.find(text), std::string::npos) << why;
        };
        Scattered coupling(stencil, 2);
        if (is_here(coupling)) // one entry beside the diagonal
          for (int i = first_row(coupling), p = coupling.matrix.row_offsets[i]; p < coupling.matrix.row_offsets[i + 1]; ++p)
            if (coupling.matrix.columns[p] != i)
              {
                coupling.matrix.values[p] *= 1.5;
                break;
              }
        expect_nothing(coupling, "varies from");
        auto found = Scattered(stencil, 2).find();
        EXPECT_FALSE(update_stencil(*found, coupling.matrix, 1e-11, {coupling.ghosts.get(), coupling.own.first()}));

        Scattered place(stencil, 2);
        if (is_here(place))
          place.coordinates[2 * first_row(place)] += 0.07;
        expect_nothing(place, "");

        Scattered no_number(stencil, 2);
        if (is_here(no_number))
          for (int i = first_row(no_number), p = no_number.matrix.row_offsets[i]; p < no_number.matrix.row_offsets[i + 1]; ++p)
            if (no_number.matrix.columns[p] != i)
              no_number.matrix.values[p] = std::nan("");
        expect_nothing(no_number, "varies from");

        Scattered zero(stencil, 2);
        if (is_here(zero))
          for (int i = first_row(zero), p = zero.matrix.row_offsets[i]; p < zero.matrix.row_offsets[i + 1]; ++p)
            if (zero.matrix.columns[p] == i)
              zero.matrix.values[p] = 0.;
        EXPECT_THROW(zero.find(), InvalidInput);
      }
  }

  TEST(StencilOfRanks, RowsTravelToSlabsAndBack)
  {
    const Scattered  rows(five_point_stencil(11, 23, 0.), 2);
    const auto       found = rows.find();
    const int        n = found->stencil.n_rows(), ranks = n_ranks();
    std::vector<int> offsets, nodes, entries;
    for (int r = 0; r <= ranks; ++r)
      offsets.push_back(n * r / ranks);
    for (const int row : found->rows)
      {
        nodes.push_back(found->nodes[row]);
        entries.push_back(2 * row + 1); // of two fields
      }
    RowsOnSlabs         way(nodes, entries, offsets, MPI_COMM_WORLD, Backend::host);
    std::vector<double> v(2 * rows.own.n(), -1.), slab(offsets[my_rank() + 1] - offsets[my_rank()], -7.);
    for (std::size_t k = 0; k < nodes.size(); ++k)
      v[entries[k]] = 1000. + nodes[k];
    const std::vector<double> before = v;
    way.to_slab(slab.data(), v.data());
    EXPECT_EQ(v, before);
    for (std::size_t i = 0; i < slab.size(); ++i)
      EXPECT_EQ(slab[i], 1000. + offsets[my_rank()] + static_cast<double>(i));

    for (double &value : slab)
      value *= 2.;
    way.from_slab(v.data(), slab.data());
    for (std::size_t k = 0; k < nodes.size(); ++k)
      EXPECT_EQ(v[entries[k]], 2. * (1000. + nodes[k]));
    EXPECT_EQ(std::count(v.begin(), v.end(), -1.), static_cast<long>(v.size() - nodes.size())) << "what is of no row stays";
  }

  TEST(StencilOfRanks, NodesWithTwoRowsOrNoneAreRefusedOnAllRanks)
  {
    const Scattered  rows(five_point_stencil(11, 23, 0.), 2);
    const auto       found = rows.find();
    std::vector<int> nodes, offsets;
    for (const int row : found->rows)
      nodes.push_back(found->nodes[row]);
    for (int r = 0; r <= n_ranks(); ++r)
      offsets.push_back(found->stencil.n_rows() * r / n_ranks());
    if (my_rank() == n_ranks() - 1)
      nodes[0] = nodes[1];
    EXPECT_THROW(RowsOnSlabs(nodes, found->rows, offsets, MPI_COMM_WORLD, Backend::host), InvalidInput);
  }
} // namespace
