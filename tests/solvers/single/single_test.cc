// SPDX-License-Identifier: Apache-2.0
// Matrix, relaxations, multigrid cycle and GCR in single precision beside double: results agree as far as single
// precision goes, and no further. That nothing on the way is computed in double is for the compiler, see
// CMakeLists.txt.
#include <solvers/krylov/gcr.h>
#include <solvers/matrix/stencil.h>
#include <solvers/multigrid/multigrid.h>
#include <solvers/relaxation/methods.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace leopard
{
  namespace
  {
    const Stencil<double> stencil = five_point_stencil(31, 31, 0.1);

    template <typename Number>
    std::vector<Number> right_hand_side()
    {
      std::mt19937_64                        random(1);
      std::uniform_real_distribution<double> value(-1., 1.);
      std::vector<double>                    b(stencil.n_rows());
      std::generate(b.begin(), b.end(), [&] { return value(random); });
      return rounded_to<Number>(b);
    }

    /** That single agrees with x to single precision, and is not double in disguise. */
    void expect_single_precision(const std::vector<float> &single, const std::vector<double> &x, const std::string &of_what)
    {
      ASSERT_EQ(single.size(), x.size());
      double difference = 0., largest = 0.;
      for (std::size_t i = 0; i < x.size(); ++i)
        {
          ASSERT_TRUE(std::isfinite(single[i])) << of_what;
          difference = std::max(difference, std::abs(static_cast<double>(single[i]) - x[i]));
          largest    = std::max(largest, std::abs(x[i]));
        }
      EXPECT_LT(difference, 2e-5 * largest) << of_what;
      EXPECT_GT(difference, 1e-8 * largest) << of_what; // rounding once alone is 3e-8
    }

    template <typename Number>
    std::vector<Number> relaxed(Relaxation<Number> &relaxation)
    {
      const std::vector<Number> b = right_hand_side<Number>();
      std::vector<Number>       x(b.size(), Number(0));
      relaxation.restart();
      relaxation.iterate(x.data(), b.data(), 12);
      return x;
    }

    TEST(Single, EveryMethodAgreesWithDouble)
    {
      const CrsMatrix<double> A       = stencil.to_crs();
      const CrsMatrix<float>  A_float = rounded_to<float>(A);
      const Stencil<float>    s_float = rounded_to<float>(stencil);
      for (const Schedule schedule : {Schedule::synchronous, Schedule::replay})
        for (const Method *method : methods())
          for (const Backend backend : {Backend::reference, Backend::host})
            {
              BlockAsyncOptions blocks;
              blocks.schedule   = schedule;
              blocks.block_size = 50;
              MethodOptions options;
              options.backend         = backend;
              options.block_async     = &blocks;
              options.chebyshev.ratio = 10.;
              expect_single_precision(relaxed(*method->make(A_float, options)), relaxed(*method->make(A, options)), method->name);
              if (method->make_of_stencil)
                expect_single_precision(
                  relaxed(*method->make_of_stencil(s_float, options)), relaxed(*method->make_of_stencil(stencil, options)), method->name);
            }
    }

    TEST(Single, WeightsMomentumAndOverlapOfBlocksAgreeWithDouble)
    {
      BlockAsyncOptions options;
      options.backend         = Backend::reference;
      options.block_size      = 60;
      options.overlap         = Overlap::uniform;
      options.overlap_percent = 20.;
      options.omega           = 0.9;
      options.block_omega     = 0.95;
      options.l1_weights      = true;
      options.momentum        = 0.3;
      for (const Backend backend : {Backend::reference, Backend::host})
        {
          options.backend  = backend;
          options.schedule = Schedule::synchronous;
          BlockAsync<double> method(stencil.to_crs(), options);
          BlockAsync<float>  single(rounded_to<float>(stencil.to_crs()), options);
          expect_single_precision(relaxed(single), relaxed(method), to_string(backend));
        }
    }

    template <typename Number>
    Multigrid<Number> make_multigrid(bool stored)
    {
      MultigridOptions options;
      options.n_threads                     = 1;
      options.smoother.block_async.schedule = Schedule::synchronous;
      return stored ? Multigrid<Number>(make_hierarchy(stencil, 3), options) : Multigrid<Number>(stencil, 3, options);
    }

    TEST(Single, CyclesAgreeWithDouble)
    {
      for (const bool stored : {true, false})
        {
          const auto solution = [&](auto number) {
            using Number                = decltype(number);
            Multigrid<Number>         m = make_multigrid<Number>(stored);
            const std::vector<Number> b = right_hand_side<Number>();
            std::vector<Number>       x(b.size(), Number(0));
            StoppingCriteria          until;
            until.relative_tolerance = 1e-5;
            EXPECT_EQ(m.solve(x.data(), b.data(), until).status, SolveStatus::converged);
            m.cycle(x.data(), b.data());
            return x;
          };
          expect_single_precision(solution(float()), solution(double()), stored ? "stored" : "stencil");
        }
    }

    /** Vectors in one piece. */
    struct OnePiece
    {
      long n;

      int n_pieces() const { return 1; }
      template <typename F>
      void for_ranges(const F &f) const
      {
        f(0l, n, 0);
      }
      void sum_over_ranks(double * /*values*/, int /*n*/) const {}
    };

    /** GCR, preconditioned by a cycle. */
    template <typename Number>
    std::vector<Number> solved_by_gcr()
    {
      Multigrid<Number>       multigrid = make_multigrid<Number>(true);
      const CrsMatrix<Number> A         = rounded_to<Number>(stencil.to_crs());
      std::vector<Number>     r         = right_hand_side<Number>(), x(r.size(), Number(0));
      OnePiece                space{A.n_rows};
      Gcr<OnePiece, Number>   gcr;
      gcr.allocate(space, r.size(), 4);
      const int n = gcr.solve(
        space,
        x,
        r,
        1e-5,
        20,
        [&](const std::vector<Number> &v, std::vector<Number> &result) { multiply(A, v.data(), result.data()); },
        [&](std::vector<Number> &z, const std::vector<Number> &residual) { multigrid.vmult(z.data(), residual.data()); });
      EXPECT_LE(n, 8);
      EXPECT_LT(residual_norm(A, x.data(), right_hand_side<Number>().data()), 1e-4);
      return x;
    }

    TEST(Single, GcrWithCyclesAgreesWithDouble)
    {
      expect_single_precision(solved_by_gcr<float>(), solved_by_gcr<double>(), "GCR");
    }
  } // namespace
} // namespace leopard
