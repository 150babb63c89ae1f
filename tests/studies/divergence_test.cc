// SPDX-License-Identifier: Apache-2.0
// Orders of components that converge and that diverge, and what is said of them.
#include "said.h"

#include <applications/studies/papers/diverging_schedule.h>
#include <applications/studies/papers/judges.h>
#include <applications/studies/papers/sample_statistics.h>
#include <solvers/base/errors.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/generators.h>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace
{
  using namespace leopard;
  using namespace leopard::studies;

  /** max_i |x_i - y_i|. */
  double distance(const std::vector<double> &x, const std::vector<double> &y)
  {
    double result = 0.;
    for (std::size_t i = 0; i < x.size(); ++i)
      result = larger_or_nan(result, std::abs(x[i] - y[i]));
    return result;
  }

  /** The errors of a schedule for A x = (1, 2, ...), from zero, after each update. */
  std::vector<double> errors(const CrsMatrix<double> &A, bool diverging, int n)
  {
    std::vector<double> b(A.n_rows), zero(A.n_rows, 0.);
    std::iota(b.begin(), b.end(), 1.);
    const std::vector<double> solution = chaotic_relaxation(A, b, zero, jacobi_schedule(A, 1000)).back();
    std::vector<double>       result;
    for (const auto &x : chaotic_relaxation(A, b, zero, diverging ? diverging_schedule(A, b, zero, n) : jacobi_schedule(A, n)))
      result.push_back(distance(x, solution));
    return result;
  }

  // Theorem 3.2.6 of the thesis: rho(B) = 0.8485 < 1 < rho(|B|) = 1.2
  TEST(Diverging_schedule, diverges_where_Jacobi_converges)
  {
    const CrsMatrix<double> A     = ring_of_four(0.6);
    const MatrixAnalysis    radii = analyze(A, contiguous_blocks(4, 1));
    EXPECT_NEAR(radii.spectral_radius, 0.6 * std::sqrt(2.), 1e-3);
    EXPECT_NEAR(radii.spectral_radius_abs, 1.2, 1e-3);
    EXPECT_LT(errors(A, false, 200).back(), 1e-12);
    const std::vector<double> error = errors(A, true, 100);
    EXPECT_GT(error.back(), 1e6);
    EXPECT_NEAR(std::pow(error.back() / error[error.size() - 1 - 50 * 8], 1. / 50), 1.2, 1e-3); // a round of 8 updates
  }

  TEST(Diverging_schedule, converges_where_the_theorem_says_so)
  {
    EXPECT_LT(errors(ring_of_four(0.49), true, 1000).back(), 1e-7); // rho(|B|) = 0.98
  }

  // fails if the two values of the rounds are not those of the updates, or omega does not weight the own value
  TEST(Diverging_schedule, has_the_factor_of_its_absolute_values)
  {
    const CrsMatrix<double> A = ring_of_four(0.4); // rho(|B|) = 0.8, the bound 1.1111
    for (const double omega : {0.5, 1., 1.1, 1.12, 1.5})
      EXPECT_NEAR(factor_of_diverging_rounds(A, omega, 200), std::abs(1. - omega) + 0.8 * omega, 1e-6) << omega;
    EXPECT_NEAR(factor_of_diverging_rounds(ring_of_four(0.6), 1., 4000), 1.2, 1e-12);
    EXPECT_NEAR(factor_of_diverging_rounds(ring_of_four(0.1), 1., 4000), 0.2, 1e-12); // 0.2^4000 is no number
    EXPECT_TRUE(std::isnan(factor_of_diverging_rounds(ring_of_four(0.), 1., 10)));
  }

  // fails if an order does not converge where it has to, ages or the seed do not count, or values are newer than they
  // may be
  TEST(Random_order, converges_where_the_theorem_says_so)
  {
    const CrsMatrix<double> A = trefethen_matrix(60), hard = ring_of_four(1.2);
    double                  before = 0.;
    for (const int age : {0, 2, 5, 20})
      {
        const double factor = factor_of_random_order(A, 1., age, 200, 1);
        EXPECT_LT(factor, 1.) << age;
        EXPECT_GT(factor, before) << age; // older values, slower
        before = factor;
      }
    EXPECT_NE(factor_of_random_order(A, 1., 2, 20, 1), factor_of_random_order(A, 1., 2, 20, 2));
    EXPECT_GT(factor_of_random_order(hard, 1., 5, 200, 1), 1.);
    EXPECT_GT(factor_of_random_order(A, 3., 5, 200, 1), 1.); // omega
  }

  TEST(Diverging_schedule, is_admissible)
  {
    const CrsMatrix<double>   A = ring_of_four(0.6);
    const std::vector<double> b(4, 1.), zero(4, 0.);
    const std::vector<Update> updates = diverging_schedule(A, b, zero, 30);
    ASSERT_EQ(updates.size(), 4u + 30u * 8u);
    for (std::size_t t = 0; t < updates.size(); ++t)
      {
        EXPECT_EQ(updates[t].row, static_cast<int>(t % 4)); // each row once in four updates
        for (const int age : updates[t].ages)
          {
            EXPECT_GE(age, 0);
            EXPECT_LT(age, 12); // 3 n
          }
      }
    EXPECT_THROW(chaotic_relaxation(A, b, zero, {{0, {1, 1, 1}}}), InvalidInput); // older than the start
  }

  TEST(Divergence_findings, can_each_be_another_one)
  {
    const auto of = [](double radius, double radius_abs, double built, double jacobi) {
      return Said([&](Report &report) { judge_ring({0.6, radius, radius_abs, built, jacobi}, report); });
    };
    EXPECT_EQ(of(0.85, 1.2, 1.2, 0.5).of("where rho(B) < 1 < rho(|B|)"), holds);
    EXPECT_EQ(of(0.85, 1.2, 0.9, 0.5).of("where rho(B) < 1 < rho(|B|)"), not_so); // the order converges
    EXPECT_EQ(of(0.85, 1.2, 1.2, 1.1).of("where rho(B) < 1 < rho(|B|)"), not_so); // so does Jacobi not
    EXPECT_EQ(of(1.01, 1.2, 1.2, 0.5).of("where rho(B) < 1 < rho(|B|)"), not_so);
    EXPECT_EQ(of(0.5, 0.8, 0.8, 0.3).of("the same order converges"), holds);
    EXPECT_EQ(of(0.5, 0.8, 1.1, 0.3).of("the same order converges"), not_so);
    EXPECT_EQ(of(NAN, 1.2, 1.2, 0.5).n_holding() + of(0.85, NAN, 0.9, 0.5).n_holding() + of(0.85, 1.2, NAN, 0.5).n_holding() +
                of(0.85, 1.2, 1.2, NAN).n_holding() + of(0.5, 0.8, NAN, 0.3).n_holding(),
              0);
  }

  TEST(Divergence_findings, of_omegas_can_each_be_another_one)
  {
    const OfOmega good{1., 0.9, {0.8, 0.99}}, too_large{1.1, 1.02, {0.9, 0.9}};
    const auto    of = [](double radius, const OfOmega &one, const OfOmega &below, const OfOmega &beyond) {
      return Said([&](Report &report) { judge_omegas({"A", radius, one, below, beyond}, report); });
    };
    const char *every = "where rho(|B|) < 1 random orders", *weighted = "with omega = 0.99", *sharp = "with omega = 1.01";
    EXPECT_EQ(of(0.9, good, good, too_large).n_holding(), 3);
    const std::vector<OfOmega> wrong = {
      {1., 1.01, {0.8, 0.99}}, {1., 0.9, {0.8, 1.0}}, {1., 0.9, {1.1, 0.8}}, {1., NAN, {0.8}}, {1., 0.9, {0.8, NAN}}, {1., 0.9, {}}};
    for (const OfOmega &w : wrong)
      {
        EXPECT_EQ(of(0.9, w, good, too_large).of(every), not_so);
        EXPECT_EQ(of(0.9, good, w, too_large).of(weighted), not_so);
        EXPECT_EQ(of(0.9, w, w, too_large).of(sharp), holds);
      }
    for (const double built : {0.99, 1., double(NAN)})
      EXPECT_EQ(of(0.9, good, good, {1.1, built, {2.}}).of(sharp), not_so) << built;
    for (const double radius : {1., 1.2, double(NAN)})
      EXPECT_EQ(of(radius, good, good, too_large).count(open), 3) << radius;
  }
} // namespace
