// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../relaxation/relaxation.h"
#include "incomplete_preconditioner.h"

#include <memory>

namespace leopard
{
  /**
   * Iteration with incomplete factors on the GPU: x <- x + omega M (b - A x), with M near (L U)^-1 as the options have
   * it (make_incomplete_preconditioner()): with exact solves what make_ilu0() does on the host, with asynchronous ones
   * what a GPU is faster at. Ghost columns do not enter the factors. All of it calls the device; the host has code of
   * its own, as new values of a factorization that is solved with where it is (IncompleteFactors) allocate nothing, and
   * those of L and U as two matrices, which TriangularSolver takes, do.
   * @param A host memory; copied. @param omega relaxation factor, dimensionless, in (0, 2). @param options whose solves
   * are on the backend cuda; asynchronous ones with Storage::double_precision take new values.
   * @throws InvalidInput for omega or another backend, and as make_incomplete_preconditioner(); DeviceError.
   */
  template <typename Number>
  std::unique_ptr<Relaxation<Number>> make_incomplete_smoother(const CrsMatrix<Number> &A, double omega, const IncompleteOptions &options);
} // namespace leopard
