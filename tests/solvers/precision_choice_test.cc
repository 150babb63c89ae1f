// SPDX-License-Identifier: Apache-2.0
#include "block_async_test.h"

#include <solvers/matrix/generators.h>
#include <solvers/refinement/precision_choice.h>

namespace leopard
{
  namespace
  {
    BlockAsyncOptions on(Backend backend, int k = 5)
    {
      BlockAsyncOptions options;
      options.backend          = backend;
      options.local_iterations = k;
      options.n_threads        = 1;
      return options;
    }

    constexpr double slow_machine = 600.; ///< seconds at most to try the rate out

    /** Nothing is computed on a GPU: only its times are asked for. */
    TEST(PrecisionChoice, IsMixedWhereIterationsAreManyAndMoveMemory)
    {
      const CrsMatrix<double>  A      = five_point_matrix(300, 300, 0.05);
      const PredictedPrecision on_gpu = predict_precision(A, on(Backend::cuda), 1e-10, slow_machine);
      EXPECT_TRUE(on_gpu.is_mixed()) << on_gpu.reason;
      EXPECT_EQ(on_gpu.reason.find("mixed: "), 0u);
      EXPECT_GT(on_gpu.seconds_refined, on_gpu.seconds_mixed);
      // a dozen iterations are not worth the residuals of corrections
      const PredictedPrecision few = predict_precision(five_point_matrix(300, 300, 20.), on(Backend::cuda), 1e-10, slow_machine);
      EXPECT_FALSE(few.is_mixed()) << few.reason;
      // sweeps from the caches of a processor gain little
      const PredictedPrecision on_host = predict_precision(five_point_matrix(60, 60, 0.05), on(Backend::host), 1e-10, slow_machine);
      EXPECT_FALSE(on_host.is_mixed()) << on_host.reason;
      EXPECT_EQ(on_host.reason.find("double: "), 0u);
      EXPECT_GT(on_host.seconds_mixed, 0.);
      EXPECT_LT(on_host.seconds_mixed, HUGE_VAL);
    }

    TEST(PrecisionChoice, FindsFewerDigitsForWorseConditions)
    {
      double digits = 10.;
      for (const double delta : {1., 0.1, 0.01})
        {
          const PredictedPrecision p = predict_precision(five_point_matrix(60, 60, delta), on(Backend::host), 1e-12, slow_machine);
          EXPECT_LT(p.digits, digits) << delta;
          EXPECT_GT(p.digits, 3.) << delta;
          EXPECT_EQ(p.n_corrections, static_cast<int>(std::ceil(12. / p.digits)));
          digits = p.digits;
        }
    }

    /** Scaled symmetrically, a matrix has the same iteration, and is scaled back before it is rounded. */
    TEST(PrecisionChoice, DoesNotDependOnTheScalingOfRowsAndColumns)
    {
      const CrsMatrix<double>  A     = five_point_matrix(121, 121, 0.05);
      const PredictedPrecision plain = predict_precision(A, on(Backend::cuda), 1e-10, slow_machine);
      for (const bool by_turns : {true, false})
        {
          const PredictedPrecision scaled =
            predict_precision(by_turns ? scaled_by_turns(A, 4.) : badly_scaled(A, 4., 3), on(Backend::cuda), 1e-10, slow_machine);
          EXPECT_EQ(scaled.is_mixed(), plain.is_mixed()) << scaled.reason;
          EXPECT_NEAR(scaled.digits, plain.digits, 0.05);
          EXPECT_NEAR(scaled.seconds_mixed, plain.seconds_mixed, 0.1 * plain.seconds_mixed) << plain.reason << "; " << scaled.reason;
        }
    }

    /** D A D^-1 has the eigenvalues of A, and errors of A times D: what looks like growth from row to row is none. */
    TEST(PrecisionChoice, DoesNotDependOnADifferentScalingOfRowsAndColumns)
    {
      CrsMatrix<double>        A     = five_point_matrix(121, 121, 0.05);
      const PredictedPrecision plain = predict_precision(A, on(Backend::cuda), 1e-10, slow_machine);
      const auto               d     = [](int i) { return std::pow(10., 2 * (i * 7 % 9 - 4)); };
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          A.values[p] *= d(i) / d(A.columns[p]);
      const PredictedPrecision scaled = predict_precision(A, on(Backend::cuda), 1e-10, slow_machine);
      EXPECT_EQ(scaled.is_mixed(), plain.is_mixed()) << scaled.reason;
      EXPECT_NEAR(scaled.digits, plain.digits, 0.05) << scaled.reason;
      EXPECT_NEAR(scaled.seconds_mixed, plain.seconds_mixed, 0.1 * plain.seconds_mixed) << plain.reason << "; " << scaled.reason;
    }

    TEST(PrecisionChoice, IsDoubleWhereSingleCannotBe)
    {
      const auto reason = [](const CrsMatrix<double> &A, double tolerance) {
        const PredictedPrecision p = predict_precision(A, on(Backend::cuda, 1), tolerance, slow_machine);
        EXPECT_FALSE(p.is_mixed()) << p.reason;
        EXPECT_EQ(p.reason.find("double: "), 0u);
        return p.reason;
      };
      CrsMatrix<double> pairs; // coupled by 1 - 1e-7
      pairs.n_rows = pairs.n_columns = 100;
      for (int i = 0; i < 100; ++i)
        {
          for (const int j : {i / 2 * 2, i / 2 * 2 + 1})
            {
              pairs.columns.push_back(j);
              pairs.values.push_back(j == i ? 1. : -(1. - 1e-7));
            }
          pairs.row_offsets.push_back(pairs.n_entries());
        }
      EXPECT_NE(reason(pairs, 1e-10).find("too large for single precision"), std::string::npos);
      CrsMatrix<double> large = five_point_matrix(10, 10, 1.);
      large.values[1]         = 1e60;
      EXPECT_NE(reason(large, 1e-10).find("the entry in row 0, column"), std::string::npos);
      EXPECT_NE(reason(five_point_matrix(10, 10, -3.), 1e-10).find("no convergence"), std::string::npos);
      EXPECT_NE(reason(five_point_matrix(10, 10, 1.), 0.).find("without a tolerance"), std::string::npos);
      // where the digits that single precision gains are not known
      const PredictedPrecision hurried = predict_precision(five_point_matrix(60, 60, 0.01), on(Backend::cuda), 1e-10, 0.);
      EXPECT_FALSE(hurried.is_mixed());
      EXPECT_NE(hurried.reason.find("was not found within 0 s"), std::string::npos) << hurried.reason;
      BlockAsyncOptions with_momentum = on(Backend::cuda);
      with_momentum.momentum          = 0.3;
      EXPECT_NE(predict_precision(five_point_matrix(300, 300, 0.05), with_momentum, 1e-10, slow_machine).reason.find("with momentum"),
                std::string::npos);
    }
  } // namespace
} // namespace leopard
