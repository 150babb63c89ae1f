// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relaxation.h"

#include <memory>

namespace leopard
{
  template <typename Number>
  struct CrsMatrix;

  /**
   * Iteration with an incomplete factorization (on the GPU: make_incomplete_smoother()): x <- x + omega (L U)^-1 (b - A
   * x), where L has ones on its diagonal, L and U together have the entries of A (own columns: ghosts do not enter the
   * factors), and (L U)_ij = a_ij for those entries. Exact for tridiagonal matrices. On the host; the result is
   * that of rows in the order of their numbers, whatever the threads. update_values() factorizes anew and allocates
   * nothing.
   * @param A host memory; copied. @param omega relaxation factor, dimensionless, in (0, 2). @param n_threads 0: as many
   * as this process may use.
   * @throws InvalidInput for what A.validate() refuses, an omega out of range, and a pivot that is zero or not finite,
   * with its row. Source: Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 10.4 (section 10.3.2).
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_ilu0(const CrsMatrix<Number> &A, double omega, int n_threads = 0);
} // namespace leopard
