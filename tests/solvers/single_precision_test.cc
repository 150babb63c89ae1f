// SPDX-License-Identifier: Apache-2.0
// Relaxations, multigrid and Krylov methods in single precision beside double, on each backend: results agree as far as
// single precision goes, and no further. That nothing on the way is computed in double is for the compiler, see
// solvers/CMakeLists.txt. That kernels agree with the reference in both number types is where they are tested.
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/refinement/rounded_preconditioner.h>
#include <solvers/relaxation/methods.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    const Stencil<double> stencil = five_point_stencil(31, 31, 0.1);

    /**
     * That single agrees with x to single precision, and is not double in disguise. @param most relative to x: more
     * than rounding where a tolerance ends the two, perhaps not after as many steps.
     */
    void expect_single_precision(const Vector &single, const Vector &x, const std::string &of_what, double most = 2e-5)
    {
      const double difference = largest_difference(single, x), largest = largest_difference(x, Vector(x.size(), 0.));
      EXPECT_LT(difference, most * largest) << of_what;
      EXPECT_GT(difference, 1e-8 * largest) << of_what; // rounding once alone is 3e-8
    }

    template <typename Number>
    Vector relaxed(Relaxation<Number> &relaxation)
    {
      const Vector b = random_vector(stencil.n_rows(), 1);
      Vector       x(b.size(), 0.);
      relaxation.restart();
      iterate(relaxation, x, b, 12);
      return x;
    }

    class SinglePrecision : public BackendTest
    {
    protected:
      template <typename Number>
      Multigrid<Number> make_multigrid(const Stencil<double> &finest, bool stored) const
      {
        MultigridOptions options;
        options.backend                       = GetParam();
        options.n_threads                     = GetParam() == Backend::reference ? 1 : 2;
        options.smoother.block_async.schedule = Schedule::synchronous;
        return stored ? Multigrid<Number>(make_hierarchy(finest, 3), options) : Multigrid<Number>(finest, 3, options);
      }
    };

    TEST_P(SinglePrecision, EveryMethodAgreesWithDouble)
    {
      const CrsMatrix<double> A       = stencil.to_crs();
      const CrsMatrix<float>  A_float = rounded_to<float>(A);
      const Stencil<float>    s_float = rounded_to<float>(stencil);
      for (const Schedule schedule : {Schedule::synchronous, Schedule::replay})
        for (const Method *method : methods())
          {
            if (!method->runs_on(GetParam(), as_solver) || (schedule == Schedule::replay && GetParam() == Backend::cuda))
              continue;
            BlockAsyncOptions blocks = options(schedule, 50, 5);
            MethodOptions     how;
            how.backend         = GetParam();
            how.block_async     = &blocks;
            how.chebyshev.ratio = 10.;
            expect_single_precision(relaxed(*method->make(A_float, how)), relaxed(*method->make(A, how)), method->name);
            if (method->make_of_stencil)
              expect_single_precision(relaxed(*method->make_of_stencil(s_float, how)), relaxed(*method->make_of_stencil(stencil, how)), method->name);
          }
    }

    /** The one that runs on a GPU for a matrix that is stored there: its values can change in float as well. */
    TEST_P(SinglePrecision, UpdatedValuesEqualAFreshObject)
    {
      const CrsMatrix<float> A       = rounded_to<float>(stencil.to_crs());
      CrsMatrix<float>       changed = A;
      for (std::size_t p = 0; p < changed.values.size(); ++p)
        changed.values[p] *= 1.f + 0.01f * static_cast<float>(p % 7);
      for (const Method *method : methods())
        {
          if (!method->runs_on(GetParam(), as_solver))
            continue;
          BlockAsyncOptions blocks = options(Schedule::synchronous, 50, 5);
          blocks.storage           = Storage::double_precision;
          MethodOptions how;
          how.backend         = GetParam();
          how.block_async     = &blocks;
          how.chebyshev.ratio = 10.;
          const auto updated = method->make(A, how), fresh = method->make(changed, how);
          updated->update_values(changed.values.data());
          EXPECT_EQ(relaxed(*updated), relaxed(*fresh)) << method->name;
        }
    }

    TEST_P(SinglePrecision, CyclesAgreeWithDouble)
    {
      for (const bool stored : {true, false})
        {
          const auto solution = [&](auto number) {
            using Number        = decltype(number);
            Multigrid<Number> m = make_multigrid<Number>(stencil, stored);
            const Vector      b = random_vector(stencil.n_rows(), 1);
            Vector            x(b.size(), 0.);
            EXPECT_EQ(solve(m, x, b, 1e-5).status, SolveStatus::converged);
            EXPECT_LT(relative_residual(stencil.to_crs(), x, b), 1.1e-5);
            return cycle(m, x, b);
          };
          expect_single_precision(solution(float()), solution(double()), stored ? "stored" : "stencil", 1e-4);
        }
    }

    /** Of b = 0, so that no rounding of x ends it. */
    TEST_P(SinglePrecision, CyclesContractAsInDouble)
    {
      Stencil<double> variable = five_point_stencil(90, 67, 0.);
      for (int i = 0; i < variable.n_rows(); ++i)
        variable.diagonal.push_back(4. + 0.1 * (i % 7));
      for (const Stencil<double> &finest : {five_point_stencil(127, 127, 0.),
                                            nine_point_stencil(100, 80, 0.),
                                            variable,
                                            seven_point_stencil(31, 31, 31, 0.),
                                            twenty_seven_point_stencil(40, 33, 20, 0.),
                                            five_point_stencil(2047, 1, 0.)})
        for (const bool stored : {true, false})
          {
            const auto contraction = [&](auto number) {
              using Number        = decltype(number);
              Multigrid<Number> m = make_multigrid<Number>(finest, stored);
              const Vector      b(finest.n_rows(), 0.);
              Vector            x = random_vector(finest.n_rows(), 2);
              for (int n = 0; n < 3; ++n)
                x = cycle(m, x, b);
              const double before = norm(x);
              for (int n = 0; n < 4; ++n)
                x = cycle(m, x, b);
              return std::pow(norm(x) / before, 0.25);
            };
            const double in_double = contraction(double());
            EXPECT_LT(in_double, 0.4);
            const bool other_tiles = GetParam() == Backend::cuda && !stored && finest.n_z > 1 && !finest.is_star(); // see stencil_cuda.cu
            EXPECT_NEAR(contraction(float()) / in_double, 1., other_tiles ? 0.25 : 1e-3)
              << finest.n_x << " x " << finest.n_y << " x " << finest.n_z << (stored ? ", stored" : "");
          }
    }

    /** By a Krylov method, with a cycle as preconditioner or without. */
    template <typename Number>
    Vector solved_by(const std::string &method, const KrylovOptions &options, std::shared_ptr<Multigrid<Number>> cycle)
    {
      const CrsMatrix<Number>                 A        = rounded_to<Number>(stencil.to_crs());
      const Vector                            b        = random_vector(A.n_rows, 1);
      const std::vector<Number>               rounded  = rounded_to<Number>(b);
      std::shared_ptr<Preconditioner<Number>> M        = cycle != nullptr ? make_preconditioner<Number>(std::move(cycle)) : nullptr;
      const Solved                            solution = solved(*make_krylov(method, A, options, 30, M), b);
      EXPECT_TRUE(solution.result.converged) << method << " " << to_string(solution.result.reason) << " " << solution.result.relative_residual;
      EXPECT_LE(solution.result.relative_residual, options.tolerance);
      // the residual that decides is that of x, in double precision
      CrsMatrix<double> in_double = stencil.to_crs();
      std::copy(A.values.begin(), A.values.end(), in_double.values.begin());
      EXPECT_NEAR(relative_residual(in_double, solution.x, Vector(rounded.begin(), rounded.end())) / solution.result.relative_residual, 1., 1e-6)
        << method;
      return solution.x;
    }

    TEST_P(SinglePrecision, KrylovMethodsAgreeWithDouble)
    {
      KrylovOptions options;
      options.backend   = GetParam();
      options.tolerance = 2e-6;
      options.n_threads = 2;
      for (const std::string method : {"CG", "FGMRES", "GCR"})
        for (const bool with_cycle : {false, true})
          {
            const auto solution = [&](auto number) {
              using Number = decltype(number);
              return solved_by<Number>(
                method, options, with_cycle ? std::make_shared<Multigrid<Number>>(make_multigrid<Number>(stencil, true)) : nullptr);
            };
            expect_single_precision(solution(float()), solution(double()), method, 2e-4);
          }
    }

    /** Vectors in one piece. */
    struct OnePiece
    {
      long n;

      int n_pieces() const { return 1; }
      template <typename F>
      void for_ranges(const F &f) const
      {
        f(0l, n, 0);
      }
      void sum_over_ranks(double * /*values*/, int /*n*/) const {}
    };

    /** The GCR of the time loop on the host, preconditioned by a cycle. */
    TEST(SinglePrecisionGcr, AgreesWithDouble)
    {
      const auto solution = [](auto number) {
        using Number = decltype(number);
        MultigridOptions options;
        options.n_threads                     = 1;
        options.smoother.block_async.schedule = Schedule::synchronous;
        Multigrid<Number>       multigrid(make_hierarchy(stencil, 3), options);
        const CrsMatrix<Number> A = rounded_to<Number>(stencil.to_crs());
        std::vector<Number>     r = rounded_to<Number>(random_vector(A.n_rows, 1)), x(r.size(), Number(0));
        OnePiece                space{A.n_rows};
        Gcr<OnePiece, Number>   gcr;
        gcr.allocate(space, r.size(), 4);
        const int n = gcr.solve(
          space,
          x,
          r,
          1e-5,
          20,
          [&](const std::vector<Number> &v, std::vector<Number> &result) { multiply(A, v.data(), result.data()); },
          [&](std::vector<Number> &z, const std::vector<Number> &residual) { multigrid.vmult(z.data(), residual.data()); });
        EXPECT_LE(n, 8);
        EXPECT_LT(residual_norm(A, x.data(), rounded_to<Number>(random_vector(A.n_rows, 1)).data()), 1e-4);
        return Vector(x.begin(), x.end());
      };
      expect_single_precision(solution(float()), solution(double()), "GCR");
    }

    /** Sums over vectors are in double: in single precision these squares are zero, or infinite. */
    TEST_P(SinglePrecision, NormsOfSmallAndLargeNumbersAreNoZerosAndInfinities)
    {
      for (const double scale : {1e-25, 1e25})
        for (const bool stored : {true, false})
          {
            Multigrid<float> m = make_multigrid<float>(stencil, stored);
            Vector           b = random_vector(stencil.n_rows(), 1), x(b.size(), 0.);
            for (double &value : b)
              value *= scale;
            const SolveResult result = solve(m, x, b, 1e-5);
            EXPECT_EQ(result.status, SolveStatus::converged) << scale;
            EXPECT_NEAR(result.initial_residual / norm(b), 1., 1e-5) << scale;
            EXPECT_LT(relative_residual(stencil.to_crs(), x, b), 1.1e-5) << scale;
          }
    }

    /**
     * What makes this fail: residuals that overflow or vanish when they are rounded, a z in other units, the weight
     * left out, a factor of another application.
     */
    TEST_P(SinglePrecision, APreconditionerInADoubleMethodHasResidualsOfAnySize)
    {
      const auto in_double = make_preconditioner<double>(std::make_shared<Multigrid<double>>(make_multigrid<double>(stencil, true)));
      const auto low       = make_preconditioner<float>(std::make_shared<Multigrid<float>>(make_multigrid<float>(stencil, true)));
      const auto rounded = make_rounded_preconditioner<float>(low), weighted = make_rounded_preconditioner<float>(low, 4.);
      EXPECT_EQ(rounded->is_queued(), GetParam() == Backend::cuda);
      EXPECT_TRUE(rounded->is_symmetric_map());
      const auto applied = [](Preconditioner<double> &M, const Vector &r) {
        Vector z(r.size(), 17.);
        call_with_numbers<double>(M.memory_space(), z, r, [&](double *to, const double *from) { M.apply(to, from); });
        return z;
      };
      for (const double size : {1., 1e-60, 1e60, 1e-290, 1e290})
        {
          Vector r = random_vector(stencil.n_rows(), 5);
          for (double &value : r)
            value *= size;
          Vector z = applied(*rounded, r), exact = applied(*in_double, r), z_weighted = applied(*weighted, r);
          for (Vector *v : {&z, &exact, &z_weighted})
            for (double &value : *v)
              value /= size;
          expect_single_precision(z, exact, "rounded");
          for (std::size_t i = 0; i < z.size(); ++i)
            ASSERT_NEAR(z_weighted[i], 4. * z[i], 1e-5) << size; // products of cuSPARSE differ in their last bits
        }
      const Vector zero(stencil.n_rows(), 0.);
      EXPECT_EQ(applied(*rounded, zero), zero);
      EXPECT_THROW(make_rounded_preconditioner<float>(nullptr), InvalidInput);
    }

    /**
     * Residuals fall by twelve digits, below what single precision resolves of b; in as many iterations as in double.
     */
    TEST_P(SinglePrecision, PreconditionsConjugateGradientsInDouble)
    {
      if (GetParam() == Backend::reference)
        GTEST_SKIP() << "Krylov methods have no reference of their own";
      const CrsMatrix<double> A      = stencil.to_crs();
      const Vector            b      = random_vector(A.n_rows, 2);
      const auto              solved = [&](const std::shared_ptr<Preconditioner<double>> &M, bool is_cg) {
        KrylovOptions options;
        options.backend     = GetParam();
        options.tolerance   = 1e-12;
        const auto   method = is_cg ? make_cg<double>(A, CgOptions{options}, M) : make_fgmres<double>(A, FgmresOptions{options, 30}, M);
        const Solved found  = leopard::solved(*method, b);
        expect_converged(A, found, b, 1e-12);
        return found.result.n_iterations;
      };
      for (const bool is_cg : {true, false})
        {
          const int in_double =
            solved(make_preconditioner<double>(std::make_shared<Multigrid<double>>(make_multigrid<double>(stencil, true))), is_cg);
          const int rounded = solved(
            make_rounded_preconditioner<float>(make_preconditioner<float>(std::make_shared<Multigrid<float>>(make_multigrid<float>(stencil, true)))),
            is_cg);
          EXPECT_LE(rounded, in_double + 1) << is_cg;
        }
    }

    INSTANTIATE_TEST_SUITE_P(Backends, SinglePrecision, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
  } // namespace
} // namespace leopard
