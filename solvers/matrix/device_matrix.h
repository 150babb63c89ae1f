// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_crs.h"

#include <memory>
#include <vector>

namespace leopard::device
{
  /** A CRS matrix of any shape on the device, multiplied by cuSPARSE. */
  template <typename Number>
  class DeviceMatrix
  {
  public:
    explicit DeviceMatrix(const CrsMatrix<Number> &A);
    explicit DeviceMatrix(const DeviceCrs<Number> &A); ///< whose arrays it shares
    ~DeviceMatrix();
    /** y = A x. @param y n_rows, x n_columns values, device memory. */
    void multiply(Number *y, const Number *x) const { multiply(y, Number(1), x, Number(0)); }
    /** y <- alpha A x + beta y; with beta = 0 y is not read. Allocates nothing. */
    void            multiply(Number *y, Number alpha, const Number *x, Number beta) const;
    void            update_values(const Number *values); ///< host memory, order of the CrsMatrix
    int             n_rows() const;
    int             n_columns() const;
    CrsView<Number> view() const; ///< while the matrix lives

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };

  /** A dense n x n matrix on the device with y = A x by cuBLAS. */
  template <typename Number>
  class DenseMatrix
  {
  public:
    /** @param values n * n numbers, row after row, host memory. @throws DeviceError. */
    DenseMatrix(const std::vector<Number> &values, int n);
    ~DenseMatrix();
    void update_values(const std::vector<Number> &values); ///< host memory
    void multiply(Number *y, const Number *x) const;

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };
} // namespace leopard::device
