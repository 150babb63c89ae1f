// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/block_async/block_async.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace leopard
{
  /** How GoogleTest shows a backend. */
  inline void PrintTo(Backend backend, std::ostream *stream) // NOLINT(readability-identifier-naming): GoogleTest's name
  {
    *stream << to_string(backend);
  }

  using Vector = std::vector<double>;

  inline Vector random_vector(int n, unsigned int seed)
  {
    std::mt19937_64                        random(seed);
    std::uniform_real_distribution<double> value(-1., 1.);
    Vector                                 v(n);
    for (double &x : v)
      x = value(random);
    return v;
  }

  /** The larger number, or what is no number, which std::max() may forget. */
  inline double larger_or_nan(double a, double b)
  {
    return std::isnan(a) || a > b ? a : b;
  }

  /** Not a number if an entry is none, infinite for vectors of different lengths. */
  inline double largest_difference(const Vector &a, const Vector &b)
  {
    double difference = a.size() == b.size() ? 0. : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      difference = larger_or_nan(difference, std::abs(a[i] - b[i]));
    return difference;
  }

  /** iterate() with host vectors, wherever the relaxation computes. */
  inline void iterate(Relaxation<double> &relaxation, Vector &x, const Vector &b, int n)
  {
    if (relaxation.memory_space() == MemorySpace::host)
      {
        relaxation.iterate(x.data(), b.data(), n);
        return;
      }
    DeviceVector<double> device_x(x.size()), device_b(b.size());
    device_x.copy_from_host(x.data());
    device_b.copy_from_host(b.data());
    relaxation.iterate(device_x.data(), device_b.data(), n);
    device_x.copy_to_host(x.data());
  }

  /** solve() with host vectors, wherever the relaxation computes. */
  inline SolveResult solve_for(Relaxation<double> &relaxation, Vector &x, const Vector &b, const StoppingCriteria &criteria)
  {
    if (relaxation.memory_space() == MemorySpace::host)
      return solve(relaxation, x.data(), b.data(), criteria);
    DeviceVector<double> device_x(x.size()), device_b(b.size());
    device_x.copy_from_host(x.data());
    device_b.copy_from_host(b.data());
    const SolveResult result = solve(relaxation, device_x.data(), device_b.data(), criteria);
    device_x.copy_to_host(x.data());
    return result;
  }

  inline double residual_norm_squared(Relaxation<double> &relaxation, const Vector &x, const Vector &b)
  {
    if (relaxation.memory_space() == MemorySpace::host)
      return relaxation.residual_norm_squared(x.data(), b.data());
    DeviceVector<double> device_x(x.size()), device_b(b.size());
    device_x.copy_from_host(x.data());
    device_b.copy_from_host(b.data());
    return relaxation.residual_norm_squared(device_x.data(), device_b.data());
  }

  /**
   * k Jacobi sweeps inside each block with everything else at x_old, straight from the formula: the textbook block
   * Jacobi.
   */
  inline Vector block_jacobi(const CrsMatrix<double> &A, Vector x, const Vector &b, int block_size, int k, double omega)
  {
    const Vector x_old = x;
    for (int sweep = 0; sweep < k; ++sweep)
      {
        const Vector current = x;
        for (int i = 0; i < A.n_rows; ++i)
          {
            double r = b[i], diagonal = 0.;
            for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
              {
                const int  j          = A.columns[p];
                const bool same_block = j < A.n_rows && j / block_size == i / block_size;
                r -= A.values[p] * (same_block ? current[j] : x_old[j]);
                if (j == i)
                  diagonal = A.values[p];
              }
            x[i] = current[i] + omega * r / diagonal;
          }
      }
    return x;
  }

  class BackendTest : public testing::TestWithParam<Backend>
  {
  protected:
    void SetUp() override
    {
      if (GetParam() == Backend::cuda && device::n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
    }

    BlockAsyncOptions options(Schedule schedule, int block_size, int k) const
    {
      BlockAsyncOptions result;
      result.backend          = GetParam();
      result.schedule         = schedule;
      result.block_size       = block_size;
      result.local_iterations = k;
      result.n_threads        = 4; // more than cores: preemption is part of the test
      return result;
    }
  };

  inline std::string backend_name(const testing::TestParamInfo<Backend> &info)
  {
    return to_string(info.param);
  }

} // namespace leopard
