// SPDX-License-Identifier: Apache-2.0
#include "../device/no_cuda.h"
#include "device_matrix.h"

namespace leopard::device
{
  struct DeviceMatrix::Data
  {
  };
  DeviceMatrix::DeviceMatrix(const CrsMatrix & /*A*/)
  {
    no_cuda();
  }
  DeviceMatrix::~DeviceMatrix() = default;
  void DeviceMatrix::multiply(double * /*y*/, double /*alpha*/, const double * /*x*/, double /*beta*/) const
  {
    no_cuda();
  }
  void DeviceMatrix::update_values(const double * /*values*/)
  {
    no_cuda();
  }
  int DeviceMatrix::n_rows() const
  {
    return 0;
  }
  int DeviceMatrix::n_columns() const
  {
    return 0;
  }

  struct DenseMatrix::Data
  {
  };
  DenseMatrix::DenseMatrix(const std::vector<double> & /*values*/, int /*n*/)
  {
    no_cuda();
  }
  DenseMatrix::~DenseMatrix() = default;
  void DenseMatrix::update_values(const std::vector<double> & /*values*/)
  {
    no_cuda();
  }
  void DenseMatrix::multiply(double * /*y*/, const double * /*x*/) const
  {
    no_cuda();
  }
} // namespace leopard::device
