// SPDX-License-Identifier: Apache-2.0
// Levels by aggregation that are spread over ranks. Run with 2 and 4 ranks, too; one rank is a rank.

#include <solvers/base/errors.h>
#include <solvers/dealii/distributed_aggregation.h>
#include <solvers/dealii/precondition_aggregation.h>
#include <solvers/matrix/elasticity.h>
#include <solvers/matrix/stencil.h>
#include <solvers/multigrid/aggregation.h>

#include <deal.II/base/mpi.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace leopard
{
  namespace
  {
    using dealii::IndexSet;
    using dealii::Utilities::MPI::n_mpi_processes;
    using dealii::Utilities::MPI::this_mpi_process;

    using Data = PreconditionAggregation::AdditionalData;

    /** The rank's rows of n, whole nodes. @param from_rank the ranks before it have none, where there are others. */
    IndexSet rows_of_rank(int n, int of_node, MPI_Comm comm, int from_rank = 0)
    {
      const int first = static_cast<int>(n_mpi_processes(comm)) > from_rank ? from_rank : 0;
      const int rank = static_cast<int>(this_mpi_process(comm)) - first, n_ranks = static_cast<int>(n_mpi_processes(comm)) - first;
      const int n_nodes = n / of_node;
      IndexSet  rows(n);
      if (rank >= 0)
        rows.add_range(of_node * (n_nodes * rank / n_ranks), of_node * (n_nodes * (rank + 1) / n_ranks));
      rows.compress();
      return rows;
    }

    HostMatrix on_ranks(const CrsMatrix<double> &A, const IndexSet &rows, MPI_Comm comm)
    {
      dealii::DynamicSparsityPattern pattern(A.n_rows, A.n_rows, rows);
      for (const auto i : rows)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          pattern.add(i, A.columns[p]);
      HostMatrix result;
      result.reinit(rows, rows, pattern, comm);
      for (const auto i : rows)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          result.set(i, A.columns[p], A.values[p]);
      result.compress(dealii::VectorOperation::insert);
      return result;
    }

    /** Iterations of CG or GMRES for A x = A y with a rough y. */
    template <typename Solver>
    unsigned int iterations(const CrsMatrix<double> &A, const Data &data, const IndexSet &rows, MPI_Comm comm)
    {
      const HostMatrix        matrix = on_ranks(A, rows, comm);
      PreconditionAggregation levels;
      levels.initialize(matrix, data);
      EXPECT_TRUE(levels.is_fixed_linear_map());
      HostVector x(rows, comm), b(rows, comm), r(rows, comm);
      for (const auto i : rows)
        x[i] = std::sin(1. + 3. * static_cast<double>(i));
      x.compress(dealii::VectorOperation::insert);
      matrix.vmult(b, x);
      x = 0.;
      dealii::SolverControl control(300, 1e-10 * b.l2_norm(), false, false);
      Solver(control).solve(matrix, x, b, levels);
      matrix.residual(r, x, b);
      EXPECT_LT(r.l2_norm(), 1e-8 * b.l2_norm());
      return control.last_step();
    }

    using Cg    = dealii::SolverCG<HostVector>;
    using Gmres = dealii::SolverGMRES<HostVector>;

    /** Of all ranks against one alone. @param data of a rank's rows. */
    template <typename Solver = Cg>
    void expect_no_more_iterations(const std::string                           &what,
                                   const CrsMatrix<double>                     &A,
                                   unsigned int                                 more,
                                   const std::function<Data(const IndexSet &)> &data,
                                   int                                          of_node   = 1,
                                   int                                          from_rank = 0)
    {
      const IndexSet     rows = rows_of_rank(A.n_rows, of_node, MPI_COMM_WORLD, from_rank), all = dealii::complete_index_set(A.n_rows);
      const unsigned int alone = iterations<Solver>(A, data(all), all, MPI_COMM_SELF);
      const unsigned int found = iterations<Solver>(A, data(rows), rows, MPI_COMM_WORLD);
      EXPECT_LE(found, alone + more) << what << ", " << n_mpi_processes(MPI_COMM_WORLD) << " ranks";
      if (n_mpi_processes(MPI_COMM_WORLD) == 1)
        {
          EXPECT_EQ(found, alone) << what;
        }
    }

    Data scalar(const IndexSet & /*rows*/)
    {
      return {};
    }

    /** Bilinear couplings of nodes in x and y, weaker in y. */
    CrsMatrix<double> anisotropic(int n, double weak)
    {
      CrsMatrix<double> A = five_point_stencil(n, n, 0.).to_crs();
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] = A.columns[p] == i ? 2. + 2. * weak : std::abs(A.columns[p] - i) == 1 ? -1. : -weak;
      return A;
    }

    TEST(RanksOfAggregation, IterationsHardlyGrow)
    {
      expect_no_more_iterations("five points", five_point_stencil(60, 60, 0.).to_crs(), 2, scalar);
      expect_no_more_iterations("strong in the rows of ranks", anisotropic(60, 1e-3), 3, scalar);
      // lines cross all ranks: the numbers of rows and columns change places
      CrsMatrix<double> across = anisotropic(60, 1e-3);
      for (int i = 0; i < across.n_rows; ++i)
        for (int p = across.row_offsets[i]; p < across.row_offsets[i + 1]; ++p)
          if (across.columns[p] != i)
            across.values[p] = std::abs(across.columns[p] - i) == 1 ? -1e-3 : -1.;
      expect_no_more_iterations("strong across ranks", across, 3, scalar);
      expect_no_more_iterations("seven points", seven_point_stencil(14, 14, 14, 0.).to_crs(), 2, scalar);
      expect_no_more_iterations("a rank without rows", five_point_stencil(60, 60, 0.).to_crs(), 2, scalar, 1, 1);
      expect_no_more_iterations("hardly any rows", five_point_stencil(3, 2, 0.).to_crs(), 0, scalar);
    }

    TEST(RanksOfAggregation, SystemsAndFields)
    {
      const auto with_rotations = [](const Elasticity &problem) {
        return [problem](const IndexSet &rows) {
          Data data;
          data.aggregation.block_unknowns = problem.dim;
          data.aggregation.max_coarse     = 60;
          for (const std::vector<double> &mode : problem.rigid_body_modes())
            {
              data.aggregation.near_null_space.emplace_back();
              for (const auto i : rows)
                data.aggregation.near_null_space.back().push_back(mode[i]);
            }
          return data;
        };
      };
      const auto blocks_of = [](const Elasticity &problem) {
        return [problem](const IndexSet &) {
          Data data;
          data.aggregation.block_unknowns = problem.dim;
          return data;
        };
      };
      const Elasticity square = {2, {40, 40, 0}}, cube = {3, {9, 9, 9}}, free = {2, {40, 40, 0}, {1., 1., 1.}, false},
                       long_cells = {2, {40, 40, 0}, {6., 1., 1.}};
      expect_no_more_iterations("square, rotations", square.matrix(), 5, with_rotations(square), 2);
      expect_no_more_iterations("square, translations", square.matrix(), 8, blocks_of(square), 2);
      expect_no_more_iterations("long cells, rotations", long_cells.matrix(), 8, with_rotations(long_cells), 2);
      expect_no_more_iterations("cube, rotations", cube.matrix(), 5, with_rotations(cube), 3);
      expect_no_more_iterations("nothing holds it", free.matrix(), 8, with_rotations(free), 2);
      expect_no_more_iterations("a rank without rows", square.matrix(), 5, with_rotations(square), 2, 1);

      // two fields that are coupled at the nodes, the second one growing
      const CrsMatrix<double> A = five_point_stencil(40, 40, 0.).to_crs();
      CrsMatrix<double>       both;
      both.n_rows = both.n_columns = 2 * A.n_rows;
      for (int i = 0; i < both.n_rows; ++i)
        {
          const int field = i % 2;
          for (int p = A.row_offsets[i / 2]; p < A.row_offsets[i / 2 + 1]; ++p)
            {
              const bool diagonal = A.columns[p] == i / 2;
              both.columns.push_back(2 * A.columns[p] + field);
              both.values.push_back((field == 0 ? 1. : 20.) * A.values[p] + (diagonal ? (field == 0 ? 0.1 : -0.1) : 0.));
              if (diagonal)
                {
                  both.columns.push_back(i + 1 - 2 * field);
                  both.values.push_back(field == 0 ? 0.2 : -0.2);
                }
            }
          both.row_offsets.push_back(both.n_entries());
        }
      const auto two_fields = [](const IndexSet &) {
        Data data;
        data.n_fields = 2;
        return data;
      };
      expect_no_more_iterations<Gmres>("two fields", both, 2, two_fields, 2);
    }

    std::vector<double> rough(int n, int seed)
    {
      std::vector<double> v(n);
      for (int i = 0; i < n; ++i)
        v[i] = std::sin(1. + (3. + seed) * i);
      return v;
    }

    /** Galerkin's products, transposes and constants by vectors, rows at the edge of a rank among them. */
    TEST(RanksOfAggregation, LevelsAreProductsOfAllRanks)
    {
      CrsMatrix<double> A = five_point_stencil(50, 40, 0.).to_crs();
      for (int i = 0; i < A.n_rows; ++i) // Neumann's problem: rows add up to zero
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            A.values[p] = A.row_offsets[i + 1] - A.row_offsets[i] - 1;
      const IndexSet     rows   = rows_of_rank(A.n_rows, 1, MPI_COMM_WORLD);
      const HostMatrix   matrix = on_ranks(A, rows, MPI_COMM_WORLD);
      AggregationOptions options;
      options.max_coarse                 = 20;
      const MultigridHierarchy hierarchy = aggregation_hierarchy(local_matrix(matrix), options, MPI_COMM_WORLD);
      hierarchy.validate();
      ASSERT_GE(hierarchy.levels.size(), 3u);
      const auto with_ghosts = [&](std::size_t l, std::vector<double> v) {
        v.resize(hierarchy.levels[l].matrix.n_columns, 1e300);
        hierarchy.levels[l].communication->update_ghosts(v.data(), MemorySpace::host);
        return v;
      };
      const auto times = [](const CrsMatrix<double> &M, const std::vector<double> &v) {
        std::vector<double> result(M.n_rows);
        multiply(M, v.data(), result.data());
        return result;
      };
      const auto dot = [](const std::vector<double> &v, const std::vector<double> &w) {
        double sum = 0.;
        for (std::size_t i = 0; i < std::min(v.size(), w.size()); ++i)
          sum += v[i] * w[i];
        return dealii::Utilities::MPI::sum(sum, MPI_COMM_WORLD);
      };
      for (std::size_t l = 1; l < hierarchy.levels.size(); ++l)
        {
          const MultigridLevel     &fine = hierarchy.levels[l], &coarse = hierarchy.levels[l - 1];
          const std::vector<double> x = rough(coarse.matrix.n_rows, 1), y = rough(fine.matrix.n_rows, 2);
          const std::vector<double> Px   = times(fine.prolongation, with_ghosts(l - 1, x)),
                                    RAPx = times(fine.restriction, with_ghosts(l, times(fine.matrix, with_ghosts(l, Px)))),
                                    Ax   = times(coarse.matrix, with_ghosts(l - 1, x));
          for (std::size_t i = 0; i < Ax.size(); ++i)
            EXPECT_NEAR(Ax[i], RAPx[i], 1e-12 * 8.) << "level " << l << ", row " << i;
          EXPECT_NEAR(dot(y, Px), dot(x, times(fine.restriction, with_ghosts(l, y))), 1e-10 * dot(y, y));
          for (const double value : times(fine.prolongation, with_ghosts(l - 1, std::vector<double>(coarse.matrix.n_rows, 1.))))
            EXPECT_NEAR(value, 1., 1e-12) << "level " << l;
          for (const double value : times(coarse.matrix, with_ghosts(l - 1, std::vector<double>(coarse.matrix.n_rows, 1.))))
            EXPECT_NEAR(value, 0., 1e-11) << "level " << l;
        }
      if (n_mpi_processes(MPI_COMM_WORLD) == 1) // the same as without ranks, but for the order of sums
        {
          const MultigridHierarchy alone = aggregation_hierarchy(A, options);
          ASSERT_EQ(alone.levels.size(), hierarchy.levels.size());
          for (std::size_t l = 0; l < alone.levels.size(); ++l)
            {
              const std::vector<double> x        = rough(alone.levels[l].matrix.n_rows, 3);
              const std::vector<double> expected = times(alone.levels[l].matrix, x), found = times(hierarchy.levels[l].matrix, x);
              ASSERT_EQ(found.size(), expected.size());
              for (std::size_t i = 0; i < found.size(); ++i)
                EXPECT_NEAR(found[i], expected[i], 1e-12 * 8.);
            }
        }
    }

    /** Of lines that are whole on a rank, nothing is interpolated from another rank's. */
    TEST(RanksOfAggregation, WeakCouplingsToGhostsAreWeak)
    {
      const int                n         = 60;
      const CrsMatrix<double>  A         = anisotropic(n, 1e-3);
      const IndexSet           rows      = rows_of_rank(A.n_rows, n, MPI_COMM_WORLD);
      const MultigridHierarchy hierarchy = aggregation_hierarchy(local_matrix(on_ranks(A, rows, MPI_COMM_WORLD)), {}, MPI_COMM_WORLD);
      ASSERT_GE(hierarchy.levels.size(), 2u);
      const CrsMatrix<double> &P   = hierarchy.levels.back().prolongation;
      const int                own = hierarchy.levels[hierarchy.levels.size() - 2].matrix.n_rows;
      for (const int column : P.columns)
        ASSERT_LT(column, own);
    }

    /** The text of the error, which all ranks have; empty: there was none. */
    std::string refusal(const CrsMatrix<double> &A, const Data &data, int of_node = 1)
    {
      const HostMatrix        matrix = on_ranks(A, rows_of_rank(A.n_rows, of_node, MPI_COMM_WORLD), MPI_COMM_WORLD);
      PreconditionAggregation levels;
      std::string             text;
      try
        {
          levels.initialize(matrix, data);
        }
      catch (const InvalidInput &error)
        {
          text = error.what();
        }
      for (const std::string &other : dealii::Utilities::MPI::all_gather(MPI_COMM_WORLD, text))
        EXPECT_EQ(other, text);
      return text;
    }

    /** What one rank finds is thrown on all, and none waits for it. */
    TEST(RanksOfAggregation, RefusedTogether)
    {
      const CrsMatrix<double> A       = five_point_stencil(40, 40, 0.).to_crs();
      const unsigned int      n_ranks = n_mpi_processes(MPI_COMM_WORLD);
      const bool              last    = this_mpi_process(MPI_COMM_WORLD) + 1 == n_ranks;
      const std::size_t       n_own   = rows_of_rank(A.n_rows, 1, MPI_COMM_WORLD).n_elements();
      EXPECT_EQ(refusal(A, {}), "");

      CrsMatrix<double> zero = A;
      for (int p = zero.row_offsets[A.n_rows - 1]; p < zero.row_offsets[A.n_rows]; ++p)
        if (zero.columns[p] == A.n_rows - 1)
          zero.values[p] = 0.;
      const std::string text = refusal(zero, {});
      EXPECT_NE(text.find("is zero"), std::string::npos) << text;
      if (n_ranks > 1)
        {
          EXPECT_EQ(text.find("on rank " + std::to_string(n_ranks - 1)), 0u) << text;
        }

      Data data;
      data.aggregation.near_null_space.assign(last ? 2 : 1, std::vector<double>(n_own, 1.));
      if (n_ranks > 1)
        {
          EXPECT_NE(refusal(A, data).find("gives 1 vectors of the near null space and another 2"), std::string::npos);
        }
      data.aggregation.near_null_space.assign(1, std::vector<double>(n_own, last ? NAN : 1.));
      EXPECT_NE(refusal(A, data).find("finite numbers"), std::string::npos);
      data.aggregation.near_null_space.assign(1, std::vector<double>(n_own, 0.));
      EXPECT_NE(refusal(A, data).find("are zero"), std::string::npos);
      data.aggregation.near_null_space.assign(1, std::vector<double>(n_own, last ? 1. : 0.)); // of all ranks it is not zero
      EXPECT_EQ(refusal(A, data), "");
      const Elasticity free = {2, {9, 9, 0}, {1., 1., 1.}, false};
      Data             blocks;
      blocks.aggregation.block_unknowns = 2;
      EXPECT_NE(refusal(free.matrix(), blocks, 2).find("maps 2 of the vectors"), std::string::npos);
      data.n_fields = 7;
      EXPECT_NE(refusal(A, data).find("n_fields is 7"), std::string::npos);
    }
  } // namespace
} // namespace leopard
