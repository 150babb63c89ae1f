// SPDX-License-Identifier: Apache-2.0
// What of a row's sum is rounding of zero: the same for all that decide whether a matrix is singular.
#include <solvers/base/errors.h>
#include <solvers/base/rank_sums.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/row_sums.h>
#include <solvers/multigrid/multigrid.h>
#include <solvers/multigrid/near_null_space.h>

#include "../../solvers/multigrid/coarse_solvers.h"

#include <gtest/gtest.h>

#include <limits>

namespace leopard
{
  namespace
  {
    /** A Laplacian without boundary values whose rows sum to `part` of their absolute values. */
    CrsMatrix<double> with_row_sums(double part)
    {
      CrsMatrix<double> A = five_point_matrix(8, 8, 0.);
      for (int i = 0; i < A.n_rows; ++i)
        {
          const double beside = A.row_offsets[i + 1] - A.row_offsets[i] - 1.;
          for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
            A.values[p] = A.columns[p] == i ? beside * (1. + 2. * part) : -1.;
        }
      return A;
    }

    /** The same of a stencil in one dimension. */
    Stencil<double> stencil_with_row_sums(double part)
    {
      Stencil<double> stencil  = three_point_stencil(9);
      stencil.diagonal         = std::vector<double>(9, 2. * (1. + 2. * part));
      stencil.diagonal.front() = stencil.diagonal.back() = 1. + 2. * part;
      return stencil;
    }

    TEST(RowSums, HaveTheirKinds)
    {
      for (const double part : {0., 2e-14, 5e-14, -5e-14})
        EXPECT_EQ(kind_of_row_sum(with_row_sums(part), 9), RowSum::zero) << part;
      for (const double part : {5e-13, -5e-13, 0.1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        EXPECT_EQ(kind_of_row_sum(with_row_sums(part), 9), RowSum::other) << part;
      EXPECT_EQ(kind_of_row_sum(with_row_sums(1e-7), 9, row_sum_rounding_single), RowSum::zero);
      CrsMatrix<double> alone = with_row_sums(0.);
      for (int p = alone.row_offsets[9]; p < alone.row_offsets[10]; ++p)
        alone.values[p] = alone.columns[p] == 9 ? 1. : 0.;
      EXPECT_EQ(kind_of_row_sum(alone, 9), RowSum::uncoupled);
    }

    TEST(RowSums, AllDecideAlike)
    {
      for (const double part : {0., 2e-14, 5e-14, 5e-13, 1e-3})
        {
          const bool              singular = part < 1e-13;
          const CrsMatrix<double> A        = with_row_sums(part);
          EXPECT_EQ(constants_in_null_space(A, RankSums()).has_value(), singular) << part;
          EXPECT_EQ(free_motions(A, NearNullSpace()).size(), singular ? 1u : 0u) << part;
          if (singular)
            EXPECT_THROW(Multigrid<double>(stencil_with_row_sums(part), 1, MultigridOptions()), InvalidInput) << part;
          else
            EXPECT_NO_THROW(Multigrid<double>(stencil_with_row_sums(part), 1, MultigridOptions())) << part;
        }
    }
  } // namespace
} // namespace leopard
