// SPDX-License-Identifier: Apache-2.0
#include "krylov_test.h"

#include <solvers/base/errors.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  namespace
  {
    /** z = r, but from the n-th call on not a number. */
    class Failing : public Preconditioner<double>
    {
    public:
      Failing(int n_, int n_calls_, MemorySpace space_ = MemorySpace::host)
        : n(n_)
        , n_calls(n_calls_)
        , space(space_)
      {
      }
      std::string name() const override { return "the failing one"; }
      int         n_rows() const override { return n; }
      MemorySpace memory_space() const override { return space; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return true; }
      bool        is_queued() const override { return false; }
      void        apply(double *z, const double *r) override
      {
        std::copy_n(r, n, z);
        if (--n_calls < 0)
          z[n / 2] = std::numeric_limits<double>::quiet_NaN();
      }

    private:
      const int         n;
      int               n_calls;
      const MemorySpace space;
    };

    std::string
    refusal(const std::string &method, const CrsMatrix<double> &A, const KrylovOptions &options, const Preconditions &M = nullptr, int k = 5)
    {
      try
        {
          make_krylov(method, A, options, k, M);
        }
      catch (const InvalidInput &error)
        {
          return error.what();
        }
      return "";
    }
  } // namespace

  TEST(Krylov, KeepsTheLastGoodSolutionOfAPreconditionerThatFails)
  {
    const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
    const Vector            b = random_vector(A.n_rows, 2);
    for (const std::string method : {"CG", "FGMRES", "GCR"})
      {
        const Solved failed = solved(*make_krylov(method, A, KrylovOptions(), 20, std::make_shared<Failing>(A.n_rows, 6)), b);
        EXPECT_FALSE(failed.result.converged);
        EXPECT_EQ(failed.result.reason, KrylovReason::not_finite) << method << " " << to_string(failed.result.reason);
        KrylovOptions six;
        six.max_iterations = 6;
        const Solved good  = solved(*make_krylov(method, A, six, 20), b);
        EXPECT_EQ(failed.x, good.x) << method;
      }
  }

  TEST(Krylov, RefusesWhatItCannotDo)
  {
    const CrsMatrix<double> A = five_point_matrix(5, 5, 0.1);
    for (const std::string method : {"CG", "FGMRES", "GCR"})
      {
        KrylovOptions wrong;
        wrong.tolerance = std::numeric_limits<double>::quiet_NaN();
        EXPECT_NE(refusal(method, A, wrong).find("tolerance is nan"), std::string::npos);
        wrong                = KrylovOptions();
        wrong.max_iterations = -1;
        EXPECT_NE(refusal(method, A, wrong).find("max_iterations is -1"), std::string::npos);
        wrong                    = KrylovOptions();
        wrong.absolute_tolerance = HUGE_VAL;
        EXPECT_NE(refusal(method, A, wrong).find("absolute_tolerance is inf"), std::string::npos);
        EXPECT_EQ(refusal(method, A, KrylovOptions(), nullptr, 0).find(" is 0\n") == std::string::npos, method == "CG"); // which has no directions

        EXPECT_NE(refusal(method, A, KrylovOptions(), std::make_shared<Failing>(7, 9)).find("7 rows"), std::string::npos);
        KrylovOptions cuda;
        cuda.backend = Backend::cuda;
        EXPECT_NE(refusal(method, A, cuda, std::make_shared<Failing>(25, 9)).find("works on the host"), std::string::npos);
        EXPECT_NE(refusal(method, A, cuda, std::make_shared<Failing>(25, 9, MemorySpace::device)).find("waits for the host"), std::string::npos);
        CrsMatrix<double> ghosts = A;
        ghosts.n_columns         = 30;
        EXPECT_NE(refusal(method, ghosts, KrylovOptions()).find("5 ghost columns"), std::string::npos);
      }
  }

  TEST(Krylov, RefusesPreconditionersWithGhosts)
  {
    EXPECT_THROW(make_preconditioner<double>(std::shared_ptr<Relaxation<double>>()), InvalidInput);
    EXPECT_THROW(make_preconditioner<double>(std::shared_ptr<Multigrid<double>>()), InvalidInput);
  }
} // namespace leopard
