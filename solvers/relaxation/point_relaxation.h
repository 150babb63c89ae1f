// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relaxation.h"

#include <memory>

namespace leopard
{
  enum class PointMethod
  {
    jacobi,
    gauss_seidel,
    sor,
    ssor
  };

  struct PointRelaxationOptions
  {
    PointMethod method  = PointMethod::jacobi;
    double      omega   = 1.; ///< relaxation factor, dimensionless, in (0, 2); must be 1 for Gauss-Seidel
    Backend     backend = Backend::host;

    /** @throws InvalidInput naming the option, what was found and what is expected. */
    void validate() const;
  };

  /**
   * The textbook point relaxations, which block-asynchronous iteration is compared with:
   * Jacobi x <- x + omega D^-1 (b - A x); SOR: the same row by row with the newest values, in the order of the rows;
   * Gauss-Seidel: SOR with omega = 1; SSOR: an SOR sweep forward and one backward. Sequential on the host; on the
   * backend cuda only Jacobi (as synchronous async-(1)), the others are sequential by nature and say so.
   * @throws InvalidInput, DeviceError. Source: thesis, section 2.4.
   */
  std::unique_ptr<Relaxation> make_point_relaxation(const CrsMatrix &A, const PointRelaxationOptions &options);
} // namespace leopard
