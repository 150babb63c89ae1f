// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.cuh"
#include "device.h"
#include "device_vector.h"
#include "grid_stride.cuh"
#include "partial_sums.cuh"
#include "sleep.cuh"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace leopard
{
  namespace
  {
    using device::blocks_for;
    using device::first_index;
    using device::stride;
    using device::threads;

    template <typename Number>
    __global__ void fill_kernel(Number *x, Number s, std::size_t n)
    {
      for (auto i = first_index<std::size_t>(); i < n; i += stride<std::size_t>())
        x[i] = s;
    }

    /**
     * x = s x + a v + b w; a factor of zero leaves its vector unread, so that not-a-number does not spread from old
     * values.
     */
    template <typename Number>
    __global__ void combine_kernel(Number *x, Number s, Number a, const Number *v, Number b, const Number *w, std::size_t n)
    {
      for (auto i = first_index<std::size_t>(); i < n; i += stride<std::size_t>())
        {
          Number sum = a * v[i];
          if (s != Number(0))
            sum += s * x[i];
          if (b != Number(0))
            sum += b * w[i];
          x[i] = sum;
        }
    }

    template <typename Number>
    __global__ void scale_kernel(Number *x, const Number *factors, std::size_t n)
    {
      for (auto i = first_index<std::size_t>(); i < n; i += stride<std::size_t>())
        x[i] *= factors[i];
    }

    /** Of the calling thread, on the current device. */
    const device::PartialSums &sums()
    {
      int device = 0;
      LEOPARD_CHECK(cudaGetDevice(&device));
      thread_local std::map<int, std::unique_ptr<device::PartialSums>> of_devices;
      std::unique_ptr<device::PartialSums>                            &here = of_devices[device];
      if (here == nullptr)
        here = std::make_unique<device::PartialSums>(device::reduction_threads);
      return *here;
    }

    struct Largest
    {
      static __device__ double merge(int /*q*/, double a, double b) { return a >= b || a != a ? a : b; } // NaN stays
    };

    template <typename Number>
    __global__ void largest_kernel(const Number *x, std::size_t n, double *parts)
    {
      double largest[1] = {};
      for (auto i = first_index<std::size_t>(); i < n; i += stride<std::size_t>())
        largest[0] = Largest::merge(0, largest[0], fabs(static_cast<double>(x[i])));
      write_part<Largest>(largest, parts, 1);
    }

    __global__ void largest_of_parts_kernel(const double *parts, int n, double *result)
    {
      with_merged<Largest, 1>(parts, n, [&](const double(&largest)[1]) { *result = largest[0]; });
    }

    /** max_i |x_i|, NaN if there is one. */
    template <typename Number>
    double largest_of(const Number *x, std::size_t n)
    {
      double *const parts = sums().parts();
      largest_kernel<<<device::reduction_threads, device::reduction_threads>>>(x, n, parts);
      largest_of_parts_kernel<<<1, device::reduction_threads>>>(parts, device::reduction_threads, device::empty_place());
      LEOPARD_CHECK(cudaGetLastError());
      return device::number_in_place();
    }

    template <typename Number>
    __global__ void scaled_squares_kernel(const Number *x, std::size_t n, double scale, double *parts)
    {
      double sum[1] = {};
      for (auto i = first_index<std::size_t>(); i < n; i += stride<std::size_t>())
        sum[0] += square(static_cast<double>(x[i]) / scale);
      write_part<Addition>(sum, parts, 1);
    }

    /** ||x||; values whose squares are beyond the range of double are divided before they are squared. */
    template <typename Number>
    double norm_of(const Number *x, std::size_t n)
    {
      constexpr double smallest = 1e-280, largest = 1e300; // of sums of squares whose terms lose nothing
      const double     squares = sums().dot(x, x, n);
      if (squares >= smallest && squares <= largest)
        return std::sqrt(squares);
      const double scale = largest_of(x, n);
      if (!(scale > 0. && scale < HUGE_VAL))
        return scale; // zero, or not finite
      scaled_squares_kernel<<<device::reduction_threads, device::reduction_threads>>>(x, n, scale, sums().parts());
      LEOPARD_CHECK(cudaGetLastError());
      return scale * std::sqrt(sums().sum_of(device::reduction_threads));
    }

    template <typename Number>
    void combine(std::size_t n, Number *x, Number s, Number a, const Number *v, Number b = Number(0), const Number *w = nullptr)
    {
      if (n == 0)
        return;
      combine_kernel<<<blocks_for(n), threads>>>(x, s, a, v, b, w, n);
      LEOPARD_CHECK(cudaGetLastError());
    }
  } // namespace

  template <typename Number>
  double device::dot(const Number *x, const Number *y, std::size_t n)
  {
    return n > 0 ? sums().dot(x, y, n) : 0.;
  }

  template <typename Number>
  void device::axpy(Number *y, Number a, const Number *x, std::size_t n)
  {
    combine(n, y, Number(1), a, x);
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
        fill_kernel<<<blocks_for(n), threads>>>(values, s, n);
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
    const double local = device::dot(values, v.values, n);
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
    const double local = n > 0 ? norm_of(values, n) : 0.;
    if (comm == nullptr)
      return static_cast<Number>(local);
    const double largest = comm->max(local);
    if (!(largest > 0. && largest < HUGE_VAL))
      return static_cast<Number>(comm->sum(local)); // zero, or not finite
    const double part = local / largest;
    return static_cast<Number>(largest * std::sqrt(comm->sum(part * part)));
  }

  template <typename Number>
  Number DeviceVector<Number>::linfty_norm() const
  {
    const double largest = n > 0 ? largest_of(values, n) : 0.;
    return static_cast<Number>(comm == nullptr ? largest : comm->max(largest));
  }

  template <typename Number>
  bool DeviceVector<Number>::all_zero() const
  {
    return linfty_norm() == Number(0);
  }

  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator*=(Number a)
  {
    leopard::combine(n, values, Number(0), a, values);
    return *this;
  }

  template <typename Number>
  void DeviceVector<Number>::add(Number a, const DeviceVector &v)
  {
    leopard::combine(n, values, Number(1), a, v.values);
  }

  template <typename Number>
  void DeviceVector<Number>::combine(Number s, Number a, const DeviceVector &v, Number b, const DeviceVector &w)
  {
    leopard::combine(n, values, s, a, v.values, b, w.values);
  }

  template <typename Number>
  void DeviceVector<Number>::scale(const DeviceVector &factors)
  {
    if (n == 0)
      return;
    scale_kernel<<<blocks_for(n), threads>>>(values, factors.values, n);
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
