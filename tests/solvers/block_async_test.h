// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <solvers/base/norms.h>
#include <solvers/block_async/block_async.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <type_traits>
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

  /** D A D for a diagonal D. */
  inline CrsMatrix<double> scaled_by(const Vector &D, CrsMatrix<double> A)
  {
    for (int i = 0; i < A.n_rows; ++i)
      for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
        A.values[p] *= D[i] * D[A.columns[p]];
    return A;
  }

  /** Of random powers of ten, 10^-digits to 10^digits. */
  inline CrsMatrix<double> badly_scaled(const CrsMatrix<double> &A, double digits, unsigned int seed)
  {
    Vector D = random_vector(A.n_rows, seed); // in (-1, 1)
    for (double &d : D)
      d = std::pow(10., digits * d);
    return scaled_by(D, A);
  }

  /**
   * Of 10^-digits and 10^digits by turns, so that each of a grid's nodes, an odd number a line, has the others' beside
   * it.
   */
  inline CrsMatrix<double> scaled_by_turns(const CrsMatrix<double> &A, double digits)
  {
    Vector D(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      D[i] = std::pow(10., i % 2 == 0 ? digits : -digits);
    return scaled_by(D, A);
  }

  /** Not a number if an entry is none, infinite for vectors of different lengths. */
  inline double largest_difference(const Vector &a, const Vector &b)
  {
    double difference = a.size() == b.size() ? 0. : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      difference = larger_or_nan(difference, std::abs(a[i] - b[i]));
    return difference;
  }

  /** function(Number()) for each number type of the library: for tests of all of them. */
  template <typename Function>
  void for_each_number(const Function &function)
  {
#define CALL(Number)                         \
  {                                          \
    SCOPED_TRACE("vectors of " #Number "s"); \
    function(Number());                      \
  }
    LEOPARD_FOR_EACH_NUMBER(CALL)
#undef CALL
  }

  /** Of two bounds the one for this number type. */
  template <typename Number>
  constexpr double bound(double in_double, double in_float)
  {
    return std::is_same_v<Number, float> ? in_float : in_double;
  }

  /** Calls function(x, b) with vectors of Numbers in the memory where it computes. Tests have theirs in double. */
  template <typename Number, typename Function>
  void call_with_numbers(MemorySpace space, Vector &x, const Vector &b, const Function &function)
  {
    std::vector<Number> host_x = rounded_to<Number>(x), host_b = rounded_to<Number>(b);
    if (space == MemorySpace::host)
      function(host_x.data(), static_cast<const Number *>(host_b.data()));
    else
      {
        DeviceVector<Number> device_x(x.size()), device_b(b.size());
        device_x.copy_from_host(host_x.data());
        device_b.copy_from_host(host_b.data());
        function(device_x.data(), static_cast<const Number *>(device_b.data()));
        device_x.copy_to_host(host_x.data());
      }
    std::copy(host_x.begin(), host_x.end(), x.begin());
  }

  /** iterate() with host vectors, wherever the relaxation computes. */
  template <typename Number>
  void iterate(Relaxation<Number> &relaxation, Vector &x, const Vector &b, int n)
  {
    call_with_numbers<Number>(relaxation.memory_space(), x, b, [&](Number *to, const Number *right) { relaxation.iterate(to, right, n); });
  }

  /** solve() with host vectors, wherever the relaxation computes. */
  template <typename Number>
  SolveResult solve_for(Relaxation<Number> &relaxation, Vector &x, const Vector &b, const StoppingCriteria &criteria)
  {
    SolveResult result;
    call_with_numbers<Number>(
      relaxation.memory_space(), x, b, [&](Number *to, const Number *right) { result = solve(relaxation, to, right, criteria); });
    return result;
  }

  template <typename Number>
  double residual_norm_squared(Relaxation<Number> &relaxation, Vector x, const Vector &b)
  {
    double result = 0.;
    call_with_numbers<Number>(
      relaxation.memory_space(), x, b, [&](Number *to, const Number *right) { result = relaxation.residual_norm_squared(to, right); });
    return result;
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
