// SPDX-License-Identifier: Apache-2.0
// The stencil form on slabs of several ranks against that of one. Run with 2 and 4 ranks, too; one rank is a rank.
#include <solvers/base/errors.h>
#include <solvers/dealii/precondition_multigrid.h>
#include <solvers/distributed/mpi/distributed_rows.h>
#include <solvers/distributed/mpi/ghost_exchange.h>
#include <solvers/distributed/mpi/mpi_transport.h>
#include <solvers/distributed/stencil/distributed_stencil_multigrid.h>

#include <gtest/gtest.h>

#include <cmath>

namespace leopard
{
  namespace
  {
    constexpr int n_x = 21, n_y = 44, n_isolated = 5;

    /** The matrix of a stencil whose nodes are numbered with y fastest, behind rows of boundary values. */
    struct WholeProblem
    {
      explicit WholeProblem(const Stencil<double> &stencil)
      {
        const auto                    row_of = [](int node) { return n_isolated + node % n_x * n_y + node / n_x; };
        std::vector<DistributedEntry> entries;
        const CrsMatrix<double>       A = stencil.to_crs();
        for (int node = 0; node < A.n_rows; ++node)
          for (int p = A.row_offsets[node]; p < A.row_offsets[node + 1]; ++p)
            entries.push_back({row_of(node), row_of(A.columns[p]), A.values[p]});
        for (int i = 0; i < n_isolated; ++i)
          entries.push_back({i, i, 4. + i});
        const int n = n_isolated + A.n_rows;
        matrix      = DistributedRows(entries, {{0, n}, 0}, MPI_COMM_SELF).number({{0, n}, 0}, {});
        for (int row = 0; row < n; ++row)
          {
            coordinates.push_back(row < n_isolated ? -1. : (row - n_isolated) / n_y * 0.5);
            coordinates.push_back(row < n_isolated ? -1. : (row - n_isolated) % n_y * 0.5);
          }
      }
      CrsMatrix<double>   matrix;
      std::vector<double> coordinates;
    };

    /** Jacobi's method smooths: results do not depend on where tiles begin. */
    DistributedStencilOptions jacobi_options()
    {
      DistributedStencilOptions options;
      options.multigrid.n_threads = options.multigrid.smoother.block_async.n_threads = 1;
      options.multigrid.smoother.method                                              = "damped-jacobi";
      options.gather_below                                                           = 100;
      return options;
    }

    /** One of two fields: applied, as a solver, and with its true residual. */
    void compare(const Stencil<double> &stencil, const DistributedStencilOptions &options)
    {
      const WholeProblem whole(stencil);
      const int          n = whole.matrix.n_rows, n_ranks = size_of(MPI_COMM_WORLD);
      OwnRange           own = {{0}, rank_in(MPI_COMM_WORLD)};
      for (int r = 1; r <= n_ranks; ++r)
        own.offsets.resize(r + 1, n * r / n_ranks);
      const DistributedRows       rows    = own_rows(whole.matrix, own);
      const std::vector<int>      numbers = rows.ghosts(own);
      const GhostExchange<double> ghosts(own, numbers, MPI_COMM_WORLD);
      std::string                 why;
      const auto                  found = find_stencil(rows.number(own, numbers),
                                      {whole.coordinates.begin() + 2 * own.first(), whole.coordinates.begin() + 2 * (own.first() + own.n())},
                                      2,
                                      &why,
                                      1e-11,
                                      {&ghosts, own.first()});
      ASSERT_TRUE(found.has_value()) << why;

      const Field           second = {1, 2};
      PreconditionMultigrid on_slabs(*found, MPI_COMM_WORLD, 0, options, second);
      const auto            found_alone = find_stencil(whole.matrix, whole.coordinates, 2);
      PreconditionMultigrid alone(*found_alone, on_slabs.n_levels(), options.multigrid, nullptr, second);
      EXPECT_NE(on_slabs.description().find(std::to_string(n_ranks) + " ranks with slabs of 2 levels"), std::string::npos) << on_slabs.description();

      const auto          values = [](int i) { return i % 2 == 1 ? std::sin(0.7 * i) : 1e30; }; // of the other field: not to be read
      std::vector<double> b(2 * n), x(2 * n, -5.), own_b, own_x(2 * own.n(), -5.);
      for (int i = 0; i < 2 * n; ++i)
        b[i] = values(i);
      own_b.assign(b.begin() + 2 * own.first(), b.begin() + 2 * (own.first() + own.n()));
      alone.vmult(x.data(), b.data());
      on_slabs.vmult(own_x.data(), own_b.data());
      for (int i = 0; i < 2 * own.n(); ++i)
        ASSERT_NEAR(own_x[i], x[2 * own.first() + i], 1e-12) << i;

      StoppingCriteria criteria;
      criteria.max_iterations     = 40;
      criteria.absolute_tolerance = 1e-10;
      const SolveResult of_slabs = on_slabs.solve(own_x.data(), own_b.data(), criteria), of_one = alone.solve(x.data(), b.data(), criteria);
      EXPECT_EQ(of_slabs.status, SolveStatus::converged);
      EXPECT_EQ(of_slabs.n_iterations, of_one.n_iterations);
      const std::vector<double> solution = gathered(own_x, MPI_COMM_WORLD);
      double                    norm     = 0.;
      for (int row = 0; row < n; ++row)
        {
          double residual = b[2 * row + 1];
          for (int p = whole.matrix.row_offsets[row]; p < whole.matrix.row_offsets[row + 1]; ++p)
            residual -= whole.matrix.values[p] * solution[2 * whole.matrix.columns[p] + 1];
          norm += residual * residual;
          EXPECT_EQ(solution[2 * row], -5.) << "the other field";
        }
      EXPECT_LE(std::sqrt(norm), 1.1e-10);
      EXPECT_FALSE(on_slabs.update_values(*found)) << "a new object is needed";
    }

    TEST(StencilRanks, OnSlabsIsThatOfOneRank)
    {
      compare(five_point_stencil(n_x, n_y, 0.02), jacobi_options());
      compare(nine_point_stencil(n_x, n_y, 0.), jacobi_options());
      DistributedStencilOptions options = jacobi_options();
      options.multigrid.cycle           = CycleType::w;
      options.multigrid.full_start      = true;
      Stencil<double> varying           = five_point_stencil(n_x, n_y, 0.);
      for (int i = 0; i < varying.n_rows(); ++i)
        varying.diagonal.push_back(4.5 + 0.4 * std::cos(0.1 * i));
      compare(varying, options);
    }

    TEST(StencilRanks, TooSmallAGridIsRefusedOnAllRanks)
    {
      DistributedStencilOptions options = jacobi_options();
      FoundStencil              found;
      found.stencil = five_point_stencil(30, 4 * size_of(MPI_COMM_WORLD) - 1, 0.);
      EXPECT_THROW(PreconditionMultigrid(found, MPI_COMM_WORLD, 0, options), InvalidInput);
      options.multigrid.smoother.method = "chebyshev";
      found.stencil                     = five_point_stencil(n_x, n_y, 0.);
      EXPECT_THROW(PreconditionMultigrid(found, MPI_COMM_WORLD, 0, options), InvalidInput);
    }
  } // namespace
} // namespace leopard
