// SPDX-License-Identifier: Apache-2.0
// Iterative refinement: double's accuracy from inner solvers in single precision, and what it says where that cannot
// be.
#include "refinement_test.h"

namespace leopard
{
  TEST_P(RefinementBackend, ReachesTheAccuracyOfDoubleFromSingle)
  {
    struct Case
    {
      CrsMatrix<double> A;
      MakeInner<float>  inner;
    };
    std::vector<Case> cases = {{five_point_matrix(30, 20, 0.1), async<float>()},
                               {five_point_matrix(30, 20, 0.1), method<float>("jacobi")},
                               {five_point_matrix(60, 50, 0.), cg()},
                               {trefethen_matrix(400), async<float>()},
                               {trefethen_matrix(400), cg()},
                               {line_matrix(1000), cg(1e-4)}};
    for (const unsigned int seed : {1u, 2u, 3u})
      {
        cases.push_back({random_dominant_matrix(500, 6, 0.9, seed), async<float>()});
        cases.push_back({badly_scaled(five_point_matrix(20, 20, 0.1), 12., seed), async<float>()});
        cases.push_back({badly_scaled(five_point_matrix(20, 20, 0.), 12., seed), cg()});
        // a condition number of 1e6: eigenvalues from 1 to 1e6 beside random eigenvectors
        Dense B = random_positive_definite(40, seed);
        for (int i = 0; i < 40; ++i)
          B(i, i) += i == 0 ? 1e6 : 0.;
        cases.push_back({crs(B), cg(1e-4)});
      }
    for (std::size_t i = 0; i < cases.size(); ++i)
      {
        const auto  &A     = cases[i].A;
        const Vector exact = random_vector(A.n_rows, 7);
        Vector       b(A.n_rows);
        multiply(A, exact.data(), b.data());
        // as far as it goes
        RefinementOptions options = tolerance(0.);
        options.max_corrections   = 40;
        const Refined best        = solve(A, b, cases[i].inner, options);
        EXPECT_LE(backward_error(A, best.x, b), 16. * eps) << "case " << i << ": " << to_string(best.result.reason);
        EXPECT_EQ(best.result.reason, RefinementReason::rounding) << "case " << i << ": " << to_string(best.result.reason);
        // and to a tolerance; the residual is the true one
        const Refined solution = solve(A, b, cases[i].inner, tolerance(1e-11));
        if (best.result.relative_residual < 1e-12)
          {
            EXPECT_TRUE(solution.result.converged()) << "case " << i << ": " << to_string(solution.result.reason);
          }
        EXPECT_NEAR(solution.result.residual, residual_norm(A, solution.x.data(), b.data()), 0.1 * solution.result.residual + 16. * eps * norm(b));
      }
  }

  /**
   * Relaxations go on as before the scaling; the residual of a right-hand side that knows nothing of it grows at first.
   */
  TEST_P(RefinementBackend, BadScalingIsNoIllCondition)
  {
    const std::vector<std::pair<std::string, MakeInner<float>>> inners = {{"jacobi", method<float>("jacobi")},
                                                                          {"chebyshev", method<float>("chebyshev")},
                                                                          {"gauss-seidel", method<float>("gauss-seidel")},
                                                                          {"async-(1)", async<float>(1)},
                                                                          {"async-(5)", async<float>(5)}};
    for (const double digits : {1., 3., 6.}) // of D, within the range of float and beyond it
      for (const unsigned int seed : {1u, 2u, 3u})
        for (const auto &[name, inner] : inners)
          for (const int inner_iterations : {0, 100})
            {
              const CrsMatrix<double> A        = badly_scaled(five_point_matrix(20, 20, 0.5), digits, seed);
              const Vector            b        = random_vector(A.n_rows, seed + 10);
              const Refined           solution = solve<float>(A, b, inner, tolerance(1e-10, inner_iterations));
              const std::string       what = name + ", " + std::to_string(digits) + " digits, " + std::to_string(inner_iterations) + " iterations";
              EXPECT_TRUE(solution.result.converged() || backward_error(A, solution.x, b) <= 16. * eps)
                << what << ": " << to_string(solution.result.reason) << ", " << relative_residual(A, solution.x, b);
              EXPECT_LE(solution.result.n_corrections, 12) << what;
            }
  }

  TEST_P(RefinementBackend, GainsTheDigitsThatItPlans)
  {
    const CrsMatrix<double> A = five_point_matrix(40, 40, 0.05);
    const Vector            b = random_vector(A.n_rows, 3);
    RefinementOptions       o = tolerance(1e-14);
    o.tolerance               = 1e-13;
    const Refined solution    = solve<float>(A, b, async<float>(), o);
    const auto   &r           = solution.result;
    ASSERT_TRUE(r.converged()) << to_string(r.reason);
    EXPECT_LE(r.n_corrections, 5);
    EXPECT_NEAR(r.n_corrections, r.predicted, 1);
    ASSERT_GE(r.history.size(), 3u);
    EXPECT_LT(r.history[1], 1e-4 * r.history[0]);
    EXPECT_LT(r.history[2], 1e-3 * r.history[1]);
    ASSERT_EQ(r.inner_iterations.size(), static_cast<std::size_t>(r.n_corrections));
    EXPECT_GT(r.inner_iterations[0], o.first_iterations); // 20 are not 6 digits
    int sum = 0;
    for (const int n : r.inner_iterations)
      sum += n;
    EXPECT_EQ(r.n_iterations, sum);
  }

  TEST_P(RefinementBackend, TheLastCorrectionIsAsLongAsItNeedsToBe)
  {
    const CrsMatrix<double> A         = five_point_stencil(20, 20, 0.5).to_crs();
    int                     n_shorter = 0;
    for (const double goal : {1e-6, 1e-7, 1e-8, 1e-9, 1e-10})
      {
        const auto r = solve<float>(A, random_vector(A.n_rows, 3), method<float>("jacobi"), tolerance(goal, 60)).result;
        EXPECT_TRUE(r.converged()) << to_string(r.reason);
        n_shorter += r.inner_iterations.back() < 60 ? 1 : 0;
      }
    EXPECT_GE(n_shorter, 3);
  }

  TEST_P(RefinementBackend, PredictsTheCorrections)
  {
    const CrsMatrix<double> A = random_dominant_matrix(400, 5, 0.9, 8); // whose residuals fall evenly
    const Vector            b = random_vector(A.n_rows, 4);
    for (const int n : {5, 20})
      {
        const auto r = solve<float>(A, b, method<float>("jacobi"), tolerance(1e-10, n)).result;
        ASSERT_TRUE(r.converged()) << to_string(r.reason);
        EXPECT_NEAR(r.n_corrections, r.predicted, 0.3 * r.predicted + 1.) << n;
        for (int i = 0; i + 2 < r.n_corrections; ++i)
          EXPECT_EQ(r.inner_iterations[i], n);
      }
  }

  TEST_P(RefinementBackend, InDoubleItIsTheInnerMethodItself)
  {
    const CrsMatrix<double> A = random_dominant_matrix(300, 5, 0.9, 5);
    const Vector            b = random_vector(A.n_rows, 6);
    RefinementOptions       o = tolerance(0., 3);
    o.max_corrections         = 4;
    const Refined four        = solve<double>(A, b, method<double>("jacobi"), o);
    EXPECT_EQ(four.result.reason, RefinementReason::maximum);
    MethodOptions options;
    const auto    jacobi = find_method("jacobi").make(A, options);
    Vector        x(A.n_rows, 0.);
    jacobi->iterate(x.data(), b.data(), 12);
    EXPECT_LE(largest_difference(four.x, x), 1e-14 * norm(x));
  }

  TEST_P(RefinementBackend, BearsAllUnits)
  {
    const CrsMatrix<double> plain = five_point_matrix(20, 20, 0.1);
    const Vector            b     = random_vector(plain.n_rows, 8);
    for (const double of_b : {1e-200, 1e200})
      for (const double of_A : {1e-60, 1e60}) // beyond the range of float
        {
          CrsMatrix<double> A = plain;
          Vector            scaled(b);
          for (double &value : A.values)
            value *= of_A;
          for (double &value : scaled)
            value *= of_b;
          const Refined solution = solve<float>(A, scaled, async<float>(), tolerance(1e-12));
          EXPECT_TRUE(solution.result.converged()) << of_A << " " << of_b << ": " << to_string(solution.result.reason);
          EXPECT_GT(solution.result.residual, 0.);
        }
    // from an x that is far away, and for b = 0
    const Refined far = solve<float>(plain, b, async<float>(), tolerance(1e-10), Vector(b.size(), 1e150));
    EXPECT_TRUE(far.result.converged()) << to_string(far.result.reason);
    const Refined zero = solve<float>(plain, Vector(b.size(), 0.), async<float>(), tolerance(1e-10), Vector(b.size(), 1.));
    EXPECT_TRUE(zero.result.converged()) << to_string(zero.result.reason);
    EXPECT_LT(norm(zero.x), 1e-8);
    const Refined nothing = solve<float>(plain, Vector(b.size(), 0.), async<float>(), tolerance(1e-10));
    EXPECT_TRUE(nothing.result.converged());
    EXPECT_EQ(nothing.result.n_corrections, 0);
  }

  TEST_P(RefinementBackend, VectorsKeepTheirDigitsWhenTheyAreRounded)
  {
    const int  n       = 1000;
    const auto vectors = make_mixed_vectors<float>(n, 4., GetParam(), 4);
    const auto low_x = vectors->vector(), low_b = vectors->vector();
    Vector     b = random_vector(n, 3), x(n);
    // a map that is exact in single precision: low_x = low_b
    const auto identity = [&](float *to, const float *from) {
      if (vectors->memory_space() == MemorySpace::device)
        device::copy_on_device(to, from, n * sizeof(float));
      else
        std::copy_n(from, n, to);
    };
    for (const double unit : {1., 1e-40, 1e40, 1e-300, 1e300})
      {
        Vector scaled = b;
        for (double &value : scaled)
          value *= unit;
        if (vectors->memory_space() == MemorySpace::device)
          {
            DeviceVector<double> device_x(n), device_b(n);
            device_b.copy_from_host(scaled.data());
            apply_rounded<float>(*vectors, device_x.data(), device_b.data(), low_x.get(), low_b.get(), identity);
            device_x.copy_to_host(x.data());
          }
        else
          apply_rounded<float>(*vectors, x.data(), scaled.data(), low_x.get(), low_b.get(), identity);
        for (int i = 0; i < n; ++i)
          ASSERT_NEAR(x[i], 4. * scaled[i], 1e-7 * 4. * unit) << unit << ", entry " << i;
      }
    // the largest magnitude, wherever it is, by several threads, and what is not finite
    const int  n_long  = 100000;
    const auto longer  = make_mixed_vectors<float>(n_long, 1., GetParam(), 4);
    const auto largest = [&](const Vector &v) {
      if (longer->memory_space() == MemorySpace::host)
        return longer->largest(v.data());
      DeviceVector<double> device_v(v.size());
      device_v.copy_from_host(v.data());
      return longer->largest(device_v.data());
    };
    for (const int where : {0, 30000, n_long - 1})
      {
        Vector v(n_long, 1e-200);
        v[where] = -3e-100;
        EXPECT_EQ(largest(v), 3e-100) << where;
        v[where] = -std::numeric_limits<double>::infinity();
        EXPECT_EQ(largest(v), std::numeric_limits<double>::infinity());
        v[where] = -std::numeric_limits<double>::quiet_NaN();
        EXPECT_TRUE(std::isnan(largest(v))) << where;
      }
    EXPECT_EQ(to_about_one(0.), 1.);
    EXPECT_EQ(to_about_one(std::numeric_limits<double>::infinity()), 1.);
    EXPECT_EQ(to_about_one(3.), 0.25);
  }

  TEST_P(RefinementBackend, TakesNewValues)
  {
    const CrsMatrix<double> first = five_point_matrix(20, 20, 0.1);
    const Vector            b     = random_vector(first.n_rows, 8);
    BlockAsyncOptions       async = options(Schedule::chaotic, 32, 5);
    MethodOptions           method;
    method.backend                         = GetParam();
    method.block_async                     = &async;
    async.storage                          = Storage::double_precision; // that takes values
    const ScaledMatrix<float>          low = scaled_to<float>(first);
    std::shared_ptr<Relaxation<float>> inner(find_method("async").make(low.matrix, method));
    Refinement<float> refinement(make_outer_system<float>(first, low.scale, GetParam(), 4), make_inner_solver(inner), tolerance(1e-12));
    for (const double unit : {1., 1e-60, 1e60, 3.}) // scaled, and not scaled again
      {
        CrsMatrix<double> A = five_point_matrix(20, 20, 0.1 + std::abs(std::log(unit)));
        for (double &value : A.values)
          value *= unit;
        const ScaledMatrix<float> rounded = scaled_to<float>(A);
        inner->update_values(rounded.matrix.values.data());
        refinement.outer_system().update_values(A, rounded.scale);
        const Refined solution = refined(refinement, b);
        EXPECT_TRUE(solution.result.converged()) << unit << ": " << to_string(solution.result.reason);
        EXPECT_LE(relative_residual(A, solution.x, b), 1.01e-12) << unit;
      }
    RefinementOptions one = tolerance(1e-12);
    one.max_corrections   = 1;
    refinement.set_options(one);
    EXPECT_EQ(refined(refinement, b).result.reason, RefinementReason::maximum);
    one.tolerance = -1.;
    EXPECT_THROW(refinement.set_options(one), InvalidInput);
    EXPECT_THROW(refinement.outer_system().update_values(five_point_matrix(20, 19, 0.), {}), InvalidInput);
    EXPECT_THROW(make_outer_system<float>(five_point_stencil(9, 9, 0.), 1., GetParam())->update_values(first, {}), InvalidInput);
  }

  TEST_P(RefinementBackend, NamesWhatCannotBe)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            b = random_vector(A.n_rows, 9);
    // Jacobi's iteration diverges, and x is no worse than it was
    CrsMatrix<double> hard = A;
    for (int i = 0; i < hard.n_rows; ++i)
      for (int p = hard.row_offsets[i]; p < hard.row_offsets[i + 1]; ++p)
        hard.values[p] = hard.columns[p] == i ? 1. : 1.;
    const Refined diverges = solve<float>(hard, b, method<float>("jacobi"), tolerance(1e-10));
    EXPECT_EQ(diverges.result.reason, RefinementReason::no_progress) << to_string(diverges.result.reason);
    EXPECT_LE(residual_norm(hard, diverges.x.data(), b.data()), 1.001 * norm(b));
    EXPECT_LT(diverges.result.n_corrections, 10);
    // so that its numbers overflow
    const Refined overflows = solve<float>(hard, b, method<float>("jacobi"), tolerance(1e-10, 2000));
    EXPECT_EQ(overflows.result.reason, RefinementReason::no_progress) << to_string(overflows.result.reason);
    EXPECT_LE(residual_norm(hard, overflows.x.data(), b.data()), 1.001 * norm(b));

    Vector bad(b);
    bad[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve<float>(A, bad, async<float>()).result.reason, RefinementReason::not_finite);
    bad[7] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(solve<float>(A, bad, async<float>()).result.reason, RefinementReason::not_finite);

    RefinementOptions o = tolerance(1e-10);
    o.max_corrections   = 1;
    EXPECT_EQ(solve<float>(A, b, async<float>(), o).result.reason, RefinementReason::maximum);
    int n           = 0;
    o               = tolerance(1e-10, 1);
    o.asked_to_stop = [&n] { return ++n == 4; };
    const auto r    = solve<float>(A, b, async<float>(), o).result;
    EXPECT_EQ(r.reason, RefinementReason::stopped);
    EXPECT_EQ(r.n_corrections, 3);
  }

  /** Krylov methods end by their own tolerance, and get no more iterations than are left. */
  TEST_P(RefinementBackend, KrylovMethodsInsideKeepToTheLimitOfAll)
  {
    const CrsMatrix<double> A     = five_point_matrix(40, 40, 0.);
    const Vector            b     = random_vector(A.n_rows, 9);
    RefinementOptions       o     = tolerance(1e-12);
    const RefinementResult  whole = solve<float>(A, b, cg(), o).result;
    ASSERT_TRUE(whole.converged());
    ASSERT_GE(whole.n_corrections, 2);
    // within the first correction, at the beginning of the second, and within the last
    for (const int most : {5, whole.inner_iterations[0] + 3, whole.n_iterations - whole.inner_iterations.back() / 2})
      {
        o.max_iterations         = most;
        const RefinementResult r = solve<float>(A, b, cg(), o).result;
        EXPECT_EQ(r.n_iterations, most);
        EXPECT_EQ(std::accumulate(r.inner_iterations.begin(), r.inner_iterations.end(), 0), most);
        // on a GPU, which sums in another order, half of the last correction may have been enough
        EXPECT_TRUE(r.reason == RefinementReason::maximum || (r.converged() && r.relative_residual <= 1e-12)) << most << ": " << to_string(r.reason);
      }
    // of CG also where it is looked whether to stop
    o.max_iterations = whole.n_iterations;
    o.asked_to_stop  = [] { return false; };
    EXPECT_TRUE(solve<float>(A, b, cg(), o).result.converged());
  }

  TEST_P(RefinementBackend, TheFirstCorrectionGainsNoMoreThanIsWanted)
  {
    const CrsMatrix<double> A     = five_point_matrix(60, 60, 0.01);
    const Vector            b     = random_vector(A.n_rows, 9);
    const Refined           loose = solve<float>(A, b, async<float>(), tolerance(1e-2)), tight = solve<float>(A, b, async<float>(), tolerance(1e-6));
    EXPECT_TRUE(loose.result.converged() && tight.result.converged());
    EXPECT_LT(loose.result.n_iterations, 0.35 * tight.result.n_iterations);
  }

  /** Jacobi's residuals of I - 1.05 N, N nilpotent, grow for 40 iterations and are zero after 60. */
  // Pairs of equations, of which one is ten times as strong: the residual goes up and down, by 0.9 an iteration in the
  // mean. A rate of the last few iterations is none, and a second correction planned by it would take up to six times
  // as many as both need.
  TEST_P(RefinementBackend, PlansByMoreThanTheLastFewIterations)
  {
    for (const double strong : {4., 9., 15.})
      for (const double rate : {0.655, 0.71, 0.72, 0.76, 0.845, 0.855, 0.88, 0.93})
        {
          Dense pairs(200, 200);
          for (int i = 0; i < 200; ++i)
            {
              pairs(i, i)     = 1.;
              pairs(i, i ^ 1) = i % 2 == 0 ? strong : rate * rate / strong;
            }
          const CrsMatrix<double> A      = crs(pairs);
          const double            needed = std::log(1e-10) / std::log(rate);
          const auto              r      = solve<double>(A, random_vector(A.n_rows, 3), method<double>("jacobi"), tolerance(1e-10)).result;
          EXPECT_TRUE(r.converged()) << to_string(r.reason);
          EXPECT_LT(r.n_iterations, 1.45 * needed) << strong << ", " << rate << ": " << testing::PrintToString(r.inner_iterations);
        }
  }

  TEST_P(RefinementBackend, BearsResidualsThatGrowBeforeTheyFall)
  {
    constexpr int     n = 60;
    CrsMatrix<double> A;
    A.n_rows = A.n_columns = n;
    A.row_offsets          = {0};
    for (int i = 0; i < n; ++i)
      {
        A.columns.push_back(i);
        A.values.push_back(1.);
        if (i + 1 < n)
          {
            A.columns.push_back(i + 1);
            A.values.push_back(-1.05);
          }
        A.row_offsets.push_back(static_cast<int>(A.columns.size()));
      }
    const Vector b = random_vector(n, 9);
    for (const int inner_iterations : {0, 20}) // measured, and given
      {
        const Refined solution = solve<float>(A, b, method<float>("jacobi"), tolerance(1e-12, inner_iterations));
        EXPECT_TRUE(solution.result.converged()) << inner_iterations << ": " << to_string(solution.result.reason);
        EXPECT_LE(relative_residual(A, solution.x, b), 1.01e-12);
      }
  }

  /**
   * Pairs of unknowns with the eigenvalues `smaller` and 2, whose entries stand on both sides of the middle between two
   * floats: rounded, the smaller one is 1.2e-7. So CG solves the rounded system, and a correction leaves
   * 1 - smaller / 1.2e-7 of the residual.
   */
  CrsMatrix<double> pairs_between_floats(int n, double smaller)
  {
    constexpr double middle = 1. + 1. / (1 << 24);
    Dense            pairs(n, n);
    for (int i = 0; i < n; ++i)
      {
        pairs(i, i)     = middle + 0.5 * smaller;
        pairs(i, i ^ 1) = -(middle - 0.5 * smaller);
      }
    return crs(pairs);
  }

  TEST_P(RefinementBackend, AMatrixThatIsTooIllConditionedIsNamed)
  {
    constexpr int           n            = 200;
    const CrsMatrix<double> A            = pairs_between_floats(n, 1e-10); // a correction gains a thousandth
    CgOptions               in_double    = {};
    in_double.backend                    = GetParam();
    in_double.tolerance                  = 1e-5;
    const MakeInner<double> cg_in_double = [&](const CrsMatrix<double> &matrix) {
      return make_inner_solver(std::shared_ptr<KrylovSolver<double>>(make_cg(matrix, in_double)));
    };
    for (const Vector &b : {Vector(n, 1.), random_vector(n, 6)})
      {
        const RefinementResult r = solve<float>(A, b, cg()).result;
        EXPECT_EQ(r.reason, RefinementReason::ill_conditioned) << to_string(r.reason);
        EXPECT_LE(r.n_corrections, 10);
        const RefinementResult other = solve<double>(A, b, cg_in_double).result;
        EXPECT_TRUE(other.converged() || other.reason == RefinementReason::rounding) << to_string(other.reason);
      }
  }

  /** It goes on where its pace is enough for the limits, and else is given up soon. */
  TEST_P(RefinementBackend, AResidualThatFallsSlowlyAndSteadilyReachesItsGoal)
  {
    const CrsMatrix<double> A = pairs_between_floats(200, 0.2 * std::ldexp(1., -23)); // 0.8 a correction
    const Vector            b(A.n_rows, 1.);
    RefinementOptions       o    = tolerance(1e-6);
    const RefinementResult  slow = solve<float>(A, b, cg(), o).result;
    EXPECT_TRUE(slow.converged()) << to_string(slow.reason) << ", " << slow.relative_residual;
    EXPECT_NEAR(slow.n_corrections, std::log(1e-6) / std::log(0.8), 2.);
    o.max_corrections           = 50; // of which 62 are needed
    const RefinementResult over = solve<float>(A, b, cg(), o).result;
    EXPECT_EQ(over.reason, RefinementReason::ill_conditioned) << to_string(over.reason);
    EXPECT_LE(over.n_corrections, 10);
    o                          = tolerance(1e-6);
    o.max_iterations           = 40; // each correction takes at least one
    const RefinementResult few = solve<float>(A, b, cg(), o).result;
    EXPECT_EQ(few.reason, RefinementReason::ill_conditioned) << to_string(few.reason);
    EXPECT_LE(few.n_corrections, 10);
    o                            = tolerance(1e-6);
    o.goes_on_if_slow            = false;
    const RefinementResult given = solve<float>(A, b, cg(), o).result;
    EXPECT_EQ(given.reason, RefinementReason::ill_conditioned) << to_string(given.reason);
    EXPECT_LE(given.n_corrections, 10);
  }

  // kappa = 4e9: float's rounding times it is far above one
  TEST(Refinement, AMatrixThatIsTooIllConditionedIsNamed)
  {
    const CrsMatrix<double> A = line_matrix(100000);
    Vector                  b(A.n_rows, 1.);
    for (const int inner_iterations : {0, 1})
      {
        RefinementOptions o;
        o.inner_iterations         = inner_iterations;
        o.first_iterations         = 1;
        const MakeInner<float> ilu = [](const CrsMatrix<float> &low) {
          return make_inner_solver(std::shared_ptr<Relaxation<float>>(make_ilu0(low, 1.)));
        };
        const auto done = refined(*make_refinement<float>(A, ilu, o, Backend::host, 1), b).result;
        EXPECT_EQ(done.reason, RefinementReason::ill_conditioned) << to_string(done.reason);
        EXPECT_LE(done.n_corrections, 10);
        const MakeInner<double> in_double = [](const CrsMatrix<double> &low) {
          return make_inner_solver(std::shared_ptr<Relaxation<double>>(make_ilu0(low, 1.)));
        };
        const auto other = refined(*make_refinement<double>(A, in_double, o, Backend::host, 1), b).result;
        EXPECT_TRUE(other.converged() || other.reason == RefinementReason::rounding) << to_string(other.reason);
        // and so it is where it is badly scaled besides
        const CrsMatrix<double> worse = badly_scaled(A, 3., 5);
        for (const Vector &right : {b, random_vector(A.n_rows, 6)})
          {
            const auto third = refined(*make_refinement<float>(worse, ilu, o, Backend::host, 1), right).result;
            EXPECT_EQ(third.reason, RefinementReason::ill_conditioned) << to_string(third.reason);
            EXPECT_LE(third.n_corrections, 10);
          }
      }
  }

  TEST(Refinement, RealMatrices)
  {
    for (const std::string name : {"fv1", "fv3", "Chem97ZtZ_reconstructed", "Trefethen_2000"})
      {
        const std::string file = real_matrix_file(name);
        if (file.empty())
          GTEST_SKIP() << "the matrices are not here";
        const CrsMatrix<double> A = read_matrix_market(file);
        Vector                  b(A.n_rows), ones(A.n_rows, 1.);
        multiply(A, ones.data(), b.data());
        RefinementOptions o;
        o.tolerance = 1e-13;
        BlockAsyncOptions async;
        async.backend          = Backend::host;
        async.block_size       = 512;
        async.local_iterations = 5;
        MethodOptions options;
        options.block_async = &async;
        const auto r        = refined(*make_refinement<float>(A, relaxation<float>("async", options), o, Backend::host, 2), b).result;
        EXPECT_TRUE(r.converged() || r.reason == RefinementReason::rounding) << name << ": " << to_string(r.reason) << " " << r.relative_residual;
        EXPECT_LE(r.relative_residual, 1e-12) << name;
        EXPECT_LE(r.n_corrections, 6) << name; // thesis, p. 112: never more than 5, with fixed inner iterations
      }
  }

  TEST(Refinement, RefusesWhatDoesNotFit)
  {
    CrsMatrix<double> A = random_dominant_matrix(10, 2, 0.5, 3);
    int               p = A.row_offsets[4];
    while (A.columns[p] == 4)
      ++p;
    A.values[p] = 1e45;
    try
      {
        scaled_to<float>(A);
        FAIL() << "an entry that is too large was taken";
      }
    catch (const InvalidInput &error)
      {
        EXPECT_NE(std::string(error.what()).find("row 4, column " + std::to_string(A.columns[p])), std::string::npos) << error.what();
      }
    A.values[p] = 1e-70; // hidden by rounding
    EXPECT_EQ(scaled_to<float>(A).matrix.values[p], 0.f);

    const auto bad = [](auto change) {
      RefinementOptions o;
      change(o);
      EXPECT_THROW(o.validate(), InvalidInput);
    };
    bad([](RefinementOptions &o) { o.tolerance = 1.; });
    bad([](RefinementOptions &o) { o.tolerance = std::numeric_limits<double>::quiet_NaN(); });
    bad([](RefinementOptions &o) { o.absolute_tolerance = -1.; });
    bad([](RefinementOptions &o) { o.max_corrections = 0; });
    bad([](RefinementOptions &o) { o.inner_iterations = -1; });
    bad([](RefinementOptions &o) { o.first_iterations = 0; });
    bad([](RefinementOptions &o) { o.digits = 0.; });
  }

  TEST(Refinement, ScalingIsExact)
  {
    const CrsMatrix<double>   A   = badly_scaled(five_point_matrix(10, 10, 0.1), 30., 4);
    const ScaledMatrix<float> low = scaled_to<float>(A);
    ASSERT_EQ(low.scale.size(), static_cast<std::size_t>(A.n_rows));
    for (int i = 0; i < A.n_rows; ++i)
      {
        int exponent = 0;
        EXPECT_EQ(std::frexp(low.scale[i], &exponent), 0.5); // a power of two
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          {
            const int j = A.columns[p];
            EXPECT_EQ(low.matrix.values[p], static_cast<float>(low.scale[i] * A.values[p] * low.scale[j]));
            if (j == i)
              {
                EXPECT_GE(low.matrix.values[p], 0.5f);
                EXPECT_LT(low.matrix.values[p], 2.f);
              }
          }
      }
    EXPECT_TRUE(scaled_to<float>(five_point_matrix(10, 10, 0.1)).scale.empty());
    // a diagonal that differs by little is left as it is
    for (const double ratio : {100., 1000.})
      {
        CrsMatrix<double> other = five_point_matrix(10, 10, 0.1);
        for (int p = other.row_offsets[3]; p < other.row_offsets[4]; ++p)
          other.values[p] *= ratio;
        EXPECT_EQ(scaled_to<float>(other).scale.empty(), ratio < 256.);
      }
  }

  INSTANTIATE_TEST_SUITE_P(Backends, RefinementBackend, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
} // namespace leopard
