// SPDX-License-Identifier: Apache-2.0
// theta and the local iterations that follow from it, what is expected of them, and the bound of omega for asynchronous
// schedules.
#include "block_async_test.h"
#include "real_matrices.h"

#include <solvers/base/errors.h>
#include <solvers/block_async/prediction.h>
#include <solvers/matrix/analysis.h>
#include <solvers/matrix/generators.h>
#include <solvers/matrix/matrix_market.h>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace leopard
{
  namespace
  {
    void expect_words(const std::string &text, const std::vector<std::string> &words)
    {
      for (const std::string &word : words)
        EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
    }

    std::vector<CrsMatrix<double>> matrices(int n)
    {
      return {trefethen_matrix(n), five_point_matrix(25, n / 25, 0.1), random_dominant_matrix(n, 6, 0.9, 5)};
    }

    /**
     * |a_ii| >= theta sum of |a_ij| outside the block, in all rows, and with equality in one (thesis, equation 4.4).
     */
    TEST(Theta, IsThatOfThePrintedInequality)
    {
      for (const CrsMatrix<double> &A : matrices(300))
        for (const Overlap overlap : {Overlap::none, Overlap::uniform})
          {
            const Blocks blocks = contiguous_blocks(300, 28, overlap, 30.);
            const double found  = theta(A, blocks).minimum;
            double       least  = INFINITY;
            for (int block = 0; block < blocks.n_blocks(); ++block)
              for (int i = blocks.owned_begin[block]; i < blocks.owned_end[block]; ++i)
                {
                  double diagonal = 0., outside = 0.;
                  for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                    if (A.columns[p] == i)
                      diagonal = std::abs(A.values[p]);
                    else if (A.columns[p] < blocks.begin[block] || A.columns[p] >= blocks.end[block])
                      outside += std::abs(A.values[p]);
                  if (outside == 0.)
                    continue;
                  EXPECT_GE(diagonal, found * outside * (1. - 1e-12)) << "row " << i;
                  least = std::min(least, diagonal / outside);
                }
            EXPECT_DOUBLE_EQ(found, least);
          }
    }

    TEST(Theta, OfTheFivePointMatrix)
    {
      // blocks of one line: the inner lines have two neighbours outside, the first and the last one; a row has 5 on the
      // diagonal
      const Theta lines = theta(five_point_matrix(8, 5, 1.), contiguous_blocks(40, 8));
      EXPECT_DOUBLE_EQ(lines.minimum, 2.5);
      EXPECT_DOUBLE_EQ(lines.maximum, 5.);
      ASSERT_EQ(lines.block_ratios.size(), 5U);
      EXPECT_DOUBLE_EQ(lines.block_ratios[0], (8 * 5. + 14.) / 8.); // 7 pairs of neighbours in a line
      EXPECT_DOUBLE_EQ(lines.block_ratios[2], (8 * 5. + 14.) / 16.);
      EXPECT_DOUBLE_EQ(lines.ratio, 5 * (8 * 5. + 14.) / (2 * 8. + 3 * 16.));
      const Theta one = theta(five_point_matrix(8, 5, 1.), contiguous_blocks(40, 40));
      EXPECT_EQ(one.minimum, INFINITY);
      EXPECT_EQ(one.ratio, INFINITY);
      // with overlap a block knows more of its neighbours
      EXPECT_GT(theta(five_point_matrix(8, 5, 1.), contiguous_blocks(40, 16, Overlap::uniform, 50.)).ratio, lines.ratio);
      EXPECT_THROW(theta(five_point_matrix(8, 5, 1.), contiguous_blocks(41, 8)), InvalidInput);
    }

    /**
     * The printed steps: more where the block's ratio is above the matrix's, fewer where it is below, and never more
     * updates in all.
     */
    TEST(Theta, LocalIterationsFollowThePrintedRule)
    {
      for (const CrsMatrix<double> &A : matrices(500))
        for (const int size : {7, 28, 64, 500})
          for (const int k : {1, 2, 5, 9})
            for (const Overlap overlap : {Overlap::none, Overlap::uniform})
              {
                const Blocks           blocks = contiguous_blocks(500, size, overlap, 30.);
                const Theta            t      = theta(A, blocks);
                const std::vector<int> found  = theta_dependent_local_iterations(t, blocks, k);
                ASSERT_EQ(found.size(), t.block_ratios.size());
                for (int block = 0; block < blocks.n_blocks(); ++block)
                  {
                    EXPECT_GE(found[block], 1);
                    EXPECT_LE(found[block], k);
                    for (int other = 0; k > 1 && other < blocks.n_blocks(); ++other)
                      if (t.block_ratios[block] > 1.001 * t.ratio && t.block_ratios[other] < 0.999 * t.ratio)
                        {
                          EXPECT_GT(found[block], found[other]);
                        }
                  }
                BlockAsyncOptions options;
                options.block_size                 = size;
                options.overlap                    = overlap;
                options.overlap_percent            = overlap == Overlap::none ? 0. : 30.;
                options.local_iterations_per_block = found;
                EXPECT_NO_THROW(options.blocks(500));
              }
      const Blocks blocks = blocks_between({0, 10, 20, 30, 40});
      Theta        t;
      t.ratio        = 2.;
      t.block_ratios = {1., 2., 3., INFINITY};
      EXPECT_EQ(theta_dependent_local_iterations(t, blocks, 5), (std::vector<int>{4, 5, 5, 5}));
      t.block_ratios = {2., 2., 2., 2.};
      EXPECT_EQ(theta_dependent_local_iterations(t, blocks, 5), (std::vector<int>{5, 5, 5, 5}));
      EXPECT_THROW(theta_dependent_local_iterations(t, blocks, 0), InvalidInput);
      EXPECT_THROW(theta_dependent_local_iterations(t, blocks_between({0, 40}), 5), InvalidInput);
    }

    /** Of the thesis: the sums of local iterations for Trefethen_2000, counted as printed, without the last block. */
    TEST(Theta, LocalIterationsHaveTheSumsOfTheThesis)
    {
      const CrsMatrix<double> A              = trefethen_matrix(2000);
      const int               table_4_9[][2] = {{28, 318}, {56, 157}, {112, 76}, {224, 37}, {448, 16}};
      for (const auto &[size, printed] : table_4_9)
        {
          const Blocks           blocks = contiguous_blocks(2000, size);
          const std::vector<int> found  = theta_dependent_local_iterations(theta(A, blocks), blocks, 5);
          EXPECT_NEAR(std::accumulate(found.begin(), found.end() - 1, 0), printed, 2) << size;
          EXPECT_EQ(found.front(), 4); // small primes, many entries outside
          EXPECT_EQ(found.back(), 5);
        }
    }

    TEST(Prediction, OfLocalIterations)
    {
      const CrsMatrix<double> A = trefethen_matrix(2000);
      BlockAsyncOptions       options;
      const auto              predicted = [&](const std::vector<int> &per_block) {
        options.local_iterations_per_block = per_block;
        return predicted_convergence(A, options);
      };
      const Blocks               blocks  = options.blocks(A.n_rows);
      const PredictedConvergence uniform = predicted({});
      EXPECT_LT(uniform.factor, 1.);
      EXPECT_NEAR(uniform.iterations_a_digit, -1. / std::log10(uniform.factor), 1e-12);
      EXPECT_DOUBLE_EQ(uniform.sweeps_a_digit, 5. * uniform.iterations_a_digit);
      // starving the block that depends much on others makes it several times slower
      const PredictedConvergence starved = predicted({1, 3, 5, 6, 6, 6, 6, 6});
      EXPECT_GT(starved.iterations_a_digit, 2. * uniform.iterations_a_digit);
      const PredictedConvergence by_rule = predicted(theta_dependent_local_iterations(theta(A, blocks), blocks, 5));
      EXPECT_LT(by_rule.iterations_a_digit, 1.3 * uniform.iterations_a_digit);
      options.omega = 1.9;
      EXPECT_EQ(predicted({}).iterations_a_digit, INFINITY);
    }

    /** D A D has the eigenvalues of D^-1 A and in exact arithmetic the same iteration, divided by D. */
    TEST(Prediction, DoesNotDependOnTheScalingOfRowsAndColumns)
    {
      const CrsMatrix<double> A      = five_point_matrix(61, 61, 0.);
      const auto              judged = [](const CrsMatrix<double> &matrix) {
        const MomentumParameters parameters = momentum_parameters(extreme_eigenvalues(matrix, 1e-3), 0.8);
        BlockAsyncOptions        options;
        options.block_size       = 128;
        options.local_iterations = 3;
        const double factor      = predicted_convergence(matrix, options, 600.).factor;
        options.omega            = parameters.omega;
        options.momentum         = parameters.momentum;
        return std::pair(factor, converges_in_all_schedules(matrix, options, 600.));
      };
      const auto [factor, converges] = judged(A);
      EXPECT_TRUE(converges);
      for (const double digits : {4., 30.})
        for (const bool by_turns : {true, false})
          {
            const auto [of_scaled, scaled_converges] = judged(by_turns ? scaled_by_turns(A, digits) : badly_scaled(A, digits, 7));
            EXPECT_NEAR(std::log(of_scaled), std::log(factor), -0.1 * std::log(factor)) << digits << ", " << by_turns;
            EXPECT_TRUE(scaled_converges) << digits << ", " << by_turns;
          }
    }

    /** With so much momentum one schedule diverges here and others do not. */
    TEST(Prediction, OfConvergenceInAllSchedules)
    {
      const CrsMatrix<double>  A           = five_point_matrix(60, 60, 0.);
      const ExtremeEigenvalues eigenvalues = extreme_eigenvalues(A, 1e-3);
      const auto               converges   = [&](double caution, int k, double max_seconds) {
        const MomentumParameters parameters = momentum_parameters(eigenvalues, caution);
        BlockAsyncOptions        options;
        options.block_size       = 128;
        options.local_iterations = k;
        options.omega            = parameters.omega;
        options.momentum         = parameters.momentum;
        return converges_in_all_schedules(A, options, max_seconds);
      };
      EXPECT_FALSE(converges(0., 1, 60.));  // the synchronous schedule does
      EXPECT_FALSE(converges(0.3, 3, 60.)); // in sequence it does
      EXPECT_TRUE(converges(0.8, 1, 60.));
      EXPECT_TRUE(converges(0.8, 3, 60.));
      EXPECT_TRUE(converges(1., 1, 60.));
      EXPECT_FALSE(converges(1., 1, 0.)); // no time to find out
    }

    TEST(Prediction, GoesOnUntilTheFactorHasSettled)
    {
      BlockAsyncOptions options;
      options.block_size = 64;
      for (const double diagonal : {3.98, 3.988}) // rho(B) is 4 cos(pi / 61) / diagonal: 1.0037 and 1.0017
        {
          CrsMatrix<double> A = five_point_matrix(60, 60, 0.);
          for (double &value : A.values)
            value = value > 0. ? diagonal : value;
          const PredictedConvergence predicted = predicted_convergence(A, options);
          EXPECT_GT(predicted.factor, 1.) << diagonal;
          EXPECT_EQ(predicted.iterations_a_digit, INFINITY) << diagonal;
          EXPECT_FALSE(converges_in_all_schedules(A, options, 60.)) << diagonal;
        }
      const CrsMatrix<double>    A       = five_point_matrix(60, 60, 0.);
      const PredictedConvergence hurried = predicted_convergence(A, options, 0.);
      EXPECT_FALSE(hurried.settled);
    }

    /** Against the synchronous schedule's last digits. */
    TEST(Prediction, OfARealMatrix)
    {
      const std::string file = real_matrix_file("fv3");
      if (file.empty())
        GTEST_SKIP() << "no matrix fv3";
      const CrsMatrix<double> A = read_matrix_market(file);
      BlockAsyncOptions       options;
      options.block_size                   = 512;
      const PredictedConvergence predicted = predicted_convergence(A, options, 300.);
      EXPECT_TRUE(predicted.settled);
      options.backend  = Backend::host;
      options.schedule = Schedule::synchronous;
      BlockAsync<double>        relaxation(A, options);
      std::vector<double>       x(A.n_rows, 1.);
      const std::vector<double> zero(A.n_rows, 0.);
      relaxation.iterate(x.data(), zero.data(), 4000);
      const double before = std::sqrt(relaxation.residual_norm_squared(x.data(), zero.data()));
      relaxation.iterate(x.data(), zero.data(), 2000);
      const double factor = std::pow(std::sqrt(relaxation.residual_norm_squared(x.data(), zero.data())) / before, 1. / 2000.);
      EXPECT_NEAR(std::log(predicted.factor), std::log(factor), 0.1 * std::abs(std::log(factor)));
    }

    TEST(Omega, BoundOfAsynchronousSchedules)
    {
      EXPECT_DOUBLE_EQ(largest_asynchronous_omega(0.854), 2. / 1.854);
      EXPECT_EQ(largest_asynchronous_omega(1.), 0.);
      EXPECT_EQ(largest_asynchronous_omega(NAN), 0.);
      for (const double radius : {0., 0.5, 0.854, 0.99})
        {
          const double bound = largest_asynchronous_omega(radius);
          EXPECT_LT(spectral_radius_abs_with(0.999 * bound, radius), 1.);
          EXPECT_NEAR(spectral_radius_abs_with(bound, radius), 1., 1e-14);
          EXPECT_LT(spectral_radius_abs_with(0.1, radius), 1.);
        }
      for (const double omega : {0.1, 0.5, 1., 1.5}) // tau is one of them
        EXPECT_GE(spectral_radius_abs_with(omega, 1.2), 1.);
      // the thesis, section 3.2.1, has 1.0752 for this matrix
      const MatrixAnalysis found = analyze(trefethen_matrix(2000), contiguous_blocks(2000, 256));
      EXPECT_NEAR(largest_asynchronous_omega(found.spectral_radius_abs), 1.0752, 1e-3);
      expect_words(found.text(), {"omega, asynchronous:     every schedule converges below 2 / (1 + rho(|B|)) = 1.07"});
    }

    /** The biharmonic operator. Where rho(|B|) >= 1 nothing may promise that tau helps an asynchronous schedule. */
    TEST(Omega, TauIsNoPromiseForAsynchronousSchedules)
    {
      CrsMatrix<double> A = five_point_matrix(1, 12, 0.);
      // its square, by rows
      std::vector<std::vector<double>> dense(12, std::vector<double>(12, 0.));
      for (int i = 0; i < 12; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          for (int q = A.row_offsets[A.columns[p]]; q < A.row_offsets[A.columns[p] + 1]; ++q)
            dense[i][A.columns[q]] += (A.columns[p] == i ? 2. : A.values[p]) * (A.columns[q] == A.columns[p] ? 2. : A.values[q]);
      A.row_offsets = {0};
      A.columns.clear();
      A.values.clear();
      for (int i = 0; i < 12; ++i)
        {
          for (int j = 0; j < 12; ++j)
            if (dense[i][j] != 0.)
              {
                A.columns.push_back(j);
                A.values.push_back(dense[i][j]);
              }
          A.row_offsets.push_back(A.n_entries());
        }
      const MatrixAnalysis found = analyze(A, contiguous_blocks(A.n_rows, 4));
      ASSERT_GT(found.spectral_radius_abs, 1.);
      ASSERT_GT(found.smallest_eigenvalue, 0.);
      expect_words(found.text(), {"no omega makes every schedule converge"});
      expect_words(found.verdict(),
                   {"take the synchronous schedule with one local iteration and set omega = tau",
                    "asynchronous schedules need not converge with them: rho(|I - omega D^-1 A|) = ",
                    "no omega brings it below 1"});
    }
  } // namespace
} // namespace leopard
