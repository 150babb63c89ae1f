// SPDX-License-Identifier: Apache-2.0
// What leopard-solve --gpus says before it solves, which needs no GPU.
#include <gtest/gtest.h>
#include <solvers/command_line/gpus.h>
#include <solvers/matrix/stencil.h>

#include <string>

namespace leopard::command_line
{
  namespace
  {
    std::string said_of(const CrsMatrix<double> &A, bool is_symmetric = true)
    {
      return why_one_gpu(A, look_at(A, is_symmetric));
    }

    /** a_ij of i - j = 1, 0, -1. */
    CrsMatrix<double> tridiagonal(int n, double lower, double diagonal, double upper)
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (int i = 0; i < n; ++i)
        {
          for (const int j : {i - 1, i, i + 1})
            if (j >= 0 && j < n)
              {
                A.columns.push_back(j);
                A.values.push_back(j < i ? lower : j == i ? diagonal : upper);
              }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    TEST(ChoiceOfGpus, OneIsSaidToBeFasterWhereItWouldTakeMultigrid)
    {
      CrsMatrix<double> five = five_point_stencil(40, 40, 0.).to_crs();
      EXPECT_EQ(said_of(five).find("one GPU should be faster, if the matrix fits into its memory, by multigrid, which"), 0u) << said_of(five);
      EXPECT_NE(said_of(five).find(": no --gpus"), std::string::npos);
      for (int p = 0; p < five.row_offsets[2]; ++p) // no stencil any more
        if (five.columns[p] == (p < five.row_offsets[1] ? 1 : 0))
          five.values[p] *= 0.5;
      EXPECT_NE(said_of(five).find("by cg preconditioned by multigrid, "), std::string::npos) << said_of(five);
      EXPECT_NE(said_of(tridiagonal(500, -1.3, 2., -0.7), false).find("by gmres preconditioned by multigrid, "), std::string::npos);
    }

    TEST(ChoiceOfGpus, NothingIsSaidOfOtherMatrices)
    {
      EXPECT_EQ(said_of(tridiagonal(500, -1., 20., -1.)), "") << "async alone converges fast";
      EXPECT_EQ(said_of(tridiagonal(500, 1., 2., 1.)), "") << "unlike diffusion";
      EXPECT_EQ(said_of(tridiagonal(500, -1., 0., -1.)), "") << "no diagonal";
    }
  } // namespace
} // namespace leopard::command_line
