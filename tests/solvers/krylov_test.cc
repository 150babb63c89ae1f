// SPDX-License-Identifier: Apache-2.0
#include "krylov_test.h"

#include <solvers/base/errors.h>
#include <solvers/krylov/krylov_rules.h>
#include <solvers/relaxation/methods.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace leopard
{
  namespace
  {
    const std::vector<std::string> all_methods = {"CG", "FGMRES", "GCR"};

    double dot(const Vector &a, const Vector &b)
    {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
    }

    Vector scaled(Vector v, double factor)
    {
      for (double &value : v)
        value *= factor;
      return v;
    }

    /** -u'' with nothing prescribed: the constants are its null space. */
    CrsMatrix<double> neumann_matrix(int n)
    {
      Dense A(n, n);
      for (int i = 0; i + 1 < n; ++i)
        {
          A(i, i) += 1.;
          A(i + 1, i + 1) += 1.;
          A(i, i + 1) = A(i + 1, i) = -1.;
        }
      return crs(A);
    }

    Preconditions jacobi(const CrsMatrix<double> &A, Backend backend)
    {
      MethodOptions options;
      options.backend = backend;
      return make_preconditioner<double>(find_method("jacobi").make(A, options));
    }
  } // namespace

  TEST_P(KrylovBackend, AgreesWithADenseSolver)
  {
    const int n = 30;
    for (const unsigned int seed : {1u, 2u, 3u})
      {
        const Vector b = random_vector(n, 10 + seed);
        Dense        nonsymmetric(n, n), shift(n, n);
        nonsymmetric.values = random_vector(n * n, seed);
        for (int i = 0; i < n; ++i)
          shift(i, i) = 5.;
        const Dense indefinite = random_positive_definite(n, seed) - shift;
        // GCR wants a positive definite symmetric part
        const std::vector<std::pair<Dense, std::vector<std::string>>> cases = {{random_positive_definite(n, seed), all_methods},
                                                                               {nonsymmetric + shift, {"FGMRES", "GCR"}},
                                                                               {nonsymmetric, {"FGMRES"}},
                                                                               {indefinite, {"FGMRES"}}};
        for (const auto &[A, methods] : cases)
          for (const std::string &method : methods)
            {
              const Solved solution = solved(*make_krylov(method, crs(A), options(1e-12), n + 5), b);
              expect_converged(crs(A), solution, b, 1e-12);
              const Vector exact = inverse(A) * b;
              EXPECT_LT(largest_difference(solution.x, exact), 1e-7 * norm(exact)) << method << seed;
            }
      }
  }

  TEST_P(KrylovBackend, CgIsTheTextbooks)
  {
    const int               n = 12;
    const Dense             D = random_positive_definite(n, 5);
    const CrsMatrix<double> A = crs(D);
    const Vector            b = random_vector(n, 6), exact = inverse(D) * b;
    for (const bool preconditioned : {false, true})
      {
        const Preconditions M = preconditioned ? jacobi(A, GetParam()) : nullptr;
        std::vector<Vector> directions;
        Vector              last(n, 0.);
        double              last_error = std::sqrt(dot(exact, D * exact));
        for (int k = 1; k <= n; ++k)
          {
            const Solved solution = solved(*make_krylov("CG", A, options(0., k), 0, M), b);
            EXPECT_EQ(solution.result.n_iterations, k);
            const Vector error = exact - solution.x, p = solution.x - last;
            const double in_energy = std::sqrt(dot(error, D * error));
            EXPECT_LT(in_energy, last_error) << k;
            for (const Vector &other : directions)
              EXPECT_NEAR(dot(p, D * other) / std::sqrt(dot(p, D * p) * dot(other, D * other)), 0., 1e-6) << k;
            directions.push_back(p);
            last       = solution.x;
            last_error = in_energy;
          }
        EXPECT_LT(norm(exact - last), 1e-8 * norm(exact));
      }
  }

  TEST_P(KrylovBackend, CgEndsAfterAsManyStepsAsThereAreEigenvalues)
  {
    Dense D(40, 40);
    for (int i = 0; i < 40; ++i)
      D(i, i) = std::pow(3., i % 5);
    const CrsMatrix<double> A        = crs(D);
    const Vector            b        = random_vector(40, 3);
    const Solved            solution = solved(*make_krylov("CG", A, options(1e-12), 0), b);
    expect_converged(A, solution, b, 1e-12);
    EXPECT_EQ(solution.result.n_iterations, 5);
  }

  TEST_P(KrylovBackend, GcrAndFgmresMinimizeTheResidualAlike)
  {
    const CrsMatrix<double> A = random_dominant_matrix(60, 6, 0.95, 3);
    const Vector            b = random_vector(60, 4);
    for (const bool preconditioned : {false, true})
      {
        const Preconditions M    = preconditioned ? jacobi(A, GetParam()) : nullptr;
        double              last = 1.;
        for (int k = 0; k <= 14; ++k)
          {
            const Solved fgmres = solved(*make_krylov("FGMRES", A, options(0., k), 20, M), b),
                         gcr    = solved(*make_krylov("GCR", A, options(0., k), 20, M), b);
            EXPECT_EQ(fgmres.result.n_iterations, k);
            EXPECT_EQ(gcr.result.n_iterations, k);
            EXPECT_NEAR(gcr.result.relative_residual / fgmres.result.relative_residual, 1., 1e-6) << k;
            EXPECT_LE(fgmres.result.relative_residual, last * (1. + 1e-12));
            last = fgmres.result.relative_residual;
          }
        EXPECT_LT(last, 0.1);
      }
  }

  TEST_P(KrylovBackend, RestartedAndTruncatedResidualsNeverGrow)
  {
    const CrsMatrix<double> A = random_dominant_matrix(80, 6, 0.99, 8);
    const Vector            b = random_vector(80, 4);
    for (const std::string method : {"FGMRES", "GCR"})
      {
        double last = 1.;
        for (int k = 1; k <= 20; ++k)
          {
            const double residual = solved(*make_krylov(method, A, options(0., k), 4), b).result.relative_residual;
            EXPECT_LE(residual, last * (1. + 1e-12)) << method << k;
            last = residual;
          }
        expect_converged(A, solved(*make_krylov(method, A, options(1e-9), 4), b), b, 1e-9);
      }
  }

  TEST_P(KrylovBackend, TakesEveryMethodAsPreconditioner)
  {
    const Stencil<double>   stencil = five_point_stencil(40, 40, 0.01);
    const CrsMatrix<double> A       = stencil.to_crs();
    const Vector            b       = random_vector(A.n_rows, 2);
    for (const std::string &krylov : all_methods)
      {
        const int without = solved(*make_krylov(krylov, A, options(1e-9), 20), b).result.n_iterations;
        for (const Method *method : methods())
          for (const Schedule schedule : {Schedule::synchronous, Schedule::chaotic})
            {
              if ((method->uses & as_preconditioner) == 0 || !method->runs_on(GetParam(), as_preconditioner) ||
                  (!method->has_blocks && schedule == Schedule::chaotic))
                continue;
              BlockAsyncOptions blocks;
              blocks.block_size       = 80;
              blocks.local_iterations = 3;
              blocks.schedule         = schedule;
              blocks.n_threads        = 4;
              MethodOptions how;
              how.backend                  = GetParam();
              how.block_async              = &blocks;
              how.chebyshev.ratio          = 30.;
              const Preconditions M        = make_preconditioner<double>(method->make(A, how), method->is_iterated ? 2 : 1);
              const Solved        solution = solved(*make_krylov(krylov, A, options(1e-9), 20, M), b);
              expect_converged(A, solution, b, 1e-9);
              EXPECT_LE(solution.result.n_iterations, without) << krylov << " with " << method->name;
            }
      }
  }

  TEST_P(KrylovBackend, TakesMultigridAsPreconditioner)
  {
    const Stencil<double>   stencil = five_point_stencil(191, 191, 0.); // more than one thread works on
    const CrsMatrix<double> A       = stencil.to_crs();
    const Vector            b       = random_vector(A.n_rows, 2);
    MultigridOptions        cycle;
    cycle.backend         = GetParam() == Backend::cuda ? Backend::cuda : Backend::host;
    cycle.n_threads       = 2;
    cycle.smoother.method = "chebyshev";
    for (const bool stored : {true, false})
      {
        const auto multigrid =
          stored ? std::make_shared<Multigrid<double>>(make_hierarchy(stencil), cycle) : std::make_shared<Multigrid<double>>(stencil, 0, cycle);
        for (const std::string &krylov : all_methods)
          {
            const Solved solution = solved(*make_krylov(krylov, A, options(1e-9), 10, make_preconditioner<double>(multigrid)), b);
            expect_converged(A, solution, b, 1e-9);
            EXPECT_LE(solution.result.n_iterations, 12) << krylov;
          }
      }
  }

  TEST_P(KrylovBackend, EndsAtTheLimitWithWhatItHas)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.);
    const Vector            b = random_vector(A.n_rows, 2);
    for (const std::string &method : all_methods)
      for (const int limit : {0, 1, 7})
        {
          const Solved solution = solved(*make_krylov(method, A, options(1e-10, limit), 5), b);
          EXPECT_FALSE(solution.result.converged);
          EXPECT_EQ(solution.result.reason, KrylovReason::maximum_iterations);
          EXPECT_EQ(solution.result.n_iterations, limit);
          EXPECT_NEAR(solution.result.relative_residual, relative_residual(A, solution.x, b), 1e-12);
          EXPECT_NEAR(solution.result.residual, relative_residual(A, solution.x, b) * norm(b), 1e-11);
        }
  }

  TEST_P(KrylovBackend, ASolveMayHaveLimitsOfItsOwn)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            b = random_vector(A.n_rows, 5);
    for (const std::string &method : all_methods)
      {
        KrylovOptions common;
        common.backend                                     = GetParam();
        const std::unique_ptr<KrylovSolver<double>> krylov = make_krylov(method, A, common, 20);
        const auto                                  with   = [&](const KrylovLimits &limits) {
          Solved solution{{}, Vector(b.size(), 0.)};
          call_with_numbers<double>(
            krylov->memory_space(), solution.x, b, [&](double *to, const double *right) { solution.result = krylov->solve(to, right, limits); });
          return solution;
        };
        const auto limited = [&](int most) {
          KrylovLimits limits   = krylov->limits();
          limits.max_iterations = most;
          return with(limits);
        };
        common.max_iterations = 7;
        const Solved of_seven = solved(*make_krylov(method, A, common, 20), b), cut_off = limited(7);
        EXPECT_EQ(cut_off.result.n_iterations, 7) << method;
        EXPECT_EQ(cut_off.result.reason, KrylovReason::maximum_iterations) << method;
        EXPECT_LE(relative_residual(A, cut_off.x, b), 1.0001 * relative_residual(A, of_seven.x, b)) << method;
        EXPECT_EQ(limited(0).result.n_iterations, 0) << method;
        expect_converged(A, solved(*krylov, b), b, common.tolerance); // the limit was that of one solve
        EXPECT_TRUE(limited(100000).result.converged) << method;

        KrylovLimits limits       = krylov->limits();
        limits.tolerance          = 1e-3;
        const Solved roughly      = with(limits);
        limits.tolerance          = 1e-12; // below that of the options
        const Solved exactly      = with(limits);
        limits.max_iterations     = 5000; // above theirs
        limits.tolerance          = 0.;
        limits.absolute_tolerance = 1e-6 * norm(b);
        const Solved absolutely   = with(limits);
        EXPECT_TRUE(roughly.result.converged && exactly.result.converged && absolutely.result.converged) << method;
        EXPECT_GT(relative_residual(A, roughly.x, b), 1e-5) << method;
        EXPECT_LE(relative_residual(A, exactly.x, b), 1.1e-12) << method;
        EXPECT_GT(relative_residual(A, absolutely.x, b), 1e-9) << method;
        EXPECT_LT(roughly.result.n_iterations, absolutely.result.n_iterations) << method;
        expect_converged(A, solved(*krylov, b), b, common.tolerance);
        for (const auto &spoil : {+[](KrylovLimits &l) { l.tolerance = std::nan(""); },
                                  +[](KrylovLimits &l) { l.absolute_tolerance = -1.; },
                                  +[](KrylovLimits &l) { l.max_iterations = -1; },
                                  +[](KrylovLimits &l) { l.max_seconds = HUGE_VAL; }})
          {
            KrylovLimits bad = krylov->limits();
            spoil(bad);
            EXPECT_THROW(with(bad), InvalidInput) << method;
          }
        KrylovLimits in_time = krylov->limits();
        in_time.max_seconds  = 1e-9;
        if (method == "GCR")
          EXPECT_THROW(with(in_time), InvalidInput);
        else
          EXPECT_EQ(with(in_time).result.reason, KrylovReason::time_limit);
      }
  }

  TEST_P(KrylovBackend, EndsWhenTheTimeIsOver)
  {
    const CrsMatrix<double> A   = five_point_matrix(40, 40, 0.);
    KrylovOptions           all = options(0., 1000000);
    all.max_seconds             = 0.2;
    for (const std::string method : {"CG", "FGMRES"})
      {
        // a tolerance of 0 is met by rounding to zero only: what converges before is not asked for time
        const Solved solution = solved(*make_krylov(method, A, all, 2), random_vector(A.n_rows, 2));
        EXPECT_FALSE(solution.result.converged);
        EXPECT_TRUE(solution.result.reason == KrylovReason::time_limit || solution.result.reason == KrylovReason::stagnated)
          << to_string(solution.result.reason);
        EXPECT_NEAR(solution.result.relative_residual, relative_residual(A, solution.x, random_vector(A.n_rows, 2)), 1e-12);
      }
    all.max_seconds       = 1e-9;
    const Solved solution = solved(*make_krylov("CG", A, all, 2), random_vector(A.n_rows, 2));
    EXPECT_EQ(solution.result.reason, KrylovReason::time_limit);
    EXPECT_EQ(solution.result.n_iterations, 1);
  }

  // fails if a step that adds nothing is counted without its residual
  TEST(FgmresState, HasAResidualOfEachIteration)
  {
    constexpr int       restart = 3;
    std::vector<double> numbers(FgmresState::n_numbers(restart), 0.), history(2, -1.);
    FgmresState         state;
    state.set(KrylovOptions());
    state.restart = restart;
    state.use(numbers.data());
    state.history      = history.data();
    state.history_size = 2;
    state.scale        = 4.;
    state.residual     = 0.5;
    state.rounding     = 1e-14;
    state.begin();
    state.rotate(0., 0.); // A z is zero
    EXPECT_EQ(state.iteration, 1);
    EXPECT_EQ(history[0], 2.);
    EXPECT_EQ(history[1], -1.);
  }

  TEST_P(KrylovBackend, KeepsItsHistory)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.);
    const Vector            b = random_vector(A.n_rows, 2);
    for (const std::string method : {"CG", "FGMRES"})
      {
        KrylovOptions all   = options(1e-9);
        all.keep_history    = true;
        const auto   solver = make_krylov(method, A, all, 50);
        const Solved first = solved(*solver, b), second = solved(*solver, b);
        ASSERT_EQ(first.result.history.size(), static_cast<std::size_t>(first.result.n_iterations)) << method;
        EXPECT_EQ(second.result.history.size(), static_cast<std::size_t>(second.result.n_iterations)) << method;
        EXPECT_NEAR(first.result.history.back(), first.result.residual, 1e-3 * first.result.residual) << method;
        EXPECT_NEAR(first.result.history.front(), norm(b), norm(b)) << method; // in the units of b
        EXPECT_GT(first.result.history.front(), 1e6 * first.result.history.back()) << method;
        all.keep_history = false;
        EXPECT_TRUE(solved(*make_krylov(method, A, all, 50), b).result.history.empty());
      }
  }

  TEST_P(KrylovBackend, BeginsWhereItIsTold)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            b = random_vector(A.n_rows, 2);
    for (const std::string &method : all_methods)
      {
        const auto   solver = make_krylov(method, A, options(1e-9), 20);
        const Solved first = solved(*solver, b), again = solved(*solver, b), second = solved(*solver, b, first.x);
        expect_converged(A, first, b, 1e-9);
        EXPECT_NEAR(first.result.n_iterations, again.result.n_iterations, GetParam() == Backend::cuda ? 1 : 0);
        EXPECT_LT(largest_difference(first.x, again.x), GetParam() == Backend::cuda ? 1e-7 : 1e-14);
        EXPECT_EQ(second.result.n_iterations, 0);
        EXPECT_EQ(second.x, first.x);
        const Solved far = solved(*solver, b, random_vector(A.n_rows, 9));
        expect_converged(A, far, b, 1e-9);
      }
  }

  TEST_P(KrylovBackend, ZeroRightHandSides)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            zero(A.n_rows, 0.);
    for (const std::string &method : all_methods)
      {
        const Solved at_once = solved(*make_krylov(method, A, options(), 20), zero);
        EXPECT_TRUE(at_once.result.converged);
        EXPECT_EQ(at_once.result.n_iterations, 0);
        EXPECT_EQ(at_once.result.relative_residual, 0.);
        EXPECT_EQ(at_once.x, zero);
        const Solved from_elsewhere = solved(*make_krylov(method, A, options(), 20), zero, random_vector(A.n_rows, 3));
        EXPECT_TRUE(from_elsewhere.result.converged) << method;
        EXPECT_LT(norm(from_elsewhere.x), 1e-7) << method;
      }
  }

  TEST_P(KrylovBackend, IsNotTakenInByWhatIsNoNumber)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            x = random_vector(A.n_rows, 7);
    for (const std::string &method : all_methods)
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        for (const double absolute : {0., 1e300})
          {
            Vector b               = random_vector(A.n_rows, 2);
            b[b.size() / 2]        = bad;
            KrylovOptions how      = options();
            how.absolute_tolerance = absolute;
            const Solved solution  = solved(*make_krylov(method, A, how, 20), b, x);
            EXPECT_FALSE(solution.result.converged) << method;
            EXPECT_EQ(solution.result.reason, KrylovReason::not_finite) << method;
            EXPECT_EQ(solution.result.n_iterations, 0);
            EXPECT_EQ(solution.x, x);
          }
  }

  TEST_P(KrylovBackend, UnitsDoNotMatter)
  {
    const CrsMatrix<double> A = random_dominant_matrix(300, 6, 0.9, 3), S = five_point_matrix(20, 20, 0.1);
    for (const std::string &method : all_methods)
      {
        const CrsMatrix<double> &matrix = method == "CG" ? S : A;
        const Vector             b      = random_vector(matrix.n_rows, 2);
        const auto               solver = make_krylov(method, matrix, options(), 20);
        const Solved             usual  = solved(*solver, b);
        expect_converged(matrix, usual, b, 1e-10);
        for (const double unit : {std::ldexp(1., 664), std::ldexp(1., -664), std::ldexp(1., -960), 1e200, 1e-200})
          {
            const Solved solution = solved(*solver, scaled(b, unit));
            EXPECT_TRUE(solution.result.converged) << method << unit << to_string(solution.result.reason);
            EXPECT_LE(solution.result.relative_residual, 1e-10);
            EXPECT_NEAR(solution.result.n_iterations, usual.result.n_iterations, 1) << method << unit;
            EXPECT_LT(largest_difference(scaled(solution.x, 1. / unit), usual.x), 1e-8) << method << unit;
            int        exponent = 0;
            const bool repeats  = GetParam() != Backend::cuda && std::frexp(unit, &exponent) == 0.5; // cuSPARSE may not, to the last bit
            EXPECT_TRUE(!repeats || scaled(solution.x, 1. / unit) == usual.x) << method << unit;
          }
      }
  }

  TEST_P(KrylovBackend, AbsoluteTolerancesAreInTheUnitsOfB)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            b = scaled(random_vector(A.n_rows, 2), 1e-5);
    for (const std::string &method : all_methods)
      {
        KrylovOptions how      = options(0.);
        how.absolute_tolerance = 1e-3 * norm(b);
        const Solved solution  = solved(*make_krylov(method, A, how, 20), b);
        EXPECT_TRUE(solution.result.converged);
        EXPECT_LE(solution.result.residual, how.absolute_tolerance);
        EXPECT_GT(solution.result.relative_residual, 1e-5); // and no further
      }
  }

  TEST_P(KrylovBackend, SingularSystemsThatHaveASolution)
  {
    const CrsMatrix<double> A          = neumann_matrix(50);
    Vector                  b          = random_vector(50, 3);
    const double            mean       = std::accumulate(b.begin(), b.end(), 0.) / 50.;
    Vector                  consistent = b;
    for (double &value : consistent)
      value -= mean;
    for (const std::string &method : all_methods)
      {
        expect_converged(A, solved(*make_krylov(method, A, options(1e-9), 60, jacobi(A, GetParam())), consistent), consistent, 1e-9);
        const Solved none = solved(*make_krylov(method, A, options(1e-9, 300), 60), b);
        EXPECT_FALSE(none.result.converged) << method;
        EXPECT_GE(none.result.relative_residual, 0.99 * std::abs(mean) * std::sqrt(50.) / norm(b)) << method; // the part that has no solution
      }
  }

  TEST_P(KrylovBackend, CgSaysWhatIsNotPositiveDefinite)
  {
    CrsMatrix<double> A          = five_point_matrix(10, 10, 0.);
    const Vector      b          = random_vector(A.n_rows, 3);
    CrsMatrix<double> indefinite = A, negative = A;
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        {
          indefinite.values[p] -= A.columns[p] == i ? 3. : 0.;
          negative.values[p] = -A.values[p];
        }
    const Solved solution = solved(*make_krylov("CG", indefinite, options(), 0), b);
    EXPECT_FALSE(solution.result.converged);
    EXPECT_EQ(solution.result.reason, KrylovReason::indefinite) << to_string(solution.result.reason);
    EXPECT_NEAR(solution.result.relative_residual, relative_residual(indefinite, solution.x, b), 1e-12); // of the steps before
    EXPECT_EQ(solved(*make_krylov("CG", negative, options(), 0), b).result.reason, KrylovReason::indefinite);
    const Solved wrong = solved(*make_krylov("CG", A, options(), 0, jacobi(negative, GetParam())), b);
    EXPECT_EQ(wrong.result.reason, KrylovReason::indefinite_preconditioner);
    EXPECT_EQ(wrong.result.n_iterations, 0);
  }

  TEST_P(KrylovBackend, BreaksDownWhereThereIsNothingNew)
  {
    Dense turn(2, 2); // r^T A r = 0 for all r
    turn(0, 1)       = 1.;
    turn(1, 0)       = -1.;
    const Vector b   = {1., 2.};
    const Solved gcr = solved(*make_krylov("GCR", crs(turn), options(), 5), b);
    EXPECT_FALSE(gcr.result.converged);
    EXPECT_EQ(gcr.result.reason, KrylovReason::breakdown) << to_string(gcr.result.reason);
    EXPECT_LE(gcr.result.n_iterations, 3);
    expect_converged(crs(turn), solved(*make_krylov("FGMRES", crs(turn), options(), 5), b), b, 1e-10);

    Dense skew(10, 10); // the same, but for rounding errors
    skew.values       = random_vector(100, 4);
    skew              = skew - transpose(skew);
    const Solved lost = solved(*make_krylov("GCR", crs(skew), options(), 5), random_vector(10, 5));
    EXPECT_EQ(lost.result.reason, KrylovReason::breakdown) << to_string(lost.result.reason);
    EXPECT_LE(lost.result.n_iterations, 3);

    Dense half(2, 2); // A b = 0
    half(0, 1) = 1.;
    for (const std::string method : {"FGMRES", "GCR"})
      {
        const Solved nothing = solved(*make_krylov(method, crs(half), options(), 5), {0., 1.});
        EXPECT_FALSE(nothing.result.converged);
        EXPECT_EQ(nothing.result.reason, KrylovReason::breakdown) << method << to_string(nothing.result.reason);
        EXPECT_TRUE(std::isfinite(nothing.x[0]) && std::isfinite(nothing.x[1]));
      }
  }

  TEST_P(KrylovBackend, ClaimsNoResidualThatRoundingForbids)
  {
    const CrsMatrix<double> A = five_point_matrix(30, 30, 0.);
    const Vector            b = random_vector(A.n_rows, 3);
    for (const std::string &method : all_methods)
      {
        const Solved solution = solved(*make_krylov(method, A, options(1e-30, 20000), 30), b);
        EXPECT_FALSE(solution.result.converged);
        EXPECT_EQ(solution.result.reason, KrylovReason::stagnated) << method << " " << to_string(solution.result.reason);
        EXPECT_LT(solution.result.n_iterations, 5000);
        EXPECT_LT(solution.result.relative_residual, 1e-13);
        EXPECT_GT(solution.result.relative_residual, 1e-20);
      }
  }

  /** The recurrences fall on until their squares underflow. */
  TEST_P(KrylovBackend, EndsWithoutATolerance)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 3.);
    const Vector            b = random_vector(A.n_rows, 3);
    for (const std::string &method : all_methods)
      {
        const Solved solution = solved(*make_krylov(method, A, options(0., 3000), 30), b);
        EXPECT_EQ(solution.result.reason, KrylovReason::stagnated) << method << " " << to_string(solution.result.reason);
        EXPECT_LT(solution.result.n_iterations, 1000) << method;
        EXPECT_LT(solution.result.relative_residual, 1e-14) << method;
      }
  }

  TEST_P(KrylovBackend, TakesNewValues)
  {
    CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector      b = random_vector(A.n_rows, 3);
    for (const std::string &method : all_methods)
      {
        const auto   solver  = make_krylov(method, A, options(), 20);
        const Solved before  = solved(*solver, b);
        const Vector doubled = scaled(A.values, 2.);
        solver->update_values(doubled.data());
        const Solved after = solved(*solver, b);
        EXPECT_LT(largest_difference(scaled(after.x, 2.), before.x), 1e-8);
      }
  }

  TEST_P(KrylovBackend, NothingToDo)
  {
    for (const std::string &method : all_methods)
      {
        const Solved solution = solved(*make_krylov(method, CrsMatrix<double>(), options(), 5), {});
        EXPECT_TRUE(solution.result.converged);
        EXPECT_EQ(solution.result.n_iterations, 0);
        const Solved one = solved(*make_krylov(method, crs(identity(1)), options(), 5), {3.});
        EXPECT_TRUE(one.result.converged);
        EXPECT_EQ(one.x, Vector{3.});
      }
  }

  INSTANTIATE_TEST_SUITE_P(Backends, KrylovBackend, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
} // namespace leopard
