// SPDX-License-Identifier: Apache-2.0
#include "multigrid_test.h"

#include <solvers/base/errors.h>
#include <solvers/base/words.h>
#include <solvers/multigrid/smoother.h>

#include <gtest/gtest.h>

#include <set>

namespace leopard
{
  namespace
  {
    /** ||b - A x|| after some iterations, against ||b||. */
    double reduction(Relaxation<double> &relaxation, int n_iterations)
    {
      const Vector b = random_vector(relaxation.n_rows(), 3);
      Vector       x(b.size(), 0.);
      relaxation.iterate(x.data(), b.data(), n_iterations);
      return std::sqrt(relaxation.residual_norm_squared(x.data(), b.data()) / relaxation.norm_squared(b.data()));
    }

    TEST(Methods, ConvergeInEachFormThatTheirRowNames)
    {
      const Stencil<double> stencil = five_point_stencil(9, 8, 1.);
      std::set<std::string> names;
      for (const Method *method : methods())
        {
          EXPECT_TRUE(names.insert(method->name).second) << method->name << " is there twice";
          EXPECT_NE(std::string(method->meaning), "") << method->name;
          EXPECT_NE(method->uses & everywhere, 0u) << method->name;
          EXPECT_EQ(method->uses_on_cuda & ~method->uses, 0u) << method->name << " is used on a GPU only";
          EXPECT_EQ(&find_method(method->name), method);
          MethodOptions options;
          options.chebyshev.ratio = 10.;
          for (const auto &make : {method->make, method->make_smoother})
            {
              if (!make)
                continue;
              EXPECT_LT(reduction(*make(stencil.to_crs(), options), 60), 1e-3) << method->name;
            }
          if (!method->make_of_stencil)
            continue;
          EXPECT_LT(reduction(*method->make_of_stencil(stencil, options), 60), 1e-3) << method->name;
        }
    }

    TEST(Methods, IterateFromZeroWhateverIsInX)
    {
      const CrsMatrix<double> A = five_point_stencil(9, 8, 1.).to_crs();
      const Vector            b = random_vector(A.n_rows, 3);
      BlockAsyncOptions       blocks;
      blocks.schedule = Schedule::synchronous;
      MethodOptions options;
      options.block_async = &blocks;
      for (const Method *method : methods())
        {
          Vector x(A.n_rows, NAN), y(A.n_rows, 0.);
          method->make(A, options)->iterate_from_zero(x.data(), b.data(), 3);
          method->make(A, options)->iterate(y.data(), b.data(), 3);
          EXPECT_EQ(x, y) << method->name;
        }
    }

    TEST(Methods, ReadTheOptionsThatTheirRowNames)
    {
      const CrsMatrix<double> A     = five_point_stencil(9, 8, 1.).to_crs();
      const auto              after = [&](const Method &method, const MethodOptions &options) { return reduction(*method.make(A, options), 3); };
      for (const Method *method : methods())
        {
          BlockAsyncOptions blocks, other_blocks;
          blocks.schedule = other_blocks.schedule = Schedule::synchronous;
          other_blocks.local_iterations           = 2;
          MethodOptions options, other;
          options.block_async = &blocks;
          const double before = after(*method, options);
          other               = options;
          other.block_async   = &other_blocks;
          EXPECT_EQ(after(*method, other) != before, method->has_blocks) << method->name;
          other                      = options;
          other.chebyshev.lambda_max = 3.;
          EXPECT_EQ(after(*method, other) != before, method->has_interval) << method->name;
          other       = options;
          other.omega = 0.5;
          if (method->omega == OmegaRange::one)
            EXPECT_THROW(after(*method, other), InvalidInput) << method->name;
          else
            EXPECT_EQ(after(*method, other) != before, method->has_omega()) << method->name;
        }
    }

    TEST(Methods, UnknownNamesAreRefusedWithTheKnownOnes)
    {
      const auto says = [](const std::string &name, MethodUse use) {
        try
          {
            find_method(name, use);
          }
        catch (const InvalidInput &error)
          {
            return std::string(error.what());
          }
        return std::string();
      };
      for (const MethodUse use : {as_solver, as_preconditioner, as_smoother})
        EXPECT_NE(says("none of them", use).find("expected: one of " + joined(method_names(use))), std::string::npos);
      EXPECT_NE(says("gaus-seidel", as_solver).find("'gaus-seidel'; did you mean 'gauss-seidel'?"), std::string::npos);
      EXPECT_NE(says("ilu0", as_solver), "") << "it is a smoother";
      EXPECT_EQ(lookup_method("gauss-seidel", as_preconditioner), nullptr);
      EXPECT_EQ(joined({}), "");
      EXPECT_EQ(joined({"a", "b", "c"}, ", ", " and "), "a, b and c");
    }
  } // namespace
} // namespace leopard
