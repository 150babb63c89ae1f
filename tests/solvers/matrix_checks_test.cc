// SPDX-License-Identifier: Apache-2.0
// Matrices, blocks and numberings that do not fit are refused before memory is touched: meant to be run with the
// address sanitizer, too.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/block_crs.h>
#include <solvers/matrix/blocks.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/scaled_matrix.h>
#include <solvers/multigrid/find_stencil.h>
#include <solvers/relaxation/chebyshev.h>
#include <solvers/relaxation/ilu0.h>
#include <solvers/relaxation/point_relaxation.h>
#include <solvers/triangular/triangular_solver.h>

#include <functional>
#include <limits>

namespace leopard
{
  namespace
  {
    /** That an InvalidInput is thrown whose text has these words and says what is expected. */
    void expect_refusal(const std::function<void()> &action, const std::string &words)
    {
      try
        {
          action();
          ADD_FAILURE() << "accepted, and not: " << words;
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
          EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
        }
    }

    TEST(BlockCrs, IsTheSameMadeBySeveralThreads)
    {
      const CrsMatrix<double> A      = random_dominant_matrix(5000, 9, 0.9, 3);
      const Blocks            blocks = contiguous_blocks(5000, 13);
      const BlockCrs<double>  one(A, blocks, 1), four(A, blocks, 4);
      EXPECT_EQ(one.first_local, four.first_local);
      EXPECT_EQ(one.diagonal, four.diagonal);
      EXPECT_EQ(one.diagonal_source, four.diagonal_source);
      const auto expect_same = [](const auto &a, const auto &b) {
        EXPECT_EQ(a.offsets, b.offsets);
        EXPECT_EQ(a.columns, b.columns);
        EXPECT_EQ(a.values, b.values);
        EXPECT_EQ(a.source, b.source);
      };
      expect_same(one.inner, four.inner);
      expect_same(one.outer, four.outer);
      std::vector<double> values(A.values); // every entry is somewhere, once
      for (const int p : four.inner.source)
        values[p] = 0.;
      for (const int p : four.outer.source)
        values[p] = 0.;
      for (const int p : four.diagonal_source)
        values[p] = 0.;
      EXPECT_EQ(values, std::vector<double>(values.size(), 0.));
    }

    TEST(CrsMatrix, MessagesSayWhatTheFirstRowIs)
    {
      const char             *zero = "(the first row is 0)";
      const CrsMatrix<double> good = five_point_matrix(3, 3, 0.);
      const auto              with = [&](int row, int column, double value) {
        CrsMatrix<double> A = good;
        for (int p = A.row_offsets[row]; p < A.row_offsets[row + 1]; ++p)
          if (A.columns[p] == column)
            A.values[p] = value;
        return A;
      };
      CrsMatrix<double> bad = good;
      bad.row_offsets[1]    = 100;
      expect_refusal([&] { bad.validate(); }, zero);
      expect_refusal([&] { with(4, 4, 0.).validate(); }, zero);
      expect_refusal([&] { with(4, 3, std::numeric_limits<double>::infinity()).validate(); }, zero);
      expect_refusal([&] { extreme_eigenvalues(with(4, 4, -1.)); }, zero);
      expect_refusal([&] { extreme_eigenvalues(with(4, 3, 5.)); }, zero);
      expect_refusal([&] { TriangularSolver<double>(good, Triangle::lower, {}); }, zero);
      BlockCrs<double> blocks(good, contiguous_blocks(9, 3));
      expect_refusal([&] { blocks.update_values(with(4, 4, 0.).values.data()); }, zero);
      expect_refusal([&] { blocks.update_values(with(4, 3, std::numeric_limits<double>::infinity()).values.data()); }, zero);
      expect_refusal([&] { coordinate_partition({0., std::numeric_limits<double>::quiet_NaN()}, 1, 1); }, zero);
      expect_refusal([&] { scaled_to<float>(with(4, 3, 1e60)); }, "the entry in row 4, column 3");
      expect_refusal([&] { scaled_to<float>(with(4, 3, 1e60)); }, zero);
      std::string why_not;
      EXPECT_FALSE(find_stencil(good, {0., 0., 1., 0., 2., 0., 0., 1., 1., 1., 2., 1., 0., 2., 1., 2., 1., 2.}, 2, &why_not));
      EXPECT_NE(why_not.find("the first"), std::string::npos) << why_not;
    }

    TEST(CrsMatrix, OffsetsAreCheckedBeforeTheyAreFollowed)
    {
      CrsMatrix<double> A = five_point_matrix(3, 3, 0.);
      A.row_offsets[1]    = 100000000; // far behind the last entry
      expect_refusal([&] { A.validate(); }, "row_offsets decreases after row 1");
      A.row_offsets[1] = -100000000;
      expect_refusal([&] { A.validate(); }, "row_offsets decreases after row 0");
    }

    TEST(CircuitMatrix, IsSymmetricAndDominatedByItsDiagonal)
    {
      const CrsMatrix<double> A = circuit_matrix(7, 3), other = circuit_matrix(7, 4);
      EXPECT_EQ(A.n_entries(), 5 * 49 - 4 * 7);
      EXPECT_EQ(A.values, circuit_matrix(7, 3).values);
      EXPECT_NE(A.values, other.values);
      std::vector<std::vector<double>> full(49, std::vector<double>(49));
      for (int i = 0; i < 49; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          full[i][A.columns[p]] = A.values[p];
      for (int i = 0; i < 49; ++i)
        {
          double sum = 0.;
          for (int j = 0; j < 49; ++j)
            {
              EXPECT_EQ(full[i][j], full[j][i]) << i << ' ' << j;
              EXPECT_TRUE(i == j ? full[i][j] > 0. : full[i][j] <= 0.);
              sum += full[i][j];
            }
          EXPECT_GT(sum, 1e-5) << "to ground";
          EXPECT_LT(sum, 1e-1);
        }
    }

    TEST(Permute, SaysWhereItsEntriesComeFrom)
    {
      const CrsMatrix<double> A = five_point_matrix(5, 4, 0.);
      std::vector<int>        order(A.n_rows);
      for (int i = 0; i < A.n_rows; ++i)
        order[i] = 7 * i % A.n_rows;
      CrsMatrix<double> numbered = A;
      for (std::size_t p = 0; p < numbered.values.size(); ++p)
        numbered.values[p] = 100. + static_cast<double>(p);
      const CrsMatrix<double> permuted = permute(numbered, order, order);
      const std::vector<int>  entries  = permuted_entries(A, order, order);
      ASSERT_EQ(entries.size(), permuted.values.size());
      for (std::size_t p = 0; p < entries.size(); ++p)
        EXPECT_EQ(numbered.values[entries[p]], permuted.values[p]);
    }

    /** Three unknowns a node, in blocks of at most 16 rows: five nodes each, whose unknowns stay together. */
    TEST(CompactBlocks, KeepTheUnknownsOfANodeTogether)
    {
      CrsMatrix<double>   A;
      std::vector<double> coordinates;
      A.n_rows = A.n_columns = 192;
      for (int i = 0; i < A.n_rows; ++i)
        {
          A.columns.push_back(i);
          A.values.push_back(1.);
          A.row_offsets.push_back(i + 1);
          if (i % 3 == 0)
            coordinates.insert(coordinates.end(), {static_cast<double>(i / 3 % 8), static_cast<double>(i / 24)});
        }
      const Partition partition = compact_partition(A, coordinates, 2, 16);
      EXPECT_LE(blocks_between(partition.block_offsets).largest(), 15);
      std::vector<int> sorted = partition.old_row;
      std::sort(sorted.begin(), sorted.end());
      for (int i = 0; i < A.n_rows; ++i)
        {
          EXPECT_EQ(sorted[i], i);
          EXPECT_EQ(partition.old_row[i] % 3, i % 3);
          EXPECT_EQ(partition.old_row[i] / 3, partition.old_row[i / 3 * 3] / 3);
        }
      for (const int offset : partition.block_offsets)
        EXPECT_EQ(offset % 3, 0);
      coordinates.pop_back();
      expect_refusal([&] { compact_partition(A, coordinates, 2, 16); }, "127 coordinates of 2 dimensions for 192 rows");
      EXPECT_EQ(compact_partition(A, coordinates, 2, 192).block_offsets.size(), 2u); // one block needs none
    }

    TEST(Permute, RefusesNumberingsThatDoNotFit)
    {
      const CrsMatrix<double> A        = five_point_matrix(4, 3, 0.);
      const Partition         longer   = contiguous_partition(13, 4);
      const Partition         shorter  = contiguous_partition(11, 4);
      Partition               outside  = contiguous_partition(12, 4);
      Partition               twice    = outside;
      Partition               negative = outside;
      outside.old_row[5]               = 12;
      twice.old_row[5]                 = 6;
      negative.old_row[5]              = -1;
      const Vector v                   = Vector(12, 1.);
      const auto   refused_with        = [&](const Partition &partition, const std::string &words) {
        expect_refusal([&] { permute(A, partition); }, words);
        expect_refusal([&] { permute(v, partition); }, words);
        expect_refusal([&] { permute_back(v, partition); }, words);
      };
      refused_with(longer, "13 rows");
      refused_with(shorter, "11 rows");
      refused_with(Partition(), "0 rows");
      refused_with(outside, "row 12");
      refused_with(twice, "row 6");
      refused_with(negative, "row -1");
      expect_refusal([&] { permute(A, {}, outside.old_row); }, "column 12");
      expect_refusal([&] { permute(A, outside.old_row, {}); }, "row 12");
      expect_refusal([&] { permute(A, {}, longer.old_row); }, "13 columns");
      EXPECT_EQ(permute_back(permute(v, contiguous_partition(12, 4)), contiguous_partition(12, 4)), v);
    }

    TEST(CrsMatrix, TooManyEntriesAreRefusedBeforeTheyAreMade)
    {
      expect_refusal([] { five_point_stencil(30000, 30000, 0.).to_crs(); }, "4499880000 entries");
      expect_refusal([] { five_point_matrix(30000, 30000, 0.); }, "4499880000 entries");
      expect_refusal([] { seven_point_matrix(2000, 2000, 2000, 0.); }, "2000 x 2000 x 2000 nodes");
      expect_refusal([] { seven_point_matrix(2147483647, 2147483647, 2147483647, 0.); }, "2147483647 x 2147483647 x 2147483647 nodes");
      expect_refusal([] { five_point_matrix(-1, 5, 0.); }, "-1 x 5 x 1 nodes");
      expect_refusal([] { tile_partition(2000, 2000, 2000, 8, 8, 8); }, "2000 x 2000 x 2000 nodes");
      expect_refusal([] { tile_partition(2147483647, 2147483647, 2147483647, 8, 8, 8); }, "2147483647 x 2147483647 x 2147483647 nodes");
      EXPECT_EQ(tile_partition(5, 4, 1, 2147483647, 2147483647, 2147483647).block_offsets, (std::vector<int>{0, 20}));
      // rows that overlap are stored once a block: 60000 blocks of all 60000 rows
      const CrsMatrix<double> A = five_point_matrix(300, 200, 0.);
      Blocks                  blocks;
      for (int i = 0; i < A.n_rows; ++i)
        {
          blocks.owned_begin.push_back(i);
          blocks.owned_end.push_back(i + 1);
          blocks.begin.push_back(0);
          blocks.end.push_back(A.n_rows);
        }
      expect_refusal([&] { BlockCrs<double>(A, blocks); }, "3600000000 rows");
      blocks.owned_begin.resize(30000);
      blocks.owned_end.resize(30000);
      blocks.owned_end.back() = A.n_rows;
      blocks.begin.resize(30000);
      blocks.end.resize(30000); // fewer rows than 2^31, and more entries
      expect_refusal([&] { BlockCrs<double>(A, blocks); }, "8970000000 entries");
    }

    TEST(Stencil, GridsThatNobodyCanNumberAreRefusedByEveryBackend)
    {
      Stencil<double> huge = seven_point_stencil(2147483647, 2147483647, 2147483647, 0.);
      for (const Backend backend : {Backend::reference, Backend::host})
        {
          BlockAsyncOptions o;
          o.backend = backend;
          expect_refusal([&] { BlockAsync<double> method(huge, o); }, "2147483647 x 2147483647 x 2147483647 nodes");
        }
      expect_refusal([&] { huge.to_crs(); }, "2147483647 x 2147483647 x 2147483647 nodes");
    }

    TEST(CoordinatePartition, RefusesWhatIsNoNumber)
    {
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        {
          Vector coordinates = random_vector(200, 1);
          coordinates[37]    = bad;
          expect_refusal([&] { coordinate_partition(coordinates, 2, 8); }, "row 18");
        }
    }

    class NewValues : public BackendTest
    {
    protected:
      /** All relaxations of the backend whose values can change. */
      std::vector<std::unique_ptr<Relaxation<double>>> relaxations(const CrsMatrix<double> &A) const
      {
        std::vector<std::unique_ptr<Relaxation<double>>> result;
        for (const bool l1 : {false, true})
          {
            auto o       = options(Schedule::synchronous, 16, 2);
            o.l1_weights = l1;
            o.storage    = Storage::double_precision;
            result.push_back(std::make_unique<BlockAsync<double>>(A, o));
          }
        if (GetParam() == Backend::reference)
          return result;
        ChebyshevOptions chebyshev;
        chebyshev.backend = GetParam();
        result.push_back(make_chebyshev(A, chebyshev));
        PointRelaxationOptions sor;
        sor.backend   = GetParam();
        sor.method    = PointMethod::sor;
        sor.colouring = GetParam() == Backend::cuda;
        result.push_back(make_point_relaxation(A, sor));
        if (GetParam() == Backend::host)
          result.push_back(make_ilu0(A, 1.));
        return result;
      }
    };

    TEST_P(NewValues, ThatAreNoNumbersAreRefusedAndChangeNothing)
    {
      const CrsMatrix<double> A = five_point_matrix(10, 10, 0.5);
      const Vector            b = random_vector(100, 3);
      for (const auto &relaxation : relaxations(A))
        {
          const auto run = [&] {
            Vector x(100, 0.);
            relaxation->restart();
            iterate(*relaxation, x, b, 3);
            return x;
          };
          const Vector before = run();
          for (std::size_t p = 0; p < A.values.size(); p += 7) // on and off the diagonal, in a block and outside
            {
              Vector values(A.values.size(), 1.);
              values[p] = p % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : -std::numeric_limits<double>::infinity();
              expect_refusal([&] { relaxation->update_values(values.data()); }, "row ");
              EXPECT_EQ(run(), before) << relaxation->name() << ", entry " << p;
            }
          Vector values = A.values;
          values[0]     = 0.;
          expect_refusal([&] { relaxation->update_values(values.data()); }, "the diagonal entry of row 0");
          EXPECT_EQ(run(), before) << relaxation->name();
        }
    }

    INSTANTIATE_TEST_SUITE_P(Relaxations, NewValues, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
