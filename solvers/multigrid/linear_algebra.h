// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matrix/crs_matrix.h"
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
      virtual void multiply(double *z, double alpha, const double *x, double beta, const double *y) const = 0;
      /** One value an entry, in the order of the CrsMatrix, host memory. */
      virtual void update_values(const std::vector<double> &values) = 0;
    };

    virtual ~LinearAlgebra()                 = default;
    virtual MemorySpace memory_space() const = 0;

    /** n zeros. */
    virtual std::shared_ptr<double[]> vector(std::size_t n) const                        = 0;
    virtual std::shared_ptr<double[]> vector(const std::vector<double> &host) const      = 0;
    virtual std::shared_ptr<int[]>    indices(const std::vector<int> &host) const        = 0; ///< null if empty
    virtual std::unique_ptr<Matrix>   matrix(CrsMatrix A) const                          = 0;
    virtual void                      set_zero(double *x, std::size_t n) const           = 0;
    virtual double                    dot(const double *x, const double *y, int n) const = 0;
    double                            norm_squared(const double *x, int n) const; ///< x^T x, which is zero for zeros only (see base/norms.h)
    virtual void                      add(double *y, double a, const double *x, int n) const = 0; ///< y += a x
    /**
     * to[to_rows[i]] = from[from_rows[i]] for i < n, or += with add; no row twice in to_rows; null stands for i itself.
     */
    virtual void copy_entries(double *to, const int *to_rows, const double *from, const int *from_rows, int n, bool add = false) const = 0;
  };

  /** @param n_threads host; 0: as many as the machine has. @throws DeviceError. */
  std::unique_ptr<LinearAlgebra> make_linear_algebra(Backend backend, int n_threads);
} // namespace leopard
