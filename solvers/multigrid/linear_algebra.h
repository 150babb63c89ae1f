// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/device_crs.h"
#include "../relaxation/relaxation.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace leopard
{
  /**
   * The few operations on vectors and sparse matrices that a multigrid cycle needs beside its smoothers, on host
   * threads or on the device. All arrays live in memory_space(). On the device everything but dot() is queued.
   */
  template <typename Number>
  class LinearAlgebra
  {
  public:
    /** A sparse matrix of any shape. */
    class Matrix
    {
    public:
      virtual ~Matrix() = default;
      /**
       * z = alpha A x + beta y. @param z, y n_rows values; y may be z, and is not read with beta = 0. @param x
       * n_columns values.
       */
      virtual void multiply(Number *z, Number alpha, const Number *x, Number beta, const Number *y) const = 0;
      /** One value an entry, in the order of the CrsMatrix, host memory. */
      virtual void update_values(const std::vector<Number> &values) = 0;
    };

    virtual ~LinearAlgebra()                 = default;
    virtual MemorySpace memory_space() const = 0;

    /** n zeros. */
    virtual std::shared_ptr<Number[]> vector(std::size_t n) const                        = 0;
    virtual std::shared_ptr<Number[]> vector(const std::vector<Number> &host) const      = 0;
    virtual std::shared_ptr<int[]>    indices(const std::vector<int> &host) const        = 0; ///< null if empty
    virtual std::unique_ptr<Matrix>   matrix(CrsMatrix<Number> A) const                  = 0;
    virtual void                      set_zero(Number *x, std::size_t n) const           = 0;
    virtual double                    dot(const Number *x, const Number *y, int n) const = 0;
    double                            norm_squared(const Number *x, int n) const; ///< x^T x, which is zero for zeros only (see base/norms.h)
    virtual void                      add(Number *y, Number a, const Number *x, int n) const = 0; ///< y += a x
    /**
     * to[to_rows[i]] = from[from_rows[i]] for i < n, or += with add; no row twice in to_rows; null stands for i itself.
     */
    virtual void copy_entries(Number *to, const int *to_rows, const Number *from, const int *from_rows, int n, bool add = false) const = 0;
    /**
     * coarse_b = R (b - A x) and coarse_x = 0 in one launch, where that pays: for small matrices on the device, made by
     * this algebra. @return whether it did.
     */
    virtual bool restricted_residual(
      Number * /*coarse_b*/, Number * /*coarse_x*/, const Matrix & /*R*/, const Matrix & /*A*/, const Number * /*x*/, const Number * /*b*/) const
    {
      return false;
    }
  };

  /** For operations on the device; shares the arrays of A. */
  template <typename Number>
  std::unique_ptr<typename LinearAlgebra<Number>::Matrix> make_matrix(const device::DeviceCrs<Number> &A);

  /** @param n_threads host; 0: as many as this process may use. @throws DeviceError. */
  template <typename Number>
  std::unique_ptr<LinearAlgebra<Number>> make_linear_algebra(Backend backend, int n_threads);
} // namespace leopard
