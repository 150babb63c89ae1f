// SPDX-License-Identifier: Apache-2.0
// Several GPUs that wait for one another have the bits of one; two-stage classes on several GPUs.
#include "block_async_test.h"
#include "several_gpus_parts.h"
#include <solvers/base/errors.h>
#include <solvers/distributed/gpus/several_gpus.h>
#include <solvers/matrix/generators.h>
#include <vector>

namespace leopard
{
  namespace
  {
    class SeveralGpusLikeOne : public testing::Test
    {
    protected:
      void SetUp() override
      {
        if (device::n_devices() == 0)
          GTEST_SKIP() << "no GPU here";
      }
    };

    /** x after n global iterations of BlockAsync on one GPU, from x. */
    template <typename Matrix>
    Vector on_one_gpu(const Matrix &A, const BlockAsyncOptions &options, Vector x, const Vector &b, int n)
    {
      BlockAsync<double>   one(A, options);
      DeviceVector<double> device_x(x.size()), device_b(b.size());
      device_x.copy_from_host(x.data());
      device_b.copy_from_host(b.data());
      one.iterate(device_x.data(), device_b.data(), n);
      device_x.copy_to_host(x.data());
      return x;
    }

    /** Each row adds its entries in the same order, with values of the same iteration. */
    TEST_F(SeveralGpusLikeOne, WaitingAndSynchronousTheyHaveTheBitsOfOne)
    {
      BlockAsyncOptions o;
      o.backend          = Backend::cuda;
      o.schedule         = Schedule::synchronous;
      o.execution        = Execution::launch; // as GPUs that wait have
      o.block_size       = 96;
      o.local_iterations = 3;
      for (const CrsMatrix<double> &A : {random_dominant_matrix(4000, 7, 1.2, 6), five_point_matrix(96, 80, 0.2)})
        {
          const Vector b = random_vector(A.n_rows, 2), start = random_vector(A.n_rows, 3), wanted = on_one_gpu(A, o, start, b, 7);
          for (const int n_parts : {1, 2, 3, 4})
            {
              Vector x = start;
              make_several_gpus(A, o, parts_on_gpus(n_parts, GpuExchange::halo, true))->iterate(x.data(), b.data(), 7);
              EXPECT_EQ(x, wanted) << n_parts << " parts of " << A.n_rows << " rows";
            }
        }
      // slabs that begin where tiles do
      for (const Stencil<double> &stencil : {five_point_stencil(150, 170, 0.3),
                                             nine_point_stencil(150, 170, 0.3),
                                             seven_point_stencil(40, 30, 50, 0.5),
                                             twenty_seven_point_stencil(40, 30, 50, 0.5)})
        for (const int k : {1, 5})
          {
            o.local_iterations = k;
            const int    n     = stencil.n_rows();
            const Vector b = random_vector(n, 2), start = random_vector(n, 3), wanted = on_one_gpu(stencil, o, start, b, 7);
            for (const int n_parts : {1, 2, 3})
              {
                Vector x = start;
                make_several_gpus(stencil, o, parts_on_gpus(n_parts, GpuExchange::halo, true))->iterate(x.data(), b.data(), 7);
                EXPECT_EQ(x, wanted) << n_parts << " slabs of " << n << " rows, k = " << k << ", difference " << largest_difference(x, wanted);
              }
          }
      // less than a tile each: with one local iteration tiles do not matter but for the order of sums
      o.local_iterations            = 1;
      const Stencil<double> stencil = five_point_stencil(150, 50, 0.3);
      const Vector          b = random_vector(7500, 2), start = random_vector(7500, 3);
      Vector                x = start;
      make_several_gpus(stencil, o, parts_on_gpus(3, GpuExchange::halo, true))->iterate(x.data(), b.data(), 7);
      EXPECT_LT(largest_difference(x, on_one_gpu(stencil, o, start, b, 7)), 1e-13);
    }

    struct TwoStageWay
    {
      TwoStage    kind;
      GpuExchange exchange;
      bool        waits;
    };

    const std::vector<TwoStageWay> two_stage_ways = {{TwoStage::inner, GpuExchange::halo, true},
                                                     {TwoStage::outer, GpuExchange::halo, true},
                                                     {TwoStage::total, GpuExchange::halo, true},
                                                     {TwoStage::outer, GpuExchange::halo, false},
                                                     {TwoStage::total, GpuExchange::halo, false},
                                                     {TwoStage::outer, GpuExchange::amc, false},
                                                     {TwoStage::total, GpuExchange::amc, false},
                                                     {TwoStage::outer, GpuExchange::dc, false},
                                                     {TwoStage::total, GpuExchange::dc, false},
                                                     {TwoStage::outer, GpuExchange::dk, false},
                                                     {TwoStage::total, GpuExchange::dk, false}};

    BlockAsyncOptions of_class(TwoStage kind)
    {
      BlockAsyncOptions o;
      o.backend    = Backend::cuda;
      o.two_stage  = kind;
      o.schedule   = kind == TwoStage::inner ? Schedule::synchronous : Schedule::chaotic;
      o.block_size = 100;
      return o;
    }

    /** ||B||_inf <= 0.9, so that each waited iteration takes the error down by that, whatever the order of rows. */
    TEST_F(SeveralGpusLikeOne, TwoStageClassesContractAndSolve)
    {
      const CrsMatrix<double> A       = random_dominant_matrix(3000, 8, 0.9, 7);
      const Vector            x_exact = random_vector(A.n_rows, 8);
      Vector                  b(A.n_rows);
      multiply(A, x_exact.data(), b.data());
      for (const TwoStageWay &way : two_stage_ways)
        for (const int n_parts : {1, 2, 3})
          {
            SCOPED_TRACE(to_string(way.kind) + ", " + to_string(way.exchange) + (way.waits ? ", waiting, " : ", ") + std::to_string(n_parts) +
                         " parts");
            const auto gpus = make_several_gpus(A, of_class(way.kind), parts_on_gpus(n_parts, way.exchange, way.waits));
            Vector     x(A.n_rows, 0.);
            for (double bound = largest_difference(x, x_exact); way.waits && bound > 1e-4; bound *= 0.9)
              {
                ASSERT_LE(largest_difference(x, x_exact), bound * (1. + 1e-12));
                gpus->iterate(x.data(), b.data(), 1);
              }
            StoppingCriteria criteria;
            criteria.relative_tolerance = 1e-11;
            criteria.max_iterations     = 20000;
            x.assign(A.n_rows, 0.);
            const SolveResult result = solve(*gpus, x.data(), b.data(), criteria);
            EXPECT_EQ(result.status, SolveStatus::converged) << gpus->description();
            EXPECT_LT(largest_difference(x, x_exact), 1e-9);
          }
    }
  } // namespace
} // namespace leopard
