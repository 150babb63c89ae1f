// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.cuh"
#include "device.h"
#include "device_vector.h"
#include "library_handles.cuh"
#include "partial_sums.cuh"
#include "sleep.cuh"

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace leopard
{
  namespace
  {
    constexpr int threads_per_block = 256;

    int blocks_for(std::size_t n)
    {
      return static_cast<int>((n + threads_per_block - 1) / threads_per_block);
    }

    template <typename Number>
    __global__ void fill_kernel(Number *x, Number s, std::size_t n)
    {
      const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
      if (i < n)
        x[i] = s;
    }

    /**
     * x = s x + a v + b w; a factor of zero leaves its vector unread, so that not-a-number does not spread from old
     * values.
     */
    template <typename Number>
    __global__ void combine_kernel(Number *x, Number s, Number a, const Number *v, Number b, const Number *w, std::size_t n)
    {
      const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
      if (i >= n)
        return;
      Number sum = a * v[i];
      if (s != Number(0))
        sum += s * x[i];
      if (b != Number(0))
        sum += b * w[i];
      x[i] = sum;
    }

    template <typename Number>
    __global__ void scale_kernel(Number *x, const Number *factors, std::size_t n)
    {
      const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
      if (i < n)
        x[i] *= factors[i];
    }

    double dot(std::size_t n, const double *x, const double *y)
    {
      double result = 0.;
      device::sleep_until_done();
      LEOPARD_CHECK(cublasDdot_64(device::blas_handle(), static_cast<std::int64_t>(n), x, 1, y, 1, &result));
      return result;
    }
    /** Not by cuBLAS, which adds up in single precision. */
    double dot(std::size_t n, const float *x, const float *y)
    {
      int device = 0;
      LEOPARD_CHECK(cudaGetDevice(&device));
      thread_local std::map<int, std::unique_ptr<device::PartialSums>> sums;
      std::unique_ptr<device::PartialSums>                            &here = sums[device];
      if (here == nullptr)
        here = std::make_unique<device::PartialSums>(device::reduction_threads);
      return here->dot(x, y, n);
    }
    cublasStatus_t nrm2(cublasHandle_t h, std::int64_t n, const double *x, double *result)
    {
      return cublasDnrm2_64(h, n, x, 1, result);
    }
    cublasStatus_t nrm2(cublasHandle_t h, std::int64_t n, const float *x, float *result)
    {
      return cublasSnrm2_64(h, n, x, 1, result);
    }
    cublasStatus_t axpy(cublasHandle_t h, std::int64_t n, double a, const double *x, double *y)
    {
      return cublasDaxpy_64(h, n, &a, x, 1, y, 1);
    }
    cublasStatus_t axpy(cublasHandle_t h, std::int64_t n, float a, const float *x, float *y)
    {
      return cublasSaxpy_64(h, n, &a, x, 1, y, 1);
    }
    cublasStatus_t scal(cublasHandle_t h, std::int64_t n, double a, double *x)
    {
      return cublasDscal_64(h, n, &a, x, 1);
    }
    cublasStatus_t scal(cublasHandle_t h, std::int64_t n, float a, float *x)
    {
      return cublasSscal_64(h, n, &a, x, 1);
    }
    cublasStatus_t amax(cublasHandle_t h, std::int64_t n, const double *x, std::int64_t *index)
    {
      return cublasIdamax_64(h, n, x, 1, index);
    }
    cublasStatus_t amax(cublasHandle_t h, std::int64_t n, const float *x, std::int64_t *index)
    {
      return cublasIsamax_64(h, n, x, 1, index);
    }
  } // namespace

  template <typename Number>
  double device::dot(const Number *x, const Number *y, std::size_t n)
  {
    return n > 0 ? leopard::dot(n, x, y) : 0.;
  }

  template <typename Number>
  void device::axpy(Number *y, Number a, const Number *x, std::size_t n)
  {
    if (n > 0)
      LEOPARD_CHECK(leopard::axpy(device::blas_handle(), static_cast<std::int64_t>(n), a, x, y));
  }

  template <typename Number>
  DeviceVector<Number>::DeviceVector(size_type n_, const RankSums *over_ranks)
    : comm(over_ranks)
  {
    reinit(n_);
  }

  template <typename Number>
  DeviceVector<Number>::DeviceVector(const DeviceVector &v)
  {
    *this = v;
  }

  template <typename Number>
  DeviceVector<Number>::DeviceVector(DeviceVector &&v) noexcept
  {
    swap(v);
  }

  template <typename Number>
  DeviceVector<Number>::~DeviceVector()
  {
    device::release(values);
  }

  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator=(const DeviceVector &v)
  {
    if (this == &v)
      return *this;
    reinit(v, true);
    if (n > 0)
      device::copy_on_device(values, v.values, n * sizeof(Number));
    return *this;
  }

  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator=(DeviceVector &&v) noexcept
  {
    swap(v);
    return *this;
  }

  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator=(Number s)
  {
    if (n > 0)
      {
        fill_kernel<<<blocks_for(n), threads_per_block>>>(values, s, n);
        LEOPARD_CHECK(cudaGetLastError());
      }
    return *this;
  }

  template <typename Number>
  void DeviceVector<Number>::reinit(size_type new_n, bool omit_zeroing)
  {
    if (new_n != n)
      {
        device::release(values);
        values = nullptr;
        n      = 0;
        if (new_n > 0)
          values = static_cast<Number *>(device::allocate(new_n * sizeof(Number)));
        n = new_n;
      }
    if (!omit_zeroing)
      *this = Number(0);
  }

  template <typename Number>
  void DeviceVector<Number>::reinit(const DeviceVector &v, bool omit_zeroing)
  {
    comm = v.comm;
    reinit(v.n, omit_zeroing);
  }

  template <typename Number>
  void DeviceVector<Number>::copy_from_host(const Number *host)
  {
    if (n > 0)
      device::copy_to_device(values, host, n * sizeof(Number));
  }

  template <typename Number>
  void DeviceVector<Number>::copy_to_host(Number *host) const
  {
    if (n > 0)
      device::copy_to_host(host, values, n * sizeof(Number));
  }

  template <typename Number>
  Number DeviceVector<Number>::operator*(const DeviceVector &v) const
  {
    const double local = n > 0 ? dot(n, values, v.values) : 0.;
    return static_cast<Number>(comm == nullptr ? local : comm->sum(local));
  }

  template <typename Number>
  Number DeviceVector<Number>::norm_sqr() const
  {
    return *this * *this;
  }

  template <typename Number>
  Number DeviceVector<Number>::l2_norm() const
  {
    Number local = 0; // cuBLAS divides before it squares
    if (n > 0)
      {
        device::sleep_until_done();
        LEOPARD_CHECK(nrm2(device::blas_handle(), static_cast<std::int64_t>(n), values, &local));
      }
    if (comm == nullptr)
      return local;
    const double largest = comm->max(local);
    if (!(largest > 0. && largest < HUGE_VAL))
      return static_cast<Number>(comm->sum(local)); // zero, or not finite
    const double part = local / largest;
    return static_cast<Number>(largest * std::sqrt(comm->sum(part * part)));
  }

  template <typename Number>
  Number DeviceVector<Number>::linfty_norm() const
  {
    Number largest = 0;
    if (n > 0)
      {
        std::int64_t index = 1; // cuBLAS counts from one
        LEOPARD_CHECK(amax(device::blas_handle(), static_cast<std::int64_t>(n), values, &index));
        device::copy_to_host(&largest, values + index - 1, sizeof(Number));
      }
    return comm == nullptr ? std::abs(largest) : static_cast<Number>(comm->max(std::abs(largest)));
  }

  template <typename Number>
  bool DeviceVector<Number>::all_zero() const
  {
    return linfty_norm() == Number(0);
  }

  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator*=(Number a)
  {
    if (n > 0)
      LEOPARD_CHECK(scal(device::blas_handle(), static_cast<std::int64_t>(n), a, values));
    return *this;
  }

  template <typename Number>
  void DeviceVector<Number>::add(Number a, const DeviceVector &v)
  {
    if (n > 0)
      LEOPARD_CHECK(axpy(device::blas_handle(), static_cast<std::int64_t>(n), a, v.values, values));
  }

  template <typename Number>
  void DeviceVector<Number>::combine(Number s, Number a, const DeviceVector &v, Number b, const DeviceVector &w)
  {
    if (n == 0)
      return;
    combine_kernel<<<blocks_for(n), threads_per_block>>>(values, s, a, v.values, b, w.values, n);
    LEOPARD_CHECK(cudaGetLastError());
  }

  template <typename Number>
  void DeviceVector<Number>::scale(const DeviceVector &factors)
  {
    if (n == 0)
      return;
    scale_kernel<<<blocks_for(n), threads_per_block>>>(values, factors.values, n);
    LEOPARD_CHECK(cudaGetLastError());
  }

#define INSTANTIATE(Number)                                                     \
  template double device::dot(const Number *x, const Number *y, std::size_t n); \
  template void   device::axpy(Number *y, Number a, const Number *x, std::size_t n);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE

  template class DeviceVector<double>;
  template class DeviceVector<float>;
} // namespace leopard
