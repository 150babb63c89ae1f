// SPDX-License-Identifier: Apache-2.0
// Blocks of a smoother that move: other blocks in every second iteration.
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/sparse_product.h>
#include <solvers/multigrid/aggregation.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    class MultigridMovingBlocks : public MultigridBackend
    {
    protected:
      static constexpr int n_levels = 4;

      /** To 1e-10 of the true residual. */
      int cycles(const Stencil<double> &stencil, const MultigridOptions &options)
      {
        const CrsMatrix<double> A = stencil.to_crs();
        const Vector            b = random_vector(A.n_rows, 1);
        Vector                  x(A.n_rows, 0.);
        Multigrid<double>       multigrid(make_hierarchy(stencil, n_levels), options);
        const SolveResult       result = solve(multigrid, x, b, 1e-10);
        EXPECT_EQ(result.status, SolveStatus::converged) << multigrid.description();
        EXPECT_LT(relative_residual(A, x, b), 1.01e-10) << multigrid.description();
        return result.n_iterations;
      }
    };
    INSTANTIATE_TEST_SUITE_P(Backends, MultigridMovingBlocks, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    // A smoothing step with blocks that move is worth nearly two with blocks that stay. All blocks
    // at once from old values of the others, as a GPU does.
    TEST_P(MultigridMovingBlocks, NeedLittleMoreThanHalfOfTheSmoothing)
    {
      for (const Stencil<double> &stencil : {five_point_stencil(127, 127, 0.), seven_point_stencil(31, 31, 31, 0.)})
        {
          MultigridOptions options;
          options.backend                       = GetParam();
          options.n_threads                     = 3;
          options.smoother.block_async.schedule = Schedule::synchronous;
          options.smoother.moving_blocks        = MovingBlocksChoice::no;
          const int two                         = cycles(stencil, options);
          options.pre_smoothing = options.post_smoothing = 1;
          const int one                                  = cycles(stencil, options);
          options.pre_smoothing = options.post_smoothing = -1;
          options.smoother.moving_blocks                 = MovingBlocksChoice::yes;
          const int moving                               = cycles(stencil, options);
          EXPECT_LE(moving, two + 3);
          EXPECT_GE(one, moving * 5 / 4 + 1);
          const Multigrid<double> multigrid(make_hierarchy(stencil, n_levels), options);
          EXPECT_NE(multigrid.description().find("V(1,1)"), std::string::npos) << multigrid.description();
          EXPECT_NE(multigrid.description().find("blocks that move"), std::string::npos) << multigrid.description();
        }
    }

    TEST_P(MultigridMovingBlocks, AreTheDefaultOfLongRowsOnGpus)
    {
      MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(63, 63, 0.), 3);
      MultigridOptions   options;
      options.backend  = GetParam();
      const auto steps = [&] { return Multigrid<double>(hierarchy, options).options().pre_smoothing; };
      EXPECT_EQ(steps(), 2);
      const CrsMatrix<double> A      = hierarchy.levels.back().matrix;
      hierarchy.levels.back().matrix = product(A, A); // 13 entries a row
      EXPECT_EQ(steps(), GetParam() == Backend::cuda ? 1 : 2);
      options.smoother.moving_blocks = MovingBlocksChoice::no;
      EXPECT_EQ(steps(), 2);
    }

    TEST_P(MultigridMovingBlocks, AreRefusedWhereTheyAreAskedForAndCannot)
    {
      MultigridHierarchy hierarchy = make_hierarchy(five_point_stencil(31, 31, 0.), 3);
      MultigridOptions   options;
      options.backend                = GetParam();
      options.smoother.moving_blocks = MovingBlocksChoice::yes;
      const auto refusal             = [&](const MultigridOptions &o) {
        try
          {
            const Multigrid<double> multigrid(hierarchy, o);
            return std::string();
          }
        catch (const InvalidInput &error)
          {
            return std::string(error.what());
          }
      };
      EXPECT_EQ(refusal(options), "");
      MultigridOptions others = options;
      others.smoother.method  = "chebyshev";
      EXPECT_NE(refusal(others).find("the smoother is chebyshev"), std::string::npos) << refusal(others);
      others                      = options;
      others.smoother.block_shape = BlockShape::metis;
      EXPECT_NE(refusal(others).find("not tiles"), std::string::npos) << refusal(others);
      others                              = options;
      others.smoother.block_async.overlap = Overlap::uniform;
      EXPECT_NE(refusal(others).find("overlap"), std::string::npos) << refusal(others);
      hierarchy.levels[1].coordinates = {};
      EXPECT_NE(refusal(options).find("level 1 has no coordinates"), std::string::npos) << refusal(options);
      EXPECT_THROW(Multigrid<double>(five_point_stencil(31, 31, 0.).to_crs(), AggregationOptions(), options), InvalidInput);
      options.smoother.moving_blocks = MovingBlocksChoice::automatic;
      EXPECT_EQ(refusal(options), "");
    }

    // of a stored matrix whose rows are short, on a GPU, and only where no other size is asked for
    TEST_P(MultigridMovingBlocks, BlocksAreLargerWhereThatSuits)
    {
      const auto largest_block = [](const Stencil<double> &stencil, bool any) {
        MultigridOptions options;
        options.backend                 = GetParam();
        options.smoother.any_block_size = any;
        const Multigrid<double> multigrid(make_hierarchy(stencil, 3), options);
        const std::string       text = multigrid.description(), words = "blocks of up to ";
        return std::stoi(text.substr(text.find(words) + words.size())); // of the finest level, which comes first
      };
      const Stencil<double> five_point = five_point_stencil(63, 63, 0.), twenty_seven_point = twenty_seven_point_stencil(15, 15, 15, 0.);
      const int             large = largest_block(five_point, true);
      EXPECT_EQ(large > 256 && large <= 512, GetParam() == Backend::cuda) << large;
      EXPECT_LE(largest_block(five_point, false), 256);
      EXPECT_LE(largest_block(twenty_seven_point, true), 256);
    }
  } // namespace
} // namespace leopard
