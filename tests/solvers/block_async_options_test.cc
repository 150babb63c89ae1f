// SPDX-License-Identifier: Apache-2.0
// Weights, momentum, overlap, unequal blocks, storage and forms of execution.
#include "block_async_test.h"

#include <solvers/base/errors.h>
#include <solvers/matrix/generators.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

namespace leopard
{
  namespace
  {
    class Options : public BackendTest
    {
    };

    struct Variant
    {
      const char                              *name;
      std::function<void(BlockAsyncOptions &)> change;
    };

    /** For n rows, a multiple of 2000. Each leaves at least eight blocks of 12000 rows, for two threads on the host. */
    std::vector<Variant> variants(int n)
    {
      return {
        {"plain", [](BlockAsyncOptions &) {}},
        {"l1", [](BlockAsyncOptions &o) { o.l1_weights = true; }},
        {"block omega", [](BlockAsyncOptions &o) { o.block_omega = 1.2; }},
        {"both weights", [](BlockAsyncOptions &o) { o.l1_weights = true, o.block_omega = 1.3; }},
        {"omega", [](BlockAsyncOptions &o) { o.omega = 0.8; }},
        {"momentum", [](BlockAsyncOptions &o) { o.omega = 0.9, o.momentum = 0.3; }},
        {"uniform overlap", [](BlockAsyncOptions &o) { o.overlap = Overlap::uniform, o.overlap_percent = 25.; }},
        {"upward overlap", [](BlockAsyncOptions &o) { o.overlap = Overlap::upward, o.overlap_percent = 13.; }},
        {"downward overlap, momentum", [](BlockAsyncOptions &o) { o.overlap = Overlap::downward, o.overlap_percent = 50., o.momentum = 0.2; }},
        {"last block first", [](BlockAsyncOptions &o) { o.last_block_first = true, o.momentum = 0.1; }},
        {"last block first, overlap",
         [](BlockAsyncOptions &o) { o.last_block_first = true, o.overlap = Overlap::downward, o.overlap_percent = 25., o.l1_weights = true; }},
        {"unequal blocks",
         [n](BlockAsyncOptions &o) {
           for (int first = 0; first < n; first += 2000)
             for (const int offset : {0, 1, 130, 131, 600, 1111, 1999})
               o.block_offsets.push_back(first + offset);
           o.block_offsets.push_back(n);
         }},
        {"unequal iterations",
         [n](BlockAsyncOptions &o) {
           o.block_size = 500;
           for (int first = 0; first < n; first += 2000)
             for (const int k : {1, 7, 2, 5})
               o.local_iterations_per_block.push_back(k);
         }},
        {"large blocks with overlap", [](BlockAsyncOptions &o) { o.block_size = 1250, o.overlap = Overlap::uniform, o.overlap_percent = 40.; }},
        {"large blocks", [](BlockAsyncOptions &o) { o.block_size = 1500, o.momentum = 0.1, o.l1_weights = true, o.block_omega = 0.9; }},
        // on a GPU the kernel for blocks that do not fit in registers, with rows that belong to others
        {"large blocks with overlap", [](BlockAsyncOptions &o) { o.block_size = 700, o.overlap = Overlap::uniform, o.overlap_percent = 40.; }},
        {"large blocks with overlap above",
         [](BlockAsyncOptions &o) {
           o.block_size = 1100, o.overlap = Overlap::upward, o.overlap_percent = 60., o.momentum = 0.2, o.block_omega = 0.9;
         }},
      };
    }

    TEST_P(Options, EqualTheReferenceInTheSynchronousSchedule)
    {
      for_each_number([&](auto number) {
        using Number                                  = decltype(number);
        const std::vector<CrsMatrix<double>> matrices = {
          five_point_matrix(50, 40, 0.1), random_dominant_matrix(2000, 9, 0.9, 1), random_dominant_matrix(2000, 30, 0.9, 2)};
        for (const CrsMatrix<double> &A : matrices)
          for (const Variant &variant : variants(2000))
            {
              const Vector      b = random_vector(2000, 3), x0 = random_vector(2000, 4);
              BlockAsyncOptions o = options(Schedule::synchronous, 128, 3);
              variant.change(o);
              BlockAsync<Number> method(rounded_to<Number>(A), o);
              o.backend = Backend::reference;
              BlockAsync<Number> reference(rounded_to<Number>(A), o);
              Vector             x = x0, y = x0;
              for (const int n : {1, 3}) // velocities live on between calls
                {
                  iterate(method, x, b, n);
                  iterate(reference, y, b, n);
                }
              EXPECT_LT(largest_difference(x, y), bound<Number>(1e-12, 5e-6)) << variant.name << ", " << method.description();
              method.restart();
              reference.restart();
              iterate(method, x, b, 2);
              iterate(reference, y, b, 2);
              EXPECT_LT(largest_difference(x, y), bound<Number>(1e-12, 5e-6)) << variant.name << " after a restart";
            }
      });
    }

    TEST_P(Options, PersistentSynchronousFormEqualsTheReference)
    {
      for_each_number([&](auto number) {
        using Number = decltype(number);
        if (GetParam() != Backend::cuda)
          GTEST_SKIP() << "a form of the GPU";
        const CrsMatrix<double> A = random_dominant_matrix(2000, 9, 0.9, 1);
        const Vector            b = random_vector(2000, 3), x0 = random_vector(2000, 4);
        for (const Variant &variant : variants(2000))
          {
            BlockAsyncOptions o = options(Schedule::synchronous, 128, 3);
            variant.change(o);
            if (o.blocks(A.n_rows).largest() > 512)
              continue; // do not fit in registers
            BlockAsyncOptions persistent = o;
            persistent.execution         = Execution::persistent;
            BlockAsync<Number> method(rounded_to<Number>(A), persistent);
            o.backend = Backend::reference;
            BlockAsync<Number> reference(rounded_to<Number>(A), o);
            Vector             x = x0, y = x0, z = x0;
            for (const int n : {1, 3, 4})
              {
                iterate(method, x, b, n);
                iterate(reference, y, b, n);
              }
            EXPECT_LT(largest_difference(x, y), bound<Number>(1e-12, 5e-6)) << variant.name << ", " << method.description();
            method.restart();
            for (const int n : {1, 3, 4})
              iterate(method, z, b, n);
            EXPECT_EQ(x, z) << "not the same to the last bit, " << variant.name;
          }
      });
    }

    TEST_P(Options, EveryVariantConvergesInTheChaoticSchedule)
    {
      const int               n_rows  = GetParam() == Backend::host ? 12000 : 2000; // there at least two threads for each variant
      const CrsMatrix<double> A       = random_dominant_matrix(n_rows, 9, 0.7, 5);
      const Vector            x_exact = random_vector(n_rows, 6);
      Vector                  b(n_rows);
      multiply(A, x_exact.data(), b.data());
      for (const Variant &variant : variants(n_rows))
        {
          BlockAsyncOptions o = options(Schedule::chaotic, 128, 3);
          variant.change(o);
          BlockAsync<double> method(A, o);
          if (GetParam() == Backend::host)
            {
              EXPECT_EQ(method.description().find(" on 1 threads"), std::string::npos) << variant.name << ", " << method.description();
            }
          Vector x(n_rows, 0.);
          for (int n = 0; n < 10 && largest_difference(x, x_exact) > 1e-11; ++n) // a block may be done before another begins
            iterate(method, x, b, 100);
          EXPECT_LT(largest_difference(x, x_exact), 1e-11) << variant.name << ", " << method.description();
        }
    }

    TEST_P(Options, MomentumIsSecondOrderRichardson)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
      const Vector            b = random_vector(400, 7), x0 = random_vector(400, 8);
      BlockAsyncOptions       o = options(Schedule::synchronous, 512, 1);
      o.omega                   = 0.9;
      o.momentum                = 0.4;
      BlockAsync<double> method(A, o);
      Vector             x = x0, expected = x0, before = x0, product(400);
      iterate(method, x, b, 10);
      for (int n = 0; n < 10; ++n)
        {
          multiply(A, expected.data(), product.data());
          Vector next(400);
          for (int i = 0; i < 400; ++i)
            next[i] = expected[i] + o.omega / 4.1 * (b[i] - product[i]) + o.momentum * (expected[i] - before[i]);
          before   = expected;
          expected = next;
        }
      EXPECT_LT(largest_difference(x, expected), 1e-12);
    }

    TEST_P(Options, SolveStopsAndReports)
    {
      const CrsMatrix<double> A = five_point_matrix(64, 64, 0.1);
      const Vector            b(4096, 1.);
      for (const auto &[schedule, execution] : {std::pair(Schedule::chaotic, Execution::launch),
                                                std::pair(Schedule::chaotic, Execution::persistent),
                                                std::pair(Schedule::synchronous, Execution::persistent)})
        {
          BlockAsyncOptions o = options(schedule, 128, 5);
          o.execution         = execution;
          BlockAsync<double> method(A, o);
          StoppingCriteria   criteria;
          criteria.relative_tolerance = 1e-9;
          criteria.test_every         = 7;
          Vector            x(4096, 0.);
          const SolveResult result = solve_for(method, x, b, criteria);
          EXPECT_EQ(result.status, SolveStatus::converged);
          EXPECT_LE(residual_norm(A, x.data(), b.data()), 1e-9 * 64. * (1. + 1e-10));
          EXPECT_NEAR(result.final_residual, residual_norm(A, x.data(), b.data()), 1e-12);
          EXPECT_LE(result.min_iterations, result.mean_iterations + 1e-12);
          EXPECT_LE(result.mean_iterations, result.n_iterations + 1e-12);
          EXPECT_GT(result.min_iterations, 10);
          EXPECT_GE(result.history_residuals.size(), 4u);
          EXPECT_TRUE(std::is_sorted(result.history_iterations.begin(), result.history_iterations.end()));
          EXPECT_LT(result.convergence_factor(), 0.95);

          criteria.relative_tolerance = 1e-30;
          EXPECT_THROW(solve_for(method, x, b, criteria), InvalidInput);
        }
      // all row sums zero, and so no solution for b = 1: the residual ends at a constant
      CrsMatrix<double> singular = A;
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i)
            singular.values[p] = A.row_offsets[i + 1] - A.row_offsets[i] - 1.;
      {
        BlockAsync<double> method(singular, options(Schedule::chaotic, 128, 5));
        StoppingCriteria   criteria;
        criteria.relative_tolerance = 1e-9;
        criteria.max_iterations     = 100000;
        Vector      x(4096, 0.);
        SolveResult result;
        if (method.memory_space() == MemorySpace::host)
          result = solve(method, x.data(), b.data(), criteria);
        else
          {
            DeviceVector<double> device_x(4096), device_b(4096);
            device_b = 1.;
            result   = solve(method, device_x.data(), device_b.data(), criteria);
          }
        EXPECT_EQ(result.status, SolveStatus::stagnated);
        if (GetParam() != Backend::cuda) // where the host looks after 100 tests
          {
            const auto &h         = result.history_residuals;
            const auto  flat_from = std::find_if(h.begin(), h.end(), [&](double r) { return r <= h.back() * (1. + 1e-10); });
            EXPECT_LE(h.end() - flat_from, 40 * criteria.stagnation_tests); // on a busy machine it scatters, and is watched for longer
          }
      }
      CrsMatrix<double> bad = A;
      for (double &a : bad.values)
        a = a < 0. ? 1.5 * a : a;
      BlockAsyncOptions  o = options(Schedule::chaotic, 128, 5);
      BlockAsync<double> method(bad, o);
      Vector             x(4096, 0.);
      StoppingCriteria   criteria;
      criteria.relative_tolerance = 1e-9;
      if (method.memory_space() == MemorySpace::host)
        {
          const SolveResult result = solve(method, x.data(), b.data(), criteria);
          EXPECT_EQ(result.status, SolveStatus::diverged);
          EXPECT_LT(result.n_iterations, 300);
        }
      else
        {
          DeviceVector<double> device_x(4096), device_b(4096);
          device_b = 1.;
          EXPECT_EQ(solve(method, device_x.data(), device_b.data(), criteria).status, SolveStatus::diverged);
        }
    }

    /** The residual is reached that is claimed, as far as single precision goes. */
    TEST_P(Options, SolvesInSinglePrecision)
    {
      const CrsMatrix<double> A = five_point_matrix(64, 64, 0.1);
      const Vector            b(4096, 1.);
      for (const auto &[schedule, execution] : {std::pair(Schedule::chaotic, Execution::launch),
                                                std::pair(Schedule::chaotic, Execution::persistent),
                                                std::pair(Schedule::synchronous, Execution::persistent)})
        {
          BlockAsyncOptions o = options(schedule, 128, 5);
          o.execution         = execution;
          BlockAsync<float> method(rounded_to<float>(A), o);
          StoppingCriteria  criteria;
          criteria.relative_tolerance = 3e-5;
          Vector            x(4096, 0.);
          const SolveResult result = solve_for(method, x, b, criteria);
          EXPECT_EQ(result.status, SolveStatus::converged) << method.description();
          const double residual = residual_norm(A, x.data(), b.data());
          EXPECT_LE(residual, 3e-5 * 64. * 1.1) << method.description();
          EXPECT_NEAR(result.final_residual, residual, 1e-6 * 64.) << method.description();
        }
    }

    TEST_P(Options, ObjectsDoNotDisturbEachOther)
    {
      // both use the same kernels, the second with smaller blocks
      const CrsMatrix<double> A = random_dominant_matrix(20000, 6, 0.8, 3);
      const Vector            b = random_vector(20000, 1);
      for (const Execution execution : {Execution::launch, Execution::automatic})
        {
          BlockAsyncOptions o = options(Schedule::chaotic, 512, 2);
          o.execution         = execution;
          BlockAsync<double> large(A, o);
          o.block_size = 64;
          BlockAsync<double> small(A, o);
          Vector             x(20000, 0.), y(20000, 0.);
          for (int n = 0; n < 10; ++n)
            {
              iterate(large, x, b, 10);
              iterate(small, y, b, 10);
            }
          EXPECT_LT(largest_difference(x, y), 1e-8);
        }
    }

    TEST_P(Options, BlocksThatDoNotFit)
    {
      const CrsMatrix<double> A        = five_point_matrix(200, 200, 0.1);
      const auto              rejected = [&](const BlockAsyncOptions &o, const std::string &text) {
        try
          {
            BlockAsync<double> method(A, o);
            ADD_FAILURE() << "accepted: " << text;
          }
        catch (const InvalidInput &error)
          {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
          }
      };
      BlockAsyncOptions o = options(Schedule::chaotic, 40000, 1);
      if (GetParam() == Backend::cuda)
        {
          rejected(o, "bytes of shared memory");
          o.block_size = 16;
          o.execution  = Execution::persistent;
          rejected(o, "are on this GPU at once");
        }
      o               = options(Schedule::chaotic, 100, 1);
      o.block_offsets = {0, 500, 39999};
      rejected(o, "block_offsets end at 39999");
      o.block_offsets = {0, 500, 500, 40000};
      rejected(o, "block 1 has 0 rows");
      o.block_offsets              = {0, 500, 40000};
      o.local_iterations_per_block = {1, 2, 3};
      rejected(o, "one for each of the 2 blocks");
      o                 = options(Schedule::chaotic, 100, 1);
      o.overlap_percent = 95.;
      rejected(o, "overlap_percent is 95");
      o.overlap_percent = 0.;
      o.momentum        = 1.;
      rejected(o, "momentum is 1");
      o.momentum    = 0.;
      o.block_omega = 2.;
      rejected(o, "block_omega is 2");
      for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY), -1.})
        for (const auto &[option, name] : {std::pair(&BlockAsyncOptions::omega, "omega is "),
                                           std::pair(&BlockAsyncOptions::block_omega, "block_omega is "),
                                           std::pair(&BlockAsyncOptions::momentum, "momentum is "),
                                           std::pair(&BlockAsyncOptions::overlap_percent, "overlap_percent is ")})
          {
            o         = options(Schedule::chaotic, 100, 1);
            o.*option = bad;
            rejected(o, name);
          }
    }

    /** Whether the map b -> x that is said to be symmetric is so, and what is not symmetric is not said to be. */
    TEST_P(Options, SymmetricMapsAreSymmetric)
    {
      const CrsMatrix<double> A = five_point_matrix(10, 8, 0.1);
      const int               n = A.n_rows;
      for (const std::string name : {"plain", "l1", "chaotic", "momentum", "overlap"})
        {
          BlockAsyncOptions o = options(name == "chaotic" ? Schedule::chaotic : Schedule::synchronous, 16, 3);
          o.l1_weights        = name == "l1";
          o.momentum          = name == "momentum" ? 0.3 : 0.;
          o.overlap           = name == "overlap" ? Overlap::uniform : Overlap::none;
          o.overlap_percent   = name == "overlap" ? 40. : 0.;
          BlockAsync<double> method(A, o);
          EXPECT_EQ(method.is_symmetric_map(), name == "plain" || name == "l1") << name;
          if (!method.is_symmetric_map())
            continue;
          std::vector<Vector> columns;
          for (int j = 0; j < n; ++j)
            {
              Vector x(n, 0.), unit(n, 0.);
              unit[j] = 1.;
              method.restart();
              iterate(method, x, unit, 2);
              columns.push_back(x);
            }
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < i; ++j)
              ASSERT_NEAR(columns[i][j], columns[j][i], 1e-13) << name;
        }
    }

    INSTANTIATE_TEST_SUITE_P(BlockAsync, Options, testing::Values(Backend::reference, Backend::host, Backend::cuda), backend_name);

    TEST(Storage, IsLosslessOrRefused)
    {
      EXPECT_EQ(choose_storage<double>(Storage::automatic, true, false, false, 0.1), Storage::dictionary);
      EXPECT_EQ(choose_storage<double>(Storage::automatic, false, true, false, 0.), Storage::single_precision);
      EXPECT_EQ(choose_storage<double>(Storage::automatic, false, false, false, 0.1), Storage::double_precision);
      EXPECT_EQ(choose_storage<double>(Storage::double_precision, true, true, false, 0.), Storage::double_precision);
      EXPECT_EQ(choose_storage<double>(Storage::single_precision, true, true, false, 0.), Storage::single_precision);
      EXPECT_THROW(choose_storage<double>(Storage::dictionary, false, true, false, 0.), InvalidInput);
      EXPECT_THROW(choose_storage<double>(Storage::single_precision, true, false, false, 0.1), InvalidInput);
    }

    /** As they are, which options that are meant for doubles call double, or by a dictionary. */
    TEST(Storage, OfFloatsIsSingleOrADictionary)
    {
      EXPECT_EQ(choose_storage<float>(Storage::automatic, true, true, false, 0.), Storage::dictionary);
      EXPECT_EQ(choose_storage<float>(Storage::automatic, false, true, false, 0.), Storage::single_precision);
      EXPECT_EQ(choose_storage<float>(Storage::automatic, false, true, true, 0.), Storage::bfloat16);
      EXPECT_EQ(choose_storage<float>(Storage::bfloat16, true, true, true, 0.), Storage::bfloat16);
      EXPECT_THROW(choose_storage<float>(Storage::bfloat16, true, true, false, 0.), InvalidInput);
      EXPECT_THROW(choose_storage<double>(Storage::bfloat16, true, true, true, 0.), InvalidInput);
      EXPECT_EQ(choose_storage<double>(Storage::automatic, false, true, true, 0.), Storage::single_precision);
      for (const Storage wanted : {Storage::double_precision, Storage::single_precision})
        EXPECT_EQ(choose_storage<float>(wanted, true, true, false, 0.), Storage::single_precision);
      try
        {
          choose_storage<float>(Storage::dictionary, false, true, false, 0.);
          ADD_FAILURE();
        }
      catch (const InvalidInput &error)
        {
          EXPECT_NE(std::string(error.what()).find("expected: storage automatic or single"), std::string::npos) << error.what();
        }
    }

    TEST(Storage, FormsOfFloatsOnTheGpuGiveTheSameAndCanChange)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      for (const CrsMatrix<double> &A : {five_point_matrix(60, 50, 0.25), random_dominant_matrix(3000, 8, 0.9, 9)})
        for (const Storage storage : {Storage::double_precision, Storage::automatic, Storage::single_precision})
          for (const int block_size : {96, 512, 1024})
            {
              const Vector      b = random_vector(3000, 1);
              BlockAsyncOptions o;
              o.backend    = Backend::cuda;
              o.schedule   = Schedule::synchronous;
              o.block_size = block_size;
              o.storage    = storage;
              BlockAsync<float> method(rounded_to<float>(A), o);
              const bool        as_they_are = method.description().find("stored as single") != std::string::npos;
              EXPECT_EQ(as_they_are, storage != Storage::automatic || A.n_entries() > 20000) << method.description();
              o.backend = Backend::reference;
              BlockAsync<float> reference(rounded_to<float>(A), o);
              Vector            x(3000, 0.), y = x;
              iterate(method, x, b, 4);
              iterate(reference, y, b, 4);
              EXPECT_LT(largest_difference(x, y), 5e-6) << method.description();
              std::vector<float> changed = rounded_to<float>(A).values;
              for (std::size_t p = 0; p < changed.size(); ++p)
                changed[p] *= 1.f + 0.01f * static_cast<float>(p % 7);
              if (!as_they_are)
                {
                  EXPECT_THROW(method.update_values(changed.data()), InvalidInput);
                  continue;
                }
              method.update_values(changed.data());
              reference.update_values(changed.data());
              iterate(method, x, b, 4);
              iterate(reference, y, b, 4);
              EXPECT_LT(largest_difference(x, y), 5e-6) << method.description();
            }
    }

    TEST(Storage, AllFormsOnTheGpuGiveTheSame)
    {
      if (device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      CrsMatrix<double> scattered = random_dominant_matrix(3000, 8, 0.9, 9); // doubles, 16-bit columns
      for (double &a : scattered.values)
        a = static_cast<float>(a); // singles
      for (const auto &[A, refused] :
           {std::pair(five_point_matrix(60, 50, 0.25), std::vector<Storage>{}),
            std::pair(scattered, std::vector<Storage>{Storage::dictionary}),
            std::pair(random_dominant_matrix(3000, 8, 0.9, 9), std::vector<Storage>{Storage::dictionary, Storage::single_precision})})
        {
          const Vector b = random_vector(3000, 1);
          Vector       expected;
          for (const Storage storage : {Storage::double_precision, Storage::automatic, Storage::single_precision, Storage::dictionary})
            for (const int block_size : {96, 512, 1024})
              {
                BlockAsyncOptions o;
                o.backend    = Backend::cuda;
                o.schedule   = Schedule::synchronous;
                o.block_size = block_size;
                o.storage    = storage;
                if (std::find(refused.begin(), refused.end(), storage) != refused.end())
                  {
                    EXPECT_THROW(BlockAsync<double>(A, o), InvalidInput);
                    continue;
                  }
                BlockAsync<double> method(A, o);
                if (storage != Storage::automatic)
                  {
                    EXPECT_NE(method.description().find("stored as " + to_string(storage)), std::string::npos) << method.description();
                  }
                Vector x(3000, 0.);
                iterate(method, x, b, 4);
                o.backend = Backend::reference;
                BlockAsync<double> reference(A, o);
                Vector             y(3000, 0.);
                iterate(reference, y, b, 4);
                EXPECT_LT(largest_difference(x, y), 1e-13) << method.description();
              }
        }
    }

    TEST(Blocks, PartitionsArePermutationsOfFittingBlocks)
    {
      const CrsMatrix<double> A = five_point_matrix(40, 30, 0.1);
      std::vector<double>     coordinates;
      for (int i = 0; i < 1200; ++i)
        coordinates.insert(coordinates.end(), {static_cast<double>(i % 40), static_cast<double>(i / 40)});
      std::size_t contiguous_cut = 0;
      const auto  cut            = [&](const Partition &p) {
        const CrsMatrix<double> P = permute(A, p);
        std::vector<int>        block(P.n_rows);
        for (std::size_t j = 0; j + 1 < p.block_offsets.size(); ++j)
          std::fill(block.begin() + p.block_offsets[j], block.begin() + p.block_offsets[j + 1], static_cast<int>(j));
        std::size_t n = 0;
        for (int i = 0; i < P.n_rows; ++i)
          for (int e = P.row_offsets[i]; e < P.row_offsets[i + 1]; ++e)
            n += block[i] != block[P.columns[e]];
        return n;
      };
      contiguous_cut = cut(contiguous_partition(1200, 100));
      for (const Partition &p : {tile_partition(40, 30, 1, 10, 10, 1),
                                 coordinate_partition(coordinates, 2, 100),
                                 coordinate_partition(coordinates, 2, 100, 1, true),
                                 metis_partition(A, 100),
                                 rcm_partition(A, 100)})
        {
          std::vector<int> sorted = p.old_row;
          std::sort(sorted.begin(), sorted.end());
          for (int i = 0; i < 1200; ++i)
            ASSERT_EQ(sorted[i], i);
          EXPECT_LE(blocks_between(p.block_offsets).largest(), 100);
          EXPECT_EQ(p.block_offsets.back(), 1200);
          const Vector v = random_vector(1200, 1);
          EXPECT_EQ(permute_back(permute(v, p), p), v);
          // P A P^T (P v) = P (A v)
          Vector product(1200), permuted_product(1200);
          multiply(A, v.data(), product.data());
          multiply(permute(A, p), permute(v, p).data(), permuted_product.data());
          EXPECT_LT(largest_difference(permuted_product, permute(product, p)), 1e-14);
        }
      EXPECT_LT(cut(tile_partition(40, 30, 1, 10, 10, 1)), contiguous_cut * 6 / 10);
      EXPECT_LT(cut(metis_partition(A, 100)), contiguous_cut * 6 / 10);
    }

    /** 64 x 64 nodes in tiles of 16 x 16: the others are 8 further, those at the boundary halves and quarters. */
    TEST(BlockShapes, ShiftedTilesHaveTheirMiddlesAtTheCorners)
    {
      Vector coordinates;
      for (int i = 0; i < 64 * 64; ++i)
        coordinates.insert(coordinates.end(), {0.5 + i % 64, 1. * (i / 64)});
      const Partition  shifted = coordinate_partition(coordinates, 2, 256, 1, true);
      std::vector<int> tile(64 * 64);
      for (std::size_t t = 0; t + 1 < shifted.block_offsets.size(); ++t)
        for (int i = shifted.block_offsets[t]; i < shifted.block_offsets[t + 1]; ++i)
          tile[shifted.old_row[i]] = static_cast<int>(t);
      EXPECT_EQ(shifted.block_offsets.size(), 25u + 1);
      for (int i = 0; i < 64 * 64; ++i)
        for (int j : {i - 1, i - 64})
          if (j >= 0 && (j == i - 64 || i % 64 > 0))
            {
              EXPECT_EQ(tile[i] != tile[j], j == i - 1 ? i % 64 % 16 == 8 : i / 64 % 16 == 8) << i << ", " << j;
            }
    }

    /** Of points in any place: no tile has more rows than it may, and rows are not lost. */
    TEST(BlockShapes, ShiftedTilesOfAnyPoints)
    {
      std::mt19937                           random(5);
      std::uniform_real_distribution<double> number(0., 1.);
      for (const int dim : {1, 2, 3})
        for (const int n : {1, 2, 255, 257, 3000})
          for (const double power : {1., 6.}) // gathered in a corner
            {
              Vector coordinates(static_cast<std::size_t>(n) * dim);
              for (double &x : coordinates)
                x = std::pow(number(random), power);
              const Partition  shifted = coordinate_partition(coordinates, dim, 32, 1, true);
              std::vector<int> sorted  = shifted.old_row;
              std::sort(sorted.begin(), sorted.end());
              for (int i = 0; i < n; ++i)
                ASSERT_EQ(sorted[i], i);
              EXPECT_LE(blocks_between(shifted.block_offsets).largest(), 32);
              EXPECT_EQ(shifted.block_offsets.back(), n);
            }
      for (const Vector &one_place : {Vector(200, 1.), Vector(2, 1.)})
        EXPECT_LE(blocks_between(coordinate_partition(one_place, 2, 32, 1, true).block_offsets).largest(), 32);
    }
  } // namespace
} // namespace leopard
