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
      const Words on_host = {"cg preconditioned by multigrid", "cg preconditioned by ic", "gmres preconditioned by multigrid", "direct"};
      const Words on_gpu  = {"cg preconditioned by multigrid",
                             "cg preconditioned by ic with asynchronous solves",
                             "cg preconditioned by ic with exact solves",
                             "gmres preconditioned by multigrid",
                             "gmres preconditioned by jacobi"};
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
          EXPECT_EQ(found[1].rfind("gmres preconditioned by ilu", 0), 0U) << backend;
        }
    }
    Arguments arguments_of(const std::string &backend, const std::string &method = "automatic", const std::string &preconditioner = "automatic")
    {
      Arguments arguments;
      arguments.backend        = backend;
      arguments.method_name    = method;
      arguments.preconditioner = preconditioner;
      return arguments;
    }

    TEST(TriangularChoice, OfAGpuIsAsynchronousAndOneForCgIsFixed)
    {
      for (const bool needs_fixed_map : {false, true})
        {
          for (const Backend backend : {Backend::host, Backend::reference})
            EXPECT_FALSE(choose_triangular(backend, needs_fixed_map).is_asynchronous());
          BlockAsyncOptions common;
          common.block_size             = 128;
          const TriangularChoice choice = choose_triangular(Backend::cuda, needs_fixed_map, common);
          EXPECT_TRUE(choice.is_asynchronous());
          EXPECT_EQ(choice.varies(), !needs_fixed_map);
          EXPECT_EQ(choice.options.block_async.backend, Backend::cuda);
          EXPECT_EQ(choice.options.block_async.block_size, 128);
          EXPECT_NO_THROW(choice.options.validate());
        }
    }

    TEST(Attempts, OnAGpuFactorsAreSolvedWithAsynchronouslyAndThenExactly)
    {
      const Arguments            arguments = arguments_of("cuda");
      const std::vector<Attempt> attempts  = attempts_for(any_matrix(), traits_of_waves(true), arguments);
      ASSERT_GE(attempts.size(), 3U);
      EXPECT_TRUE(attempts[2].is_exact_next);
      EXPECT_EQ(attempts[2].max_iterations, attempts[1].max_iterations);
      const Arguments async = with_attempt(arguments, attempts[1]), exact = with_attempt(arguments, attempts[2]);
      EXPECT_EQ(async.triangular.solve, TriangularSolve::asynchronous);
      EXPECT_EQ(async.async.schedule, Schedule::synchronous); // CG with a map that differs from call to call may stagnate
      EXPECT_EQ(async.async.local_iterations, 2);
      EXPECT_EQ(exact.triangular.solve, TriangularSolve::exact);
      EXPECT_TRUE(async.runs_on(Backend::cuda) && exact.runs_on(Backend::cuda));
    }

    TEST(Attempts, OfAMethodThatIsAskedForHaveExactSolvesNextToo)
    {
      const Arguments            on_gpu   = arguments_of("cuda", "gmres", "ilu");
      const std::vector<Attempt> attempts = attempts_for(any_matrix(), traits_of_waves(false), on_gpu);
      ASSERT_EQ(attempts.size(), 2U);
      EXPECT_EQ(with_attempt(on_gpu, attempts[0]).async.schedule, Schedule::chaotic); // FGMRES bears what differs
      EXPECT_EQ(with_attempt(on_gpu, attempts[0]).triangular.solve, TriangularSolve::asynchronous);
      EXPECT_EQ(with_attempt(on_gpu, attempts[1]).triangular.solve, TriangularSolve::exact);
      for (const char *backend : {"host", "reference"})
        {
          const Arguments            on_host = arguments_of(backend, "gmres", "ilu");
          const std::vector<Attempt> one     = attempts_for(any_matrix(), traits_of_waves(false), on_host);
          ASSERT_EQ(one.size(), 1U) << backend;
          EXPECT_EQ(with_attempt(on_host, one[0]).triangular.solve, TriangularSolve::exact) << backend;
        }
    }

    TEST(Attempts, HaveTheTriangularSolvesThatAreAskedFor)
    {
      for (const char *solves : {"exact", "async"})
        {
          Arguments arguments                 = arguments_of("cuda", "cg", "ic");
          arguments.triangular_solves         = solves;
          arguments.triangular.solve          = solves == std::string("async") ? TriangularSolve::asynchronous : TriangularSolve::exact;
          const std::vector<Attempt> attempts = attempts_for(any_matrix(), traits_of_waves(true), arguments);
          ASSERT_EQ(attempts.size(), 1U) << solves;
          EXPECT_EQ(with_attempt(arguments, attempts[0]).triangular.solve, arguments.triangular.solve) << solves;
          EXPECT_EQ(with_attempt(arguments, attempts[0]).async.local_iterations, arguments.async.local_iterations) << solves;
        }
    }

    TEST(Attempts, WithoutFactorsHaveNoExactSolvesNext)
    {
      const Arguments      arguments = arguments_of("cuda");
      std::vector<Attempt> attempts  = attempts_for(any_matrix(), traits_of_waves(true), arguments);
      const std::size_t    n         = attempts.size();
      EXPECT_FALSE(leave_out_exact_solves(attempts, 0)); // multigrid, after which other factors come
      EXPECT_EQ(attempts.size(), n);
      EXPECT_FALSE(leave_out_exact_solves(attempts, 1));
      EXPECT_EQ(attempts.size(), n - 1);
      for (const Attempt &attempt : attempts)
        EXPECT_FALSE(attempt.is_exact_next);
      std::vector<Attempt> last = attempts_for(any_matrix(), traits_of_waves(false), arguments_of("cuda", "gmres", "ilu"));
      EXPECT_TRUE(leave_out_exact_solves(last, 0));
    }
  } // namespace
} // namespace leopard::command_line
