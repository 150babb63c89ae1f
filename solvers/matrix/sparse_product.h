// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crs_matrix.h"

namespace leopard
{
  /**
   * A B, rows sorted by column; sums that cancel stay as entries. @param B has at least A.n_columns rows. Host: a row's
   * terms are added in the order of A's row. @param n_threads 0: as many as this process may use. @throws InvalidInput
   * for shapes that do not fit, and more than 2^31 - 1 entries.
   */
  template <typename Number>
  CrsMatrix<Number> product(const CrsMatrix<Number> &A, const CrsMatrix<Number> &B, int n_threads = 1);

  /** A^T, as transpose(A) of crs_matrix.h, by several threads. @param n_threads 0: as many as this process may use. */
  template <typename Number>
  CrsMatrix<Number> transpose(const CrsMatrix<Number> &A, int n_threads);
} // namespace leopard
