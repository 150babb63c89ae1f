// SPDX-License-Identifier: Apache-2.0
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <gtest/gtest.h>

namespace leopard
{
  namespace
  {
    /**
     * -laplace u + w u_x + w / 2 u_y, central differences, times h^2: upwinding would make it an M-matrix of another
     * kind.
     */
    CrsMatrix<double> convection_diffusion(int n, double w)
    {
      Stencil<double> stencil = five_point_stencil(n, n, 0.);
      stencil.coefficient(1, 0, 0) += 0.5 * w;
      stencil.coefficient(-1, 0, 0) -= 0.5 * w;
      stencil.coefficient(0, 1, 0) += 0.25 * w;
      stencil.coefficient(0, -1, 0) -= 0.25 * w;
      return stencil.to_crs();
    }

    /** The biharmonic operator: the square of the five-point matrix, rho(I - D^-1 A) = 2.2, no M-matrix. */
    CrsMatrix<double> biharmonic(int n)
    {
      const Dense A = dense(five_point_matrix(n, n, 0.));
      return crs(A * A);
    }

    IncompleteOptions exact_solves(FactorKind kind, Backend backend = Backend::host, int fill_level = 0)
    {
      IncompleteOptions options;
      options.factors.kind               = kind;
      options.factors.fill_level         = fill_level;
      options.solves.block_async.backend = backend;
      return options;
    }

    IncompleteOptions asynchronous_solves(FactorKind kind, Backend backend, Schedule schedule, int n_iterations)
    {
      IncompleteOptions options                   = exact_solves(kind, backend);
      options.solves.solve                        = TriangularSolve::asynchronous;
      options.solves.n_iterations                 = n_iterations;
      options.solves.block_async.schedule         = schedule;
      options.solves.block_async.block_size       = 64;
      options.solves.block_async.local_iterations = 3;
      options.solves.block_async.n_threads        = 3;
      return options;
    }

    /** How far the factors are from A on its pattern after so many sweeps. */
    double residual_after(const CrsMatrix<double> &A, const FactorOptions &factors, const FactorSweepOptions &options)
    {
      return IncompleteFactors<double>(A, factors, factor_sweeps<double>(options)).residual();
    }

    class Incomplete : public KrylovBackend
    {
    protected:
      /** ||b - A x|| reached by CG or FGMRES; 0 iterations where it did not get there. */
      int iterations(const std::string &method, const CrsMatrix<double> &A, const Preconditions &preconditioner, double tolerance = 1e-8) const
      {
        const auto   solver = make_krylov(method, A, options(tolerance, 3000), 30, preconditioner);
        const Vector b      = random_vector(A.n_rows, 1);
        const Solved result = solved(*solver, b);
        expect_converged(A, result, b, tolerance);
        return result.result.n_iterations;
      }
    };

    TEST_P(Incomplete, SweepsConvergeToTheExactFactors)
    {
      const CrsMatrix<double> symmetric = five_point_matrix(30, 30, 0.), other = convection_diffusion(30, 1.);
      for (const auto &[A, factors] : {std::pair(symmetric, FactorOptions{FactorKind::ic}),
                                       std::pair(symmetric, FactorOptions{FactorKind::ilu}),
                                       std::pair(other, FactorOptions{FactorKind::ilu}),
                                       std::pair(symmetric, FactorOptions{FactorKind::ic, 1}),
                                       std::pair(other, FactorOptions{FactorKind::ilu, 2})})
        for (const bool synchronous : {true, false})
          {
            SCOPED_TRACE(factors.name() + (synchronous ? ", synchronous" : ""));
            double before = 1.;
            for (const int n_sweeps : {1, 2, 3, 4, 5})
              {
                const double residual = residual_after(A, factors, {n_sweeps, GetParam(), synchronous, 4});
                if (synchronous)
                  {
                    EXPECT_LT(residual, (factors.fill_level == 0 ? 0.6 : 0.8) * before) << n_sweeps; // fill begins with zero
                  }
                EXPECT_LT(residual, 0.2);
                before = residual;
              }
            const FactorSweepOptions many{200, GetParam(), synchronous, 4}; // more than the longest chain
            EXPECT_LT(residual_after(A, factors, many), 1e-14);
            const auto swept = IncompleteFactors<double>(A, factors, factor_sweeps<double>(many)).lower();
            EXPECT_LT(largest_difference(swept.values, IncompleteFactors<double>(A, factors).lower().values), 1e-13);
          }
    }

    TEST_P(Incomplete, SweepsInSinglePrecision)
    {
      const CrsMatrix<float>         A = rounded_to<float>(five_point_matrix(30, 30, 0.));
      const IncompleteFactors<float> factors(A, {FactorKind::ic}, factor_sweeps<float>({100, GetParam(), false, 4}));
      EXPECT_LT(factors.residual(), 1e-6);
    }

    TEST_P(Incomplete, FactorsMakeConjugateGradientsFaster)
    {
      const CrsMatrix<double> A     = five_point_matrix(63, 63, 0.);
      const int               plain = iterations("CG", A, nullptr);
      const int               exact = iterations("CG", A, make_incomplete_preconditioner(A, exact_solves(FactorKind::ic, GetParam())));
      EXPECT_LT(exact, 0.45 * plain); // ILU(0) of this matrix: kappa of a seventh to an eighth
      EXPECT_GT(exact, 0.25 * plain);
      // the same map where nothing but rounding differs
      const int ilu = iterations("CG", A, make_incomplete_preconditioner(A, exact_solves(FactorKind::ilu, GetParam())));
      EXPECT_NEAR(ilu, exact, 2);
      // asynchronous solves cost some iterations; more of them, none
      for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic})
        {
          const auto few  = asynchronous_solves(FactorKind::ic, GetParam(), schedule, 2);
          const auto many = asynchronous_solves(FactorKind::ic, GetParam(), schedule, 100);
          const bool helps =
            schedule == Schedule::synchronous || GetParam() != Backend::cuda; // where all blocks are at work at once, another map each time
          if (helps)
            {
              EXPECT_LT(iterations("CG", A, make_incomplete_preconditioner(A, few)), 0.8 * plain);
            }
          EXPECT_LE(iterations("CG", A, make_incomplete_preconditioner(A, many)), exact + 3);
          IncompleteOptions swept = few;
          swept.n_sweeps          = 3;
          if (helps)
            {
              EXPECT_LT(iterations("CG", A, make_incomplete_preconditioner(A, swept)), 0.8 * plain);
            }
        }
    }

    TEST_P(Incomplete, FactorsMakeFgmresFaster)
    {
      const CrsMatrix<double> A     = convection_diffusion(50, 0.8);
      const int               plain = iterations("FGMRES", A, nullptr);
      const int               exact = iterations("FGMRES", A, make_incomplete_preconditioner(A, exact_solves(FactorKind::ilu, GetParam())));
      EXPECT_LT(exact, 0.5 * plain);
      for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic})
        {
          IncompleteOptions few                  = asynchronous_solves(FactorKind::ilu, GetParam(), schedule, 2);
          few.solves.block_async.overlap         = Overlap::upward;
          few.solves.block_async.overlap_percent = 13.;
          few.n_sweeps                           = 4;
          EXPECT_LT(iterations("FGMRES", A, make_incomplete_preconditioner(A, few)), 0.8 * plain);
        }
    }

    TEST_P(Incomplete, FillSavesIterations)
    {
      const CrsMatrix<double> A = five_point_matrix(63, 63, 0.), B = convection_diffusion(50, 0.8);
      int                     before_cg = 1000, before_fgmres = 1000;
      for (const int fill_level : {0, 1, 2})
        {
          SCOPED_TRACE("level " + std::to_string(fill_level));
          const int cg     = iterations("CG", A, make_incomplete_preconditioner(A, exact_solves(FactorKind::ic, GetParam(), fill_level)));
          const int fgmres = iterations("FGMRES", B, make_incomplete_preconditioner(B, exact_solves(FactorKind::ilu, GetParam(), fill_level)));
          EXPECT_LT(cg, 0.85 * before_cg);
          EXPECT_LT(fgmres, 0.85 * before_fgmres);
          before_cg     = cg;
          before_fgmres = fgmres;
        }
    }

    /** New values in the order of A, which has no fill. */
    TEST_P(Incomplete, FactorsWithFillTakeNewValues)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.), B = convection_diffusion(20, 0.7);
      const auto              updated = make_incomplete_preconditioner(A, exact_solves(FactorKind::ilu, GetParam(), 2));
      updated->update_values(B.values.data());
      EXPECT_EQ(updated->name(), "ILU(2)");
      EXPECT_LE(std::abs(iterations("FGMRES", B, updated) -
                         iterations("FGMRES", B, make_incomplete_preconditioner(B, exact_solves(FactorKind::ilu, GetParam(), 2)))),
                1);
    }

    /** IC(0) does not exist here without a shift, and Jacobi's iteration diverges. */
    TEST_P(Incomplete, SolvesTheBiharmonicEquation)
    {
      const CrsMatrix<double> A              = biharmonic(20);
      const auto              preconditioner = make_incomplete_preconditioner(A, exact_solves(FactorKind::ic, GetParam()));
      EXPECT_LT(iterations("CG", A, preconditioner), 0.7 * iterations("CG", A, nullptr));
      if (preconditioner->shift() > 0.)
        {
          EXPECT_NE(preconditioner->description().find("diag(A)"), std::string::npos) << preconditioner->description();
        }
    }

    TEST_P(Incomplete, WorksInSinglePrecision)
    {
      const CrsMatrix<double> A      = five_point_matrix(40, 40, 0.1);
      const auto              single = rounded_to<float>(A);
      const auto              solver =
        make_cg<float>(single, CgOptions{options(1e-4)}, make_incomplete_preconditioner(single, exact_solves(FactorKind::ic, GetParam())));
      const Vector b = random_vector(A.n_rows, 1);
      EXPECT_TRUE(solved(*solver, b).result.converged);
    }

    INSTANTIATE_TEST_SUITE_P(Backends, Incomplete, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    /** z = M^-1 r against the dense inverse of L U, and the solution by FGMRES against the dense one. */
    TEST(IncompletePreconditioner, Of200RandomMatrices)
    {
      for (unsigned int seed = 0; seed < 200; ++seed)
        {
          SCOPED_TRACE("seed " + std::to_string(seed));
          const int               n       = 3 + static_cast<int>(seed) % 40;
          const CrsMatrix<double> A       = random_dominant_matrix(n, std::min(n - 1, 4), 0.95, seed);
          IncompleteOptions       options = asynchronous_solves(FactorKind::ilu, Backend::host, Schedule::chaotic, 3);
          options.n_sweeps                = static_cast<int>(seed) % 4;
          if (seed % 2 == 0)
            options.solves = {};
          const auto                      preconditioner = make_incomplete_preconditioner(A, options);
          const IncompleteFactors<double> factors(A);
          const Vector                    b = random_vector(n, seed);
          Vector                          z(n), expected = b;
          factors.solve(expected.data());
          if (seed % 4 == 0) // elimination, exact solves
            {
              preconditioner->apply(z.data(), b.data());
              EXPECT_LT(largest_difference(z, expected), 1e-12);
              EXPECT_LT(largest_difference(z, inverse(dense(factors.lower()) * dense(factors.upper())) * b), 1e-10);
            }
          FgmresOptions krylov;
          krylov.tolerance    = 1e-12;
          const auto   solver = make_fgmres<double>(A, krylov, preconditioner);
          const Vector x      = inverse(dense(A)) * b;
          const Solved result = solved(*solver, b);
          EXPECT_TRUE(result.result.converged);
          EXPECT_LT(largest_difference(result.x, x), 1e-9 * norm(x));
        }
    }

    /** What is_symmetric_map() says is true of the map, and where it says no there is a reason. */
    TEST(IncompletePreconditioner, IsSymmetricWhereItSaysSo)
    {
      const CrsMatrix<double> A         = five_point_matrix(12, 12, 0.1);
      const auto              asymmetry = [&](const IncompleteOptions &options) {
        const auto  preconditioner = make_incomplete_preconditioner(A, options);
        const Dense M              = matrix_of(A.n_rows, [&](const Vector &r) {
          Vector z(r.size());
          preconditioner->apply(z.data(), r.data());
          return z;
        });
        return std::pair(preconditioner->is_symmetric_map(), largest_difference(M, transpose(M)));
      };
      const auto expect_symmetric = [&](const IncompleteOptions &options, bool symmetric) {
        const auto [said, difference] = asymmetry(options);
        EXPECT_EQ(said, symmetric);
        if (symmetric)
          {
            EXPECT_LT(difference, 1e-14);
          }
        else
          {
            EXPECT_GT(difference, 1e-8);
          }
      };
      expect_symmetric(exact_solves(FactorKind::ic), true);
      expect_symmetric(exact_solves(FactorKind::ilu), true);
      IncompleteOptions swept = exact_solves(FactorKind::ic);
      swept.n_sweeps          = 2;
      expect_symmetric(swept, true);
      IncompleteOptions options = asynchronous_solves(FactorKind::ic, Backend::host, Schedule::synchronous, 2);
      expect_symmetric(options, true);
      options.solves.start_from_diagonal = true;
      expect_symmetric(options, false);
      options.solves.block_async.local_iterations = 1;
      expect_symmetric(options, true);
      options                                    = asynchronous_solves(FactorKind::ic, Backend::host, Schedule::synchronous, 2);
      options.solves.block_async.overlap         = Overlap::upward;
      options.solves.block_async.overlap_percent = 25.;
      expect_symmetric(options, false);
      IncompleteOptions ilu = asynchronous_solves(FactorKind::ilu, Backend::host, Schedule::synchronous, 2);
      expect_symmetric(ilu, true); // U = D L^T
      ilu.n_sweeps = 1;            // but not yet
      expect_symmetric(ilu, false);
      IncompleteOptions l1             = asynchronous_solves(FactorKind::ic, Backend::host, Schedule::synchronous, 2);
      l1.solves.block_async.l1_weights = true;
      expect_symmetric(l1, false);
      EXPECT_FALSE(make_incomplete_preconditioner(A, asynchronous_solves(FactorKind::ic, Backend::host, Schedule::chaotic, 2))->is_symmetric_map());
    }

    TEST(IncompletePreconditioner, SaysWhatItIs)
    {
      const CrsMatrix<double> A       = five_point_matrix(12, 12, 0.1);
      IncompleteOptions       options = asynchronous_solves(FactorKind::ic, Backend::host, Schedule::chaotic, 2);
      options.n_sweeps                = 3;
      const auto text                 = make_incomplete_preconditioner(A, options)->description();
      EXPECT_EQ(text.find("IC(0), 672 entries by 3 sweeps; solved with: 2 iterations of async-(3), 3 blocks"), 0u) << text;
      options.n_sweeps = -1;
      EXPECT_THROW(options.validate(), InvalidInput);
      EXPECT_THROW(make_incomplete_preconditioner(convection_diffusion(5, 1.), exact_solves(FactorKind::ic)), InvalidInput);
    }
  } // namespace
} // namespace leopard
