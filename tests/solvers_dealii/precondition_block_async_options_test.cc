// SPDX-License-Identifier: Apache-2.0
// What the adaptor's fields say of the iteration is what the library's options say.
#include <solvers/base/errors.h>
#include <solvers/dealii/own_rows.h>
#include <solvers/dealii/precondition_block_async.h>

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

namespace leopard
{
  namespace
  {
    using dealii::SparseMatrix;
    using dealii::Vector;

    /** The five-point stencil on n x n nodes. */
    struct GridMatrix
    {
      explicit GridMatrix(int n)
        : pattern(n * n, n * n, 5)
      {
        const auto entries = [n](const std::function<void(int, int, double)> &entry) {
          for (int i = 0; i < n * n; ++i)
            {
              entry(i, i, 4.);
              for (const int j : {i - n, i + n})
                if (j >= 0 && j < n * n)
                  entry(i, j, -1.);
              for (const int j : {i - 1, i + 1})
                if (j >= 0 && j / n == i / n)
                  entry(i, j, -1.);
            }
        };
        entries([this](int i, int j, double) { pattern.add(i, j); });
        pattern.compress();
        matrix.reinit(pattern);
        entries([this](int i, int j, double value) { matrix.set(i, j, value); });
      }
      dealii::SparsityPattern pattern;
      SparseMatrix<double>    matrix;
    };

    Vector<double> waves_of(unsigned int n)
    {
      Vector<double> result(n);
      for (unsigned int i = 0; i < n; ++i)
        result(i) = std::sin(1. + 3. * i);
      return result;
    }

    void expect_all_near(const Vector<double> &a, const Vector<double> &b, double tolerance)
    {
      for (unsigned int i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a(i), b(i), tolerance) << "entry " << i;
    }

    /** Each is that of BlockAsync, and does something. */
    TEST(PreconditionBlockAsyncOptions, HasTheOptionsOfTheLibrary)
    {
      using Fields = PreconditionBlockAsync::Fields;
      const GridMatrix        A(12);
      const CrsMatrix<double> rows = crs_matrix(A.matrix, "the test");
      const Vector<double>    b    = waves_of(144);
      Fields                  plain;
      plain.n_iterations     = 3;
      plain.local_iterations = 2;
      plain.block_size       = 20;
      plain.omega            = 0.8;
      plain.backend          = Backend::reference;
      plain.block_shape      = BlockShape::contiguous;
      BlockAsyncOptions same;
      same.local_iterations = 2;
      same.block_size       = 20;
      same.omega            = 0.8;
      same.backend          = Backend::reference;
      same.schedule         = Schedule::synchronous;
      const auto changed    = [&](const std::function<void(Fields &, BlockAsyncOptions &)> &change) {
        std::pair<Fields, BlockAsyncOptions> result(plain, same);
        change(result.first, result.second);
        return result;
      };
      PreconditionBlockAsync P;
      Vector<double>         x(144), again(144), without(144);
      P.initialize(A.matrix, plain);
      P.vmult(without, b);
      for (const auto &[fields, options] : {changed([](Fields &f, BlockAsyncOptions &o) { f.block_omega = o.block_omega = 0.7; }),
                                            changed([](Fields &f, BlockAsyncOptions &o) { f.momentum = o.momentum = 0.3; }),
                                            changed([](Fields &f, BlockAsyncOptions &o) {
                                              f.overlap = o.overlap = Overlap::uniform;
                                              f.overlap_percent = o.overlap_percent = 40.;
                                            }),
                                            changed([](Fields &f, BlockAsyncOptions &o) {
                                              f.two_stage = o.two_stage = TwoStage::inner;
                                              f.seed = o.seed = 5;
                                            })})
        {
          P.initialize(A.matrix, fields);
          P.vmult(x, b);
          BlockAsync<double> relaxation(rows, options);
          Vector<double>     expected(144);
          relaxation.iterate(expected.begin(), b.begin(), 3);
          expect_all_near(x, expected, 1e-14);
          expected -= without;
          EXPECT_GT(expected.linfty_norm(), 1e-3);
          if (options.two_stage == TwoStage::automatic) // no call knows of the one before
            {
              P.vmult(again, b);
              expect_all_near(again, x, 0.);
            }
          EXPECT_EQ(P.options().momentum, options.momentum);
        }
      plain.overlap     = Overlap::uniform;
      plain.block_shape = BlockShape::metis; // neighbours in the numbering are none
      EXPECT_THROW(P.initialize(A.matrix, plain), InvalidInput);
    }

    TEST(PreconditionBlockAsyncOptions, IsTuned)
    {
      using Fields = PreconditionBlockAsync::Fields;
      const GridMatrix     A(40);
      const Vector<double> b = waves_of(1600);
      Fields               fields;
      fields.n_iterations     = 20;
      fields.block_size       = 1;
      fields.local_iterations = 1;
      fields.tuning_seconds   = 0.3;
      PreconditionBlockAsync P;
      P.initialize(A.matrix, fields);
      EXPECT_GT(P.options().block_size, 1);
      Vector<double> x(1600), r(1600);
      P.vmult(x, b);
      EXPECT_LT(A.matrix.residual(r, x, b), 0.5 * b.l2_norm());
      fields.omega_is_tau = true;
      EXPECT_THROW(P.initialize(A.matrix, fields), InvalidInput);
      fields.omega_is_tau = false;
      fields.overlap      = Overlap::uniform;
      EXPECT_THROW(P.initialize(A.matrix, fields), InvalidInput);
      fields.overlap        = Overlap::none;
      fields.tuning_seconds = -1.;
      EXPECT_THROW(P.initialize(A.matrix, fields), InvalidInput);
    }
  } // namespace
} // namespace leopard
