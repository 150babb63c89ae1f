// SPDX-License-Identifier: Apache-2.0
// Momentum on the corrections of an iterative refinement: what it is by theory, what it learns, and when it ends.
#include "refinement_test.h"

#include <solvers/refinement/correction_momentum.h>

#include <complex>

namespace leopard
{
  namespace
  {
    using Complex = std::complex<double>;

    /**
     * Corrections until a residual whose modes a correction multiplies with these eigenvalues has fallen by 1e-10, in
     * real or complex numbers; 200 at most. Steps that make it larger are taken back.
     */
    int corrections(const std::vector<Complex> &eigenvalues, bool with_momentum)
    {
      const auto norm = [](const std::vector<Complex> &v) {
        return std::sqrt(std::accumulate(v.begin(), v.end(), 0., [](double sum, const Complex &z) { return sum + std::norm(z); }));
      };
      CorrectionMomentum   momentum;
      std::vector<Complex> error(eigenvalues.size(), 1.), last(error.size(), 0.);
      const double         goal = 1e-10 * norm(error);
      int                  n    = 0;
      for (; n < 200 && !(norm(error) <= goal); ++n)
        {
          std::vector<Complex> next = error, step = last;
          const double         a = with_momentum ? momentum.weight() : 1., m = with_momentum ? momentum.momentum() : 0.;
          for (std::size_t i = 0; i < error.size(); ++i)
            {
              step[i] = -a * (1. - eigenvalues[i]) * error[i] + m * last[i];
              next[i] += step[i];
            }
          const double contraction = norm(next) / norm(error);
          if (!(contraction < 1.) && momentum.is_on())
            {
              momentum.give_up();
              continue;
            }
          momentum.learn(contraction, 1);
          error = next;
          last  = step;
        }
      return n;
    }

    /** n of them, evenly between two ends. */
    std::vector<Complex> between(Complex first, Complex last, int n = 50)
    {
      std::vector<Complex> result;
      for (int i = 0; i < n; ++i)
        result.push_back(first + (last - first) * (static_cast<double>(i) / (n - 1)));
      return result;
    }
  } // namespace

  TEST(CorrectionMomentum, BeginsWithTwoPlainCorrections)
  {
    CorrectionMomentum momentum;
    for (const double contraction : {0.001, 0.1})
      {
        EXPECT_FALSE(momentum.is_on());
        EXPECT_EQ(momentum.weight(), 1.);
        EXPECT_EQ(momentum.momentum(), 0.);
        momentum.learn(contraction, 1);
      }
    EXPECT_TRUE(momentum.is_on());
    momentum.begin_solve();
    EXPECT_TRUE(momentum.is_on()) << "it remembers";
    momentum.give_up();
    EXPECT_EQ(momentum.weight(), 1.);
    for (int i = 0; i < 3; ++i)
      momentum.learn(0.2, 1);
    EXPECT_FALSE(momentum.is_on()) << "in this solve";
    momentum.begin_solve();
    EXPECT_TRUE(momentum.is_on());
    const double p = 0.26 / 1.74, sigma = p / (1. + std::sqrt(1. - p * p));
    EXPECT_NEAR(momentum.momentum(), sigma * sigma, 1e-14) << "with 1.3 times what plain corrections have left";
    momentum.give_up();
    momentum.begin_solve();
    EXPECT_FALSE(momentum.is_on()) << "twice is enough";
  }

  /**
   * For eigenvalues in [0, rate] x^2 - (1 + m - w (1 - lambda)) x + m has, at both ends, a double root: no better m and
   * w are possible.
   */
  TEST(CorrectionMomentum, IsTheBestForItsInterval)
  {
    for (const double plain : {0.01, 0.1, 0.4, 0.7})
      {
        CorrectionMomentum momentum;
        momentum.learn(0.5, 2);
        momentum.learn(plain * plain, 2);
        const double rate = 1.3 * plain, w = momentum.weight(), m = momentum.momentum(), p = rate / (2. - rate);
        const double sigma = p / (1. + std::sqrt(1. - p * p));
        EXPECT_NEAR(m, sigma * sigma, 1e-14);
        EXPECT_NEAR(1. + m - w * (1. - rate), 2. * sigma, 1e-14);
        EXPECT_NEAR(1. + m - w, -2. * sigma, 1e-14);
      }
  }

  TEST(CorrectionMomentum, SavesCorrectionsWhereEigenvaluesArePositive)
  {
    for (const double rate : {0.03, 0.06, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85})
      {
        const auto eigenvalues = between(0., rate);
        const int  plain = corrections(eigenvalues, false), n = corrections(eigenvalues, true);
        EXPECT_LE(n, rate < 0.2 ? plain - 1 : 0.75 * plain) << rate << ": " << plain;
      }
  }

  TEST(CorrectionMomentum, LearnsOfSlowModesThatComeLate)
  {
    for (const double rate : {0.4, 0.7})
      {
        std::vector<Complex> eigenvalues = between(0., 0.05, 2000);
        eigenvalues.push_back(rate); // a mode of 2001
        const int plain = corrections(eigenvalues, false), n = corrections(eigenvalues, true);
        EXPECT_LE(n, 0.75 * plain) << rate << ": " << plain;
      }
  }

  TEST(CorrectionMomentum, EndsWhereEigenvaluesAreOthers)
  {
    for (const double rate : {0.1, 0.3, 0.6, 0.8})
      for (const auto &eigenvalues : {between(-rate, rate), between(-rate, 0.), between({0., -rate}, {0., rate})})
        {
          const int plain = corrections(eigenvalues, false), n = corrections(eigenvalues, true);
          EXPECT_LE(n, plain + 6) << rate << ", from " << eigenvalues.front() << ": " << plain;
        }
  }

  TEST(CorrectionMomentum, IsNoneWhereCorrectionsHardlyHelp)
  {
    CorrectionMomentum momentum;
    for (const double contraction : {0.5, 0.99, 0.96, 1.5})
      {
        momentum.learn(contraction, 1);
        EXPECT_FALSE(momentum.is_on());
      }
    momentum.learn(0.9, 1, true);
    EXPECT_FALSE(momentum.is_on()) << "nor where the next one ends it";
    momentum.learn(0.9, 1);
    EXPECT_TRUE(momentum.is_on());
  }

  class MomentumBackend : public RefinementBackend
  {
  };

  TEST_P(MomentumBackend, StepsAreWhatTheyAreSaidToBe)
  {
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    const Vector c = {1., -2., nan, 3., infinity}, s = {4., 1., 2., 0., 1.};
    const auto   vectors = make_mixed_vectors<double>(5, 1., GetParam(), 2);
    const auto   check   = [&](double momentum, bool goes_on, const Vector &last, const Vector &new_c, const Vector &new_s) {
      Vector both = c;
      both.insert(both.end(), last.begin(), last.end());
      call_with_numbers<double>(
        vectors->memory_space(), both, {}, [&](double *v, const double *) { vectors->take_step(v, v + 5, 2., momentum, goes_on); });
      Vector expected = new_c;
      expected.insert(expected.end(), new_s.begin(), new_s.end());
      EXPECT_EQ(both, expected) << momentum << goes_on;
    };
    check(0., false, Vector(5, nan), {2., -4., 0., 6., 0.}, {2., -4., 0., 6., 0.}); // s is not read
    check(0.25, false, s, {3., -3.75, 0.5, 6., 0.25}, {3., -3.75, 0.5, 6., 0.25});
    check(0., true, s, {-2., -5., 2., 6., 1.}, {-6., -6., 0., 6., 0.});
    check(0.25, true, s, {-1., -4.75, 2.5, 6., 1.25}, {-5., -5.75, 0.5, 6., 0.25});
  }

  /** Where each iteration is a step, two a correction differ from one by the residuals' rounding only. */
  TEST_P(MomentumBackend, OneOrTwoCyclesACorrectionAreTheSame)
  {
    MultigridOptions o;
    o.backend                     = GetParam();
    o.n_threads                   = 2;
    o.smoother.method             = "damped-jacobi";
    o.pre_smoothing               = 1;
    o.post_smoothing              = 1;
    const Stencil<double> A       = five_point_stencil(63, 63, 0.);
    const Vector          b       = random_vector(A.n_rows(), 12);
    const auto            history = [&](int cycles) {
      const auto solver = make_refinement<float>(A, 3, o, tolerance(1e-6, cycles));
      refined(*solver, b);
      RefinementOptions options = tolerance(0., cycles); // with the rate of a first solve
      options.max_corrections   = 8 / cycles;
      solver->set_options(options);
      return refined(*solver, b).result.history;
    };
    const std::vector<double> one = history(1), two = history(2);
    ASSERT_EQ(one.size(), 9u);
    ASSERT_EQ(two.size(), 5u);
    // rates were learned from other residuals, so that they differ a little
    for (int i = 0; i < 5; ++i)
      EXPECT_NEAR(std::log10(two[i]), std::log10(one[2 * i]), 0.5) << i;
  }

  TEST_P(MomentumBackend, SavesCyclesOfMultigrid)
  {
    MultigridOptions o;
    o.backend                       = GetParam();
    o.n_threads                     = 4;
    o.smoother.block_async.schedule = Schedule::synchronous; // the same cycles in each run
    int        cycles               = 1;
    const auto n_cycles             = [&](const Stencil<double> &A, bool stored, bool momentum, double tolerance) {
      RefinementOptions options = RefinementBackend::tolerance(tolerance, cycles);
      options.momentum          = momentum;
      const auto    solver      = stored ? make_refinement<float>(make_hierarchy(A, 3), o, options) : make_refinement<float>(A, 3, o, options);
      const Vector  b           = random_vector(A.n_rows(), 12);
      const Refined solution    = refined(*solver, b);
      EXPECT_EQ(solution.result.has_momentum, momentum);
      if (tolerance > 0.)
        {
          EXPECT_TRUE(solution.result.converged()) << to_string(solution.result.reason);
        }
      else
        {
          EXPECT_EQ(solution.result.reason, RefinementReason::rounding);
        }
      EXPECT_LE(backward_error(A.to_crs(), solution.x, b), tolerance > 0. ? tolerance : 16. * eps);
      return solution.result.n_iterations;
    };
    for (const int of_a_correction : {1, 2})
      for (const bool stored : {false, true})
        {
          cycles            = of_a_correction;
          o.smoother.method = stored ? "async" : "damped-jacobi"; // async on stencils has tiles that move
          o.pre_smoothing = o.post_smoothing = 2;
          int with = 0, without = 0;
          for (const Stencil<double> &A : {five_point_stencil(127, 63, 0.), nine_point_stencil(63, 63, 0.), seven_point_stencil(31, 31, 15, 0.)})
            {
              with += n_cycles(A, stored, true, 1e-11);
              without += n_cycles(A, stored, false, 1e-11);
              n_cycles(A, stored, true, 0.);
            }
          EXPECT_LE(with, without - (cycles == 1 ? 2 : 0)) << stored << cycles << ": a correction is the smallest unit that can be spared";
          o.smoother.method = "damped-jacobi"; // slow cycles
          o.pre_smoothing = o.post_smoothing = 1;
          const Stencil<double> A            = seven_point_stencil(31, 31, 31, 0.);
          EXPECT_LE(n_cycles(A, stored, true, 1e-11), 0.7 * n_cycles(A, stored, false, 1e-11)) << stored << cycles;
        }
  }

  INSTANTIATE_TEST_SUITE_P(Backends, MomentumBackend, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);
} // namespace leopard
