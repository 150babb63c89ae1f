// SPDX-License-Identifier: Apache-2.0
// Levels for systems that the device makes, against those of the host.
#include "systems_test.h"

#include <solvers/device/device.h>
#include <solvers/matrix/sparse_product.h>
#include <solvers/multigrid/device_aggregation.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace leopard
{
  namespace
  {
    struct System
    {
      std::string        name;
      CrsMatrix<double>  A;
      AggregationOptions options;
    };

    /**
     * Elasticity with and without rotations and supports, bars that leave aggregates of lower rank, and nodes of one
     * unknown.
     */
    std::vector<System> systems()
    {
      std::vector<System> result;
      for (const Elasticity &problem : {Elasticity{2, {40, 30, 0}},
                                        Elasticity{3, {12, 11, 10}},
                                        Elasticity{2, {60, 60, 0}, {1., 8., 1.}},
                                        Elasticity{3, {9, 9, 9}, {1., 1., 1.}, false}})
        {
          const std::string name = std::to_string(problem.dim) + "D" + (problem.clamped ? "" : ", free");
          result.push_back({name, problem.matrix(), with_rotations(problem)});
          result.push_back({name + ", constants", problem.matrix(), blocks_of(problem)});
        }
      const Network bars({12, 12, 12}, 1.), jumps({30, 10, 3}, 100.);
      result.push_back({"bars", bars.A, bars.options()});
      result.push_back({"bars with jumps", jumps.A, jumps.options()});
      result.push_back({"rows that are nodes", result[0].A, result[0].options});
      result.back().options.block_unknowns = 1;
      for (System &system : result)
        system.options.max_coarse = 60;
      return result;
    }

    class DeviceSystems : public testing::Test
    {
    protected:
      void SetUp() override
      {
        if (device::n_devices() == 0)
          GTEST_SKIP() << "no GPU";
      }
    };

    /** Aggregates by the first unknowns on the coarser level, as numbers from 0. */
    std::vector<int> numbered(const device::Array<int> &of_row, int &n)
    {
      std::vector<int> result(of_row.size());
      device::copy_to_host(result.data(), of_row.data(), result.size() * sizeof(int));
      std::vector<int> firsts = result;
      std::sort(firsts.begin(), firsts.end());
      firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
      firsts.erase(std::remove(firsts.begin(), firsts.end(), -1), firsts.end());
      n = static_cast<int>(firsts.size());
      for (int &a : result)
        a = a == -1 ? -1 : static_cast<int>(std::lower_bound(firsts.begin(), firsts.end(), a) - firsts.begin());
      return result;
    }

    double entry(const CrsMatrix<double> &A, int i, int j)
    {
      const auto begin = A.columns.begin() + A.row_offsets[i], end = A.columns.begin() + A.row_offsets[i + 1], found = std::find(begin, end, j);
      return found == end ? 0. : A.values[found - A.columns.begin()];
    }

    /**
     * P of the same aggregates. P - P_0 is proportional to omega, which an estimate of an eigenvalue decides, here and
     * there another one.
     */
    TEST_F(DeviceSystems, ProlongationsAreThoseOfTheHost)
    {
      for (const System &system : systems())
        {
          const std::vector<device::AggregationLevel> levels = device::aggregation_levels(device::to_device(system.A), system.options);
          ASSERT_GE(levels.size(), 2u) << system.name;
          for (std::size_t l = 1; l < levels.size(); ++l)
            {
              SCOPED_TRACE(system.name + ", level " + std::to_string(l) + " of " + std::to_string(levels.size()));
              const CrsMatrix<double> A = device::to_host(levels[l].matrix), P = device::to_host(levels[l].prolongation);
              const NearNullSpace     space = device::to_host(levels[l].near_null), coarse = device::to_host(levels[l - 1].near_null);
              Aggregates              aggregates    = aggregate(A, system.options.strength, 1, space);
              aggregates.of_row                     = numbered(levels[l].of_row, aggregates.n);
              const TentativeProlongation tentative = tentative_prolongation(aggregates.of_row, aggregates.n, space);
              const CrsMatrix<double>    &P_0       = tentative.prolongation;
              const CrsMatrix<double>     expected  = smoothed_prolongation(aggregates, tentative);
              ASSERT_EQ(P.n_columns, expected.n_columns);
              ASSERT_EQ(coarse.first_row, tentative.coarse.first_row);
              ASSERT_EQ(coarse.values.size(), tentative.coarse.values.size());
              for (std::size_t q = 0; q < coarse.values.size(); ++q)
                ASSERT_NEAR(coarse.values[q], tentative.coarse.values[q], 1e-9) << q;
              double with_itself = 0., with_other = 0.;
              for (int i = 0; i < P.n_rows; ++i)
                for (int p = expected.row_offsets[i]; p < expected.row_offsets[i + 1]; ++p)
                  {
                    const int    j = expected.columns[p];
                    const double m = expected.values[p] - entry(P_0, i, j);
                    with_itself += m * m;
                    with_other += m * (entry(P, i, j) - entry(P_0, i, j));
                  }
              const double factor = with_other / with_itself;
              EXPECT_GT(factor, 0.8);
              EXPECT_LT(factor, 1.25);
              for (int i = 0; i < P.n_rows; ++i)
                {
                  EXPECT_LE(expected.row_offsets[i + 1] - expected.row_offsets[i], P.row_offsets[i + 1] - P.row_offsets[i]) << i;
                  for (int p = P.row_offsets[i]; p < P.row_offsets[i + 1]; ++p)
                    {
                      const int    j  = P.columns[p];
                      const double p0 = entry(P_0, i, j);
                      ASSERT_NEAR(P.values[p] - p0, factor * (entry(expected, i, j) - p0), 1e-8) << i << ", " << j;
                    }
                }
            }
        }
    }

    TEST_F(DeviceSystems, CoarseMatricesAreGalerkins)
    {
      for (const System &system : systems())
        {
          const std::vector<device::AggregationLevel> levels = device::aggregation_levels(device::to_device(system.A), system.options);
          for (std::size_t l = 1; l < levels.size(); ++l)
            {
              const CrsMatrix<double> A = device::to_host(levels[l].matrix), P = device::to_host(levels[l].prolongation),
                                      coarse = device::to_host(levels[l - 1].matrix);
              const Vector x                 = random_vector(coarse.n_rows, 3);
              Vector       Px(A.n_rows), APx(A.n_rows), expected(coarse.n_rows), found(coarse.n_rows);
              multiply(P, x.data(), Px.data());
              multiply(A, Px.data(), APx.data());
              multiply(transpose(P), APx.data(), expected.data());
              multiply(coarse, x.data(), found.data());
              EXPECT_LE(norm(found - expected), 1e-11 * norm(expected)) << system.name << ", " << l;
            }
        }
    }

    /** For a b in the range of A. */
    int iterations(const System &system, Backend backend, const std::string &smoother)
    {
      MultigridOptions cycles = v_cycle(backend);
      cycles.smoother.method  = smoother;
      Vector b(system.A.n_rows);
      multiply(system.A, random_vector(system.A.n_rows, 7).data(), b.data());
      EXPECT_EQ(Multigrid<double>(system.A, system.options, cycles).description().find("made on the host"), std::string::npos);
      return iterations_of_cg(system.A, system.options, cycles, b);
    }

    TEST_F(DeviceSystems, AreSolvedInAFewMoreIterationsThanByTheHosts)
    {
      for (const System &system : systems())
        {
          const int on_host = iterations(system, Backend::host, "chebyshev");
          EXPECT_LE(iterations(system, Backend::cuda, "chebyshev"), 1.6 * on_host + 3) << system.name << ": " << on_host;
          EXPECT_LE(iterations(system, Backend::cuda, "async"), 2.5 * on_host + 10) << system.name << ": " << on_host;
        }
    }
  } // namespace
} // namespace leopard
