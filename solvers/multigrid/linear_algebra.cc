// SPDX-License-Identifier: Apache-2.0
#include "linear_algebra.h"

#include "../base/norms.h"
#include "../base/thread_pool.h"
#include "../device/device.h"
#include "../matrix/device_matrix.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace leopard
{
  namespace
  {
    constexpr long grain = 8192; ///< entries or numbers that are worth waking a thread for

    template <typename Number>
    class HostMatrix : public LinearAlgebra<Number>::Matrix
    {
    public:
      HostMatrix(CrsMatrix<Number> &&A_, std::shared_ptr<ThreadPool> pool_)
        : A(std::move(A_))
        , pool(std::move(pool_))
        , grain_rows(A.n_rows == 0 ? 1 : std::max(1l, grain * A.n_rows / std::max(A.n_entries(), 1)))
      {
      }

      void multiply(Number *z, Number alpha, const Number *x, Number beta, const Number *y) const override
      {
        parallel_for(*pool, A.n_rows, grain_rows, [&](long begin, long end) {
          const int    *columns = A.columns.data();
          const Number *values  = A.values.data();
          for (long i = begin; i < end; ++i)
            {
              Number sum = 0;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                sum += values[p] * x[columns[p]];
              z[i] = beta == Number(0) ? alpha * sum : beta * y[i] + alpha * sum;
            }
        });
      }

      void update_values(const std::vector<Number> &values) override { A.values = values; }

    private:
      CrsMatrix<Number>                 A;
      const std::shared_ptr<ThreadPool> pool;
      const long                        grain_rows;
    };

    template <typename Number>
    class HostAlgebra : public LinearAlgebra<Number>
    {
    public:
      using Matrix = typename LinearAlgebra<Number>::Matrix;

      explicit HostAlgebra(int n_threads)
        : pool(shared_thread_pool(n_threads))
      {
      }

      MemorySpace memory_space() const override { return MemorySpace::host; }

      std::shared_ptr<Number[]> vector(std::size_t n) const override { return std::shared_ptr<Number[]>(new Number[n]()); }

      std::shared_ptr<Number[]> vector(const std::vector<Number> &host) const override
      {
        std::shared_ptr<Number[]> result(new Number[host.size()]);
        std::copy(host.begin(), host.end(), result.get());
        return result;
      }

      std::shared_ptr<int[]> indices(const std::vector<int> &host) const override
      {
        if (host.empty())
          return nullptr;
        std::shared_ptr<int[]> result(new int[host.size()]);
        std::copy(host.begin(), host.end(), result.get());
        return result;
      }

      std::unique_ptr<Matrix> matrix(CrsMatrix<Number> A) const override { return std::make_unique<HostMatrix<Number>>(std::move(A), pool); }

      void set_zero(Number *x, std::size_t n) const override
      {
        parallel_for(*pool, static_cast<long>(n), grain, [&](long begin, long end) { std::fill(x + begin, x + end, Number(0)); });
      }

      double dot(const Number *x, const Number *y, int n) const override
      {
        return parallel_sum(*pool, n, grain, [&](long begin, long end) {
          double sum = 0.;
          for (long i = begin; i < end; ++i)
            sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
          return sum;
        });
      }

      void add(Number *y, Number a, const Number *x, int n) const override
      {
        parallel_for(*pool, n, grain, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            y[i] += a * x[i];
        });
      }

      void copy_entries(Number *to, const int *to_rows, const Number *from, const int *from_rows, int n, bool add) const override
      {
        parallel_for(*pool, n, grain, [&](long begin, long end) {
          if (to_rows == nullptr && from_rows == nullptr && !add)
            std::copy(from + begin, from + end, to + begin);
          else
            for (long i = begin; i < end; ++i)
              {
                const Number value  = from[from_rows != nullptr ? from_rows[i] : i];
                Number      &target = to[to_rows != nullptr ? to_rows[i] : i];
                target              = add ? target + value : value;
              }
        });
      }

    private:
      const std::shared_ptr<ThreadPool> pool;
    };

    template <typename Number>
    class DeviceMatrix : public LinearAlgebra<Number>::Matrix
    {
    public:
      template <typename Crs>
      explicit DeviceMatrix(const Crs &A)
        : matrix(A)
      {
      }

      void multiply(Number *z, Number alpha, const Number *x, Number beta, const Number *y) const override { matrix.multiply(z, alpha, x, beta, y); }

      void update_values(const std::vector<Number> &values) override { matrix.update_values(values.data()); }

      device::DeviceMatrix<Number> matrix;
    };

    template <typename Number>
    class DeviceAlgebra : public LinearAlgebra<Number>
    {
    public:
      using Matrix = typename LinearAlgebra<Number>::Matrix;

      MemorySpace memory_space() const override { return MemorySpace::device; }

      std::shared_ptr<Number[]> vector(std::size_t n) const override
      {
        std::shared_ptr<Number[]> result = allocate<Number>(n);
        if (n > 0)
          device::set_zero(result.get(), n * sizeof(Number));
        return result;
      }

      std::shared_ptr<Number[]> vector(const std::vector<Number> &host) const override { return upload(host); }
      std::shared_ptr<int[]>    indices(const std::vector<int> &host) const override { return upload(host); }
      std::unique_ptr<Matrix>   matrix(CrsMatrix<Number> A) const override { return std::make_unique<DeviceMatrix<Number>>(A); }

      void   set_zero(Number *x, std::size_t n) const override { device::set_zero(x, n * sizeof(Number)); }
      double dot(const Number *x, const Number *y, int n) const override { return device::dot(x, y, n); }
      void   add(Number *y, Number a, const Number *x, int n) const override { device::axpy(y, a, x, n); }

      void copy_entries(Number *to, const int *to_rows, const Number *from, const int *from_rows, int n, bool add) const override
      {
        if (to_rows == nullptr && from_rows == nullptr && !add)
          device::copy_on_device(to, from, static_cast<std::size_t>(n) * sizeof(Number));
        else
          device::copy_entries(to, to_rows, from, from_rows, n, add);
      }

      bool restricted_residual(Number *coarse_b, Number *coarse_x, const Matrix &R, const Matrix &A, const Number *x, const Number *b) const override
      {
        const auto &r = static_cast<const DeviceMatrix<Number> &>(R).matrix, &a = static_cast<const DeviceMatrix<Number> &>(A).matrix;
        if (!r.is_small() || !a.is_small())
          return false;
        device::restricted_residual(coarse_b, coarse_x, r, a, x, b);
        return true;
      }

    private:
      template <typename T>
      static std::shared_ptr<T[]> allocate(std::size_t n)
      {
        return n == 0 ? nullptr : std::shared_ptr<T[]>(static_cast<T *>(device::allocate(n * sizeof(T))), [](T *p) { device::release(p); });
      }

      template <typename T>
      static std::shared_ptr<T[]> upload(const std::vector<T> &host)
      {
        std::shared_ptr<T[]> result = allocate<T>(host.size());
        if (!host.empty())
          device::copy_to_device(result.get(), host.data(), host.size() * sizeof(T));
        return result;
      }
    };
  } // namespace

  template <typename Number>
  double LinearAlgebra<Number>::norm_squared(const Number *x, int n) const
  {
    const double sum = dot(x, x, n);
    if (sum != 0. || n == 0)
      return sum;
    // zeros, or numbers whose squares are zero: rare enough to look at them on the host
    std::vector<Number> copy;
    if (memory_space() == MemorySpace::device)
      {
        copy.resize(n);
        device::copy_to_host(copy.data(), x, copy.size() * sizeof(Number));
        x = copy.data();
      }
    return std::accumulate(x, x + n, 0., [](double squares, Number value) { return squares + square(value); });
  }

  template <typename Number>
  std::unique_ptr<typename LinearAlgebra<Number>::Matrix> make_matrix(const device::DeviceCrs<Number> &A)
  {
    return std::make_unique<DeviceMatrix<Number>>(A);
  }

  template <typename Number>
  std::unique_ptr<LinearAlgebra<Number>> make_linear_algebra(Backend backend, int n_threads)
  {
    if (backend == Backend::cuda)
      return std::make_unique<DeviceAlgebra<Number>>();
    return std::make_unique<HostAlgebra<Number>>(backend == Backend::reference ? 1 : n_threads);
  }

#define INSTANTIATE(Number)                                                                                         \
  template class LinearAlgebra<Number>;                                                                             \
  template std::unique_ptr<typename LinearAlgebra<Number>::Matrix> make_matrix(const device::DeviceCrs<Number> &A); \
  template std::unique_ptr<LinearAlgebra<Number>>                  make_linear_algebra(Backend backend, int n_threads);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
