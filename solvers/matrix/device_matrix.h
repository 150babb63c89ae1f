// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_crs.h"

#include <memory>
#include <vector>

namespace leopard::device
{
  template <typename Number>
  struct CompactView;

  /**
   * A CRS matrix of any shape on the device, multiplied by cuSPARSE. Small ones, whose products take as long as their
   * launches, have one kernel a product, which is launched early (launch.cuh); large ones that have at most
   * most_distinct_values different values, and rows of at most 255 entries, a copy in 3 bytes an entry
   * (compact_rows.cuh), which the first product makes, until they get other values. Five points on 4096 x 4096: see
   * benchmarks/results/2026-11-28_h200_compact_rows.md.
   */
  template <typename Number>
  class DeviceMatrix
  {
  public:
    /** @param may_be_compact false: large ones are multiplied by cuSPARSE. */
    explicit DeviceMatrix(const CrsMatrix<Number> &A, bool may_be_compact = true);
    explicit DeviceMatrix(const DeviceCrs<Number> &A, bool may_be_compact = true); ///< whose arrays it shares
    ~DeviceMatrix();
    /** y = A x. @param y n_rows, x n_columns values, device memory. */
    void multiply(Number *y, const Number *x) const { multiply(y, Number(1), x, Number(0)); }
    /** y <- alpha A x + beta y; with beta = 0 y is not read. */
    void multiply(Number *y, Number alpha, const Number *x, Number beta) const { multiply(y, alpha, x, beta, y); }
    /**
     * z = alpha A x + beta y. The first product may allocate, and is not one that is recorded.
     * @param z, y n_rows values, which may be the same ones.
     */
    void            multiply(Number *z, Number alpha, const Number *x, Number beta, const Number *y) const;
    void            update_values(const Number *values); ///< host memory, order of the CrsMatrix
    bool            is_small() const;
    int             n_rows() const;
    int             n_columns() const;
    CrsView<Number> view() const;       ///< while the matrix lives
    bool            is_compact() const; ///< whether the last product was that of the copy
    /**
     * That copy, for kernels of one's own, while the matrix lives and keeps its values; n_rows = 0: there is none. May
     * allocate at first.
     */
    CompactView<Number> compact_view() const;

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };

  /**
   * coarse_b = R (b - A x) and coarse_x = 0 in one launch: a group of threads a coarse row, which finds the residual of
   * the rows that it needs, each of them several times in all. For small matrices on one rank.
   * @param coarse_b, coarse_x R.n_rows() values each. @param x, b A.n_rows() values each. Device memory.
   */
  template <typename Number>
  void restricted_residual(
    Number *coarse_b, Number *coarse_x, const DeviceMatrix<Number> &R, const DeviceMatrix<Number> &A, const Number *x, const Number *b);

  /** A dense n x n matrix on the device. */
  template <typename Number>
  class DenseMatrix
  {
  public:
    /** @param values n * n numbers, row after row, host memory. @throws DeviceError. */
    DenseMatrix(const std::vector<Number> &values, int n);
    ~DenseMatrix();
    void update_values(const std::vector<Number> &values); ///< host memory
    void multiply(Number *y, const Number *x) const;       ///< y = A x; device memory

  private:
    struct Data;
    std::unique_ptr<Data> data;
  };
} // namespace leopard::device
