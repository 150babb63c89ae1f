// SPDX-License-Identifier: Apache-2.0
// What leopard-solve --method automatic tries, in which order. No GPU is asked: what a backend has is known without.
#include <solvers/command_line/automatic.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leopard::command_line
{
  namespace
  {
    /** Of the matrices that these traits are of, entries are not looked at. */
    CrsMatrix<double> any_matrix()
    {
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = 2;
      A.row_offsets          = {0, 1, 2};
      A.columns              = {0, 1};
      A.values               = {1., 1.};
      return A;
    }

    /** With entries like those of diffusion, a few of the wrong sign, as structures and waves have. */
    MatrixTraits traits_of_waves(bool is_symmetric)
    {
      MatrixTraits traits;
      traits.n_rows                = 2;
      traits.is_symmetric          = is_symmetric;
      traits.has_positive_diagonal = true;
      traits.has_whole_diagonal    = true;
      traits.wrong_sign            = 0.1;
      traits.radius_bound          = 1.5;
      return traits;
    }

    std::vector<std::string> names_of_attempts(const MatrixTraits &traits, const std::string &backend)
    {
      Arguments arguments;
      arguments.backend = backend;
      std::vector<std::string> result;
      for (const Attempt &attempt : attempts_for(any_matrix(), traits, arguments))
        result.push_back(text_of(attempt));
      return result;
    }

    using Words = std::vector<std::string>;

    TEST(Attempts, OnAGpuAreThoseOfTheHostWithoutSparseFactors)
    {
      const Words with_levels = {"cg preconditioned by multigrid", "cg preconditioned by ic", "gmres preconditioned by multigrid"};
      Words       on_host = with_levels, on_gpu = with_levels;
      on_host.emplace_back("direct");
      on_gpu.emplace_back("gmres preconditioned by jacobi");
      EXPECT_EQ(names_of_attempts(traits_of_waves(true), "host"), on_host);
      EXPECT_EQ(names_of_attempts(traits_of_waves(true), "cuda"), on_gpu); // without multigrid for GMRES waves ended at the iteration limit
    }

    TEST(Attempts, OfMatricesThatAreNotSymmetricBeginWithLevels)
    {
      for (const char *backend : {"host", "cuda"})
        {
          const Words found = names_of_attempts(traits_of_waves(false), backend);
          ASSERT_GE(found.size(), 2U) << backend;
          EXPECT_EQ(found[0], "gmres preconditioned by multigrid") << backend;
          EXPECT_EQ(found[1], "gmres preconditioned by ilu") << backend;
        }
    }
  } // namespace
} // namespace leopard::command_line
