// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "device_matrix.h"

namespace leopard::device
{
  template <typename Number>
  struct DeviceMatrix<Number>::Data
  {
  };
  template <typename Number>
  DeviceMatrix<Number>::DeviceMatrix(const CrsMatrix<Number> & /*A*/, bool /*may_be_compact*/)
  {
    no_cuda();
  }
  template <typename Number>
  DeviceMatrix<Number>::DeviceMatrix(const DeviceCrs<Number> & /*A*/, bool /*may_be_compact*/)
  {
    no_cuda();
  }
  template <typename Number>
  DeviceMatrix<Number>::~DeviceMatrix() = default;
  template <typename Number>
  void DeviceMatrix<Number>::multiply(Number * /*z*/, Number /*alpha*/, const Number * /*x*/, Number /*beta*/, const Number * /*y*/) const
  {
    no_cuda();
  }
  template <typename Number>
  void DeviceMatrix<Number>::update_values(const Number * /*values*/)
  {
    no_cuda();
  }
  template <typename Number>
  bool DeviceMatrix<Number>::is_small() const
  {
    return false;
  }
  template <typename Number>
  int DeviceMatrix<Number>::n_rows() const
  {
    return 0;
  }
  template <typename Number>
  int DeviceMatrix<Number>::n_columns() const
  {
    return 0;
  }

  template <typename Number>
  CrsView<Number> DeviceMatrix<Number>::view() const
  {
    return {};
  }

  template <typename Number>
  bool DeviceMatrix<Number>::is_compact() const
  {
    return false;
  }

  template <typename Number>
  void restricted_residual(Number * /*coarse_b*/,
                           Number * /*coarse_x*/,
                           const DeviceMatrix<Number> & /*R*/,
                           const DeviceMatrix<Number> & /*A*/,
                           const Number * /*x*/,
                           const Number * /*b*/)
  {
    no_cuda();
  }

  template <typename Number>
  struct DenseMatrix<Number>::Data
  {
  };
  template <typename Number>
  DenseMatrix<Number>::DenseMatrix(const std::vector<Number> & /*values*/, int /*n*/)
  {
    no_cuda();
  }
  template <typename Number>
  DenseMatrix<Number>::~DenseMatrix() = default;
  template <typename Number>
  void DenseMatrix<Number>::update_values(const std::vector<Number> & /*values*/)
  {
    no_cuda();
  }
  template <typename Number>
  void DenseMatrix<Number>::multiply(Number * /*y*/, const Number * /*x*/) const
  {
    no_cuda();
  }

#define INSTANTIATE(Number)            \
  template class DeviceMatrix<Number>; \
  template class DenseMatrix<Number>;  \
  template void restricted_residual(   \
    Number *coarse_b, Number *coarse_x, const DeviceMatrix<Number> &R, const DeviceMatrix<Number> &A, const Number *x, const Number *b);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard::device
