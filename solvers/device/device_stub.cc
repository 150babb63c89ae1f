// SPDX-License-Identifier: Apache-2.0
// What stands in for the device in a build without CUDA.
#include "device.h"
#include "device_vector.h"
#include "no_cuda.h"

namespace leopard
{
  namespace device
  {
    bool built_with_cuda()
    {
      return false;
    }
    int n_devices()
    {
      return 0;
    }
    std::string why_no_devices()
    {
      return "no GPU answers (built without CUDA)";
    }
    DeviceInfo info(int /*device*/)
    {
      no_cuda();
    }
    int n_multiprocessors()
    {
      no_cuda();
    }
    std::size_t free_memory()
    {
      no_cuda();
    }
    void select(int /*device*/)
    {
      no_cuda();
    }
    void synchronize()
    {
      no_cuda();
    }
    void wait()
    {
      no_cuda();
    }
    void allocate_beside_others()
    {
      no_cuda();
    }
    void *allocate(std::size_t /*n_bytes*/)
    {
      no_cuda();
    }
    void release(void * /*pointer*/) noexcept {}
    void release_scratch() {}
    void copy_to_device(void * /*destination*/, const void * /*host_source*/, std::size_t /*n_bytes*/)
    {
      no_cuda();
    }
    void copy_to_host(void * /*host_destination*/, const void * /*source*/, std::size_t /*n_bytes*/)
    {
      no_cuda();
    }
    void copy_on_device(void * /*destination*/, const void * /*source*/, std::size_t /*n_bytes*/)
    {
      no_cuda();
    }
    void set_zero(void * /*destination*/, std::size_t /*n_bytes*/)
    {
      no_cuda();
    }
    template <typename Number>
    void copy_entries(Number * /*to*/, const int * /*to_indices*/, const Number * /*from*/, const int * /*from_indices*/, int /*n*/, bool /*add*/)
    {
      no_cuda();
    }
    template <typename Number>
    double dot(const Number * /*x*/, const Number * /*y*/, std::size_t /*n*/)
    {
      no_cuda();
    }
    template <typename Number>
    void axpy(Number * /*y*/, Number /*a*/, const Number * /*x*/, std::size_t /*n*/)
    {
      no_cuda();
    }
    template <typename Number>
    void gather(Number * /*packed*/, const Number * /*x*/, const int * /*indices*/, int /*n*/)
    {
      no_cuda();
    }

#define INSTANTIATE(Number)                                                                                                      \
  template void   copy_entries(Number *to, const int *to_indices, const Number *from, const int *from_indices, int n, bool add); \
  template double dot(const Number *x, const Number *y, std::size_t n);                                                          \
  template void   axpy(Number *y, Number a, const Number *x, std::size_t n);                                                     \
  template void   gather(Number *packed, const Number *x, const int *indices, int n);
    LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE

    bool is_recording()
    {
      return false;
    }

    struct Graph::Data
    {
    };
    Graph::Graph()
    {
      no_cuda();
    }
    Graph::~Graph() = default;
    void Graph::record(const std::function<void()> & /*function*/)
    {
      no_cuda();
    }
    bool Graph::is_recorded() const
    {
      return false;
    }
    void Graph::launch() const
    {
      no_cuda();
    }
  } // namespace device

  template <typename Number>
  DeviceVector<Number>::DeviceVector(size_type n_, const RankSums *over_ranks)
    : comm(over_ranks)
  {
    reinit(n_);
  }
  template <typename Number>
  DeviceVector<Number>::DeviceVector(const DeviceVector &v)
    : comm(v.comm)
  {
  }
  template <typename Number>
  DeviceVector<Number>::DeviceVector(DeviceVector &&v) noexcept
  {
    swap(v);
  }
  template <typename Number>
  DeviceVector<Number>::~DeviceVector() = default;
  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator=(const DeviceVector & /*v*/) = default;
  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator=(DeviceVector &&v) noexcept
  {
    swap(v);
    return *this;
  }
  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator=(Number /*s*/)
  {
    return *this;
  }
  template <typename Number>
  void DeviceVector<Number>::reinit(size_type new_n, bool /*omit_zeroing*/)
  {
    if (new_n > 0)
      no_cuda();
  }
  template <typename Number>
  void DeviceVector<Number>::reinit(const DeviceVector &v, bool /*omit_zeroing*/)
  {
    comm = v.comm;
  }
  template <typename Number>
  void DeviceVector<Number>::copy_from_host(const Number * /*host*/)
  {
  }
  template <typename Number>
  void DeviceVector<Number>::copy_to_host(Number * /*host*/) const
  {
  }
  template <typename Number>
  Number DeviceVector<Number>::operator*(const DeviceVector & /*v*/) const
  {
    return 0;
  }
  template <typename Number>
  Number DeviceVector<Number>::norm_sqr() const
  {
    return 0;
  }
  template <typename Number>
  Number DeviceVector<Number>::l2_norm() const
  {
    return 0;
  }
  template <typename Number>
  Number DeviceVector<Number>::linfty_norm() const
  {
    return 0;
  }
  template <typename Number>
  bool DeviceVector<Number>::all_zero() const
  {
    return true;
  }
  template <typename Number>
  DeviceVector<Number> &DeviceVector<Number>::operator*=(Number /*a*/)
  {
    return *this;
  }
  template <typename Number>
  void DeviceVector<Number>::add(Number /*a*/, const DeviceVector & /*v*/)
  {
  }
  template <typename Number>
  void DeviceVector<Number>::combine(Number /*s*/, Number /*a*/, const DeviceVector & /*v*/, Number /*b*/, const DeviceVector & /*w*/)
  {
  }
  template <typename Number>
  void DeviceVector<Number>::scale(const DeviceVector & /*factors*/)
  {
  }

  template class DeviceVector<double>;
  template class DeviceVector<float>;
} // namespace leopard
