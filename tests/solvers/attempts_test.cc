// SPDX-License-Identifier: Apache-2.0
// What leopard-solve --method automatic tries, in which order. No GPU is asked: what a backend has is known without.
#include <solvers/command_line/advice.h>
#include <solvers/command_line/automatic.h>
#include <solvers/command_line/matrix_traits.h>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
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

    // fails if the first method waits for an analysis of the pattern, which took ten times as long on a random graph,
    // or factors that fill up are computed unseen
    TEST(Attempts, OnAGraphThatSpreadsWaitForNoAnalysis)
    {
      for (const bool is_symmetric : {true, false})
        for (const bool is_like_diffusion : {true, false})
          {
            MatrixTraits traits = traits_of_waves(is_symmetric);
            traits.is_like_mesh = false;
            traits.n_rows = traits.n_core = 50000;
            traits.wrong_sign             = is_like_diffusion ? 0. : 0.5;
            Arguments arguments;
            arguments.backend = "host";
            for (const Attempt &attempt : attempts_for(any_matrix(), traits, arguments))
              {
                EXPECT_FALSE(attempt.has_factors_to_come) << text_of(attempt);
                EXPECT_TRUE(with_attempt(arguments, attempt).has_dear_factors) << text_of(attempt);
              }
            EXPECT_NE(text_of(attempts_for(any_matrix(), traits, arguments).front()), "direct");
            EXPECT_NE(text_of(attempts_for(any_matrix(), traits, arguments).back()), "direct"); // which may be refused
          }
    }

    CrsMatrix<double> graph(int n, const std::vector<std::pair<int, int>> &edges, bool both = true)
    {
      std::vector<std::map<int, double>> rows(n);
      for (int i = 0; i < n; ++i)
        rows[i][i] = 1e-3;
      for (const auto &[i, j] : edges)
        for (const auto &[k, l] : {std::pair(i, j), std::pair(j, i)})
          if (k != l && (both || k < l))
            {
              rows[k][l] -= 1.;
              rows[k][k] += 1.;
            }
      CrsMatrix<double> A;
      A.n_rows = A.n_columns = n;
      for (const auto &row : rows)
        {
          for (const auto &[column, value] : row)
            {
              A.columns.push_back(column);
              A.values.push_back(value);
            }
          A.row_offsets.push_back(static_cast<int>(A.columns.size()));
        }
      return A;
    }

    // fails if trees, whose factors have no more entries than they, are taken for graphs whose factors fill up
    TEST(MatrixTraits, TellTreesFromGraphsThatFillUp)
    {
      constexpr int                    n = 8000;
      std::mt19937                     generator(3);
      std::vector<std::pair<int, int>> tree, any;
      for (int i = 1; i < n; ++i)
        {
          tree.emplace_back(i, static_cast<int>(generator() % i));
          for (int edge = 0; edge < 4; ++edge)
            any.emplace_back(i, static_cast<int>(generator() % n));
        }
      const MatrixTraits of_tree = look_at(graph(n, tree), true), of_any = look_at(graph(n, any), true);
      EXPECT_FALSE(of_any.is_like_mesh);
      EXPECT_EQ(of_tree.n_core, 0);
      EXPECT_FALSE(of_tree.has_hopeless_factors());
      EXPECT_TRUE(of_tree.is_like_tree());
      EXPECT_FALSE(of_any.is_like_tree());
      EXPECT_GT(of_any.n_core, n * 9 / 10);
      EXPECT_TRUE(of_any.has_hopeless_factors());
      const MatrixTraits one_way = look_at(graph(n, any, false), false); // upper triangular
      EXPECT_TRUE(one_way.is_triangular);
      EXPECT_FALSE(of_any.is_triangular);
      std::vector<std::pair<int, int>> chain, ring = {{0, n - 1}}, grid;
      for (int i = 1; i < n; ++i)
        chain.emplace_back(i, i - 1);
      ring.insert(ring.end(), chain.begin(), chain.end());
      for (int i = 0; i < n; ++i)
        for (const int j : {i % 100 > 0 ? i - 1 : i, i >= 100 ? i - 100 : i})
          grid.emplace_back(i, j);
      EXPECT_TRUE(look_at(graph(n, chain), true).is_like_tree());
      EXPECT_EQ(look_at(graph(n, ring), true).n_core, n);
      EXPECT_FALSE(look_at(graph(n, grid), true).is_like_tree());
    }

    // fails if what falls steadily is given up, or what no longer falls, or falls too slowly, is gone on with
    TEST(IterationsToCome, FollowTheSlowerPaceOfTheEnd)
    {
      SolveResult run;
      for (int i = 0; i <= 40; ++i)
        {
          run.history_iterations.push_back(i);
          run.history_residuals.push_back(std::pow(0.5, i));
        }
      run.final_residual = run.history_residuals.back();
      EXPECT_NEAR(iterations_to_come(run, std::pow(0.5, 50)), 10., 1e-6);
      EXPECT_EQ(iterations_to_come(run, 1.), 0.);
      EXPECT_FALSE(std::isfinite(iterations_to_come(run, 0.)));
      for (int i = 0; i < 11; ++i) // the end falls at a tenth of the pace
        run.history_residuals[30 + i] = run.history_residuals[30] * std::pow(0.5, 0.1 * i);
      run.final_residual = run.history_residuals.back();
      EXPECT_NEAR(iterations_to_come(run, run.final_residual * std::pow(0.5, 10)), 100., 1.);
      // residuals of CG rise while it finds a small eigenvalue, and were taken for such that do not fall
      for (int i = 0; i <= 40; ++i)
        run.history_residuals[i] = std::pow(0.5, i) * (i > 20 ? std::pow(4., std::min(i, 28) - 20) : 1.);
      run.final_residual = run.history_residuals.back();
      EXPECT_GT(run.history_residuals[30], run.history_residuals[20]);
      EXPECT_NEAR(iterations_to_come(run, run.final_residual * std::pow(0.5, 2)), 10., 1.);
      run.history_residuals.back() = run.final_residual = 2.;
      EXPECT_FALSE(std::isfinite(iterations_to_come(run, 1e-3)));
      run.history_residuals.resize(8);
      EXPECT_FALSE(std::isfinite(iterations_to_come(run, 1e-3)));
    }

    // fails if levels that fill up are made to the end, or if nothing follows them
    TEST(Attempts, OnLevelsThatFillUpAreFollowedByOthers)
    {
      Arguments arguments;
      arguments.backend             = "host";
      std::vector<Attempt> attempts = attempts_for(any_matrix(), traits_of_waves(true), arguments);
      EXPECT_GT(attempts[0].most_complexity, 1.);
      EXPECT_GT(with_attempt(arguments, attempts[0]).most_complexity, 1.);
      EXPECT_FALSE(leave_out_levels(attempts, 0));
      ASSERT_EQ(attempts.size(), 3U); // not GMRES with the same levels
      EXPECT_EQ(text_of(attempts[1]), "cg preconditioned by ic");
      EXPECT_EQ(text_of(attempts[2]), "direct");
      arguments.method_name    = "cg";
      arguments.preconditioner = "multigrid";
      EXPECT_EQ(attempts_for(any_matrix(), traits_of_waves(true), arguments)[0].most_complexity, 0.); // as asked for
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
