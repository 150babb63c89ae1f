// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../device/device_array.h"
#include "crs_matrix.h"

#include <memory>
#include <vector>

namespace leopard::device
{
  /** The arrays of a CRS matrix, as CrsMatrix has them, in device memory. For kernels of one's own. */
  template <typename Number>
  struct CrsView
  {
    int           n_rows;
    const int    *row_offsets, *columns;
    const Number *values;
  };

  /**
   * A CRS matrix of any shape in device memory: what set-up on the device hands from step to step. Copies share the
   * arrays.
   */
  template <typename Number>
  struct DeviceCrs
  {
    struct Arrays
    {
      Array<int>    row_offsets, columns;
      Array<Number> values;
    };

    int                     n_rows = 0, n_columns = 0, n_entries = 0;
    std::shared_ptr<Arrays> arrays; ///< null: no rows

    CrsView<Number> view() const
    {
      return arrays == nullptr ? CrsView<Number>{0, nullptr, nullptr, nullptr}
                               : CrsView<Number>{n_rows, arrays->row_offsets.data(), arrays->columns.data(), arrays->values.data()};
    }
    std::size_t memory() const { return (n_rows + 1l) * sizeof(int) + n_entries * (sizeof(int) + sizeof(Number)); } ///< bytes
  };

  /** A as it is. */
  template <typename Number>
  DeviceCrs<Number> to_device(const CrsMatrix<Number> &A);
  template <typename Number>
  CrsMatrix<Number> to_host(const DeviceCrs<Number> &A);

  /** A in another number type; in its own it is A itself. */
  template <typename To, typename From>
  DeviceCrs<To> rounded_to(const DeviceCrs<From> &A);

  /** Whether all values are finite and all rows have a diagonal entry that is not zero. */
  template <typename Number>
  bool has_valid_values(const DeviceCrs<Number> &A);

  /**
   * Rows and columns in a new order, as permute() of the host does it, values rounded to Number, rows sorted by column.
   * The checks of CrsMatrix::validate() are done on the way, but for the text: where one of them fails the result is an
   * empty matrix with n_rows = -1. @param with_diagonal false: for matrices of any shape, which may lack diagonal
   * entries and have entries twice.
   * @param old_row, old_column empty ones leave the order as it is. Columns behind the last of old_column (ghosts)
   * stay.
   */
  template <typename Number>
  DeviceCrs<Number> permuted(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column, bool with_diagonal);

  /** The same for a matrix that is on the device and has been checked. */
  template <typename To, typename From>
  DeviceCrs<To> permuted(const DeviceCrs<From> &A, const Array<int> &old_row, const Array<int> &old_column);

  /**
   * Entries beside the diagonal rounded to the nearest number with 8 significant bits (bfloat16, half the bytes of
   * Storage::single_precision); the diagonal takes up what that changes in the sum of its row, so that A 1 stays. A
   * symmetric matrix stays symmetric; where all entries beside the diagonal are negative, x^T A x changes by at most
   * 0.4 percent of its part from them, otherwise by that of their absolute values. Rows have a diagonal entry each.
   */
  void round_to_bfloat16(DeviceCrs<float> &A);

  /** A^T, rows sorted by column. */
  template <typename Number>
  DeviceCrs<Number> transposed(const DeviceCrs<Number> &A);

  /**
   * A B as product() of the host makes it (sparse_product.h): rows sorted by column, terms added in the order of A's
   * row, entries that cancel stay. @throws InvalidInput as that.
   */
  template <typename Number>
  DeviceCrs<Number> product(const DeviceCrs<Number> &A, const DeviceCrs<Number> &B);

  /** Of each entry of permuted(A, old_row, old_column), which one of A it is. Device memory. */
  Array<int> permuted_entries(const CrsMatrix<double> &A, const Array<int> &old_row, const Array<int> &old_column);
  /** The same of rows and columns of a matrix that is on the device. */
  template <typename Number>
  Array<int> permuted_entries(const DeviceCrs<Number> &A, const Array<int> &old_row);

  /** result[p] = Number(values[entries[p]]). @param values host memory, @param entries as permuted_entries(). */
  template <typename Number>
  void permuted_values(Number *result, const std::vector<double> &values, const Array<int> &entries);

  /** max_i sum_j |a_ij / a_ii|, a bound of the spectral radius of D^-1 A. */
  template <typename Number>
  double row_sum_bound(const DeviceCrs<Number> &A);

  /**
   * n_steps of the power iteration with D^-1 A, columns of own rows only: the last ||D^-1 A v|| / ||v|| in the norm of
   * |D|, from a vector that looks random and is always the same. Infinite or NaN if one of them is; the last before
   * they vanish, or 0, if they do. @param diagonal D, n_rows numbers that are not zero, device memory; null: A's.
   */
  template <typename Number>
  double power_iteration(const DeviceCrs<Number> &A, int n_steps, const double *diagonal = nullptr);

  /**
   * coordinate_partition() of the host, with the same result. @param block_offsets receives the blocks, host memory.
   * @return old_row, device memory; empty if a coordinate is not finite.
   */
  Array<int> coordinate_order(const std::vector<double> &coordinates, int dim, int block_size, std::vector<int> &block_offsets, bool shifted = false);

  /** Of each entry of `order`, where in `base` it stands. Both are orders of the same rows. */
  Array<int> places_in(const Array<int> &base, const Array<int> &order);
} // namespace leopard::device
